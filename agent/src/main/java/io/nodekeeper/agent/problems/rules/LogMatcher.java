package io.nodekeeper.agent.problems.rules;

import com.google.re2j.Matcher;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Matches the rules of a file against log messages. A pattern sees the newest messages, joined by line feeds, and must
 * match at their end, as in node-problem-detector. Not thread-safe.
 */
public final class LogMatcher {
    /** The most characters of the buffered messages; the kernel's longest message has 1,024 bytes. */
    private static final int TEXT = 16 << 10;

    private final RuleFile file;
    private final Deque<String> buffer = new ArrayDeque<>();
    private int length;

    /**
     * A match.
     *
     * @param text the messages that matched
     */
    public record Match(Optional<String> condition, String reason, String text) {}

    /** A matcher that has seen no message yet. */
    public LogMatcher(RuleFile file) {
        this.file = file;
    }

    /** The rules. */
    public RuleFile file() {
        return file;
    }

    /** The matches that end with {@code message}, in the order of the rules. */
    public List<Match> next(String message) {
        String line = message.length() > TEXT ? message.substring(0, TEXT) : message;
        buffer.addLast(line);
        length += line.length() + 1;
        while (buffer.size() > file.bufferSize() || length > TEXT + 1) {
            length -= buffer.removeFirst().length() + 1;
        }
        String text = String.join("\n", buffer);
        List<Match> matches = new ArrayList<>();
        for (Rule rule : file.rules()) {
            Matcher matcher = rule.pattern().matcher(text);
            if (matcher.find()) {
                matches.add(new Match(rule.condition(), rule.reason(), matcher.group()));
            }
        }
        return matches;
    }
}
