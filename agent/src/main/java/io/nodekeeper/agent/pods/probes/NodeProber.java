package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.health.GrpcHealth;
import io.nodekeeper.cri.health.HealthAnswer;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Runs actions from this node: through the runtime, or over the network to the pod. Confined to its loop. */
public final class NodeProber implements Prober, AutoCloseable {
    /**
     * How much later than a command's timeout the runtime may answer. Without an answer by then the runtime hangs, which says
     * nothing about the container.
     */
    private static final Duration RUNTIMES_MARGIN = Duration.ofSeconds(10);

    private final ContainerRuntime runtime;
    private final Loop loop;
    private final HostNames names;
    private final HttpActions http;
    private final TcpActions tcp;
    private final GrpcHealth grpc;

    /** A prober whose results arrive on {@code loop}, as {@code runtime}'s answers do. */
    public NodeProber(ContainerRuntime runtime, Loop loop) {
        this(runtime, loop, InetAddress::getByName);
    }

    /** The same, with another way to look hosts up. */
    NodeProber(ContainerRuntime runtime, Loop loop, HostNames.Resolver resolver) {
        this.runtime = runtime;
        this.loop = loop;
        names = new HostNames(resolver);
        http = new HttpActions(names);
        tcp = new TcpActions(names);
        grpc = new GrpcHealth(loop, "kube-probe/1.32");
    }

    @Override
    public CompletableFuture<ProbeResult> run(Target target, Action action, Duration timeout) {
        return switch (action) {
            case Action.Exec exec -> exec(target, exec, timeout);
            case Action.Http get -> http(target, get, timeout);
            case Action.Tcp socket -> tcp(target, socket, timeout);
            case Action.Grpc call -> grpc(target, call, timeout);
            case Action.Sleep(Duration time) ->
                settled(
                        Deadlines.sleep(loop, time.compareTo(timeout) < 0 ? time : timeout),
                        (done, error) -> ProbeResult.success(""));
        };
    }

    private CompletableFuture<ProbeResult> exec(Target target, Action.Exec exec, Duration timeout) {
        return settled(
                runtime.call(
                        new RuntimeCall.ExecSync(target.containerId(), exec.command(), timeout, exec.most()),
                        timeout.plus(RUNTIMES_MARGIN)),
                (ended, error) -> {
                    if (error == null) {
                        return new ProbeResult(
                                ended.exitCode() == 0 ? ProbeResult.Outcome.SUCCESS : ProbeResult.Outcome.FAILURE,
                                ended.output(),
                                true);
                    }
                    if (!(error instanceof RuntimeCallException refused)) {
                        return ProbeResult.error(Failures.text(error));
                    }
                    return switch (refused.code()) {
                        case DEADLINE_EXCEEDED ->
                            ProbeResult.failure("command timed out: \"" + String.join(" ", exec.command())
                                    + "\" timed out after " + GoDuration.format(timeout));
                        // Not an error, which would leave the last result: a container must not switch its probe off.
                        case TOO_LARGE ->
                            ProbeResult.failure("the command wrote more than is read: " + refused.getMessage());
                        default -> ProbeResult.error(Failures.text(error));
                    };
                });
    }

    private CompletableFuture<ProbeResult> http(Target target, Action.Http get, Duration timeout) {
        OptionalInt port = target.container().port(get.port());
        String host = get.host().isEmpty() ? target.podIp() : get.host();
        if (port.isEmpty() || host.isEmpty()) {
            return unusable(target.container(), get.port(), host);
        }
        URI uri;
        try {
            uri = HttpActions.uri(get, host, port.getAsInt());
        } catch (URISyntaxException e) {
            return CompletableFuture.completedFuture(ProbeResult.error(Failures.text(e)));
        }
        return settled(onLoop(http.get(get, uri), timeout), (reply, error) -> {
            if (error instanceof DeadlineExceededException) {
                return ProbeResult.failure("Get \"" + uri
                        + "\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
            }
            if (error != null) {
                return ProbeResult.failure(Failures.text(error));
            }
            if (reply.status() < 200 || reply.status() >= 400) {
                return new ProbeResult(
                        ProbeResult.Outcome.FAILURE, "HTTP probe failed with statuscode: " + reply.status(), true);
            }
            return reply.status() < 300
                    ? ProbeResult.success(reply.body())
                    : new ProbeResult(
                            ProbeResult.Outcome.WARNING,
                            "Probe terminated redirects, Response body: " + reply.body(),
                            true);
        });
    }

    private CompletableFuture<ProbeResult> tcp(Target target, Action.Tcp socket, Duration timeout) {
        OptionalInt port = target.container().port(socket.port());
        String host = socket.host().isEmpty() ? target.podIp() : socket.host();
        if (port.isEmpty() || host.isEmpty()) {
            return unusable(target.container(), socket.port(), host);
        }
        String to = "dial tcp " + host + ":" + port.getAsInt() + ": ";
        return settled(onLoop(tcp.connect(host, port.getAsInt()), timeout), (done, error) -> {
            if (error == null) {
                return ProbeResult.success("");
            }
            return ProbeResult.failure(to
                    + (error instanceof DeadlineExceededException
                            ? "i/o timeout"
                            : "connect: " + Failures.text(error)));
        });
    }

    private CompletableFuture<ProbeResult> grpc(Target target, Action.Grpc call, Duration timeout) {
        String port = String.valueOf(call.port());
        String host = target.podIp();
        if (host.isEmpty() || target.container().port(port).isEmpty()) {
            return unusable(target.container(), port, host);
        }
        return settled(grpc.check(host, call.port(), call.service(), timeout), NodeProber::grpc);
    }

    private static ProbeResult grpc(@Nullable HealthAnswer answer, @Nullable Throwable error) {
        if (answer == null) {
            return ProbeResult.error(String.valueOf(error));
        }
        return answer.healthy() ? ProbeResult.success(answer.message()) : ProbeResult.failure(answer.message());
    }

    private static CompletableFuture<ProbeResult> unusable(ContainerSpec container, String port, String host) {
        return CompletableFuture.completedFuture(ProbeResult.error(
                host.isEmpty()
                        ? "the pod has no address yet"
                        : "port \"" + port + "\" is neither a number from 1 to 65535 nor a port of container "
                                + container.name()));
    }

    /** The same result on the loop, or a failure after {@code timeout}. */
    private <T> CompletableFuture<T> onLoop(CompletableFuture<T> future, Duration timeout) {
        CompletableFuture<T> result = loop.deliver(Deadlines.within(loop, timeout, "the probe", future));
        result.whenComplete((value, error) -> future.cancel(true));
        return result;
    }

    /** What {@code future}'s end means; cancelling the result cancels it. */
    private static <T> CompletableFuture<ProbeResult> settled(
            CompletableFuture<T> future, BiFunction<T, @Nullable Throwable, ProbeResult> meaning) {
        CompletableFuture<ProbeResult> result = new CompletableFuture<>();
        future.whenComplete(
                (value, error) -> result.complete(meaning.apply(value, error == null ? null : Failures.cause(error))));
        result.whenComplete((value, error) -> future.cancel(true));
        return result;
    }

    /** Ends the threads; actions in progress are abandoned. Idempotent. */
    @Override
    public void close() {
        http.close();
        names.close();
        grpc.close();
    }
}
