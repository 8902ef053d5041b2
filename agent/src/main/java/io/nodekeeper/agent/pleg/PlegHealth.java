package io.nodekeeper.agent.pleg;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether the PLEG is healthy: its last list is not too old, and not most of the pods are stuck. A few stuck pods are no
 * reason to take a node away from the others. Once it was found unhealthy, it must be healthy for a while without a break
 * before it says so: a node that comes and goes costs more than one that stays away a little longer. Times are by the
 * monotonic clock in ns.
 */
final class PlegHealth {
    private final PlegConfig config;
    private boolean fallen;
    private @Nullable Long healthySince;

    /**
     * What health follows from.
     *
     * @param listAge how long ago the last list that succeeded began; empty if there was none
     */
    record Facts(Optional<Duration> listAge, int stuck, int pods) {}

    PlegHealth(PlegConfig config) {
        this.config = config;
    }

    /** Why it is unhealthy; empty if it is not. */
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

    /** Takes note of what changed, so that a short relapse between two checks counts. */
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
