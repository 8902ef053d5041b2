package io.nodekeeper.agent.config.file;

import java.util.List;

/**
 * A field of Kubernetes' {@code KubeletConfiguration}. Immutable.
 *
 * @param path its name, after those of the objects that it is in, such as {@code authorization.mode}
 * @param type what it takes
 * @param usual its default in Kubernetes as the file would have it; empty for none
 * @param support what the agent does with it
 * @param note why it has no effect, for the documentation; otherwise empty
 */
public record KubeletField(String path, FieldType type, String usual, Support support, String note) {
    /** What the agent does with a field. */
    public enum Support {
        /** Works as in a kubelet. */
        SUPPORTED("supported"),
        /** Is checked, and changes nothing. */
        NO_EFFECT("no effect"),
        /** The default is the agent's only behaviour; an agent that runs pods refuses other values. */
        DEFAULT_ONLY("default only");

        private final String text;

        Support(String text) {
            this.text = text;
        }
    }

    static KubeletField supported(String path, FieldType type, String usual) {
        return new KubeletField(path, type, usual, Support.SUPPORTED, "");
    }

    static KubeletField noEffect(String path, FieldType type, String usual, String why) {
        return new KubeletField(path, type, usual, Support.NO_EFFECT, why);
    }

    static KubeletField defaultOnly(String path, FieldType type, String usual) {
        return new KubeletField(path, type, usual, Support.DEFAULT_ONLY, "");
    }

    /** As {@link #defaultOnly}, where another value means the same here. */
    static KubeletField defaultOnly(String path, FieldType type, String usual, String same) {
        return new KubeletField(path, type, usual, Support.DEFAULT_ONLY, same);
    }

    /** Whether it is in an object. */
    boolean isNested() {
        return path.contains(".");
    }

    /** The values that the agent can take if it supports the default only. */
    List<String> accepted() {
        return note.isEmpty() ? List.of(usual) : List.of(usual, note);
    }

    /** Its row in the documentation. */
    public String row() {
        String shown = usual.isEmpty() ? "" : "`" + usual + "`";
        String also = support == Support.DEFAULT_ONLY && !note.isEmpty() ? ", or `" + note + "`" : "";
        String why = support == Support.NO_EFFECT ? ": " + note : also;
        return "| `" + path + "` | " + type.name() + " | " + shown + " | " + support.text + why + " |";
    }
}
