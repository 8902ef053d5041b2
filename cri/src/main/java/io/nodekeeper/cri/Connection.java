package io.nodekeeper.cri;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.nodekeeper.cri.socket.UnixSocket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to the runtime's socket, made when the first call needs it. A broken connection is not repaired but
 * replaced. {@link #end} closes the socket itself, because gRPC would first wait for its writing thread, and that thread
 * hangs in the kernel once a frozen peer has let the socket's buffer fill up. Thread-safe.
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
    private final ManagedChannel channel;
    private @Nullable UnixSocket socket;
    private @Nullable String end;
    private int misses;
    /** What {@link #received} was at the last of the {@link #misses}. */
    private long silentAt;

    /** A connection to {@code path}; it needs one of {@code pool}'s threads for reading and one for writing. */
    Connection(Path path, Executor pool, ScheduledExecutorService timer) {
        this.path = path;
        // The address is a literal, so no name is resolved; the socket factory ignores it.
        channel = OkHttpChannelBuilder.forTarget("dns:///127.0.0.1:1")
                .overrideAuthority("localhost")
                .usePlaintext()
                .socketFactory(new Factory())
                .transportExecutor(pool)
                .offloadExecutor(pool)
                .scheduledExecutorService(timer)
                .directExecutor()
                .proxyDetector(address -> null)
                .disableServiceConfigLookUp()
                .disableRetry()
                .maxTraceEvents(0)
                .maxInboundMessageSize(MAX_MESSAGE)
                .userAgent("nodekeeper")
                .build();
    }

    /** The gRPC channel for calls. */
    ManagedChannel channel() {
        return channel;
    }

    /** Whether a call could succeed on it. */
    boolean usable() {
        ConnectivityState state = channel.getState(false);
        return state != ConnectivityState.TRANSIENT_FAILURE && state != ConnectivityState.SHUTDOWN;
    }

    /** How many bytes have been received. */
    synchronized long received() {
        return socket == null ? 0 : socket.received();
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
            if (misses < MISSES || end != null) {
                return;
            }
        }
        log.warn("the runtime at {} has answered nothing for {} calls: reconnecting", path, MISSES);
        end("the connection was closed because " + MISSES + " calls in a row were not answered");
    }

    /** Fails all calls and closes the socket; {@link #why} returns the first reason given. Idempotent. */
    void end(String reason) {
        UnixSocket open;
        synchronized (this) {
            if (end == null) {
                end = reason;
            }
            open = socket;
        }
        channel.shutdownNow();
        close(open);
    }

    /** Waits up to 1 s until gRPC has released its threads; only after {@link #end}. */
    void awaitEnd() {
        try {
            if (!channel.awaitTermination(1, TimeUnit.SECONDS)) {
                log.warn("the connection to {} did not end within 1 s", path);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Why the connection was ended, or {@code otherwise} if it was not. */
    synchronized String why(String otherwise) {
        return end == null ? otherwise : end;
    }

    private static void close(@Nullable Socket socket) {
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                log.debug("cannot close {}", socket, e);
            }
        }
    }

    private UnixSocket connect() throws IOException {
        SocketChannel made = SocketChannel.open(StandardProtocolFamily.UNIX);
        UnixSocket next = new UnixSocket(made);
        try {
            UnixSocket last;
            synchronized (this) {
                if (end != null) {
                    throw new IOException(end);
                }
                last = socket;
                socket = next;
            }
            close(last);
            // Not under the lock: this blocks while the peer's queue of new connections is full.
            made.connect(UnixDomainSocketAddress.of(path));
            return next;
        } catch (IOException | RuntimeException e) {
            made.close();
            throw e;
        }
    }

    private final class Factory extends SocketFactory {
        @Override
        public Socket createSocket() throws IOException {
            return connect();
        }

        @Override
        public Socket createSocket(String host, int port) throws IOException {
            return connect();
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
            return connect();
        }

        @Override
        public Socket createSocket(InetAddress host, int port) throws IOException {
            return connect();
        }

        @Override
        public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
                throws IOException {
            return connect();
        }
    }
}
