package io.nodekeeper.cri;

import io.grpc.HandlerRegistry;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.okhttp.OkHttpServerBuilder;
import io.nodekeeper.cri.socket.UnixServerSocket;
import io.nodekeeper.time.ThreadPool;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A gRPC server on a unix socket. */
public final class UnixServer implements AutoCloseable {
    /** This logger reports each broken connection, which tests cause all the time. */
    private static final Logger NOISE = Logger.getLogger("io.grpc.okhttp");

    /** More than any test has at the same time. */
    private static final int MOST_CONNECTIONS = 1_000;

    private final Path path;
    private final UnixServerSocket socket;
    private final Server server;
    private final ThreadPool threads = new ThreadPool("server", 2);

    /** Listens at {@code path}, where no file may exist. */
    public UnixServer(Path path, HandlerRegistry handlers) throws IOException {
        NOISE.setLevel(Level.OFF);
        this.path = path;
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(path), 128);
        socket = new UnixServerSocket(channel, MOST_CONNECTIONS, why -> why.ifPresent(NOISE::warning));
        server = OkHttpServerBuilder.forPort(UnixDomainSocketAddress.of(path), InsecureServerCredentials.create())
                .socketFactory(socket.factory())
                .executor(threads)
                .maxInboundMessageSize(64 << 20)
                .fallbackHandlerRegistry(handlers)
                .build()
                .start();
    }

    /** Breaks all connections. */
    void disconnect() throws IOException {
        socket.disconnect();
    }

    /** Stops like a killed process: connections break, the socket's file stays. */
    void kill() throws IOException, InterruptedException {
        socket.disconnect();
        // This closes the socket. The server never ends if the socket is closed before.
        server.shutdownNow();
        socket.disconnect();
        if (!server.awaitTermination(20, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the server at " + path + " did not end within 20 s");
        }
        threads.close();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        kill();
        Files.deleteIfExists(path);
    }
}
