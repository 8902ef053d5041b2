package io.nodekeeper.agent.pleg;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pod lifecycle event generator: lists all sandboxes and containers every second, or less often while the runtime's events
 * show that nothing happens ({@link ListPace}), inspects the pods that changed, keeps
 * their status in a cache and sends events about changes. {@link ParallelInspector} and {@link SerialInspector} are the
 * two ways of inspecting. Confined to its loop.
 */
public final class Pleg {
    private static final Logger log = LoggerFactory.getLogger(Pleg.class);

    private final ContainerRuntime runtime;
    private final Loop loop;
    private final PlegConfig config;
    private final PlegMetrics metrics;
    private final PodStatusCache cache = new PodStatusCache();
    private final PodRecords records = new PodRecords(cache, this::tell);
    private final Quarantine quarantine;
    private final PlegHealth health;
    private final Inspector inspector;
    private final ListPace pace;
    private final Optional<SinglePodLists> singles;
    private final List<EventChannel> channels = new ArrayList<>();
    private final CompletableFuture<Void> firstRelist = new CompletableFuture<>();
    private Inventory inventory = Inventory.EMPTY;
    private @Nullable LastList lastList;
    private @Nullable PendingList listing;
    private Loop.@Nullable Timer timer;
    private @Nullable Long relistBegan;
    /** When the next list begins, unless one is in progress. */
    private long listAt;

    private long startedAt;
    private long lastBeat;
    private boolean relisting;
    private boolean hurry;
    private boolean failing;
    private boolean stopped;

    /** The start of the last successful list, by both clocks. */
    private record LastList(long began, Instant time) {}

    /** A generator over {@code runtime}, whose answers come on {@code loop}. */
    public Pleg(ContainerRuntime runtime, Loop loop, PlegConfig config, PlegMetrics metrics) {
        this.runtime = runtime;
        this.loop = loop;
        this.config = config;
        this.metrics = metrics;
        this.quarantine = new Quarantine(config.quarantine());
        this.health = new PlegHealth(config);
        this.startedAt = loop.clock().nanoTime();
        this.lastBeat = startedAt;
        this.pace = new ListPace(config, startedAt);
        if (config.mode() == PlegConfig.Mode.PARALLEL) {
            ParallelInspector parallel =
                    new ParallelInspector(runtime, loop, config, records, cache, quarantine, this::turn);
            this.inspector = parallel;
            this.singles = Optional.of(new SinglePodLists(runtime, loop.clock(), config, records, parallel, metrics));
        } else {
            this.inspector = new SerialInspector(runtime, loop.clock(), config, records, cache, this::turn);
            this.singles = Optional.empty();
        }
    }

    /** Starts with the first relist. To be called once. */
    public void start() {
        startedAt = loop.clock().nanoTime();
        loop.execute(this::relist);
    }

    /** Stops; cancels the calls in progress. */
    public void stop() {
        stopped = true;
        if (timer != null) {
            timer.cancel();
        }
        if (listing != null) {
            listing.cancel();
        }
        singles.ifPresent(SinglePodLists::hold);
        inspector.stop();
    }

    /** Completes once the first list has succeeded; pods need not have been inspected by then. */
    public CompletableFuture<Void> firstRelist() {
        return firstRelist;
    }

    /** Why the PLEG is unhealthy, for example {@code pleg has yet to be successful}; empty if it is healthy. */
    public Optional<String> unhealthy() {
        if (lastList != null && config.mode() != PlegConfig.Mode.PARALLEL) {
            // As in Kubernetes, the metric changes only when the health is read.
            metrics.lastSeen(lastList.time);
        }
        return health.check(facts(), loop.clock().nanoTime());
    }

    /** The last known status of each pod. */
    public PodStatusCache cache() {
        return cache;
    }

    /**
     * Handles an event of the runtime, which may be wrong: lists its pod soon, or all pods if the pod is not
     * known. The serial modes ignore events, as in Kubernetes.
     */
    public void hint(ContainerEvent event) {
        if (singles.isEmpty()) {
            return;
        }
        happened();
        Optional<String> uid = Optional.of(event.podUid())
                .filter(given -> !given.isEmpty())
                .or(() -> inventory.podOf(event.id()).map(PodRef::uid));
        uid.ifPresentOrElse(this::listSoon, this::relistSoon);
    }

    /** The runtime's event stream was opened; while it stays open, events may replace some lists. Not in the serial modes. */
    public void eventsOpened() {
        pace.opened(loop.clock().nanoTime());
    }

    /** The runtime's event stream ended. */
    public void eventsEnded() {
        pace.ended();
        happened();
    }

    /** Lists this pod now, and inspects it if it changed; a pod in quarantine is tried again. Not in the serial modes. */
    public void relistPod(String podUid) {
        quarantine.hasten(podUid, loop.clock().nanoTime());
        happened();
        listSoon(podUid);
    }

    /** The pods whose inspections time out. */
    public List<StuckPod> stuck() {
        return quarantine.stuck();
    }

