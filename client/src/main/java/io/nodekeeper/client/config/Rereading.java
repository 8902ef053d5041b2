package io.nodekeeper.client.config;

import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a file of credentials again in the background while calls are made: at most once a minute, and one reading at a time, as a
 * file system that hangs must not take a thread each minute. Thread-safe.
 */
final class Rereading {
    private static final Logger log = LoggerFactory.getLogger(Rereading.class);
    /** As client-go reads tokens. */
    static final Duration FRESH = Duration.ofMinutes(1);

    private final Clock clock;
    private final Executor reader;
    private long readAt;
    private boolean reading;

    /** For a file that was read a moment ago. */
    Rereading(Clock clock, Executor reader) {
        this.clock = clock;
        this.reader = reader;
        this.readAt = clock.nanoTime();
    }

    /** Starts {@code work} if it is time; does not wait for it. */
    void look(Runnable work) {
        synchronized (this) {
            long now = clock.nanoTime();
            if (reading || now - readAt < FRESH.toNanos()) {
                return;
            }
            readAt = now;
            reading = true;
        }
        try {
            reader.execute(() -> {
                try {
                    work.run();
                } finally {
                    ended();
                }
            });
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            // The client is closed, or the machine has no process id left for a thread.
            log.debug("Credentials are not read again now: {}", e.toString());
            ended();
        }
    }

    private synchronized void ended() {
        reading = false;
    }
}
