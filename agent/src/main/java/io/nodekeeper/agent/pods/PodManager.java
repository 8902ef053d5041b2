package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PodEvent;
import io.nodekeeper.agent.pleg.PodRef;
import io.nodekeeper.agent.pods.eviction.EvictablePods;
import io.nodekeeper.agent.pods.garbage.EndedContainers;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.PodCounts;
import io.nodekeeper.agent.pods.security.SecurityAdmission;
import io.nodekeeper.agent.pods.sources.PodSources;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.agent.shutdown.EndingPods;
import io.nodekeeper.agent.stats.MountedVolume;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All pods of the node: one worker for each pod that a source has, or that the runtime still has. A pod that does
 * not fit is rejected as a kubelet does. Confined to its loop.
 */
final class PodManager implements EvictablePods, EndingPods {
    private static final Logger log = LoggerFactory.getLogger(PodManager.class);
    /** Rejected pods whose status is being written; further ones are rejected when one of these is done. */
    private static final int MOST_REJECTED = 1_000;

    private final PodPorts ports;
    private final Supplier<Optional<Node>> node;
    private final Pleg pleg;
    private final PodWorker.Readiness readiness;
    private final int maxPods;
    private final SecurityAdmission security;
    private final Predicate<PodRef> foreign;
    private final PodSources sources;
    private final long startedAt;
    /** By UID. As many as the sources and the runtime have pods. */
    private final Map<String, PodWorker> workers = new LinkedHashMap<>();

    private final Preemptions preemptions;

    private final Map<String, StatusWriter> rejected = new LinkedHashMap<>();
    /** Admitted pods that wait for their devices, by UID. They count as active, so there are at most {@link #maxPods}. */
    private final Map<String, Pod> allocating = new LinkedHashMap<>();

    private Set<Pressure> pressures = Set.of();
    private boolean shuttingDown;
    private boolean directoriesSeen;
    private boolean stopped;

    /**
     * A manager that is not started yet.
     *
     * @param sources makes the sources, which tell the given consumer of each pod that came, changed or went
     * @param node the Node as the API has it; empty if it is not known
     * @param maxPods the most pods that run at the same time
     * @param security refuses pods because of their security contexts
     * @param foreign the pods of the runtime that are not the sources', such as those of probes; they are left alone
     */
    PodManager(
            PodPorts ports,
            Pleg pleg,
            PodWorker.Readiness readiness,
            Function<Consumer<Pod>, PodSources> sources,
            Supplier<Optional<Node>> node,
            int maxPods,
            SecurityAdmission security,
            Predicate<PodRef> foreign) {
        this.ports = ports;
        this.pleg = pleg;
        this.readiness = readiness;
        this.node = node;
        this.maxPods = maxPods;
        this.security = security;
        this.foreign = foreign;
        preemptions = new Preemptions(ports.loop().clock());
        startedAt = ports.loop().clock().nanoTime() - 1;
        this.sources = sources.apply(this::changed);
    }

    /** Starts to watch. */
    void start() {
        pleg.listen(this::happened);
        sources.start();
    }

    /** Starts nothing more; what runs continues to run. */
    void stop() {
        stopped = true;
        sources.stop();
        workers.values().forEach(PodWorker::stop);
        rejected.values().forEach(StatusWriter::stop);
    }

    /** The number of pods that have a worker. */
    int size() {
        return workers.size();
    }

    /** The pods that the node shall run. */
    List<Pod> pods() {
        return sources.pods();
    }

    /** The pods that have a worker: those that run or will run, and those that are ending or have ended. */
    List<Pod> all() {
        return pods(worker -> true);
    }

    private List<Pod> pods(Predicate<PodWorker> which) {
        return workers.values().stream().filter(which).map(PodWorker::pod).toList();
    }

    @Override
    public List<Pod> evictable() {
        return pods(PodWorker::isEvictable);
    }

    @Override
    public void evict(Pod pod, Duration grace, Wanted.Eviction why) {
        PodWorker worker = workers.get(pod.uid());
        if (worker != null) {
            new PodEvents(ports.events()).warning(pod, why.reason(), why.message());
            worker.evict(grace, why);
        }
    }

    /** The names of the images of all pods that shall run. */
    Set<String> images() {
        return Stream.concat(sources.pods().stream(), workers.values().stream().map(PodWorker::pod))
                .filter(pod -> !pod.isTerminal())
                .flatMap(pod -> Stream.concat(pod.allContainers().stream(), pod.ephemeralContainers().stream()))
                .map(ContainerSpec::image)
                .collect(Collectors.toSet());
    }

