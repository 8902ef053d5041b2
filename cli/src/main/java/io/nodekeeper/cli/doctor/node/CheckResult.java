package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.api.json.JsonObject;

/**
 * What one check of the node found.
 *
 * @param check its name
 * @param text one sentence: what was measured, and what was expected
 * @param next the command to run next; empty if there is nothing to do
 */
public record CheckResult(String check, State state, String text, String next) {
    /** Whether the node would be Ready, as far as one check knows. */
    public enum State {
        /** Nothing is wrong. */
        OK("ok"),
        /** The node would be Ready, but something needs attention. */
        WARNING("warning"),
        /** The node would not be Ready, or would not stay so. */
        FAILED("failed"),
        /** The check could not be made, for the reason in the text. */
        UNKNOWN("not checked");

        private final String label;

        State(String label) {
            this.label = label;
        }

        /** The word for people and programs. */
        public String label() {
            return label;
        }
    }

    static CheckResult ok(String check, String text) {
        return new CheckResult(check, State.OK, text, "");
    }

    static CheckResult warning(String check, String text, String next) {
        return new CheckResult(check, State.WARNING, text, next);
    }

    static CheckResult failed(String check, String text, String next) {
        return new CheckResult(check, State.FAILED, text, next);
    }

    static CheckResult unknown(String check, String why) {
        return new CheckResult(check, State.UNKNOWN, why, "");
    }

    /** For programs. */
    public JsonObject json() {
        return JsonObject.builder()
                .put("check", check)
                .put("state", state.label())
                .put("text", text)
                .putUnlessEmpty("next", next)
                .build();
    }
}
