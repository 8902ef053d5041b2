package io.nodekeeper.it.faults;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Compares what the agent named with the truth, look by look. Not thread-safe.
 */
final class Judgement {
    /** How an observation ended. */
    enum Verdict {
        /** Each cause is named, one of them at the first place. */
        RIGHT("right"),
        /** Causes are named, but not all, or not at the first place. */
        PARTLY("partly right"),
        /** Only something else is named. */
        WRONG("wrong"),
        /** The agent says that calls hang and that it does not know why. */
        UNKNOWN("unknown"),
        /** Nothing is named. */
        SILENT("silent");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    private final List<Truth> truths;
    private final Set<String> falselyCertain = new HashSet<>();
    private List<Named> last = List.of();
    private Optional<Double> rightSince = Optional.empty();

    Judgement(List<Truth> truths) {
        this.truths = truths;
    }

    /** The agent names {@code named} now, {@code seconds} after the fault. */
    void look(List<Named> named, double seconds) {
        last = named;
        named.stream()
                .filter(one -> one.certain() && truths.stream().noneMatch(truth -> truth.matches(one)))
                .forEach(one -> falselyCertain.add(one.reason() + ": " + one.summary()));
        if (verdict() != Verdict.RIGHT) {
            rightSince = Optional.empty();
        } else if (rightSince.isEmpty()) {
            rightSince = Optional.of(seconds);
        }
    }

    /** From when on it was right until the last look; empty if it is not. */
    Optional<Double> rightSince() {
        return rightSince;
    }

    /** What was said with confidence "certain" and is not true, at any time and at any place. */
    List<String> falselyCertain() {
        return falselyCertain.stream().sorted().toList();
    }

    /** The accusations of the last look that are true, but whose remedy is not the mildest. */
    List<String> harsh() {
        return last.stream()
                .filter(named -> truths.stream().anyMatch(truth -> truth.matches(named))
                        && truths.stream().noneMatch(truth -> truth.matches(named) && truth.isMild(named)))
                .map(named -> named.reason() + ": " + named.remedy())
                .toList();
    }

    /** What was named at the last look. */
    List<Named> last() {
        return last;
    }

    /** Whether nothing is wrong that an agent could see. */
    boolean quiet() {
        return truths.stream().allMatch(Truth::quiet);
    }

    /** The verdict of the last look. */
    Verdict verdict() {
        boolean quiet = quiet();
        if (last.isEmpty()) {
            return quiet ? Verdict.RIGHT : Verdict.SILENT;
        }
        List<Truth> found = new ArrayList<>(truths);
        found.removeIf(truth -> !truth.quiet() && last.stream().noneMatch(truth::matches));
        boolean all = found.size() == truths.size();
        boolean first = truths.stream().anyMatch(truth -> truth.matches(last.getFirst()));
        if (all && first) {
            return Verdict.RIGHT;
        }
        if (first || truths.stream().anyMatch(truth -> last.stream().anyMatch(truth::matches))) {
            return Verdict.PARTLY;
        }
        return last.stream().allMatch(Named::unknown) ? Verdict.UNKNOWN : Verdict.WRONG;
    }
}
