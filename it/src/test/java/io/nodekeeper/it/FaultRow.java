package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What was seen of one fault: a line of the table. Times are seconds; empty for what did not happen.
 *
 * @param ready how Ready changed from the fault on: until the end, or until the restart if that changes what is to be said
 * @param othersAge how old the agent's knowledge of other pods was at most, before it was restarted; empty if it told nothing
 * @param named who was named: reason or message, and after how long
 * @param reasons the reasons that the condition had, each with its time
 * @param restarted when, after its restart, the agent said of Ready what it should, and knew what it should
 * @param healed when, after the end of the fault, all was well
 * @param waiting how much of what the fault had let hang did not end even then
 */
record FaultRow(
        RuntimeFault fault,
        List<Said> ready,
        Optional<Double> othersAge,
        Optional<Named> named,
        List<String> reasons,
        Optional<Double> restarted,
        Optional<Double> healed,
        long waiting) {
    /** Knowledge of other pods is at most so old, seconds. */
    static final double FRESH = 2;
    /** The agent is itself again so soon after a restart while other pods are well, and while none is. */
    static final Duration RESTARTED_POD = Duration.ofSeconds(10);
    /** See {@link #RESTARTED_POD}. */
    static final Duration RESTARTED_NODE = Duration.ofSeconds(60);
    /** All must be well this soon after the fault. */
    static final Duration HEALED = Duration.ofSeconds(60);

    /** The status of Ready, and its time after the fault. */
    record Said(String status, String message, double after) {}

    /** The culprit, and the time after the fault at which it was named. */
    record Named(String reason, String message, double after) {}

    private RuntimeFault.Expected expected() {
        return fault.expected();
    }

    /** How soon after its restart the agent is to be itself again. */
    static Duration restartLimit(RuntimeFault.Expected expected) {
        return expected.othersFresh() ? RESTARTED_POD : RESTARTED_NODE;
    }

    /** Fails unless everything is as expected. */
    void check() {
        if (expected().ready()) {
            assertThat(ready).as("Ready stays True").isEmpty();
        } else {
            assertThat(ready).as("Ready's changes").isNotEmpty();
            assertThat(ready.getFirst().status()).as("Ready").isEqualTo(Condition.FALSE);
            assertThat(ready.getFirst().message())
                    .as("Ready's message")
                    .contains(expected().readyMessage());
            assertThat(ready.getFirst().after())
                    .as("NotReady after")
                    .isLessThanOrEqualTo(expected().notReadyWithin().toSeconds());
            assertThat(ready)
                    .as("Ready does not flap")
                    .allMatch(said -> said.status().equals(Condition.FALSE));
        }
        if (expected().othersFresh()) {
            assertThat(othersAge).as("the agent tells of other pods").isPresent();
            assertThat(othersAge.orElseThrow()).as("age of other pods").isLessThanOrEqualTo(FRESH);
        }
        if (expected().names()) {
            assertThat(named)
                    .as("one of %s is named; the condition said %s", expected().named(), reasons)
                    .isPresent();
            assertThat(named.orElseThrow().after())
                    .as("named after")
                    .isLessThanOrEqualTo(expected().namedWithin().toSeconds());
        }
        assertThat(restarted)
                .as("itself again within %s of a restart", restartLimit(expected()))
                .isPresent();
        assertThat(healed).as("well within %s of the fault's end", HEALED).isPresent();
        assertThat(waiting).as("calls that still hang").isZero();
    }

    /** Whether everything is as expected. */
    boolean good() {
        try {
            check();
            return true;
        } catch (AssertionError e) {
            return false;
        }
    }

    /** A line of Markdown. */
    String cells() {
        String says = ready.isEmpty()
                ? "True"
                : String.join(
                        "; ",
                        ready.stream()
                                .limit(3)
                                .map(said -> said.status() + " after " + seconds(said.after()) + ": "
                                        + brief(said.message()))
                                .toList());
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %s | %s after %s | %s |%n",
                fault.text(),
                says,
                expected().othersFresh() ? seconds(othersAge) : "(" + seconds(othersAge) + ")",
                named.map(who -> brief(who.reason() + ": " + who.message())).orElse("–"),
                named.map(who -> seconds(who.after())).orElse("–"),
                expected().restartedStatus(),
                seconds(restarted),
                seconds(healed));
    }

    private static String seconds(Optional<Double> value) {
        return value.map(FaultRow::seconds).orElse("–");
    }

    private static String seconds(double value) {
        return String.format(Locale.ROOT, "%.1f s", value);
    }

    /** The contents of a cell, without what differs between runs. */
    private static String brief(String text) {
        String line = text.replaceAll("/\\S*/junit[^/\\s]*/", ".../")
                .replaceAll("[0-9a-f]{13,64}", "ID")
                .replaceAll("\\s+", " ")
                .replace("|", "\\|");
        return line.length() > 200 ? line.substring(0, 200) + "…" : line;
    }
}
