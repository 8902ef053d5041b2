package io.nodekeeper.cri.devices;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpServerBuilder;
import io.grpc.stub.StreamObserver;
import io.nodekeeper.cri.devices.v1beta1.Empty;
import io.nodekeeper.cri.devices.v1beta1.RegisterRequest;
import io.nodekeeper.cri.devices.v1beta1.RegistrationGrpc;
import io.nodekeeper.cri.socket.UnixServerSocket;
import io.nodekeeper.time.ThreadPool;
import io.nodekeeper.time.TimerThread;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The socket at which plugins register. gRPC's server is loaded with the first connection, so a node without plugins has one
 * waiting thread for it and nothing else. Thread-safe.
 */
public final class RegistrationServer implements AutoCloseable {
    /** The most connections at the same time. A plugin needs one for a moment; each of them can hold two threads. */
    static final int MOST_CONNECTIONS = 32;
    /** After which a connection is ended, seconds: longer than a registration takes at most. */
    private static final long CONNECTION_AGE = 60;
    /** A registration has a few names. */
    private static final int MAX_MESSAGE = 64 << 10;
    /** Connections that wait to be accepted. */
    private static final int BACKLOG = 128;

    private static final Logger log = LoggerFactory.getLogger(RegistrationServer.class);

    private final Path path;
    private final Function<PluginRegistration, CompletableFuture<Void>> handler;
    private final ServerSocketChannel channel;
    private final ThreadPool pool = new ThreadPool("device-registration", 2 * MOST_CONNECTIONS + 1);
    private final ScheduledExecutorService timer = TimerThread.named("device-registration-timer");
    private @Nullable Server server;
    private Optional<String> failure = Optional.empty();
    private boolean closed;

    /**
     * Listens at {@code path}, where no file may exist.
     *
     * @param handler registers a plugin; called on any thread; the message of its error is the plugin's answer
     * @throws IOException if the socket cannot be made
     */
    public RegistrationServer(Path path, Function<PluginRegistration, CompletableFuture<Void>> handler)
            throws IOException {
        this(path, listening(path), handler);
    }

    /** As above, with a channel that listens at {@code path}. */
    RegistrationServer(
            Path path, ServerSocketChannel channel, Function<PluginRegistration, CompletableFuture<Void>> handler) {
        this.path = path;
        this.handler = handler;
        this.channel = channel;
        pool.execute(this::serve);
    }

    private static ServerSocketChannel listening(Path path) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(path), BACKLOG);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw new IOException("the socket " + path + " cannot be made: " + e.getMessage(), e);
        }
        return channel;
    }

    /** Why no plugin can register now; empty while the server works. */
    public synchronized Optional<String> failure() {
        return failure;
    }

    /** Waits for the first connection, then leaves the socket to gRPC. */
    private void serve() {
        try {
            UnixServerSocket socket = new UnixServerSocket(channel, MOST_CONNECTIONS, this::report);
            socket.awaitFirst();
            Server made = OkHttpServerBuilder.forPort(
                            UnixDomainSocketAddress.of(path), InsecureServerCredentials.create())
                    .socketFactory(socket.factory())
                    .transportExecutor(pool::executeOrDrop)
                    .scheduledExecutorService(timer)
                    .directExecutor()
                    .maxInboundMessageSize(MAX_MESSAGE)
                    .maxConnectionAge(CONNECTION_AGE, TimeUnit.SECONDS)
                    .maxConnectionAgeGrace(1, TimeUnit.SECONDS)
                    .addService(new Service())
                    .build();
            synchronized (this) {
                if (closed) {
                    return;
                }
                server = made;
                made.start();
            }
        } catch (ClosedChannelException e) {
            log.debug("{} was closed before a plugin came", path, e);
        } catch (IOException | RuntimeException e) {
            report(Optional.of(String.valueOf(e.getMessage())));
        }
    }

    private void report(Optional<String> why) {
        synchronized (this) {
            if (closed) {
                return;
            }
            failure = why;
        }
        why.ifPresentOrElse(
                text -> log.error("Device plugins cannot register at {}: {}", path, text),
                () -> log.info("Device plugins can register at {} again", path));
    }

    /** Closes the socket and all connections; its file stays. Idempotent. */
    @Override
    public void close() throws IOException {
        @Nullable Server running;
        synchronized (this) {
            closed = true;
            running = server;
        }
        if (running != null) {
            running.shutdownNow();
        }
        channel.close();
        pool.close();
        timer.shutdownNow();
    }

    private final class Service extends RegistrationGrpc.RegistrationImplBase {
        @Override
        public void register(RegisterRequest request, StreamObserver<Empty> answer) {
            handler.apply(new PluginRegistration(
                            request.getVersion(), request.getEndpoint(), request.getResourceName()))
                    .whenComplete((done, error) -> {
                        if (error == null) {
                            answer.onNext(Empty.getDefaultInstance());
                            answer.onCompleted();
                        } else {
                            Throwable cause = error instanceof CompletionException && error.getCause() != null
                                    ? error.getCause()
                                    : error;
                            answer.onError(Status.UNKNOWN
                                    .withDescription(cause.getMessage())
                                    .asRuntimeException());
                        }
                    });
        }
    }
}
