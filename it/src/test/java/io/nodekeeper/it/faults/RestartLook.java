package io.nodekeeper.it.faults;

import io.nodekeeper.agent.culprit.DegradedCondition;
import io.nodekeeper.api.Condition;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is said of a node at one second after its agent was started again, while a fault lasts. Immutable.
 *
 * @param ready what {@code Ready} says in the API
 * @param declared whether the new agent turned {@code Ready} to True: it was something else before
 * @param said what the new agent's condition about the fault says
 * @param accused what the new agent names first, for people; empty if it names nothing
 * @param truth whether that is the cause
 * @param unknown whether it says that nothing explains what hangs
 */
record RestartLook(
        String ready, boolean declared, Said said, Optional<String> accused, boolean truth, boolean unknown) {
    /** What a condition says. */
    enum Said {
        /** The new agent has not written it. */
        NOTHING("nothing yet"),
        /** Unknown: not everything was examined. */
        UNKNOWN("not yet known"),
        /** False: nothing hangs. */
        WELL("nothing hangs"),
        /** False, but calls are late because of load: it says that it found nothing, not that all is well. */
        LOAD("only load"),
        /** True. */
        FAULT("a fault");

        private final String text;

        Said(String text) {
            this.text = text;
        }
    }

    /**
     * A look at what the new agent names and wrote; an empty condition is one that it has not written. With several conditions the agent
     * says that nothing hangs once all of them do.
     */
    static RestartLook of(
            Optional<Condition> ready,
            boolean declared,
            List<Optional<Condition>> conditions,
            List<Named> named,
            List<Truth> truths) {
        Set<Said> all = conditions.stream().map(RestartLook::said).collect(Collectors.toSet());
        Said said = Stream.of(Said.FAULT, Said.UNKNOWN, Said.NOTHING, Said.LOAD, Said.WELL)
                .filter(all::contains)
                .findFirst()
                .orElseThrow();
        Optional<Named> first = named.stream().findFirst();
        return new RestartLook(
                ready.map(one -> one.status().equals(Condition.TRUE) ? "Ready" : "NotReady")
                        .orElse("no condition"),
                declared,
                said,
                first.map(RestartLook::text),
                first.filter(one -> truths.stream().anyMatch(truth -> truth.matches(one)))
                        .isPresent(),
                first.filter(Named::unknown).isPresent());
    }

    private static Said said(Optional<Condition> condition) {
        return condition
                .map(known -> switch (known.status()) {
                    case Condition.TRUE -> Said.FAULT;
                    case Condition.FALSE -> DegradedCondition.tellsLoad(known) ? Said.LOAD : Said.WELL;
                    default -> Said.UNKNOWN;
                })
                .orElse(Said.NOTHING);
    }

    private static String text(Named named) {
        return named.reason()
                + named.pid().map(pid -> " pid " + pid).orElse("")
                + (named.confidence().isEmpty() ? "" : " (" + named.confidence() + ")");
    }

    /** Whether it says that nothing is wrong, or turns the node Ready. */
    boolean well() {
        return accused.isEmpty() && said == Said.WELL;
    }

    /** Whether it turned the node Ready and has not said yet whether anything hangs. */
    boolean readyUnseen() {
        return declared && accused.isEmpty() && (said == Said.NOTHING || said == Said.UNKNOWN);
    }

    /** For example {@code Ready, not yet known}. */
    String text() {
        return ready + ", " + accused.orElse(said.text);
    }
}
