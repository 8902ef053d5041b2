package io.nodekeeper.cri;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.nodekeeper.cri.socket.UnixChannel;
import io.nodekeeper.time.ThreadPool;
import java.nio.file.Path;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to the runtime's socket, made when the first call needs it. A broken connection is not repaired but
 * replaced. Thread-safe.
 */
final class Connection {
    /** The largest message that CRI allows. Kubernetes default. */
    static final int MAX_MESSAGE = 16 << 20;
    /**
     * The connection counts as dead after this many calls in a row during which no byte arrived. A frozen runtime
     * misses that many periodic calls (status, version, lists) within about half a minute. With half as many, hung
     * calls for a single pod could close a connection that works.
     */
    static final int MISSES = 16;

    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    private final Path path;
    private final UnixChannel channel;
    private int misses;
    /** What {@link #received} was at the last of the {@link #misses}. */
    private long silentAt;

    /** A connection to {@code path}; it needs one of {@code pool}'s threads for reading and one for writing. */
    Connection(Path path, ThreadPool pool, ScheduledExecutorService timer) {
        this.path = path;
        channel = new UnixChannel(path, MAX_MESSAGE, pool, timer);
    }

    /** The gRPC channel for calls. */
    ManagedChannel channel() {
        return channel.grpc();
    }

    /** Whether a call could succeed on it. */
    boolean usable() {
        ConnectivityState state = channel.grpc().getState(false);
        return state != ConnectivityState.TRANSIENT_FAILURE && state != ConnectivityState.SHUTDOWN;
    }

    /** How many bytes have been received. */
    long received() {
        return channel.received();
    }

    /**
     * Records that a call was not answered within its deadline; {@code receivedBefore} is the value of
     * {@link #received} when the call was made. Ends the connection after too many such calls. A runtime that hangs
     * only in some calls answers others, so its connection stays.
     */
    void missed(long receivedBefore) {
        synchronized (this) {
            long received = received();
            if (received != receivedBefore) {
                misses = 0;
            } else {
                // Other calls may have been answered since the last one that was not.
                misses = received == silentAt ? misses + 1 : 1;
            }
            silentAt = received;
            if (misses < MISSES || channel.end().isPresent()) {
                return;
            }
        }
        log.warn("the runtime at {} has answered nothing for {} calls: reconnecting", path, MISSES);
        end("the connection was closed because " + MISSES + " calls in a row were not answered");
    }

    /** Fails all calls and closes the socket; {@link #why} returns the first reason given. Idempotent. */
    void end(String reason) {
        channel.close(reason);
    }

    /** Waits up to 1 s until gRPC has released its threads; only after {@link #end}. */
    void awaitEnd() {
        try {
            if (!channel.grpc().awaitTermination(1, TimeUnit.SECONDS)) {
                log.warn("the connection to {} did not end within 1 s", path);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Why the connection was ended, or {@code otherwise} if it was not. */
    String why(String otherwise) {
        return channel.end().orElse(otherwise);
    }
}
