package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.config.ImageGcConfig;
import io.nodekeeper.agent.config.PodConfig;
import io.nodekeeper.agent.devices.DeviceManager;
import io.nodekeeper.agent.eviction.EvictionSignal;
import io.nodekeeper.agent.eviction.Shortage;
import io.nodekeeper.agent.facts.Capacity;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.NodeStorage;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.heartbeat.NodeCache;
import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.agent.kernel.FileStat;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PodRef;
import io.nodekeeper.agent.pods.cgroups.PodCgroups;
import io.nodekeeper.agent.pods.cgroups.PodParent;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.containers.Seccomp;
import io.nodekeeper.agent.pods.cpus.CpuManager;
import io.nodekeeper.agent.pods.cpus.CpuReconciler;
import io.nodekeeper.agent.pods.eviction.EvictionMetrics;
import io.nodekeeper.agent.pods.eviction.Evictions;
import io.nodekeeper.agent.pods.eviction.NodeReclaim;
import io.nodekeeper.agent.pods.garbage.EndedContainers;
import io.nodekeeper.agent.pods.garbage.GarbageListener;
import io.nodekeeper.agent.pods.garbage.ImageCollector;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.PodMetrics;
import io.nodekeeper.agent.pods.mounts.LinuxMounts;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.probes.NodeProber;
import io.nodekeeper.agent.pods.probes.ProbeMetrics;
import io.nodekeeper.agent.pods.probes.ProbePorts;
import io.nodekeeper.agent.pods.registry.NodeCredentials;
import io.nodekeeper.agent.pods.rotation.LogRotation;
import io.nodekeeper.agent.pods.security.SecurityAdmission;
import io.nodekeeper.agent.pods.sources.PodSources;
import io.nodekeeper.agent.pods.turns.StartTurns;
import io.nodekeeper.agent.pods.turns.StopTurns;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.agent.runtime.RuntimeView;
import io.nodekeeper.agent.shutdown.EndingPods;
import io.nodekeeper.agent.stats.MountedVolume;
import io.nodekeeper.agent.stats.PodUse;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates all parts that run pods, and owns their threads. */
public final class PodAssembly {
    /** The pods of the API may use this part of the heap. */
    private static final int PODS_SHARE = 4;

    /** The contents of volumes may use this part of the heap. */
    private static final int VOLUMES_SHARE = 8;

    private static final Logger log = LoggerFactory.getLogger(PodAssembly.class);
    /** The kubelet's period of looking for pods whose time has come. */
    private static final Duration PERIOD = Duration.ofSeconds(1);
    /** Threads for the node's own files. Each pod needs a few ms of them; its volumes have others. */
    private static final int WORKERS = 4;
    /** How often it is noted which images are in use; the runtime is not asked for it. */
    private static final Duration IMAGE_USE = Duration.ofSeconds(10);
    /** How long pods are spared while something else is removed. Some GB of images are removed within seconds. */
    private static final Duration RECLAIM = Duration.ofSeconds(30);

    private final Workers disk;
    /**
     * Threads for paths of the host, as each of them may hang: one for each call until there are as many as calls can hang. They end after
     * half a minute without a call.
     */
    private final Workers hostDisk;

    /** Two threads, so that one file that hangs delays no other. A kubelet has one. */
    private final Workers rotation;

    /** Threads of its own, because it takes up to minutes, and no log waits for that of another one. */
    private final Workers compression;

    private final LogRotation logRotation;
    private final Duration logInterval;

    /** One thread for the files and one for the URL of static pods. */
    private final Workers manifests;

    private final NodeProber prober;
    private final StorageAssembly storage;
    private final PodManager manager;
    private final Duration evictionMaxGrace;
    private final int oomScoreAdjust;
    private final Loop loop;
    private final RandomGenerator random;
    private final LoopMonitor.Beat beat;
    private final ContainerRuntime runtime;
    private final Pleg pleg;
    private final Duration callDeadline;
    private final ImageGcConfig imageGc;
    private final Path rootDir;
    private final PodFiles files;
    private final Optional<CpuReconciler> cpus;
    private final Duration cpuPeriod;
    private final Supplier<Optional<Fact<Path>>> imageMount;
    private Optional<ImageCollector> images = Optional.empty();
    private final List<Periodic> periods = new ArrayList<>();

