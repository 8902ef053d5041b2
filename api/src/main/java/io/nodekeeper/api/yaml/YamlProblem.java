package io.nodekeeper.api.yaml;

import java.util.Optional;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * What is wrong with a text that is not YAML, and where. The parser's own messages have a piece of the text, too, which
 * may be a secret.
 */
public final class YamlProblem {
    /** The most characters of the text in a message. */
    private static final int SHOWN = 200;

    private YamlProblem() {}

    /** The problem on one line, with its line and column if they are known. */
    public static String text(YamlEngineException e) {
        if (e instanceof MarkedYamlEngineException marked) {
            String where = marked.getProblemMark()
                    .map(mark -> " (line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1) + ")")
                    .orElse("");
            return cut(Optional.ofNullable(marked.getProblem()).orElse("malformed")) + where;
        }
        return cut(Optional.ofNullable(e.getMessage())
                .orElse("malformed")
                .lines()
                .findFirst()
                .orElse("malformed"));
    }

    /** The beginning of {@code text}, for a message. */
    static String cut(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }
}
