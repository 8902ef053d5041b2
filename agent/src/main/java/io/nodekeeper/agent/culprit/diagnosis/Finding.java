package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import java.util.ArrayList;
import java.util.List;

/**
 * A culprit with everything that waits for it. Immutable.
 *
 * @param waiters what the processes that wait for it are about
 */
record Finding(Culprit culprit, List<Subject> waiters) {
    /** A culprit for which processes of one subject wait. */
    static Finding of(Culprit culprit, Subject waiter) {
        return new Finding(culprit, List.of(waiter));
    }

    /** The same cause, shown by another process as well. */
    Finding and(Finding other) {
        List<Subject> all = new ArrayList<>(waiters);
        all.addAll(other.waiters);
        List<String> more = other.culprit.evidence().stream()
                .filter(line -> !culprit.evidence().contains(line))
                .toList();
        Confidence surer = culprit.confidence().compareTo(other.culprit.confidence()) < 0
                ? culprit.confidence()
                : other.culprit.confidence();
        return new Finding(culprit.shownBy(more).sure(surer), List.copyOf(all));
    }

    /** The same with a call that waits for it. */
    Finding delays(String method, String text) {
        return new Finding(culprit.delays(method).shownBy(List.of(text)), waiters);
    }

    /** Whether it can explain why a call about {@code subject} is late. */
    boolean explains(Subject subject) {
        return culprit.layer() == Layer.RUNTIME
                || waiters.stream()
                        .anyMatch(waiter -> !subject.isNode() && waiter.samePod(subject)
                                || waiter.isNode()
                                || culprit.layer() == Layer.DISK && subject.isNode());
    }
}
