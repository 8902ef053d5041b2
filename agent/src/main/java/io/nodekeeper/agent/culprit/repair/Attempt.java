package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;

/**
 * What became of one remedy. Immutable.
 *
 * @param outcome what became of it
 * @param detail the actions and what they changed, for messages
 * @param causeGone whether the next examination did not find the culprit any more
 */
public record Attempt(RepairStep step, Outcome outcome, String detail, boolean causeGone) {

    /** What became of a remedy. */
    public enum Outcome {
        /** It had its own effect: processes ended or continued, a cgroup thawed, a sandbox removed. */
        WORKED("worked"),
        /** It was applied and changed nothing. */
        NO_EFFECT("had no effect"),
        /** A last check found that it was not needed any more, or could have hit something else. */
        NOT_APPLIED("was not applied");

        private final String text;

        Outcome(String text) {
            this.text = text;
        }

        /** The display text. */
        public String text() {
            return text;
        }
    }

    /** One line for operators. */
    public String text() {
        Culprit culprit = step.culprit();
        return step.remedy().text() + ": " + outcome.text() + ": " + detail + "; "
                + culprit.reason()
                + (causeGone ? " is gone" : " is still there");
    }

    Attempt judged(boolean gone) {
        return new Attempt(step, outcome, detail, gone);
    }
}
