package io.nodekeeper.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** How much of a time something on the machine waited for a processor, as the kernel counts it. Immutable. */
final class Pressure {
    private final long begin = System.nanoTime();
    private final long before = waitedMicros();

    /** The share of the time since it was made, in percent. */
    long percent() {
        return Math.round(100e3 * (waitedMicros() - before) / Math.max(1, System.nanoTime() - begin));
    }

    /** Minutes since it was made. */
    long minutes() {
        return Duration.ofNanos(System.nanoTime() - begin).toMinutes();
    }

    private static long waitedMicros() {
        try {
            return Long.parseLong(
                    Files.readAllLines(Path.of("/proc/pressure/cpu")).getFirst().replaceFirst(".*total=", ""));
        } catch (IOException e) {
            return 0;
        }
    }
}
