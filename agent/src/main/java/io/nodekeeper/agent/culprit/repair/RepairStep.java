package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;

/**
 * A remedy of a culprit, and whether it may be applied. Immutable.
 *
 * @param remedy the remedy, reduced to the processes that it may signal
 * @param decision whether it may be applied
 * @param needsForce whether it may only be applied with {@code --force}
 * @param why why it is not applied, or what is left out of it; empty if there is nothing to say
 */
public record RepairStep(Culprit culprit, Remedy remedy, Decision decision, boolean needsForce, String why) {

    /** Whether a remedy may be applied. */
    public enum Decision {
        /** It is applied, if the milder ones have not removed the culprit. */
        APPLY("is applied"),
        /** It is applied only with {@code --force}. */
        NEEDS_FORCE("only with --force"),
        /** Only an operator can do it, or it comes after an action of an operator. */
        OPERATOR("left to you"),
        /** It could harm, or it cannot have an effect. */
        REFUSED("not applied");

        private final String text;

        Decision(String text) {
            this.text = text;
        }

        /** The display text. */
        public String text() {
            return text;
        }
    }

    /** Whether it may be applied. */
    public boolean applies() {
        return decision == Decision.APPLY;
    }
}
