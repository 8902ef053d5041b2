package io.nodekeeper.simulator.verdicts;

import java.time.Duration;
import java.util.Optional;

/**
 * A node was declared Unknown.
 *
 * @param node its name
 * @param at when, since the start of the run
 * @param silence the time since its last heartbeat, minus the time in which the observer was blind
 * @param lastHeardAt when it sent its last one, since the start of the run
 * @param reported whether it had sent one since its Node object exists; if not, the silence is since then
 * @param backAfter how long after the verdict its next heartbeat came; empty if none came before the run ended or the
 *     Node object was deleted
 */
public record Verdict(
        String node,
        Duration at,
        Duration silence,
        Duration lastHeardAt,
        boolean reported,
        Optional<Duration> backAfter) {
    /** Whether a heartbeat came at most this long after the verdict. */
    public boolean isBackWithin(Duration limit) {
        return backAfter.filter(after -> after.compareTo(limit) <= 0).isPresent();
    }
}