    /**
     * Parts that are not started yet; {@code loop} runs all of them.
     *
     * @param client whose answers come on {@code loop}
     * @param runtime whose answers come on {@code loop}
     * @param foreign the pods of the runtime that must not be touched
     * @param cgroups those of pods, which are made already; empty if pods have none
     * @param devices those of plugins; empty if the agent manages none
     * @param cpus processors that pods have for themselves; empty if they share all of them
     * @param nodeEvent records an event about the node: whether it is fine, and its message
     */
    public PodAssembly(
            AgentConfig config,
            KubeClient client,
            NodeCache nodes,
            ContainerRuntime runtime,
            Pleg pleg,
            RuntimeView view,
            Predicate<PodRef> foreign,
            EventRecorder events,
            Loop loop,
            LoopMonitor loops,
            ProbeMetrics probes,
            PodMetrics metrics,
            RandomGenerator random,
            Optional<PodCgroups> cgroups,
            Optional<DeviceManager> devices,
            Optional<CpuManager> cpus,
            BiConsumer<Boolean, String> nodeEvent) {
        this.loop = loop;
        this.random = random;
        disk = new Workers("pods", WORKERS, loop);
        int hanging = Math.max(1, config.maxPods());
        // Those that hang, and for each pod one that may hang, and its removal.
        hostDisk = new Workers("pods-host-paths", 3 * hanging, loop);
        manifests = new Workers("static-pods", 2, loop);
        rotation = new Workers("container-logs", 2, loop);
        compression = new Workers("container-log-compression", 2, loop);
        prober = new NodeProber(runtime, loop);
        beat = loops.loop("pods", PERIOD);
        PodConfig pods = config.pods();
        String name = config.nodeName();
        PodParent parent = PodParent.of(pods.cgroups(), LinuxHost.cgroupVersion());
        Seccomp seccomp = Seccomp.of(config.rootDir(), pods.security().seccompDefault());
        ObjectCache objects = new ObjectCache(client, Runtime.getRuntime().maxMemory() / VOLUMES_SHARE);
        storage = new StorageAssembly(config, client, nodes, objects, events, loop, random);
        files = new PodFiles(config.rootDir(), pods.logsDirectory(), new LinuxMounts());
        PodPorts ports = new PodPorts(
                runtime,
                new StartTurns(loop, StartTurns.most(Runtime.getRuntime().availableProcessors())),
                StopTurns.ofNode(),
                config.runtime().requestTimeout(),
                client,
                events,
                loop,
                objects,
                files,
                disk::call,
                new HostDisk(hostDisk::call, hanging),
                pods.resolvConf(),
                () -> NodeSettings.of(
                        name,
                        nodes.node(name),
                        pods.logsDirectory(),
                        pods.clusterDns(),
                        pods.clusterDomain(),
                        parent,
                        seccomp),
                ProbePorts.of(prober, loop, random, probes),
                cgroups.map(files -> new NodeCgroups(files, disk::call, loop, nodeEvent)),
                new NodeResources(devices, cpus),
                storage.volumes(),
                new NodeCredentials(config.rootDir(), Path.of(System.getProperty("user.home", "/"))),
                metrics);
        PodWorker.Readiness readiness = new PodWorker.Readiness() {
            @Override
            public boolean runtime() {
                return view.errors().runtime().isEmpty();
            }

            @Override
            public Optional<String> networkError() {
                return view.errors().network().stream().findFirst();
            }

            @Override
            public String runtimeName() {
                return view.facts().version().replaceFirst("://.*", "");
            }
        };
        oomScoreAdjust = pods.cgroups().oomScoreAdjust();
        evictionMaxGrace = pods.evictionMaxGrace();
        int maxPods = config.maxPods();
        manager = new PodManager(
                ports,
                pleg,
                readiness,
                changed -> new PodSources(
                        client,
                        name,
                        () -> nodes.node(name),
                        pods.staticPods(),
                        Runtime.getRuntime().maxMemory() / PODS_SHARE,
                        manifests::call,
                        random,
                        changed),
                () -> nodes.node(name),
                maxPods,
                new SecurityAdmission(pods.security(), support(readiness, view)),
                foreign);
        logInterval = pods.containerLogs().monitorInterval();
        logRotation = new LogRotation(
                pods.containerLogs(),
                runtime,
                config.runtime().requestTimeout(),
                () -> runningLogs(manager, pleg, pods.logsDirectory()),
                rotation::call,
                compression::call,
                loop);
        this.runtime = runtime;
        this.pleg = pleg;
        this.cpus =
                cpus.map(own -> new CpuReconciler(own, runtime, config.runtime().requestTimeout()));
        cpuPeriod = pods.cpus().reconcilePeriod();
        callDeadline = config.runtime().requestTimeout();
        imageGc = pods.imageGc();
        rootDir = config.rootDir();
        imageMount = view::imageMount;
    }

