package io.nodekeeper.cri.devices;

import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.nodekeeper.cri.socket.UnixSocket;
import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.ScheduledExecutorService;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A gRPC channel to one plugin's socket, with threads of its own: a plugin that stops reading blocks no other one. Closing it
 * closes the socket itself, which unblocks its threads. Thread-safe.
 */
final class PluginChannel implements AutoCloseable {
    /** gRPC's own default in Go, which kubelets use for plugins. */
    private static final int MAX_MESSAGE = 4 << 20;
    /** One reads, one writes, one connects. They end when they are idle. */
    private static final int THREADS = 3;

    private static final Logger log = LoggerFactory.getLogger(PluginChannel.class);

    private final Path path;
    private final ManagedChannel channel;
    private final ThreadPool pool = new ThreadPool("device-plugin", THREADS);
    private @Nullable UnixSocket socket;
    private boolean closed;

    PluginChannel(Path path, ScheduledExecutorService timer) {
        this.path = path;
        // The address is a literal, so no name is resolved; the socket factory ignores it.
        channel = OkHttpChannelBuilder.forTarget("dns:///127.0.0.1:1")
                .overrideAuthority("localhost")
                .usePlaintext()
                .socketFactory(new Factory())
                .transportExecutor(pool::executeOrDrop)
                .offloadExecutor(pool::executeOrDrop)
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

    ManagedChannel channel() {
        return channel;
    }

    @Override
    public void close() {
        UnixSocket open;
        synchronized (this) {
            closed = true;
            open = socket;
        }
        channel.shutdownNow();
        close(open);
        pool.close();
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
                if (closed) {
                    throw new IOException("the connection to " + path + " is closed");
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
