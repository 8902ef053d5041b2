package io.nodekeeper.cri.health;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.grpc.ClientChannel;
import io.nodekeeper.cri.grpc.UnaryCall;
import io.nodekeeper.cri.health.v1.HealthCheckRequest;
import io.nodekeeper.cri.health.v1.HealthCheckResponse;
import io.nodekeeper.cri.health.v1.HealthGrpc;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.TimerThread;
import io.nodekeeper.time.VirtualThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks servers for their health as {@code grpc.health.v1} defines, each time over a new connection without TLS, as a kubelet
 * does. Each check has a connection and two virtual threads; how many run at the same time is for the caller to bound. Confined to
 * its loop.
 */
public final class GrpcHealth implements AutoCloseable {
    /** A health answer has a few bytes. */
    private static final int MAX_MESSAGE = 10 << 10;

    private static final Logger log = LoggerFactory.getLogger(GrpcHealth.class);

    private final Loop loop;
    private final String userAgent;
    /** Each check needs two: one reads, one writes. */
    private final VirtualThreads threads = new VirtualThreads("grpc-probes");

    private final ScheduledExecutorService timer = TimerThread.named("grpc-probes-timer");
    /** The channels that have not ended yet; some more than the checks that run. */
    private final Set<ManagedChannel> channels = ConcurrentHashMap.newKeySet();

    /** A client whose answers come on {@code loop}. */
    public GrpcHealth(Loop loop, String userAgent) {
        this.loop = loop;
        this.userAgent = userAgent;
    }

    /**
     * Asks the server at {@code host} and {@code port} about {@code service}. Never fails; unreachable is unhealthy. Cancelling the result
     * closes the connection.
     */
    public CompletableFuture<HealthAnswer> check(String host, int port, String service, Duration timeout) {
        try {
            return ask(host, port, service, timeout);
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(new HealthAnswer(
                    false, "error: failed to connect service at \"" + host + ":" + port + "\": " + Failures.text(e)));
        }
    }

    private CompletableFuture<HealthAnswer> ask(String host, int port, String service, Duration timeout) {
        ManagedChannel channel = ClientChannel.of(
                OkHttpChannelBuilder.forAddress(host, port),
                new TimedSockets(timeout),
                threads::executeOrDrop,
                timer,
                MAX_MESSAGE,
                userAgent);
        channels.removeIf(ManagedChannel::isTerminated);
        channels.add(channel);
        CompletableFuture<HealthAnswer> answer = new CompletableFuture<>();
        UnaryCall.send(
                channel,
                HealthGrpc.getCheckMethod(),
                CallOptions.DEFAULT.withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS),
                HealthCheckRequest.newBuilder().setService(service).build(),
                (status, message) -> {
                    HealthAnswer read = read(status, message, host + ":" + port, timeout);
                    loop.execute(() -> answer.complete(read));
                });
        // gRPC enforces the deadline; the loop does, too, in case gRPC is stuck.
        CompletableFuture<HealthAnswer> result = Deadlines.within(
                        loop, timeout.plusSeconds(1), "health of " + host + ":" + port, answer)
                .exceptionally(error -> late(timeout));
        result.whenComplete((read, error) -> channel.shutdownNow());
        return result;
    }

    private static HealthAnswer read(
            Status status, Optional<HealthCheckResponse> message, String address, Duration timeout) {
        String text = status.getDescription() == null
                ? status.getCode().name()
                : status.getCode() + ": " + status.getDescription();
        return switch (status.getCode()) {
            case OK -> {
                HealthCheckResponse.ServingStatus said =
                        message.map(HealthCheckResponse::getStatus).orElse(HealthCheckResponse.ServingStatus.UNKNOWN);
                boolean serves = said == HealthCheckResponse.ServingStatus.SERVING;
                yield new HealthAnswer(
                        serves, serves ? "service healthy" : "service unhealthy (responded with \"" + said + "\")");
            }
            case UNIMPLEMENTED ->
                new HealthAnswer(
                        false,
                        "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): "
                                + text);
            case DEADLINE_EXCEEDED -> late(timeout);
            case UNAVAILABLE ->
                new HealthAnswer(
                        false,
                        "timeout: failed to connect service \"" + address + "\" within " + GoDuration.format(timeout)
                                + ": " + text);
            default -> new HealthAnswer(false, "error: health rpc probe failed: " + text);
        };
    }

    private static HealthAnswer late(Duration timeout) {
        return new HealthAnswer(false, "timeout: health rpc did not complete within " + GoDuration.format(timeout));
    }

    /** Ends the threads; checks in progress are abandoned. Takes up to a second. Idempotent. */
    @Override
    public void close() {
        channels.forEach(ManagedChannel::shutdownNow);
        try {
            for (ManagedChannel channel : channels) {
                // All end at the same time, so one that does not end is the only one that is waited for.
                if (!channel.awaitTermination(1, TimeUnit.SECONDS)) {
                    log.warn("a health check did not end within 1 s");
                    break;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        threads.close();
        timer.shutdownNow();
    }
}
