package io.nodekeeper.agent.problems;

import io.nodekeeper.client.ServerDate;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Compares the node's wall clock with the API server's. The server's time is known only within an interval: its date has
 * whole seconds, and it was written at some time of the round trip. A clock is wrong only if no time in that interval fits.
 * Used by one worker at a time.
 */
public final class ClockCheck implements ProblemCheck {
    static final String TYPE = "ClockSkew";
    /**
     * The largest offset: a lease's renewal interval. Certificates, tokens and the times of events are wrong by no more
     * than that.
     */
    static final Duration LIMIT = Duration.ofSeconds(10);

    private final Supplier<Optional<ServerDate>> server;

    /** A check of the newest reading that {@code server} returns. */
    public ClockCheck(Supplier<Optional<ServerDate>> server) {
        this.server = server;
    }

    @Override
    public String name() {
        return "clock";
    }

    @Override
    public List<String> conditions() {
        return List.of(TYPE);
    }

    @Override
    public Duration period() {
        return Duration.ofSeconds(30);
    }

    @Override
    public Duration deadline() {
        return Duration.ofSeconds(2);
    }

    /** Without a reading the condition is left out: some servers and proxies send no date. */
    @Override
    public Finding run() {
        return server.get().map(ClockCheck::judge).orElseGet(() -> new Finding(List.of(), List.of()));
    }

    static Finding judge(ServerDate reading) {
        Instant received = reading.sentAt().plus(reading.roundTrip());
        Duration least = Duration.between(reading.date().plusSeconds(1), reading.sentAt());
        Duration most = Duration.between(reading.date(), received);
        if (least.compareTo(LIMIT) > 0) {
            return skewed(least, "ahead of");
        }
        if (most.negated().compareTo(LIMIT) > 0) {
            return skewed(most.negated(), "behind");
        }
        return Finding.of(Finding.fine(
                TYPE, "ClockInSync", "the clock is within " + GoDuration.format(LIMIT) + " of the API server's"));
    }

    private static Finding skewed(Duration offset, String direction) {
        return Finding.of(Finding.problem(
                TYPE,
                "ClockFarOff",
                "the node's clock is " + GoDuration.format(Duration.ofSeconds(offset.toSeconds())) + " or more "
                        + direction + " the API server's; expected " + GoDuration.format(LIMIT) + " at most"));
    }
}
