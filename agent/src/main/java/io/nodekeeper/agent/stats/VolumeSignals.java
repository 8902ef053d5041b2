package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.signals.Collector;
import io.nodekeeper.agent.stats.signals.LateSignal;
import io.nodekeeper.agent.stats.signals.Timed;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The volumes of pods, each a signal of its own: one whose mount hangs keeps its last value and its old time, and the others are
 * current. Confined to its loop.
 */
final class VolumeSignals {
    /** How many volumes are measured at the same time, besides those that are late. */
    static final int PARALLEL = 4;
    /** A file system that works answers in milliseconds; files are counted at some 100,000 in a second. */
    static final Duration DEADLINE = Duration.ofSeconds(1);
    /** A kubelet's period ({@code volumeStatsAggPeriod}). */
    static final Duration FRESH = Duration.ofMinutes(1);

    private final Function<MountedVolume, CompletableFuture<Optional<VolumeUse>>> reading;
    private final Loop loop;
    /** Those of the last request. */
    private Map<MountedVolume, Collector<Optional<VolumeUse>>> signals = Map.of();

    /**
     * Signals without a volume.
     *
     * @param reading measures a volume, and may take as long as it likes; empty if it has no files
     */
    VolumeSignals(Function<MountedVolume, CompletableFuture<Optional<VolumeUse>>> reading, Loop loop) {
        this.reading = reading;
        this.loop = loop;
    }

    /**
     * Measures those of {@code volumes} that were not measured for a minute, and forgets all others. Completes when each has been
     * measured or is late.
     */
    CompletableFuture<Void> refresh(List<MountedVolume> volumes) {
        Map<MountedVolume, Collector<Optional<VolumeUse>>> wanted = new HashMap<>();
        for (MountedVolume volume : volumes) {
            Collector<Optional<VolumeUse>> known = signals.get(volume);
            wanted.put(
                    volume, known != null ? known : new Collector<>("volume " + volume.text(), DEADLINE, FRESH, loop));
        }
        signals = wanted;
        Deque<MountedVolume> left = new ArrayDeque<>(volumes);
        List<CompletableFuture<Void>> lanes = new ArrayList<>();
        for (int i = 0; i < PARALLEL; i++) {
            lanes.add(lane(left, wanted));
        }
        return CompletableFuture.allOf(lanes.toArray(CompletableFuture[]::new));
    }

    /** Measures one after the other of {@code left}. */
    private CompletableFuture<Void> lane(
            Deque<MountedVolume> left, Map<MountedVolume, Collector<Optional<VolumeUse>>> wanted) {
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        while (done.isDone()) {
            MountedVolume volume = left.poll();
            Collector<Optional<VolumeUse>> collector = volume == null ? null : wanted.get(volume);
            if (volume == null || collector == null) {
                return done;
            }
            done = collector.refresh(() -> reading.apply(volume));
        }
        return done.thenComposeAsync(measured -> lane(left, wanted), loop);
    }

    /** By UID of the pod: what is known about its volumes, each with its time, by their names. */
    Map<String, List<Timed<VolumeUse>>> newest() {
        Map<String, List<Timed<VolumeUse>>> newest = new HashMap<>();
        signals.forEach((volume, collector) -> collector
                .newest()
                .filter(use -> use.value().isPresent())
                .ifPresent(use -> newest.computeIfAbsent(volume.uid(), uid -> new ArrayList<>())
                        .add(use.map(Optional::orElseThrow))));
        newest.values()
                .forEach(uses ->
                        uses.sort(Comparator.comparing(use -> use.value().name())));
        return newest;
    }

    /** Those of {@code present} that are late. */
    List<LateSignal> late(Set<MountedVolume> present) {
        List<LateSignal> late = new ArrayList<>();
        signals.forEach((volume, collector) -> {
            if (present.contains(volume)) {
                collector.late().ifPresent(signal -> late.add(signal.at(volume.path())));
            }
        });
        return late;
    }
}
