package io.nodekeeper.apiserver.netty;

import io.nodekeeper.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The {@code Date} header, formatted once per second. Thread-safe. */
final class Dates {
    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private record Written(long second, String text) {}

    private final Clock clock;
    private volatile Written last = new Written(Long.MIN_VALUE, "");

    Dates(Clock clock) {
        this.clock = clock;
    }

    String now() {
        Instant now = clock.wallTime();
        Written written = last;
        if (written.second != now.getEpochSecond()) {
            written = new Written(now.getEpochSecond(), FORMAT.format(now));
            last = written;
        }
        return written.text;
    }
}
