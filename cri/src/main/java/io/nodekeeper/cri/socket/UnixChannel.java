package io.nodekeeper.cri.socket;

import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.nodekeeper.cri.grpc.ClientChannel;
import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A gRPC channel to a unix socket, connected when the first call needs it. {@link #close} closes the socket itself, because
 * gRPC would first wait for its writing thread, and that thread hangs in the kernel once a frozen peer has let the socket's
 * buffer fill up. Thread-safe.
 */
public final class UnixChannel {
    private static final Logger log = LoggerFactory.getLogger(UnixChannel.class);

    private final ManagedChannel grpc;
    private @Nullable UnixSocket socket;
    private Optional<String> end = Optional.empty();

    /**
     * A channel to {@code path}, where no process needs to listen yet.
     *
     * @param maxMessage the largest message that may be received, in bytes
     * @param pool has three threads for this channel, as {@link ClientChannel} says
     * @param timer for gRPC's own deadlines
     */
    public UnixChannel(Path path, int maxMessage, ThreadPool pool, ScheduledExecutorService timer) {
        // The address is a literal, so no name is resolved; the socket factory ignores it.
        grpc = ClientChannel.of(
                OkHttpChannelBuilder.forTarget("dns:///127.0.0.1:1").overrideAuthority("localhost"),
                new UnixSockets(path, this::replace),
                pool::executeOrDrop,
                timer,
                maxMessage,
                "nodekeeper");
    }

    /** The channel for calls; to be shut down only by {@link #close}. */
    public ManagedChannel grpc() {
        return grpc;
    }

    /** How many bytes have been received on the current connection. */
    public synchronized long received() {
        return socket == null ? 0 : socket.received();
    }

    /** Why the channel was closed: the first reason given. Empty while it is open. */
    public synchronized Optional<String> end() {
        return end;
    }

    /** Fails all calls and closes the socket. Idempotent. */
    public void close(String reason) {
        UnixSocket open;
        synchronized (this) {
            if (end.isEmpty()) {
                end = Optional.of(reason);
            }
            open = socket;
        }
        grpc.shutdownNow();
        close(open);
    }

    private void replace(UnixSocket next) throws IOException {
        UnixSocket last;
        synchronized (this) {
            if (end.isPresent()) {
                throw new IOException(end.get());
            }
            last = socket;
            socket = next;
        }
        close(last);
    }

    private static void close(@Nullable UnixSocket socket) {
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                log.debug("cannot close {}", socket, e);
            }
        }
    }
}