    /** The ended containers of pods that have ended and stay in the API; from now on they may be removed. */
    List<EndedContainers.Ended> settled() {
        List<PodWorker> ended = workers.values().stream()
                .filter(worker -> worker.pod().isTerminal() && !worker.mustEnd())
                .toList();
        ended.forEach(PodWorker::settle);
        return ended.stream()
                .flatMap(worker -> pleg.cache().get(worker.pod().uid()).status().containers().stream()
                        .filter(container -> container.state() == ContainerState.EXITED)
                        .map(container -> new EndedContainers.Ended(
                                worker.pod(),
                                container.name(),
                                container.origin().attempt(),
                                container.id())))
                .toList();
    }

    @Override
    public void underPressure(Set<Pressure> now) {
        pressures = Set.copyOf(now);
    }

    /** The pods that shall run and have not ended. */
    List<Pod> running() {
        return pods(PodWorker::isActive);
    }

    @Override
    public List<Pod> left() {
        return pods(worker -> worker.isActive() || worker.mustEnd() && !worker.isGone());
    }

    /** The volumes of the pods that run. */
    List<MountedVolume> mountedVolumes() {
        return workers.values().stream()
                .filter(PodWorker::isActive)
                .flatMap(worker -> worker.mountedVolumes().stream())
                .toList();
    }

    @Override
    public void end(Pod pod, Duration grace, String reason, String message) {
        PodWorker worker = workers.get(pod.uid());
        if (worker != null && worker.mustEnd()) {
            worker.shorten(grace);
        } else {
            evict(pod, grace, new Wanted.Eviction(reason, message, true));
        }
    }

    @Override
    public void refuseAll(boolean refused) {
        shuttingDown = refused;
        if (!refused) {
            // Static pods that were refused have their turn again.
            rejected.keySet().removeIf(sources::isStatic);
        }
    }

    @Override
    public boolean areKnown() {
        return isListed() && waiting().noneMatch(pod -> pleg.has(pod.uid()));
    }

    /** Whether all sources were read, and the runtime was asked for its pods. */
    private boolean isListed() {
        return sources.seen() && pleg.firstRelist().isDone();
    }

    @Override
    public boolean isEnding(Pod pod) {
        PodWorker worker = workers.get(pod.uid());
        return worker != null && !worker.isGone();
    }

    /** To be called about each second. */
    CompletableFuture<Void> tick() {
        if (!stopped) {
            sources.tick(this::isEnding);
            List.copyOf(workers.values()).forEach(PodWorker::tick);
            workers.values().removeIf(worker -> {
                // The API still has a pod that it was told to delete, until its watch says otherwise.
                boolean gone = worker.isFinished()
                        && (sources.pod(worker.pod().uid()).isEmpty()
                                || sources.isStatic(worker.pod().uid()));
                if (gone) {
                    worker.stop();
                }
                return gone;
            });
            rejected.entrySet().removeIf(entry -> entry.getValue().idle().isDone() && !isRejected(entry.getKey()));
            preemptions.forget(uid -> waiting().noneMatch(pod -> pod.uid().equals(uid)));
            // Pods that had to wait when their source reported them.
            waiting().forEach(this::admit);
            findOrphans();
            ports.metrics().counted(PodCounts.of(sources.pods(), running(), sources::isStatic, sources.mirrors()));
        }
        return CompletableFuture.completedFuture(null);
    }

    /** The pods of the sources that are neither worked on nor rejected. */
    private Stream<Pod> waiting() {
        return sources.pods().stream()
                .filter(pod -> !workers.containsKey(pod.uid()) && !rejected.containsKey(pod.uid()));
    }

    /** A static pod is rejected for as long as there is a manifest of it, and a pod of the API until that shows it. */
    private boolean isRejected(String uid) {
        return sources.pod(uid)
                .filter(pod -> sources.isStatic(uid) || !pod.isTerminal())
                .isPresent();
    }

    private void happened(PodEvent event) {
        PodWorker worker = workers.get(event.podUid());
        if (worker != null) {
            worker.wake();
        }
    }

