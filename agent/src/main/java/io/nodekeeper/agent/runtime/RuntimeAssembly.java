package io.nodekeeper.agent.runtime;

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
import io.nodekeeper.agent.stats.RuntimeSource;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.endpoint.DetectedRuntime;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.nio.file.Path;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates all parts that watch one container runtime, from the connection to the debug page. Owns the connection and
 * its threads.
 */
public final class RuntimeAssembly {
    /**
     * One scan of the processes runs at a time. Four serve while hung scans block others, and the fifth asks for the space of the
     * runtime's file systems.
     */
    private static final int WORKERS = 5;

    private static final Logger log = LoggerFactory.getLogger(RuntimeAssembly.class);

    private final DetectedRuntime connection;
    private final Workers workers;
    private final RuntimeWatch watch;
    private final RuntimePage page;
    private final RuntimeSource statistics;
    private final CallTracker calls;
    private final Pleg pleg;

    /** Parts that are not started yet; {@code loop} runs all of them. */
    public RuntimeAssembly(
            Path socket,
            AgentConfig config,
            Loop loop,
            EventRecorder events,
            AgentMetrics metrics,
            LoopMonitor loops,
            RandomGenerator random) {
        connection = new DetectedRuntime(socket, loop);
        log.info(
                "The container runtime at {} is used over {}",
                socket,
                DetectedRuntime.isDocker(socket) ? "the API of Docker Engine" : "CRI");
        workers = new Workers("processes", WORKERS, loop);
        calls = new CallTracker(connection, loop.clock(), metrics);
        PlegConfig algorithm = config.gates().has(AgentFeature.PARALLEL_PLEG)
                ? PlegConfig.PARALLEL
                : PlegConfig.reference(config.runtime().requestTimeout());
        pleg = new Pleg(calls, loop, algorithm, metrics);
        Optional<CulpritWatch> culprits = config.gates().has(AgentFeature.RUNTIME_CULPRITS)
                ? Optional.of(new CulpritWatch(
                        calls,
                        calls,
                        () -> ContainerIndex.of(
                                pleg.inventory().sandboxes(), pleg.inventory().containers()),
                        new LinuxProcesses(Path.of("/"), socket, workers, loop.clock()),
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
                        calls,
                        loop,
                        random,
                        metrics))
                : Optional.empty();
        watch = new RuntimeWatch(
                loop,
                new RuntimeWatch.Parts(
                        calls,
                        pleg,
                        culprits,
                        network,
                        config.gates().has(AgentFeature.EVENTED_PLEG),
                        config.gates().has(AgentFeature.RUNTIME_SNAPSHOTS)
                                ? Optional.empty()
                                : Optional.of(config.runtime().requestTimeout())),
                loops,
                random);
        page = new RuntimePage(watch, calls, pleg, loop.clock());
        statistics = new StatisticsSource(watch::imageFilesystem, calls, pleg);
    }

    /** What the status reads; to be started by the caller. */
    public RuntimeWatch watch() {
        return watch;
    }

    /** The runtime itself; its calls are counted and tracked. */
    public ContainerRuntime calls() {
        return calls;
    }

    /** What it knows about the runtime's pods. */
    public Pleg pleg() {
        return pleg;
    }

    /** The content of {@code /debug/runtime}; to be called on the loop. */
    public JsonObject page() {
        return page.get();
    }

    /** What the node's statistics read; to be called on the loop. */
    public RuntimeSource statistics() {
        return statistics;
    }

    /** Stops all parts and closes the connection. */
    public void stop() {
        watch.stop();
        connection.close();
        workers.close();
    }
}