    /** What the last list of all pods showed. A pod may have come or gone since, see {@link #pods()}. */
    public Inventory inventory() {
        return inventory;
    }

    /** The pods that the runtime has by the newest list, be it of all pods or of one. */
    public List<PodRef> pods() {
        return records.all().stream().map(PodRecord::ref).toList();
    }

    /** Whether the runtime has the pod by the newest list, be it of all pods or of this one. */
    public boolean has(String podUid) {
        return records.get(podUid).isPresent();
    }

    /** {@code listener} receives all further events, each in its own task on the loop. */
    public void listen(Consumer<PodEvent> listener) {
        channels.add(new EventChannel(loop, listener, metrics::discarded));
    }

    /**
     * The time of the last activity, by the monotonic clock in ns. In parallel mode it is never older than calm period and
     * call deadline together; a serial mode is silent for as long as the calls for one pod take.
     */
    public long lastBeat() {
        return lastBeat;
    }

    /** The time since the last successful list began; since the start if there was none. */
    public Duration lastListAge() {
        long since = lastList != null ? lastList.began : startedAt;
        return Duration.ofNanos(loop.clock().nanoTime() - since);
    }

    private void relist() {
        if (stopped) {
            return;
        }
        long began = loop.clock().nanoTime();
        Instant time = loop.clock().wallTime();
        turn();
        if (relistBegan != null) {
            metrics.relistInterval(Duration.ofNanos(began - relistBegan));
        }
        relistBegan = began;
        relisting = true;
        hurry = false;
        singles.ifPresent(SinglePodLists::hold);
        listing = PendingList.start(runtime, Optional.empty(), config.callDeadline());
        listing.inventory()
                .thenCompose(listed -> take(listed, new LastList(began, time)))
                .whenComplete((done, error) -> ended(began, error));
    }

    private CompletableFuture<Void> take(Inventory listed, LastList list) {
        inventory = listed;
        lastList = list;
        if (config.mode() == PlegConfig.Mode.PARALLEL) {
            metrics.lastSeen(list.time);
        }
        if (failing) {
            failing = false;
            log.info("GenericPLEG: pods can be retrieved again");
        }
        metrics.running(listed.runningPods(), listed.containersByState());
        turn();
        CompletableFuture<Void> inspected = inspector.listed(records.listed(listed, list.began), list.began);
        singles.ifPresent(single -> single.listed(list.began));
        firstRelist.complete(null);
        return inspected;
    }

    private void ended(long began, @Nullable Throwable error) {
        relisting = false;
        if (stopped) {
            return;
        }
        turn();
        long now = loop.clock().nanoTime();
        metrics.relistEnded(Duration.ofNanos(now - began));
        if (error != null) {
            if (!failing) {
                log.error(
                        "GenericPLEG: Unable to retrieve pods: {}",
                        Failures.cause(error).getMessage());
            }
            failing = true;
        }
        if (failing || quarantine.size() > 0 || records.anyDue()) {
            pace.happened(now);
        }
        schedule(hurry ? hintedDelay() : pace.pause(now));
        singles.ifPresent(SinglePodLists::resume);
    }

    private void listSoon(String podUid) {
        if (!singles.map(single -> single.request(podUid)).orElse(true)) {
            relistSoon();
        }
    }

    private void relistSoon() {
        if (hurry) {
            return;
        }
        hurry = true;
        reschedule(hintedDelay());
    }

    /** A list shows what happened after the usual pause, even if the one for a single pod came too early to show it. */
    private void happened() {
        long now = loop.clock().nanoTime();
        pace.happened(now);
        if (!hurry && Duration.ofNanos(listAt - now).compareTo(config.relistPeriod()) > 0) {
            reschedule(config.relistPeriod());
        }
    }

    /** The next list begins after {@code pause}; one that is in progress decides about the next when it ends. */
    private void reschedule(Duration pause) {
        if (!relisting && timer != null) {
            timer.cancel();
            schedule(pause);
        }
    }

    private void schedule(Duration pause) {
        listAt = loop.clock().nanoTime() + pause.toNanos();
        timer = loop.schedule(pause, this::relist);
    }

    private Duration hintedDelay() {
        long since = relistBegan == null ? 0 : loop.clock().nanoTime() - relistBegan;
        return PlegConfig.HINTED_LIST_SPACING.minusNanos(since);
    }

    private void turn() {
        long now = loop.clock().nanoTime();
        lastBeat = now;
        health.note(facts(), now);
        metrics.stuck(quarantine.size());
    }

    private PlegHealth.Facts facts() {
        Optional<Duration> age = lastList == null ? Optional.empty() : Optional.of(lastListAge());
        return new PlegHealth.Facts(age, quarantine.size(), records.size());
    }

    private void tell(PodEvent event) {
        pace.happened(loop.clock().nanoTime());
        channels.forEach(channel -> channel.offer(event));
    }
}
