package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.kernel.FileStat;
import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.agent.stats.cgroups.StallTimes;
import io.nodekeeper.agent.stats.signals.Collector;
import io.nodekeeper.agent.stats.signals.FactSignal;
import io.nodekeeper.agent.stats.signals.LateSignal;
import io.nodekeeper.agent.stats.signals.LateSignals;
import io.nodekeeper.agent.stats.signals.SignalEvent;
import io.nodekeeper.agent.stats.signals.Timed;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.cri.ImageFilesystem;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import io.nodekeeper.time.Workers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * The statistics of one node. Signals that cost something are read only when a page is requested, and at most every
 * {@value #FRESH_SECONDS} s; each is read by itself, so that one that hangs keeps its last value and its old time while the
 * others are current. Every 10 s it reads how long tasks were stalled, and names signals that are late. Confined to its
 * loop, except {@link #start} and {@link #stop}.
 */
public final class NodeStatistics {
    /** Bounds the cost for any number of clients; shorter than the 15 s of metrics-server and usual scrapes. */
    private static final int FRESH_SECONDS = 5;

    private static final Duration FRESH = Duration.ofSeconds(FRESH_SECONDS);
    /** The kernel answers in milliseconds. Below the deadline of pages, 2 s. */
    private static final Duration DEADLINE = Duration.ofSeconds(1);
    /** Volumes may have many files; who asks for them can wait. */
    private static final Duration VOLUMES_DEADLINE = Duration.ofSeconds(5);
    /**
     * How old the use of pods may be that decides about them: three rounds of decisions. A disk that always answers after its
     * deadline must not keep the node from ending pods.
     */
    private static final Duration USABLE = Duration.ofSeconds(30);
    /** A kubelet's period of housekeeping. */
    private static final Duration PERIOD = Duration.ofSeconds(10);
    /**
     * A thread for each signal that reads files and may block: the kernel, logs, volumes and the pods' other files. The table of
     * mounts needs one only for a moment.
     */
    private static final int WORKERS = 4;
    /** The most threads for volumes, of which each one that hangs keeps one. With more that hang, the others wait for them. */
    private static final int VOLUME_WORKERS = 64;

    private final Sources sources;
    private final Loop loop;
    private final Workers workers;
    private final Workers volumeWorkers;
    private final Executor periodic;
    private final RandomGenerator random;
    private final StatisticsListener listener;
    private final KernelReader kernelReader;
    private final LogFiles logFiles;
    private final Optional<WritableLayers> layerCalls;
    private final LateSignals lateSignals;
    private final Collector<KernelReading> kernel;
    private final Collector<Map<String, DiskUse>> logs;
    private final Collector<Map<String, DiskUse>> others;
    private final Collector<Map<String, Timed<DiskUse>>> layers;
    private final Collector<Map<String, StallTimes>> stalls;
    private final VolumeFiles volumeFiles;
    private final Collector<Map<String, Map<String, DiskUse>>> volumes;
    private final Collector<Boolean> imagesApart;
    private final VolumeSignals volumeSignals;
    private final FactSignal<Filesystem> nodeFs;
    private final FactSignal<Filesystem> imageFs;
    private final FactSignal<ImageFilesystem> images;
    private final FactSignal<Level> pids;
    private final List<Periodic> loops = new ArrayList<>();

    /**
     * What the statistics read.
     *
     * @param nodeName the node's name
     * @param startedAt when the agent's process started
     * @param root {@code /}, or a copy of the kernel's files for tests
     * @param rootDir the agent's root directory
     * @param podCgroups where the cgroup of all pods may be, such as {@code /kubepods.slice}
     * @param logs where the logs of containers are
     * @param host the newest facts about the host, which the agent reads each 10 s; called on the loop
     * @param runtime empty without a container runtime
     * @param volumes those of the pods that the agent runs; called on the loop
     */
    public record Sources(
            String nodeName,
            Instant startedAt,
            Path root,
            Path rootDir,
            List<String> podCgroups,
            Path logs,
            Supplier<HostFacts> host,
            Optional<RuntimeSource> runtime,
            Supplier<List<MountedVolume>> volumes) {
        /** The sources of this machine. */
        public static Sources ofMachine(
                String nodeName,
                Instant startedAt,
                Path rootDir,
                List<String> podCgroups,
                Path logs,
                Supplier<HostFacts> host,
                Optional<RuntimeSource> runtime,
                Supplier<List<MountedVolume>> volumes) {
            return new Sources(nodeName, startedAt, Path.of("/"), rootDir, podCgroups, logs, host, runtime, volumes);
        }
    }

    /**
     * Statistics that were not read yet.
     *
     * @param periodic runs one short reading of the kernel each 10 s
     * @param events receives events about the node, on the loop
     */
    public NodeStatistics(
            Sources sources,
            Loop loop,
            Executor periodic,
            RandomGenerator random,
            StatisticsListener listener,
            Consumer<SignalEvent> events) {
        this.sources = sources;
        this.loop = loop;
        this.periodic = periodic;
        this.random = random;
        this.listener = listener;
        workers = new Workers("statistics", WORKERS, loop);
        kernelReader = new KernelReader(sources.root(), sources.podCgroups());
        logFiles = new LogFiles(sources.logs());
        layerCalls = sources.runtime().map(runtime -> new WritableLayers(runtime.calls(), loop.clock()));
        lateSignals = new LateSignals(events);
        kernel = new Collector<>("kernel", DEADLINE, FRESH, loop);
        logs = new Collector<>("logs", DEADLINE, FRESH, loop);
        others = new Collector<>("files", DEADLINE, FRESH, loop);
        layers = new Collector<>("containers", DEADLINE, FRESH, loop);
        stalls = new Collector<>("pressure", DEADLINE, Duration.ZERO, loop);
        volumeFiles = new VolumeFiles(sources.rootDir().resolve("pods"));
        volumes = new Collector<>("volumes", VOLUMES_DEADLINE, FRESH, loop);
        imagesApart = new Collector<>("disk of images", DEADLINE, VolumeSignals.FRESH, loop);
        volumeWorkers = new Workers("volume-statistics", VOLUME_WORKERS, loop);
        volumeSignals = new VolumeSignals(volume -> work(volumeWorkers, () -> volumeFiles.measure(volume)), loop);
        nodeFs = new FactSignal<>("nodefs", loop.clock());
        imageFs = new FactSignal<>("imagefs", loop.clock());
        images = new FactSignal<>("images", loop.clock());
        pids = new FactSignal<>("pids", loop.clock());
    }

    /** Starts to measure how long tasks are stalled, and to look for signals that are late. */
    public void start() {
        loop.execute(() -> loops.add(Periodic.start("statistics", loop, PERIOD, 0, random, this::housekeeping)));
    }

    /** Stops; readings in progress are abandoned. */
    public void stop() {
        loop.execute(() -> loops.forEach(Periodic::stop));
        workers.close();
        volumeWorkers.close();
    }

    /** The page {@code /stats/summary}; {@code query} may have {@code only_cpu_and_memory=true}. */
    public CompletableFuture<Page> summary(String query) {
        boolean only = Arrays.asList(query.split("&")).contains("only_cpu_and_memory=true");
        CompletableFuture<Void> measured = only
                ? refresh(true)
                : CompletableFuture.allOf(
                        refresh(false), volumeSignals.refresh(sources.volumes().get()));
        return measured.thenApply(ready -> Page.json(new Summary(snapshot(), only).json()));
    }

    /**
     * What each pod uses, by UID, measured within the last 30 s; fails if something of it was not. To be called on the loop.
     *
     * @param disk whether what pods have on disk is measured, too
     */
    public CompletableFuture<Map<String, PodUse>> podUse(boolean disk) {
        List<RunningPod> pods = pods();
        CompletableFuture<Void> measured = disk
                ? CompletableFuture.allOf(
                        refresh(false),
                        compareDisks(),
                        volumes.refresh(() -> work(workers, () -> volumeFiles.read(pods))))
                : refresh(true);
        return measured.thenApply(ready -> {
            // What one container wrote may be missing, such as of one that hangs; what all have may not.
            Optional<LateSignal> missing = kernel.late(USABLE);
            if (disk) {
                missing = missing.or(() -> logs.late(USABLE))
                        .or(() -> others.late(USABLE))
                        .or(() -> volumes.late(USABLE));
            }
            if (missing.isPresent()) {
                throw new IllegalStateException(
                        "what pods use is not known: " + missing.get().error());
            }
            return PodUse.of(
                    snapshot(),
                    volumes.newest().map(Timed::value).orElse(Map.of()),
                    imagesApart.newest().filter(Timed::value).isPresent());
        });
    }

    /** Whether images have a disk of their own; until that is known they count as on the node's. */
    private CompletableFuture<Void> compareDisks() {
        updateFacts();
        return images.newest()
                .map(place -> Path.of(place.value().mountPoint()))
                .map(place -> imagesApart.refresh(
                        () -> work(volumeWorkers, () -> FileStat.areApart(sources.rootDir(), place))))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    /** The page {@code /metrics/resource}. */
    public CompletableFuture<Page> resourceMetrics() {
        return refresh(true)
                .thenApply(ready -> new Page(
                        200,
                        "text/plain; version=0.0.4; charset=utf-8",
                        ResourceMetrics.text(snapshot(), kernel.late().isPresent())
                                .getBytes(StandardCharsets.UTF_8)));
    }

    private CompletableFuture<Void> refresh(boolean onlyCpuAndMemory) {
        List<RunningPod> pods = pods();
        CompletableFuture<Void> numbers = kernel.refresh(() -> work(workers, () -> kernelReader.read(pods)));
        if (onlyCpuAndMemory) {
            return numbers;
        }
        CompletableFuture<Void> files = logs.refresh(() -> work(workers, () -> logFiles.read(pods)));
        CompletableFuture<Void> own = others.refresh(() -> work(workers, () -> volumeFiles.others(pods)));
        CompletableFuture<Void> written = layerCalls
                .map(calls -> layers.refresh(() -> calls.read(pods)))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
        return CompletableFuture.allOf(numbers, files, own, written);
    }

    private Snapshot snapshot() {
        updateFacts();
        return new Snapshot(
                sources.nodeName(),
                sources.startedAt(),
                kernel.newest(),
                kernel.previous(),
                nodeFs.newest(),
                imageFs.newest(),
                images.newest(),
                pids.newest(),
                pods(),
                layers.newest().map(Timed::value).orElse(Map.of()),
                logs.newest(),
                others.newest(),
                volumeSignals.newest());
    }

    private List<RunningPod> pods() {
        return sources.runtime().map(RuntimeSource::pods).orElse(List.of());
    }

    private void updateFacts() {
        HostFacts facts = sources.host().get();
        Optional<ImageFilesystem> place = images.newest().map(Timed::value);
        nodeFs.update(facts.rootFilesystem(), Optional.of(sources.rootDir()));
        imageFs.update(facts.imageFilesystem(), place.map(found -> Path.of(found.mountPoint())));
        pids.update(facts.pids(), Optional.empty());
        sources.runtime().ifPresent(runtime -> images.update(runtime.images(), Optional.empty()));
    }

    private CompletableFuture<Void> housekeeping() {
        updateFacts();
        List<LateSignal> late = Stream.concat(
                        Stream.of(
                                        nodeFs.late(),
                                        imageFs.late(),
                                        images.late(),
                                        pids.late(),
                                        kernel.late(),
                                        logs.late(),
                                        others.late(),
                                        layers.late(),
                                        volumes.late())
                                .flatMap(Optional::stream),
                        volumeSignals.late(sources.volumes()).stream())
                .toList();
        listener.late(LateSignals.ages(late, loop.clock().nanoTime()));
        lateSignals.ended(late);
        CompletableFuture<Void> told = lateSignals.hasNew(late) ? tell(late) : CompletableFuture.completedFuture(null);
        CompletableFuture<Void> measured = stalls.refresh(() -> work(periodic, kernelReader::stalls));
        return CompletableFuture.allOf(told, measured.thenRun(this::publishStalls));
    }

    private CompletableFuture<Void> tell(List<LateSignal> late) {
        Path mountinfo = sources.root().resolve("proc/self/mountinfo");
        return workers.call("mounts", DEADLINE, () -> MountTable.parse(KernelFile.lines(mountinfo)))
                // Without the table the event does not name the mount.
                .exceptionally(error -> new MountTable(List.of()))
                .thenAcceptAsync(mounts -> lateSignals.name(late, mounts), loop);
    }

    private void publishStalls() {
        stalls.newest().ifPresent(times -> {
            Map<String, Map<String, Double>> seconds = new HashMap<>();
            times.value().forEach((resource, stall) -> {
                Map<String, Double> kinds = new HashMap<>();
                kinds.put("some", seconds(stall.some()));
                stall.full().ifPresent(full -> kinds.put("full", seconds(full)));
                seconds.put(resource, kinds);
            });
            listener.stalled(seconds);
        });
    }

    private static double seconds(StallTimes.Share share) {
        return share.totalMicros() / 1e6;
    }

    /** A reading on a thread of {@code executor}; completes when the reading has returned, however late. */
    private static <T> CompletableFuture<T> work(Executor executor, Callable<T> reading) {
        CompletableFuture<T> result = new CompletableFuture<>();
        executor.execute(() -> {
            try {
                result.complete(reading.call());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }
}
