package io.nodekeeper.cri;

import io.nodekeeper.time.Clock;
import io.nodekeeper.time.ThreadPool;
import io.nodekeeper.time.TimerThread;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * The one connection to a runtime, replaced when it is broken. gRPC by itself would wait 1 s and then up to 2 min between
 * two tries; but to connect to a unix socket costs nothing, so here the next call tries at once, save within {@link #GAP}.
 * Thread-safe.
 */
final class Connections implements AutoCloseable {
    /** The least time between two tries. Kubernetes' first backoff; ours does not grow. */
    static final Duration GAP = Duration.ofMillis(100);

    private final Path path;
    private final Clock clock;
    /** A third thread for the moment in which one connection follows another. */
    private final ThreadPool pool = new ThreadPool("runtime", 3);

    private final ScheduledExecutorService timer = TimerThread.named("runtime-timer");
    private @Nullable Connection current;
    private long madeAt;
    private boolean closed;

    /** To {@code path}, where nobody needs to listen yet. */
    Connections(Path path, Clock clock) {
        this.path = path;
        this.clock = clock;
    }

    /** The connection for the next call; within the gap it may be a broken one, on which calls fail at once. */
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
