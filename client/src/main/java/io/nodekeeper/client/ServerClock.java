package io.nodekeeper.client;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/** Reads the server's clock from the header {@code Date} of its responses, at most once in a period. Thread-safe. */
final class ServerClock {
    /** The time between two readings, in ns: 10 s, the period of heartbeats. */
    private static final long PERIOD = Duration.ofSeconds(10).toNanos();
    /** The longest round trip of a reading, in ns. */
    private static final long ROUND_TRIP = Duration.ofSeconds(2).toNanos();

    private volatile Optional<ServerDate> newest = Optional.empty();
    private volatile long readAt;

    /** The newest reading; empty if the server sends no dates. */
    Optional<ServerDate> newest() {
        return newest;
    }

    /**
     * Takes the date from a response that was quick enough to say something about the clock.
     *
     * @param sentAt when the request was sent
     * @param sent the same by the monotonic clock, in ns
     * @param now the time of that clock
     */
    void read(HttpHeaders headers, Instant sentAt, long sent, long now) {
        if (now - sent > ROUND_TRIP || newest.isPresent() && now - readAt < PERIOD) {
            return;
        }
        readAt = now;
        String text = headers.get(HttpHeaderNames.DATE);
        if (text == null) {
            return;
        }
        try {
            newest = Optional.of(new ServerDate(
                    Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text)),
                    sentAt,
                    Duration.ofNanos(now - sent)));
        } catch (DateTimeException e) {
            // A server that sends something else has no date.
            newest = Optional.empty();
        }
    }
}
