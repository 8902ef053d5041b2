package io.nodekeeper.cri;

import io.nodekeeper.time.Clock;
import io.nodekeeper.time.ThreadPool;
import io.nodekeeper.time.TimerThread;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * The connection to a runtime, replaced when it is broken. gRPC by itself would wait 1 s and later up to 2 min between two
 * attempts; but connecting to a unix socket is cheap, so here the next call connects immediately, unless the last attempt
 * was less than {@link #GAP} ago. Thread-safe.
 */
final class Connections implements AutoCloseable {
    /** The shortest time between two attempts. It is Kubernetes' first backoff, but does not grow. */
    static final Duration GAP = Duration.ofMillis(100);

    private final Path path;
    private final Clock clock;
    /** The third thread is needed while one connection replaces another. */
    private final ThreadPool pool = new ThreadPool("runtime", 3);

    private final ScheduledExecutorService timer = TimerThread.named("runtime-timer");
    private @Nullable Connection current;
    private long madeAt;
    private boolean closed;

    /** Connections to {@code path}; no process needs to listen there yet. */
    Connections(Path path, Clock clock) {
        this.path = path;
        this.clock = clock;
    }

    /** The connection for the next call; within {@link #GAP} it may be a broken one, on which calls fail immediately. */
    synchronized Connection current() {
        Connection old = current;
        long now = clock.nanoTime();
        if (old != null && (closed || old.usable() || now - madeAt < GAP.toNanos())) {
            return old;
        }
        Connection next = new Connection(path, pool, timer);
        if (closed) {
            next.end("the client is closed");
        }
        if (old != null) {
            old.end("the connection is broken");
        }
        current = next;
        madeAt = now;
        return next;
    }

    /** Ends the connection; calls fail from now on. Takes up to a second. Idempotent. */
    @Override
    public void close() {
        Connection last;
        synchronized (this) {
            closed = true;
            last = current;
        }
        if (last != null) {
            last.end("the client is closed");
            last.awaitEnd();
        }
        pool.close();
        timer.shutdownNow();
    }
}
