package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Runs all checks of the node at the same time, each with its own deadline. A check that fails or is late is reported as not
 * made, with the reason. Thread-safe; {@link #close} ends it.
 */
public final class NodeCheckup implements AutoCloseable {
    /** One for each check that reads files, because a file system that hangs keeps its thread. */
    private static final int THREADS = 8;
    /** The longest time to read the kubeconfig. */
    private static final Duration READ = Duration.ofSeconds(3);

    private final Loop loop;
    private final Optional<Workers> workers;
    private final Optional<ApiServerReads> reads;
    private final List<NodeCheck> checks;

    private NodeCheckup(Loop loop, Optional<Workers> workers, Optional<ApiServerReads> reads, List<NodeCheck> checks) {
        this.loop = loop;
        this.workers = workers;
        this.reads = reads;
        this.checks = checks;
    }

    /** These checks and no others; {@code loop} times them. */
    static NodeCheckup of(Loop loop, List<NodeCheck> checks) {
        return new NodeCheckup(loop, Optional.empty(), Optional.empty(), checks);
    }

    /** A checkup without checks. */
    public static NodeCheckup none(Loop loop) {
        return of(loop, List.of());
    }

    /**
     * All checks of this machine. Reads the kubeconfig; blocks for 3 s at most.
     *
     * @param kubeconfig the credentials of the kubelet or agent; empty for those at the usual places
     * @param healthPort the port of the health check of kubelet or agent on the loopback address
     */
    public static NodeCheckup ofThisMachine(Loop loop, Optional<Path> kubeconfig, int healthPort) {
        Workers workers = new Workers("doctor-node", THREADS, loop);
        NodeAccess access = workers.call("the kubeconfig", READ, () -> NodeAccess.find(kubeconfig))
                .exceptionally(error -> NodeAccess.none(kubeconfig, Failures.text(error)))
                .join();
        Optional<ApiServerReads> reads =
                access.access().map(known -> new ApiServerReads(known, access.nodeName(), loop));
        Path kubelet = Path.of("/var/lib/kubelet");
        LinuxHost host = new LinuxHost(Path.of("/"), kubelet, workers);
        List<NodeCheck> checks = new ArrayList<>(List.of(
                new DiskCheck("disk of the kubelet", kubelet, "nodefs", workers),
                new DiskCheck("disk of the images", Path.of("/var/lib/containerd"), "imagefs", workers),
                new MemoryCheck(host),
                new RouteCheck(host, access.nodeName()),
                new HealthCheck(healthPort, access, workers, loop.clock()),
                new CertificateCheck(access, loop.clock())));
        checks.addAll(ApiChecks.of(access, reads, loop.clock()));
        return new NodeCheckup(loop, Optional.of(workers), reads, List.copyOf(checks));
    }

    /** Runs all checks. The result has one entry for each, in a fixed order, and never fails. */
    public CompletableFuture<List<CheckResult>> run() {
        List<CompletableFuture<CheckResult>> running =
                checks.stream().map(this::guarded).toList();
        return CompletableFuture.allOf(running.toArray(CompletableFuture[]::new))
                .thenApply(done -> running.stream().map(CompletableFuture::join).toList());
    }

    private CompletableFuture<CheckResult> guarded(NodeCheck check) {
        CompletableFuture<CheckResult> result;
        try {
            result = check.run();
        } catch (RuntimeException e) {
            result = CompletableFuture.failedFuture(e);
        }
        return Deadlines.within(loop, check.deadline(), check.name(), result)
                .exceptionally(error -> CheckResult.unknown(check.name(), Failures.text(error)));
    }

    /** What the API server says about this node, for a bundle: name and text; empty without access. */
    public Optional<ApiServerReads> reads() {
        return reads;
    }

    @Override
    public void close() {
        workers.ifPresent(Workers::close);
        reads.ifPresent(ApiServerReads::close);
    }
}
