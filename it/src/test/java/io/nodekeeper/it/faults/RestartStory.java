package io.nodekeeper.it.faults;

import java.util.List;
import java.util.Optional;

/**
 * What an agent says in the seconds after its start while a fault lasts, and whether it says nothing before it can know it.
 * Immutable.
 *
 * @param text the looks, equal neighbours joined
 * @param reason at which second the verdict was decided, and by what; empty if it is right
 */
record RestartStory(Verdict verdict, String text, String reason) {
    /** The verdict on all looks. */
    enum Verdict {
        /** Nothing was said too early, and the first accusation was the cause, and all later ones. */
        RIGHT("right"),
        /** It said that nothing hangs, which it could not know or which is false, or turned the node Ready before it knew. */
        FALSELY_WELL("falsely well"),
        /** The first accusation was not the cause. */
        FALSE_FIRST("false first"),
        /** The first accusation was the cause, and a later one was not. */
        FALSE_LATER("false later"),
        /** The cause was not named. */
        NOT_NAMED("not named"),
        /** The fault ended before it was named, so the rest says nothing. */
        ENDED("fault ended");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    /**
     * Seconds after the start before which no agent can know that nothing hangs: a call of the kind that starts or stops
     * something may take 10 s.
     */
    private static final int KNOWN = 10;

    /**
     * Judges looks, one a second, the first one second after the start.
     *
     * @param quiet whether nothing is wrong that an agent could see, so that silence is right
     * @param ended from which second on the fault does not last; empty if it lasted until the last look
     */
    static RestartStory of(List<RestartLook> looks, boolean quiet, Optional<Integer> ended) {
        String text = Timeline.of(looks.stream().map(RestartLook::text).toList());
        boolean named = false;
        int last = ended.orElse(looks.size() + 1);
        for (int second = 1; second < last; second++) {
            RestartLook look = looks.get(second - 1);
            if (look.readyUnseen()) {
                return new RestartStory(Verdict.FALSELY_WELL, text, "Ready at " + second + " s");
            }
            if (look.well() && (!quiet || second < KNOWN)) {
                return new RestartStory(Verdict.FALSELY_WELL, text, "nothing hangs at " + second + " s");
            }
            if (look.accused().isPresent() && !look.unknown() && !look.truth()) {
                return new RestartStory(
                        named ? Verdict.FALSE_LATER : Verdict.FALSE_FIRST,
                        text,
                        look.accused().orElseThrow() + " at " + second + " s");
            }
            named |= look.truth();
        }
        if (named || quiet) {
            return new RestartStory(Verdict.RIGHT, text, "");
        }
        return ended.isPresent()
                ? new RestartStory(Verdict.ENDED, text, "at " + last + " s")
                : new RestartStory(Verdict.NOT_NAMED, text, "in " + looks.size() + " s");
    }

    /** The verdict and what decided it. */
    String shown() {
        return reason.isEmpty() ? verdict.text() : verdict.text() + ": " + reason;
    }
}
