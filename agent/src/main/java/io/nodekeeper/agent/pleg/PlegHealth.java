package io.nodekeeper.agent.pleg;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the PLEG is healthy: its last list is not too old, and at most half of the pods are stuck. A few
 * stuck pods do not justify taking the node away from the others. After it was unhealthy, it must be healthy for a
 * while without interruption before it reports so: a node that flaps costs more than one that stays NotReady a little
 * longer. Times are by the monotonic clock in ns.
 */
final class PlegHealth {
    private final PlegConfig config;
    private boolean fallen;
    private @Nullable Long healthySince;

    /**
     * The facts from which health is computed.
     *
     * @param listAge the time since the last successful list began; empty if there was none
     */
    record Facts(Optional<Duration> listAge, int stuck, int pods) {}

    PlegHealth(PlegConfig config) {
        this.config = config;
    }

    /** Why the PLEG is unhealthy; empty if it is healthy. */
    Optional<String> check(Facts facts, long now) {
        if (facts.listAge.isEmpty()) {
            return Optional.of("pleg has yet to be successful");
        }
        Optional<String> fault = fault(facts);
        if (fault.isPresent()) {
            fallen = true;
        }
        note(facts, now);
        if (fault.isPresent() || !fallen) {
            return fault;
        }
        return Optional.of("pleg is active again, but not for " + GoDuration.format(config.recovery()) + " yet");
    }

    /** Records the facts at a change, so that a short relapse between two checks counts. */
    void note(Facts facts, long now) {
        if (!fallen) {
            return;
        }
        if (fault(facts).isPresent()) {
            healthySince = null;
        } else if (healthySince == null) {
            healthySince = now;
        }
        if (healthySince != null && now - healthySince >= config.recovery().toNanos()) {
            fallen = false;
            healthySince = null;
        }
    }

    private Optional<String> fault(Facts facts) {
        Optional<Duration> late = facts.listAge.filter(age -> age.compareTo(config.relistThreshold()) > 0);
        if (late.isPresent()) {
            return Optional.of("pleg was last seen active " + GoDuration.format(late.get()) + " ago; threshold is "
                    + GoDuration.format(config.relistThreshold()));
        }
        if (facts.stuck >= config.stuckPods() && facts.stuck > config.stuckShare() * facts.pods) {
            return Optional.of(facts.stuck + " of " + facts.pods + " pods did not answer within "
                    + GoDuration.format(config.podDeadline()));
        }
        return Optional.empty();
    }
}
