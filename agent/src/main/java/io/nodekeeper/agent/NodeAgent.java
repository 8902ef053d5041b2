package io.nodekeeper.agent;

import io.nodekeeper.agent.certificates.IssuedCertificate;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.agent.config.ConfigException;
import io.nodekeeper.agent.config.ConfigView;
import io.nodekeeper.agent.config.ShutdownConfig;
import io.nodekeeper.agent.devices.DeviceDirectory;
import io.nodekeeper.agent.eviction.Thresholds;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.NodeDevices;
import io.nodekeeper.agent.health.HealthChecks;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.health.SystemdWatchdog;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.metrics.StartupTracker;
import io.nodekeeper.agent.network.NetworkProbe;
import io.nodekeeper.agent.nodeapi.KubeletPages;
import io.nodekeeper.agent.nodeapi.NodeApi;
import io.nodekeeper.agent.nodeapi.PodSource;
import io.nodekeeper.agent.pages.AgentPages;
import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.PodAssembly;
import io.nodekeeper.agent.pods.cgroups.PodCgroups;
import io.nodekeeper.agent.pods.cpus.CpuManager;
import io.nodekeeper.agent.pods.cpus.CpuStateFile;
import io.nodekeeper.agent.pods.eviction.Evictions;
import io.nodekeeper.agent.pods.garbage.GarbageListener;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.problems.OpenFilesCheck;
import io.nodekeeper.agent.problems.ProblemAssembly;
import io.nodekeeper.agent.problems.ProblemView;
import io.nodekeeper.agent.runtime.NoRuntime;
import io.nodekeeper.agent.runtime.RuntimeAssembly;
import io.nodekeeper.agent.runtime.RuntimeView;
import io.nodekeeper.agent.shutdown.EndingPods;
import io.nodekeeper.agent.shutdown.ShutdownManager;
import io.nodekeeper.agent.shutdown.SystemdLogind;
import io.nodekeeper.agent.stats.NodeStatistics;
import io.nodekeeper.agent.status.NodeEvent;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.Version;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agent of the machine that this process runs on: creates all parts from a configuration, starts them and stops them.
 * It owns its threads, its connections to the API server and its connection to the container runtime. One process has one.
 * {@link #start} and {@link #stop} are called once each, from any thread.
 */
public final class NodeAgent {
    /** Reported as {@code kubeletVersion}: the Kubernetes release whose behaviour this agent follows, and its own. */
    static final String VERSION = "v1.32.0+nodekeeper-" + Version.current();

    /**
     * The most bytes of a response. Objects take ten times their text if that is made of many small values; an object of 1.5 MB in
     * etcd may have three times as much in JSON.
     */
    private static final int REPLY = 6 << 20;

    private static final Logger log = LoggerFactory.getLogger(NodeAgent.class);
    /** Where containerd listens by default. */
    private static final Path CONTAINERD = Path.of("/run/containerd/containerd.sock");
    /**
     * The deadline of calls that are not heartbeats: one period of status updates, so that a lost call is repeated well
     * within a node's grace period (40 to 50 s). client-go's usual 30 s leaves no room for that.
     */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    /**
     * Concurrent heartbeats: a status, a lease, and one of each whose answer is no longer waited for. They have places of their own,
     * so that calls about pods that hang do not make the node NotReady. A kubelet has a client of its own for them.
     */
    private static final int HEARTBEATS = 4;
    /** The host has seven kinds of facts, and there are two checkpoints; each may block one thread, and one thread is left. */
    private static final int WORKERS = 10;
    /** Threads that read logs for clients; a step of a log takes less than a millisecond. */
    private static final int LOG_WORKERS = 4;

    private final ThreadLoop loop = new ThreadLoop("agent");
    private final Workers workers = new Workers("facts", WORKERS, loop);
    /** Four hung disks stop all logs, and nothing else. */
    private final Workers logs = new Workers("logs", LOG_WORKERS, loop);

    private final LoopMonitor loops = new LoopMonitor(loop.clock());
    private final AgentMetrics metrics;
    private final HttpTransport transport;
    private final NodeCache nodes;
    private final Optional<RuntimeAssembly> runtime;
    private final Optional<ProblemAssembly> problems;
    private final Optional<PodAssembly> pods;
    private final Optional<DeviceDirectory> devices;
    private final Agent agent;
    private final NodeStatistics statistics;
    private final Path logsDirectory;
    private final EventRecorder events;
    private final String nodeName;
    private final JsonObject configPage;
    private final Optional<Evictions> evictions;
    private final ShutdownManager shutdown;
    private final Optional<IssuedCertificate> certificate;
    private final Optional<IssuedCertificate> clientCertificate;
    private final Optional<SystemdWatchdog> watchdog;
    private Optional<ThreadLoop> pagesTimer = Optional.empty();

    /**
     * An agent that is not started yet; reads files below {@code /proc} and {@code /sys}, makes no calls.
     *
     * @throws ConfigException if this machine cannot measure the signal of a configured threshold
     */
    public NodeAgent(ServerAccess access, AgentConfig config) {
        Optional<Path> socket = config.runtime().socket(Optional.of(CONTAINERD).filter(Files::exists));
        List<String> podCgroups = config.pods().cgroups().places();
        boolean runsPods = config.gates().has(AgentFeature.POD_LIFECYCLE);
        List<String> faults = new ArrayList<>();
        if (runsPods && socket.isEmpty()) {
            faults.add("feature gate PodLifecycle needs a container runtime; --container-runtime-endpoint names none");
        }
        if (runsPods) {
            makeRoot(config.rootDir()).ifPresent(faults::add);
        }
        Path disk = LinuxHost.existing(config.rootDir());
        Optional<PodCgroups> cgroups =
                runsPods && faults.isEmpty() ? PodAssembly.cgroups(config, faults) : Optional.empty();
        devices = runsPods && faults.isEmpty() ? devices(config, faults) : Optional.empty();
        Optional<CpuManager> cpus = runsPods && faults.isEmpty() ? cpus(config, faults) : Optional.empty();
        faults.addAll(Thresholds.unmeasurable(
                config.thresholds(), socket.isPresent(), () -> LinuxHost.podMemoryFault(podCgroups)));
        OpenFilesCheck.limitFault().ifPresent(faults::add);
        watchdog = SystemdWatchdog.of(System.getenv(), ProcessHandle.current().pid(), faults);
        try {
            OpenFilesCheck.openJars();
        } catch (IOException e) {
            faults.add("the agent's jars cannot be opened: " + e.getMessage());
        }
        if (!faults.isEmpty()) {
            throw new ConfigException(faults);
        }
        nodeName = config.nodeName();
        logsDirectory = config.pods().logsDirectory();
        configPage = ConfigView.of(config);
        RandomGenerator random = Randoms.secure();
        transport = new HttpTransport(access, REPLY);
        KubeClient client = new KubeClient(transport, loop, CALL_TIMEOUT);
        Duration heartbeat = Duration.ofSeconds(config.nodeLeaseDurationSeconds());
        KubeClient heartbeats = new KubeClient(
                transport.reserved(HEARTBEATS),
                loop,
                heartbeat.compareTo(config.nodeStatusUpdateFrequency()) < 0
                        ? heartbeat
                        : config.nodeStatusUpdateFrequency());
        nodes = new NodeCache(client, Selection.named(ResourceType.NODES, config.nodeName()), random);
        ApiEventRecorder recorder = new ApiEventRecorder(client, "kubelet", config.nodeName(), random);
        events = recorder;
        AgentPorts ports = new AgentPorts(
                client,
                heartbeats,
                loop,
                nodes,
                events,
                random,
                VERSION,
                () -> log.warn("Heartbeats fail repeatedly; each failed call closes its connection"));
        Duration age = processAge(loop.clock().wallTime());
        metrics = new AgentMetrics(loops);
        metrics.nodeName(config.nodeName());
        metrics.cgroupVersion(LinuxHost.cgroupVersion());
        StartupRecorder startup = new StartupRecorder(
                metrics,
                new StartupTracker(LinuxHost.uptime().minus(age), loop.clock().nanoTime() - age.toNanos()),
                loop.clock());
        runtime = socket.map(path -> new RuntimeAssembly(path, config, loop, events, metrics, loops, random));
        pods = runtime.filter(parts -> runsPods)
                .map(parts -> new PodAssembly(
                        config,
                        client,
                        nodes,
                        parts.calls(),
                        parts.pleg(),
                        parts.watch(),
                        pod -> NetworkProbe.owns(pod.namespace(), pod.name()),
                        events,
                        loop,
                        loops,
                        metrics.probes(),
                        metrics.pods(),
                        random,
                        cgroups,
                        devices.map(DeviceDirectory::manager),
                        cpus,
                        (fine, message) -> new NodeEvent(
                                        fine ? EventRecorder.NORMAL : EventRecorder.WARNING,
                                        fine ? "NodeAllocatableEnforced" : "FailedNodeAllocatableEnforcement",
                                        message)
                                .record(events, config.nodeName())));
        problems = config.gates().has(AgentFeature.NODE_PROBLEMS)
                ? Optional.of(new ProblemAssembly(
                        ProblemAssembly.MOUNTINFO,
                        disk,
                        config.problemRules(),
                        transport::serverDate,
                        LinuxHost::ask,
                        loop,
                        random,
                        event -> new NodeEvent(event.type(), event.reason(), event.message())
                                .record(recorder.of(event.source()), config.nodeName())))
                : Optional.empty();
        agent = new Agent(
                config,
                ports,
                new LinuxHost(Path.of("/"), config.rootDir(), podCgroups, workers),
                runtime.<RuntimeView>map(RuntimeAssembly::watch).orElseGet(NoRuntime::new),
                problems.<ProblemView>map(ProblemAssembly::problems).orElse(ProblemView.NONE),
                loops,
                startup,
                (shortages, pressures) -> evictions().ifPresent(parts -> parts.measured(shortages, pressures)),
                () -> shutdown().isShuttingDown(),
                devices.<NodeDevices>map(DeviceDirectory::manager).orElse(NodeDevices.NONE));
        pods.map(PodAssembly::storage).ifPresent(agent::storage);
        statistics = new NodeStatistics(
                NodeStatistics.Sources.ofMachine(
                        config.nodeName(),
                        loop.clock().wallTime().minus(age),
                        disk,
                        podCgroups,
                        config.pods().logsDirectory(),
                        agent::hostFacts,
                        runtime.map(RuntimeAssembly::statistics),
                        () -> pods.map(PodAssembly::mountedVolumes).orElse(List.of())),
                loop,
                workers,
                random,
                metrics,
                event -> new NodeEvent(
                                event.warning() ? EventRecorder.WARNING : EventRecorder.NORMAL,
                                event.reason(),
                                event.message())
                        .record(events, config.nodeName()));
        evictions = pods.map(parts -> parts.evictions(
                statistics::podUse,
                message -> new NodeEvent(EventRecorder.WARNING, "EvictionThresholdMet", message)
                        .record(events, config.nodeName()),
                agent::measureShortages,
                agent::measurePressures,
                metrics.evictions()));
        Optional<Identity> renewable = access.identity()
                .filter(identity -> config.rotatesCertificates()
                        && access.plugin().isEmpty()
                        && IssuedCertificate.isOf(config.nodeName(), identity));
        if (config.rotatesCertificates() && renewable.isEmpty()) {
            log.info(
                    "rotateCertificates has no effect: the kubeconfig has no client certificate of system:node:{}",
                    config.nodeName());
        }
        IssuedCertificate.Ports issuing =
                new IssuedCertificate.Ports(client, logs, config.certDir(), EcKeys::newKey, random);
        clientCertificate = renewable.map(identity -> IssuedCertificate.client(config.nodeName(), identity, issuing));
        clientCertificate.ifPresent(issued -> {
            issued.listen(transport::renew);
            issued.listen(identity -> metrics.clientCertificate(
                    identity.certificate().getNotAfter().toInstant(), loop.clock()));
        });
        certificate = pods.filter(parts -> config.nodeApi().issued())
                .map(parts ->
                        IssuedCertificate.serving(config.nodeName(), () -> nodes.node(config.nodeName()), issuing));
        boolean delays = config.gates().has(AgentFeature.GRACEFUL_NODE_SHUTDOWN);
        shutdown = new ShutdownManager(
                delays ? config.shutdown() : ShutdownConfig.NONE,
                SystemdLogind.ofMachine(),
                workers,
                pods.map(PodAssembly::endingPods).orElse(EndingPods.NONE),
                message -> new NodeEvent(EventRecorder.NORMAL, "Shutdown", message).record(events, config.nodeName()),
                agent::reportNow,
                metrics,
                loop);
    }

    /** Makes the directory of what pods need after a restart, or says why it cannot be made. */
    private static Optional<String> makeRoot(Path directory) {
        try {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of("the root directory, " + directory + ", cannot be made: " + e);
        }
    }

    private Optional<DeviceDirectory> devices(AgentConfig config, List<String> faults) {
        Path directory = config.rootDir().resolve("device-plugins");
        try {
            return Optional.of(new DeviceDirectory(
                    directory, resource -> metrics().devicePluginRegistered(resource), workers::call, loop));
        } catch (IOException e) {
            faults.add("the directory of device plugins, " + directory + ", cannot be used: " + e.getMessage());
            return Optional.empty();
        }
    }

    /** The certificate of the node's API, if the cluster issues it. */
    public Optional<IssuedCertificate> servingCertificate() {
        return certificate;
    }

    /** The agent's own certificate as a client, if it is renewed. */
    public Optional<IssuedCertificate> clientCertificate() {
        return clientCertificate;
    }

    private Optional<CpuManager> cpus(AgentConfig config, List<String> faults) {
        Quantity reserved = config.kubeReserved()
                .getOrDefault("cpu", Quantity.ZERO)
                .plus(config.systemReserved().getOrDefault("cpu", Quantity.ZERO));
        return CpuStateFile.open(
                config.rootDir(), Path.of("/"), config.pods().cpus(), reserved, workers::call, loop, faults);
    }

    private ShutdownManager shutdown() {
        return shutdown;
    }

    /** Empty without pods of its own. Not before the agent runs. */
    private Optional<Evictions> evictions() {
        return evictions;
    }

    /** Starts to watch the Node and the container runtime, to register, and to send heartbeats. */
    public void start() {
        devices.ifPresent(DeviceDirectory::start);
        nodes.start();
        runtime.ifPresent(assembly -> assembly.watch().start());
        pods.ifPresent(parts -> parts.start(agent::reportNow));
        problems.ifPresent(assembly -> assembly.problems().start());
        agent.start();
        statistics.start();
        shutdown.start();
        clientCertificate.ifPresent(IssuedCertificate::start);
        certificate.ifPresent(IssuedCertificate::start);
        pods.ifPresent(parts -> parts.collectImages(this::imageSpace, garbage()));
        watchdog.ifPresent(systemd -> systemd.start(loop, new HealthChecks("healthz", healthChecks())));
    }

    private CompletableFuture<Level> imageSpace() {
        return agent.measureHost()
                .thenApply(facts -> facts.imageFilesystem()
                        .current()
                        .map(Filesystem::bytes)
                        .orElseThrow(() -> new IllegalStateException("the image file system cannot be measured: "
                                + facts.imageFilesystem().error())));
    }

    private GarbageListener garbage() {
        return new GarbageListener() {
            @Override
            public void imageRemoved(String reason) {
                metrics.imageRemoved(reason);
            }

            @Override
            public void failed(String reason, String message) {
                new NodeEvent(EventRecorder.WARNING, reason, message).record(events, nodeName);
            }
        };
    }

    /** Completes once the Node is in the API, see {@link Agent#registered}. */
    public CompletableFuture<Void> registered() {
        return agent.registered();
    }

    /** The agent's metrics, as its page {@code /metrics} shows them. */
    public AgentMetrics metrics() {
        return metrics;
    }

    private Map<String, Supplier<Optional<String>>> healthChecks() {
        Map<String, Supplier<Optional<String>>> checks = new LinkedHashMap<>(loops.checks());
        devices.ifPresent(directory -> checks.put("device-plugin", directory::failure));
        return checks;
    }

    /** The HTTP pages of this agent, for a server to serve until {@link #stop}; called once at most. */
    public AgentPages pages() {
        ThreadLoop timer = new ThreadLoop("agent-pages");
        pagesTimer = Optional.of(timer);
        AgentPages pages = new AgentPages(healthChecks(), readinessChecks(), metrics::scrape, loop, timer);
        pages.withAnswer("/metrics/resource", query -> statistics.resourceMetrics())
                .withAnswer("/stats/summary", statistics::summary);
        runtime.ifPresent(assembly -> pages.with("/debug/runtime", assembly::page));
        return pages;
    }

    /**
     * The node's API, for a server to serve until {@link #stop}; empty unless the agent runs pods.
     *
     * @param pages those of {@link #pages}
     */
    public Optional<NodeApi> api(Pages pages) {
        return pods.map(assembly -> {
            RuntimeAssembly watched = runtime.orElseThrow();
            PodSource source = new PodSource() {
                @Override
                public List<Pod> pods() {
                    return assembly.pods();
                }

                @Override
                public PodStatus status(String uid) {
                    return watched.pleg().cache().get(uid).status();
                }
            };
            Pages all = new KubeletPages(pages, configPage, metrics::scrapeProbes, watched.statistics()::pods);
            return new NodeApi(source, watched.calls(), logsDirectory, all, logs::call, loop);
        });
    }

    /** Stops all parts and closes all connections. The Node and its Lease stay in the API. */
    public void stop() {
        pagesTimer.ifPresent(ThreadLoop::close);
        shutdown.stop();
        agent.stop();
        statistics.stop();
        problems.ifPresent(ProblemAssembly::stop);
        pods.ifPresent(PodAssembly::stop);
        devices.ifPresent(DeviceDirectory::close);
        runtime.ifPresent(RuntimeAssembly::stop);
        nodes.stop();
        transport.close();
        workers.close();
        logs.close();
        loop.close();
    }

    private Map<String, Supplier<Optional<String>>> readinessChecks() {
        Map<String, Supplier<Optional<String>>> checks = new LinkedHashMap<>();
        checks.put(
                "registered",
                () -> agent.registered().isDone() ? Optional.empty() : Optional.of("the node is not in the API yet"));
        runtime.ifPresent(assembly -> checks.put("runtime", () -> {
            List<String> errors = assembly.watch().errors().inOrder();
            return errors.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", errors));
        }));
        return checks;
    }

    private static Duration processAge(Instant now) {
        return ProcessHandle.current()
                .info()
                .startInstant()
                .map(start -> Duration.between(start, now))
                .filter(Duration::isPositive)
                .orElse(Duration.ZERO);
    }
}
