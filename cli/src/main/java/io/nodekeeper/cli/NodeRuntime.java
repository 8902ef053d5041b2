package io.nodekeeper.cli;

import io.nodekeeper.agent.calls.CallTracker;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.agent.culprit.CulpritWatch;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.scan.LinuxProcesses;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.network.NetworkProbe;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PlegConfig;
import io.nodekeeper.agent.runtime.CulpritReporter;
import io.nodekeeper.agent.runtime.RuntimePage;
import io.nodekeeper.agent.runtime.RuntimeWatch;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.client.EventRecorder;
import io.nodekeeper.cri.GrpcRuntime;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.nio.file.Path;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** The wiring of all that watches a node's container runtime. */
final class NodeRuntime {
    /** One look at the processes, and one that hangs. Chosen. */
    private static final int WORKERS = 2;

    private final GrpcRuntime connection;
    private final Workers workers;
    private final RuntimeWatch watch;
    private final RuntimePage page;

    NodeRuntime(
            Path socket,
            AgentConfig config,
            Loop loop,
            EventRecorder events,
            AgentMetrics metrics,
            LoopMonitor loops,
            RandomGenerator random) {
        connection = new GrpcRuntime(socket, loop);
        workers = new Workers("processes", WORKERS, loop);
        CallTracker ledger = new CallTracker(connection, loop.clock(), metrics);
        PlegConfig algorithm = config.gates().has(AgentFeature.PARALLEL_PLEG)
                ? PlegConfig.PARALLEL
                : PlegConfig.reference(config.runtime().requestTimeout());
        Pleg pleg = new Pleg(ledger, loop, algorithm, metrics);
        Optional<CulpritWatch> culprits = config.gates().has(AgentFeature.RUNTIME_CULPRITS)
                ? Optional.of(new CulpritWatch(
                        ledger,
                        ledger,
                        () -> ContainerIndex.of(
                                pleg.inventory().sandboxes(), pleg.inventory().containers()),
                        new LinuxProcesses(Path.of("/"), socket, workers),
                        socket.toString(),
                        loop,
                        random,
                        new CulpritReporter(config.nodeName(), events, metrics)))
                : Optional.empty();
        Optional<NetworkProbe> network = config.runtime().probesNetwork()
                ? Optional.of(new NetworkProbe(
                        config.nodeName(),
                        config.rootDir().resolve("network-probe").toString(),
                        config.runtime().networkProbeInterval(),
                        ledger,
                        loop,
                        random,
                        metrics))
                : Optional.empty();
        watch = new RuntimeWatch(
                loop,
                new RuntimeWatch.Parts(
                        ledger,
                        pleg,
                        culprits,
                        network,
                        config.gates().has(AgentFeature.EVENTED_PLEG),
                        config.gates().has(AgentFeature.RUNTIME_SNAPSHOTS)
                                ? Optional.empty()
                                : Optional.of(config.runtime().requestTimeout())),
                loops,
                random);
        page = new RuntimePage(watch, ledger, pleg, loop.clock());
    }

    /** What the status asks. */
    RuntimeWatch watch() {
        return watch;
    }

    /** The page for people; to be called on the loop. */
    JsonObject page() {
        return page.get();
    }

    void stop() {
        watch.stop();
        connection.close();
        workers.close();
    }
}