    /** A source has, changed, or no longer has {@code pod}. */
    private void changed(Pod pod) {
        if (stopped) {
            return;
        }
        Optional<Pod> current = sources.pod(pod.uid());
        if (current.isEmpty() && pod.isMirror()) {
            // The status must be in the new copy, too.
            sources.original(pod).map(original -> workers.get(original.uid())).ifPresent(PodWorker::wake);
            return;
        }
        if (rejected.containsKey(pod.uid())) {
            // It stays rejected, unless it is another pod: a manifest may name the UID itself.
            if (sources.isStatic(pod.uid())) {
                rejected.remove(pod.uid()).stop();
            } else {
                return;
            }
        }
        PodWorker worker = workers.get(pod.uid());
        if (worker != null) {
            worker.want(current.map(this::wanted).orElseGet(() -> Wanted.gone(pod, pod.grace())));
        } else {
            current.ifPresent(this::admit);
        }
    }

    private Wanted wanted(Pod pod) {
        return sources.isStatic(pod.uid()) ? Wanted.ofManifest(pod) : Wanted.ofApi(pod);
    }

    /** Whether a static pod of that full name, as it was before, still runs. */
    private boolean isEnding(String fullName) {
        return workers.values().stream()
                .filter(worker -> worker.pod().fullName().equals(fullName))
                .anyMatch(worker -> worker.mustEnd() && !worker.isFinished());
    }

    private void admit(Pod pod) {
        // A static pod begins once the one before it has ended; and what runs already is not refused.
        boolean waits = sources.isStatic(pod.uid()) && isEnding(pod.fullName());
        if (waits || !pleg.firstRelist().isDone() || allocating.containsKey(pod.uid())) {
            return;
        }
        boolean starts = pod.mayStart();
        boolean known = pleg.has(pod.uid());
        if (starts && pod.isOutline()) {
            // If something of it runs, that ends once the pod has failed.
            reject(pod, Admission.TOO_LARGE);
            return;
        }
        if (starts && !known && security.mustWait(pod)) {
            return;
        }
        if (!starts || known) {
            work(wanted(pod));
        } else {
            verdict(pod).ifPresent(verdict -> follow(pod, verdict));
        }
    }

    private void follow(Pod pod, Admission.Verdict verdict) {
        switch (verdict) {
            case Admission.Verdict.Admitted admitted -> allocate(pod);
            case Admission.Verdict.Refused(Wanted.Eviction why) -> reject(pod, why);
            case Admission.Verdict.Preempts(List<Pod> victims) -> preempt(pod, victims);
        }
    }

    /** The pod starts once it has what it needs for itself. */
    private void allocate(Pod pod) {
        preemptions.forget(pod.uid()::equals);
        freeResources();
        CompletableFuture<Void> allocation = ports.resources().allocate(pod);
        if (allocation.isDone() && !allocation.isCompletedExceptionally()) {
            work(wanted(pod));
            return;
        }
        allocating.put(pod.uid(), pod);
        allocation.whenComplete((done, error) -> allocated(pod, error));
    }

    private void allocated(Pod pod, @Nullable Throwable error) {
        allocating.remove(pod.uid());
        Optional<Pod> current = sources.pod(pod.uid());
        if (stopped || current.isEmpty()) {
            ports.resources().release(pod);
        } else if (error != null) {
            reject(current.get(), NodeResources.refusal(error));
        } else if (shuttingDown && current.get().mayStart()) {
            // It was admitted before the shutdown began.
            ports.resources().release(pod);
            reject(current.get(), Admission.SHUTDOWN);
        } else {
            work(wanted(current.get()));
        }
    }

