package io.nodekeeper.agent.pods.eviction;

import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.eviction.PressureListener;
import io.nodekeeper.agent.eviction.Shortage;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.agent.stats.PodUse;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends pods while the node is short of something. In each round, which comes with each measurement of the node, pods beyond
 * their own limits of disk are ended first; if there is none, one pod is, for the most urgent shortage. The next one follows only
 * once nothing is left of it, or after its grace and {@link #CLEANED_UP}: what it used must be seen to be free first. What pods use is read
 * only in rounds that need it. Before a pod ends because the node is short of disk, what no pod needs is removed, and the node measured
 * again. Confined to its loop.
 */
public final class Evictions implements PressureListener {
    private static final Logger log = LoggerFactory.getLogger(Evictions.class);
    /** The kubelet's grace for hard thresholds and local limits. */
    private static final Duration IMMEDIATE = Duration.ofSeconds(1);
    /** How long the kubelet waits at least for the containers of an evicted pod; otherwise one and a half times its grace. */
    private static final Duration KILL = Duration.ofSeconds(10);
    /** How long it then waits for the rest. */
    private static final Duration CLEANED_UP = Duration.ofSeconds(30);
    /** How often it looks. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    /** How long pods are spared while something else is removed and the node is measured. */
    private static final Duration RECLAIM = Duration.ofSeconds(40);

    private final EvictablePods pods;
    private final NodeReclaim reclaim;
    private final Function<Boolean, CompletableFuture<Map<String, PodUse>>> use;
    private final Duration longestGrace;
    private final Consumer<String> nodeEvent;
    private final Runnable measureAgain;
    private final EvictionMetrics metrics;
    private final Loop loop;
    private boolean busy;
    private boolean reclaiming;

    /** What pods use, by UID, and whether what they have on disk is part of it. */
    private record Known(Map<String, PodUse> pods, boolean disk) {}

    /**
     * Evictions of {@code pods}.
     *
     * @param reclaim frees disk before pods end for it
     * @param use reads what pods use; its argument is whether that on disk is needed
     * @param longestGrace of soft thresholds
     * @param nodeEvent records the message of an event {@code EvictionThresholdMet}
     * @param measureAgain asks for the next round at once
     */
    public Evictions(
            EvictablePods pods,
            NodeReclaim reclaim,
            Function<Boolean, CompletableFuture<Map<String, PodUse>>> use,
            Duration longestGrace,
            Consumer<String> nodeEvent,
            Runnable measureAgain,
            EvictionMetrics metrics,
            Loop loop) {
        this.pods = pods;
        this.reclaim = reclaim;
        this.use = use;
        this.longestGrace = longestGrace;
        this.nodeEvent = nodeEvent;
        this.measureAgain = measureAgain;
        this.metrics = metrics;
        this.loop = loop;
    }

    @Override
    public void measured(List<Shortage> shortages, Set<Pressure> pressures) {
        pods.underPressure(pressures);
        boolean ofDisk = isOfDisk(shortages);
        boolean limits = hasLimits();
        if (busy || ofDisk && reclaiming || shortages.isEmpty() && !limits) {
            return;
        }
        if (ofDisk && !limits) {
            reclaim(shortages);
        } else {
            read(shortages, false);
        }
    }

    private static boolean isOfDisk(List<Shortage> shortages) {
        return !shortages.isEmpty() && shortages.getFirst().isOfDisk();
    }

    private boolean hasLimits() {
        return evictable().stream().anyMatch(LocalLimits::has);
    }

    /** Frees disk without evictions; meanwhile pods end only for something else. */
    private void reclaim(List<Shortage> shortages) {
        Shortage first = shortages.getFirst();
        nodeEvent.accept("Attempting to reclaim " + first.resource());
        CompletableFuture<List<Shortage>> freed = reclaim.reclaim(shortages);
        reclaiming = true;
        Deadlines.within(loop, RECLAIM, "freeing disk without evictions", freed)
                .whenComplete((after, error) -> loop.execute(() -> reclaimed(first, after, error)));
    }

    /** Pods end only for what is still short, and beyond their limits; what is not known ends none. */
    private void reclaimed(Shortage first, @Nullable List<Shortage> after, @Nullable Throwable error) {
        reclaiming = false;
        List<Shortage> left = Optional.ofNullable(after).orElse(List.of()).stream()
                .filter(shortage -> shortage.threshold().equals(first.threshold()))
                .toList();
        if (after == null) {
            log.warn("No pod is evicted for {}: {}", first.resource(), error == null ? "" : Failures.text(error));
        } else if (left.isEmpty()) {
            log.info("{} is no longer short; no pod has to end for it", first.resource());
        }
        if (!busy && (hasLimits() || !left.isEmpty())) {
            read(left, true);
        }
    }

    /** Reads what pods use and then decides; {@code reclaimed} is whether disk was freed before. */
    private void read(List<Shortage> shortages, boolean reclaimed) {
        boolean disk = hasLimits() || shortages.stream().anyMatch(Shortage::isOfDisk);
        CompletableFuture<Known> reading = readUse(disk);
        if (disk && !shortages.isEmpty() && !isOfDisk(shortages)) {
            reading = reading.exceptionallyComposeAsync(
                    error -> {
                        log.warn("Pods end without a look at what they have on disk: {}", Failures.text(error));
                        return readUse(false);
                    },
                    loop);
        }
        busy = true;
        reading.whenComplete((known, error) -> loop.execute(() -> {
            try {
                decide(shortages, reclaimed, known, error);
            } catch (RuntimeException e) {
                // The next round must come.
                busy = false;
                throw e;
            }
        }));
    }

    private CompletableFuture<Known> readUse(boolean disk) {
        return use.apply(disk).thenApply(pods -> new Known(pods, disk));
    }

    private void decide(List<Shortage> shortages, boolean reclaimed, @Nullable Known known, @Nullable Throwable error) {
        if (known == null) {
            log.warn("No pod is evicted: {}", error == null ? "" : Failures.text(error));
        }
        Optional<Known> found = Optional.ofNullable(known);
        List<Pod> ended = new ArrayList<>(found.map(this::endBeyondLimits).orElse(List.of()));
        Duration longest = IMMEDIATE;
        if (ended.isEmpty() && isOfDisk(shortages) && !reclaimed) {
            busy = false;
            reclaim(shortages);
            return;
        }
        if (ended.isEmpty() && found.isPresent() && !shortages.isEmpty()) {
            Optional<Pod> first =
                    relieve(shortages.getFirst(), evictable(), found.get().pods());
            first.ifPresent(pod -> {
                ended.add(pod);
                count(shortages);
            });
            longest = first.map(pod -> grace(pod, shortages.getFirst())).orElse(longest);
        }
        if (ended.isEmpty()) {
            busy = false;
        } else {
            Duration kill = longest.multipliedBy(3).dividedBy(2);
            Duration limit = (kill.compareTo(KILL) > 0 ? kill : KILL).plus(CLEANED_UP);
            awaitEnd(ended, loop.clock().nanoTime() + limit.toNanos());
        }
    }

    private void count(List<Shortage> shortages) {
        metrics.evicted(shortages.getFirst().threshold().signal().text());
        long now = loop.clock().nanoTime();
        shortages.forEach(shortage ->
                metrics.statsAge(shortage.threshold().signal(), Duration.ofNanos(now - shortage.measuredAt())));
    }

    /** Ends the pods that are beyond their own limits of disk. */
    private List<Pod> endBeyondLimits(Known known) {
        List<Pod> ended = new ArrayList<>();
        // Some may have ended while their use was read.
        for (Pod pod : known.disk() ? evictable() : List.<Pod>of()) {
            Optional.ofNullable(known.pods().get(pod.uid()))
                    .flatMap(own -> LocalLimits.fault(pod, own))
                    .ifPresent(fault -> {
                        evict(pod, IMMEDIATE, fault.message(), false);
                        metrics.evicted(fault.signal());
                        ended.add(pod);
                    });
        }
        return ended;
    }

    private List<Pod> evictable() {
        return pods.evictable().stream().filter(pod -> !pod.isCritical()).toList();
    }

    private Optional<Pod> relieve(Shortage shortage, List<Pod> active, Map<String, PodUse> known) {
        if (!shortage.isOfDisk()) {
            nodeEvent.accept("Attempting to reclaim " + shortage.resource());
        }
        PodRanking ranking = PodRanking.of(shortage, known);
        Optional<Pod> first = ranking.first(active);
        first.ifPresentOrElse(
                pod -> evict(pod, grace(pod, shortage), ranking.message(pod, shortage), true),
                () -> log.warn("Eviction manager: unable to evict any pods from the node"));
        return first;
    }

    private Duration grace(Pod pod, Shortage shortage) {
        if (shortage.threshold().hard()) {
            return IMMEDIATE;
        }
        // Of an outline only the containers know the time that it has.
        return pod.isOutline() || longestGrace.compareTo(pod.grace()) < 0 ? longestGrace : pod.grace();
    }

    private void evict(Pod pod, Duration grace, String why, boolean disrupted) {
        log.warn("Pod {} is evicted: {}", pod.fullName(), why);
        pods.evict(pod, grace, new Wanted.Eviction("Evicted", why, disrupted));
    }

    private void awaitEnd(List<Pod> ended, long until) {
        boolean late = loop.clock().nanoTime() - until >= 0;
        if (late || ended.stream().noneMatch(pods::isEnding)) {
            busy = false;
            measureAgain.run();
        } else {
            loop.schedule(LOOK, () -> awaitEnd(ended, until));
        }
    }
}
