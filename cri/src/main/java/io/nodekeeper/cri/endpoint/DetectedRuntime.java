package io.nodekeeper.cri.endpoint;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.GrpcRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.cri.docker.DockerRuntime;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The container runtime at a socket: Docker Engine if the socket is named {@value #DOCKER_SOCKET}, else CRI. A socket of another
 * name at which something answers that is not CRI is asked whether it is Docker Engine; once it says so, that is decided for the
 * life of this object. So a runtime with CRI is never asked anything else. Thread-safe.
 */
public final class DetectedRuntime implements ContainerRuntime, AutoCloseable {
    /** The name of Docker Engine's socket. Docker's default. */
    static final String DOCKER_SOCKET = "docker.sock";
    /** The deadline of the question; Docker answers it from memory. */
    private static final Duration QUESTION = Duration.ofSeconds(2);
    /** From one question to the next while garbage comes: each costs a connection. */
    private static final Duration AGAIN = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(DetectedRuntime.class);

    private final Path socket;
    private final Loop loop;
    private final GrpcRuntime cri;
    private final DockerRuntime docker;
    private volatile boolean isDocker;
    private @Nullable CompletableFuture<Boolean> question;
    private long askedAt;

    /** A client for the runtime at {@code socket}, where no process needs to listen yet; results arrive on {@code loop}. */
    public DetectedRuntime(Path socket, Loop loop) {
        this.socket = socket;
        this.loop = loop;
        cri = new GrpcRuntime(socket, loop);
        docker = new DockerRuntime(socket, loop);
        isDocker = isDocker(socket);
    }

    /** Whether a socket of this name is one of Docker Engine. */
    public static boolean isDocker(Path socket) {
        return socket.endsWith(DOCKER_SOCKET);
    }

    @Override
    public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
        if (isDocker) {
            return docker.call(call, deadline);
        }
        long begun = loop.clock().nanoTime();
        return orDocker(
                cri.call(call, deadline),
                () -> docker.call(call, deadline.minusNanos(loop.clock().nanoTime() - begun)));
    }

    @Override
    public CompletableFuture<Void> events(Consumer<ContainerEvent> listener) {
        return isDocker ? docker.events(listener) : orDocker(cri.events(listener), () -> docker.events(listener));
    }

    /** The result over CRI or, if that is no CRI but Docker, the result of {@code other}. */
    private <T> CompletableFuture<T> orDocker(CompletableFuture<T> first, Supplier<CompletableFuture<T>> other) {
        CompletableFuture<T> result = new CompletableFuture<>();
        first.whenComplete((value, error) -> {
            if (error == null) {
                result.complete(value);
            } else if (isUnreadable(error)) {
                asked().whenComplete((yes, failed) -> {
                    if (failed == null && yes && !result.isDone()) {
                        follow(other.get(), result);
                    } else {
                        result.completeExceptionally(error);
                    }
                });
            } else {
                result.completeExceptionally(error);
            }
        });
        result.whenComplete((value, error) -> first.cancel(true));
        return result;
    }

    private static <T> void follow(CompletableFuture<T> source, CompletableFuture<T> result) {
        source.whenComplete((value, error) -> Futures.complete(result, value, error));
        result.whenComplete((value, error) -> source.cancel(true));
    }

    private static boolean isUnreadable(Throwable error) {
        return RuntimeCallException.isCode(Failures.cause(error), RuntimeCallException.Code.UNREADABLE);
    }

    /** Whether Docker Engine listens there, from the last question or a new one. */
    private synchronized CompletableFuture<Boolean> asked() {
        CompletableFuture<Boolean> last = question;
        long now = loop.clock().nanoTime();
        if (last != null && (isDocker || now - askedAt < AGAIN.toNanos())) {
            return last;
        }
        askedAt = now;
        CompletableFuture<Boolean> next =
                docker.call(new RuntimeCall.GetVersion(), QUESTION).handle(this::learn);
        question = next;
        return next;
    }

    private boolean learn(@Nullable RuntimeVersion version, @Nullable Throwable error) {
        if (version == null) {
            log.warn(
                    "What listens at {} speaks neither CRI nor the API of Docker Engine: {}",
                    socket,
                    error == null ? "no version" : error.getMessage());
            return false;
        }
        isDocker = true;
        log.info(
                "Docker Engine {} listens at {}: it is used over its own API, version {}",
                version.version(),
                socket,
                version.apiVersion());
        return true;
    }

    /** Fails all calls and closes the connections. Takes up to a second. Idempotent. */
    @Override
    public void close() {
        docker.close();
        cri.close();
    }
}