    /**
     * Makes the cgroups of all pods of this machine, with their limits; empty if pods have none. Blocks.
     *
     * @param faults receives why that is not possible
     */
    public static Optional<PodCgroups> cgroups(AgentConfig config, List<String> faults) {
        CgroupConfig options = config.pods().cgroups();
        if (!options.perQos()) {
            return Optional.empty();
        }
        try {
            Capacity capacity = LinuxHost.capacity();
            List<Map<String, Quantity>> reserved = List.of(config.kubeReserved(), config.systemReserved());
            List<String> tooMuch = PodCgroups.faults(capacity, reserved);
            if (!tooMuch.isEmpty()) {
                faults.addAll(tooMuch);
                return Optional.empty();
            }
            PodCgroups cgroups = new PodCgroups(Path.of("/"), options, capacity, reserved);
            cgroups.makeNode();
            limit(cgroups);
            return Optional.of(cgroups);
        } catch (IOException e) {
            faults.add(String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    /** The memory of pods can only be measured against a limit, so there is one before the first measurement. */
    private static void limit(PodCgroups cgroups) {
        try {
            cgroups.limitNode();
        } catch (IOException e) {
            log.warn("All pods together have no limit yet; it is tried again each minute: {}", e.getMessage());
        }
    }

    /** Tells the kernel how readily it may kill the agent; without the right to do so, the agent runs on. Blocks. */
    private static void protect(int oomScoreAdjust) {
        try {
            LinuxHost.adjustOomScore(oomScoreAdjust);
        } catch (IOException e) {
            log.info("The agent's own oomScoreAdj of {} was refused: {}", oomScoreAdjust, e.getMessage());
        }
    }

    /** The logs of all containers that run, also of pods that are ending. */
    static List<LogRotation.RunningLog> runningLogs(PodManager manager, Pleg pleg, Path logs) {
        List<LogRotation.RunningLog> running = new ArrayList<>();
        for (Pod pod : manager.all()) {
            for (ContainerStatus container :
                    pleg.cache().get(pod.uid()).status().containers()) {
                if (container.state() == ContainerState.RUNNING) {
                    int attempt = container.origin().attempt();
                    Path log = PodLabels.logDirectory(logs, pod).resolve(PodLabels.logPath(container.name(), attempt));
                    running.add(new LogRotation.RunningLog(container.id(), log));
                }
            }
        }
        return running;
    }

    /** Moves the containers of all pods, also of those that are ending, to the processors that they may use now. */
    static void reconcile(CpuReconciler reconciler, PodManager manager, Pleg pleg) {
        Set<String> uids = manager.all().stream().map(Pod::uid).collect(Collectors.toSet());
        reconciler.reconcile(pleg.inventory().containers(), uids);
    }

    private static SecurityAdmission.Support support(PodWorker.Readiness readiness, RuntimeView view) {
        boolean appArmor = LinuxHost.hasAppArmor();
        return new SecurityAdmission.Support() {
            @Override
            public boolean appArmor() {
                return appArmor;
            }

            @Override
            public Optional<Boolean> strictGroups() {
                return readiness.runtime()
                        ? view.facts().supplementalGroupsPolicy().or(() -> Optional.of(false))
                        : Optional.empty();
            }
        };
    }

    /** The pods that the node shall run; to be called on the loop. */
    public List<Pod> pods() {
        return manager.pods();
    }

    /** The pods, for the end of the machine; used on the loop. */
    public EndingPods endingPods() {
        return manager;
    }

    /** Ends pods when the node is short of something; the parameters are those of {@link Evictions}. */
    public Evictions evictions(
            Function<Boolean, CompletableFuture<Map<String, PodUse>>> use,
            Consumer<String> nodeEvent,
            Supplier<CompletableFuture<List<Shortage>>> measureShortages,
            Runnable measureAgain,
            EvictionMetrics metrics) {
        NodeReclaim reclaim = shortages -> Deadlines.within(loop, RECLAIM, "freeing disk", free(shortages.getFirst()))
                .exceptionally(error -> {
                    log.warn("Not all is removed that no pod needs: {}", Failures.text(error));
                    return null;
                })
                .thenCompose(done -> measureShortages.get());
        return new Evictions(manager, reclaim, use, evictionMaxGrace, nodeEvent, measureAgain, metrics, loop);
    }

    /**
     * Begins to remove images that nothing uses.
     *
     * @param space measures the bytes of their file system
     */
    public void collectImages(Supplier<CompletableFuture<Level>> space, GarbageListener listener) {
        loop.execute(() -> {
            ImageCollector collector =
                    new ImageCollector(imageGc, runtime, callDeadline, space, manager::images, listener, loop);
            images = Optional.of(collector);
            periods.add(Periodic.start("image use", loop, IMAGE_USE, 0, random, () -> {
                collector.tick(pleg.inventory().containers().stream()
                        .flatMap(container -> container.images().stream())
                        .collect(Collectors.toSet()));
                return CompletableFuture.completedFuture(null);
            }));
        });
    }

    /** Removes what no pod needs, if that is on the disk which is short. */
    private CompletableFuture<Void> free(Shortage shortage) {
        return holdsImages(shortage).thenCompose(holds -> {
            if (!holds) {
                return CompletableFuture.completedFuture(null);
            }
            return EndedContainers.remove(runtime, manager.settled(), this::removeFiles, callDeadline)
                    .thenCompose(done -> images.map(ImageCollector::removeUnused)
                            .orElseGet(() -> CompletableFuture.completedFuture(null)));
        });
    }

    private CompletableFuture<?> removeFiles(EndedContainers.Ended container) {
        return loop.deliver(disk.call("log of " + container.pod().fullName(), callDeadline, () -> {
            files.removeContainer(container.pod(), container.name(), container.attempt(), container.id());
            return "";
        }));
    }

    /** Whether images are on the disk that is short; if that cannot be found out, they are taken to be. */
    private CompletableFuture<Boolean> holdsImages(Shortage shortage) {
        EvictionSignal signal = shortage.threshold().signal();
        boolean nodeOnly = signal == EvictionSignal.NODEFS_AVAILABLE || signal == EvictionSignal.NODEFS_INODES_FREE;
        Optional<Path> mount = imageMount.get().flatMap(Fact::value);
        if (!nodeOnly || mount.isEmpty()) {
            return CompletableFuture.completedFuture(true);
        }
        return disk.call("disk of images", Duration.ofSeconds(2), () -> !FileStat.areApart(rootDir, mount.get()))
                .exceptionally(error -> true)
                .thenApplyAsync(same -> same, loop);
    }

    /** The volumes of the pods that run, for statistics; used on the loop. */
    public List<MountedVolume> mountedVolumes() {
        return manager.mountedVolumes();
    }

    /** What the node's volumes add to its status; used on the loop. */
    public NodeStorage storage() {
        return storage;
    }

    /**
     * Starts to watch pods and to run them.
     *
     * @param news called on the loop when the node's status has something new
     */
    public void start(Runnable news) {
        protect(oomScoreAdjust);
        loop.execute(() -> {
            storage.start(news);
            manager.start();
            periods.add(Periodic.start("pods", loop, PERIOD, 0, random, () -> {
                beat.beat();
                return manager.tick();
            }));
            cpus.ifPresent(reconciler -> periods.add(Periodic.start("processors", loop, cpuPeriod, 0, random, () -> {
                reconcile(reconciler, manager, pleg);
                return CompletableFuture.completedFuture(null);
            })));
            periods.add(Periodic.start("rotation of logs", loop, logInterval, 0, random, () -> {
                logRotation.tick();
                return CompletableFuture.completedFuture(null);
            }));
        });
    }

    /** Stops the parts; containers continue to run. */
    public void stop() {
        loop.execute(() -> {
            periods.forEach(Periodic::stop);
            manager.stop();
        });
        storage.stop();
        prober.close();
        disk.close();
        hostDisk.close();
        manifests.close();
        rotation.close();
        compression.close();
    }
}