    /** Frees what pods had for themselves that have ended. Only once all sources were read. */
    private void freeResources() {
        if (!isListed()) {
            return;
        }
        Set<String> uids = workers.entrySet().stream()
                .filter(entry -> !entry.getValue().isOver())
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(HashSet::new));
        uids.addAll(allocating.keySet());
        waiting().map(Pod::uid).forEach(uids::add);
        // What runs and has no worker yet: after a restart of the agent, a pod that its source no longer has.
        pleg.pods().stream()
                .map(PodRef::uid)
                .filter(uid -> !workers.containsKey(uid))
                .forEach(uids::add);
        ports.resources().retain(uids);
    }

    /**
     * The verdict; empty while the pod has room only once others have ended that are ending. Critical ones do not wait for ever: how long
     * those take, their users decide.
     */
    private Optional<Admission.Verdict> verdict(Pod pod) {
        // Pods that already run count for what starts, wherever they are among those of their source.
        waiting().filter(known -> pleg.has(known.uid())).forEach(this::admit);
        // What a pod that waits has made free is not given to others.
        Stream<Pod> first = waiting()
                .filter(other -> preemptions.has(other.uid()) && !other.uid().equals(pod.uid()));
        Admission.Verdict later = verdict(pod, first.toList());
        List<Pod> ending = ending();
        boolean waits = later instanceof Admission.Verdict.Admitted
                && !(verdict(pod, ending) instanceof Admission.Verdict.Admitted);
        boolean critical = sources.isStatic(pod.uid()) || pod.isCritical();
        return waits && (!critical || preemptions.mustWait(pod.uid(), ending)) ? Optional.empty() : Optional.of(later);
    }

    /** Pods that shall end and still have processes, ports and memory. */
    private List<Pod> ending() {
        return pods(worker -> worker.isEnding() && pleg.has(worker.pod().uid()));
    }

    /** The verdict beside the pods that run, those that are about to start, and {@code others}. */
    private Admission.Verdict verdict(Pod pod, List<Pod> others) {
        List<Pod> running = running();
        List<Pod> active = Stream.of(running, allocating.values(), others)
                .flatMap(Collection::stream)
                .toList();
        List<Pod> endable =
                running.stream().filter(other -> !sources.isStatic(other.uid())).toList();
        JsonObject allocatable = ports.resources().countable(ports.node().get().allocatable());
        return new Admission(maxPods, allocatable, node.get(), pressures, shuttingDown, security)
                .judge(pod, sources.isStatic(pod.uid()), active, endable);
    }

    /** The pod starts once {@code victims}, and those that are ending already, have made room for it. */
    private void preempt(Pod pod, List<Pod> victims) {
        log.warn(
                "Critical pod {} has too little room; ending {}",
                pod.fullName(),
                victims.stream().map(Pod::fullName).toList());
        victims.forEach(victim -> evict(victim, victim.grace(), Preemption.REASON));
        preemptions.begin(pod.uid(), ending());
    }

    private void reject(Pod pod, Wanted.Eviction why) {
        if (rejected.size() >= MOST_REJECTED || rejected.containsKey(pod.uid())) {
            return;
        }
        ports.metrics().rejected(why.reason());
        new PodEvents(ports.events()).warning(pod, why.reason(), why.message());
        StatusWriter writer = new StatusWriter(ports.client(), sources::object);
        rejected.put(pod.uid(), writer);
        writer.reject(pod, why);
    }

    private void work(Wanted wanted) {
        PodWorker worker = new PodWorker(ports, pleg, readiness, sources::object, wanted, startedAt);
        workers.put(wanted.pod().uid(), worker);
        worker.wake();
    }

    /** Ends pods that the runtime or the disk has and no source has. Only once all sources were read. */
    private void findOrphans() {
        if (!isListed()) {
            return;
        }
        List<PodRef> orphans = pleg.pods().stream()
                .filter(pod -> !workers.containsKey(pod.uid())
                        && sources.pod(pod.uid()).isEmpty()
                        && !foreign.test(pod))
                .toList();
        for (PodRef orphan : orphans) {
            log.info("No source has pod {} any more; ending it", orphan);
            work(Wanted.leftOver(orphan.uid(), orphan.namespace(), orphan.name()));
        }
        if (!directoriesSeen) {
            directoriesSeen = true;
            ports.onDisk("directories of pods", ports.files()::uids).whenComplete(this::orphanedDirectories);
        }
        freeResources();
        List<Pod> live = pods(PodWorker::isLive);
        ports.cgroups().ifPresent(cgroups -> cgroups.tick(live, this::foundCgroups));
    }

    /** Removes cgroups of pods that do not exist, or of which nothing will run again. */
    private void foundCgroups(Set<String> uids) {
        if (stopped) {
            return;
        }
        for (String uid : uids) {
            PodWorker worker = workers.get(uid);
            if (worker != null) {
                worker.releaseCgroup();
            } else if (sources.pod(uid).isEmpty() && !pleg.has(uid)) {
                log.info("No source has the pod {} of a cgroup any more; removing it", uid);
                work(Wanted.leftOver(uid, "", uid));
            }
        }
    }

    private void orphanedDirectories(List<String> uids, @Nullable Throwable error) {
        if (error != null) {
            log.warn("Directories of pods that ended cannot be listed: {}", Failures.text(error));
            directoriesSeen = false;
            return;
        }
        uids.stream()
                .filter(uid -> !workers.containsKey(uid) && sources.pod(uid).isEmpty())
                .forEach(uid -> work(Wanted.leftOver(uid, "", uid)));
    }
}
