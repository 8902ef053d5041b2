package io.nodekeeper.agent.network;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tests the pod network by using it: creates a sandbox, checks that it has an address, removes it, and reports the
 * result as a condition of the node. A probe first removes sandboxes of earlier probes, also those of an earlier
 * process; until that succeeds it creates none, so there is never more than one. Probes never overlap. Confined to
 * the loop.
 */
public final class NetworkProbe {
    private static final Logger log = LoggerFactory.getLogger(NetworkProbe.class);
    /** The namespace of the probe's sandboxes; there is no such Pod in the API. */
    private static final String NAMESPACE = "kube-system";
    /** The prefix of their names. */
    private static final String PREFIX = "nodekeeper-network-probe-";
    /** Spreads the probes of nodes that start at the same time over a tenth of the interval. */
    private static final double JITTER = 0.1;

    private final String podName;
    private final String podUid;
    private final String logDirectory;
    private final Duration interval;
    private final ContainerRuntime runtime;
    private final Loop loop;
    private final RandomGenerator random;
    private final AgentMetrics metrics;
    private @Nullable Periodic rounds;
    private ConditionReport condition = ProbeFinding.PENDING;
    private Optional<ProbeFinding> last = Optional.empty();
    /** Part of the sandbox's name: the runtime keeps the name of a failed attempt reserved. */
    private int attempts;

    private boolean stopped;

    /**
     * A probe that is not started yet.
     *
     * @param logDirectory absolute; the runtime creates it for the sandbox and owns it
     * @param interval from the end of a probe to the start of the next
     * @param runtime answers on {@code loop}
     */
    public NetworkProbe(
            String nodeName,
            String logDirectory,
            Duration interval,
            ContainerRuntime runtime,
            Loop loop,
            RandomGenerator random,
            AgentMetrics metrics) {
        podName = PREFIX + nodeName;
        podUid = new UUID(random.nextLong(), random.nextLong()).toString();
        this.logDirectory = logDirectory;
        this.interval = interval;
        this.runtime = runtime;
        this.loop = loop;
        this.random = random;
        this.metrics = metrics;
    }

    /** Whether {@code sandbox} belongs to a probe, of this or an earlier process, and to no pod. */
    public static boolean isProbe(PodSandbox sandbox) {
        return owns(sandbox.podNamespace(), sandbox.podName());
    }

    /** Whether a pod of that name is one that a probe makes; it exists in the runtime only. */
    public static boolean owns(String namespace, String name) {
        return namespace.equals(NAMESPACE) && name.startsWith(PREFIX);
    }

    /** Starts to probe, immediately. */
    public void start() {
        rounds = Periodic.start("network probe", loop, interval, JITTER, random, this::round);
    }

    /**
     * Starts no further probe and removes the sandbox of the one in progress; the next process removes what remains.
     */
    public void stop() {
        stopped = true;
        if (rounds != null) {
            rounds.stop();
        }
    }

    /** The result of the last probe; Unknown before the first has ended. */
    public ConditionReport condition() {
        return condition;
    }

    private CompletableFuture<Void> round() {
        return call(ProbeStep.LIST, new RuntimeCall.ListSandboxes(Optional.empty()), this::removeLeftOvers)
                .thenCompose(wrong -> wrong.isPresent() || stopped ? done(wrong) : probe())
                .thenAccept(wrong -> conclude(wrong.orElse(ProbeFinding.GOOD)));
    }

    private CompletableFuture<Optional<ProbeFinding>> removeLeftOvers(List<PodSandbox> sandboxes) {
        CompletableFuture<Optional<ProbeFinding>> removed = done(Optional.empty());
        for (PodSandbox sandbox : sandboxes) {
            if (isProbe(sandbox)) {
                log.info("Removing sandbox {} of an earlier network probe", sandbox.id());
                removed = removed.thenCompose(wrong -> wrong.isPresent() ? done(wrong) : remove(sandbox.id()));
            }
        }
        return removed;
    }

    private CompletableFuture<Optional<ProbeFinding>> probe() {
        SandboxConfig config = new SandboxConfig(podUid, podName, NAMESPACE, attempts++, logDirectory);
        return call(
                ProbeStep.SETUP,
                new RuntimeCall.RunSandbox(config),
                id -> lookAt(id).thenCompose(wrong -> remove(id).thenApply(wrongEnd -> wrong.or(() -> wrongEnd))));
    }

    private CompletableFuture<Optional<ProbeFinding>> lookAt(String id) {
        return stopped
                ? done(Optional.empty())
                : call(
                        ProbeStep.ADDRESS,
                        new RuntimeCall.GetSandbox(id),
                        status ->
                                done(status.ips().isEmpty() ? Optional.of(ProbeFinding.NO_ADDRESS) : Optional.empty()));
    }

    private CompletableFuture<Optional<ProbeFinding>> remove(String id) {
        return call(ProbeStep.TEARDOWN, new RuntimeCall.StopSandbox(id), stop -> done(Optional.empty()))
                .thenCompose(wrong -> wrong.isPresent()
                        ? done(wrong)
                        : call(
                                ProbeStep.REMOVAL,
                                new RuntimeCall.RemoveSandbox(id),
                                removal -> done(Optional.empty())));
    }

    /** Makes a call and continues with its answer; an error becomes the finding. */
    private <T> CompletableFuture<Optional<ProbeFinding>> call(
            ProbeStep step, RuntimeCall<T> question, Function<T, CompletableFuture<Optional<ProbeFinding>>> then) {
        long start = loop.clock().nanoTime();
        return runtime.call(question, step.deadline())
                .handle((answer, error) -> {
                    metrics.networkProbeStep(
                            step.text(), Duration.ofNanos(loop.clock().nanoTime() - start));
                    return error == null ? then.apply(answer) : done(ProbeFinding.of(step, error));
                })
                .thenCompose(Function.identity());
    }

    private void conclude(ProbeFinding finding) {
        if (stopped) {
            return;
        }
        metrics.networkProbeEnded(finding.good());
        if (last.equals(Optional.of(finding))) {
            return;
        }
        last = Optional.of(finding);
        condition = finding.report(loop.clock().wallTime());
        if (finding.good()) {
            log.info("Network probe: {}", condition.message());
        } else {
            log.warn("Network probe: {}: {}", condition.reason(), condition.message());
        }
    }

    private static CompletableFuture<Optional<ProbeFinding>> done(Optional<ProbeFinding> finding) {
        return CompletableFuture.completedFuture(finding);
    }
}
