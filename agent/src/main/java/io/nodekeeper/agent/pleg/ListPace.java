package io.nodekeeper.agent.pleg;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * Decides how long the pause between two lists of all pods is. Each list costs the runtime and the agent time that grows with
 * the number of pods. While the runtime's event stream is open and nothing has happened for {@link PlegConfig#QUIET}, events
 * tell what changes and the lists only confirm it, so {@link PlegConfig#calmPeriod} is enough. Otherwise the pause is
 * {@link PlegConfig#relistPeriod}. An event that is lost is found by the next list: what is known of a pod is never older than
 * the calm period and one list. Pure: times are arguments, in monotonic ns. Not thread-safe.
 */
final class ListPace {
    private final PlegConfig config;
    private OptionalLong open = OptionalLong.empty();
    private long happened;

    /** A pace that begins at {@code now} without events. */
    ListPace(PlegConfig config, long now) {
        this.config = config;
        this.happened = now;
    }

    /** The event stream was opened. A runtime without events ends it at once. */
    void opened(long now) {
        open = OptionalLong.of(now);
    }

    /** The event stream ended. */
    void ended() {
        open = OptionalLong.empty();
    }

    /** Something changed, may have changed, or failed. */
    void happened(long now) {
        happened = now;
    }

    /** The pause after a list that ended at {@code now}. */
    Duration pause(long now) {
        long quiet = PlegConfig.QUIET.toNanos();
        boolean calm = open.isPresent() && now - open.getAsLong() >= quiet && now - happened >= quiet;
        return calm ? config.calmPeriod() : config.relistPeriod();
    }
}
