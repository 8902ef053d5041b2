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
import java.util.function.Supplier;

/**
 * The volumes of pods, each a signal of its own: one whose mount hangs keeps its last value and its old time, and the others are
 * current. Confined to its loop.
 */
final class VolumeSignals {
    /** How many volumes are measured at the same time, besides those that are late; and of how many the files are counted at all. */
    static final int PARALLEL = 4;
    /** A file system that works answers in milliseconds. It is also how long a request waits for all of them. */
    static final Duration DEADLINE = Duration.ofSeconds(1);
    /** Files are counted at some 100,000 in a second: 2,000,000. A volume with more is late. */
    static final Duration COUNTING = Duration.ofSeconds(20);
    /** A kubelet's period ({@code volumeStatsAggPeriod}). */
    static final Duration FRESH = Duration.ofMinutes(1);

    private final Function<MountedVolume, CompletableFuture<Optional<VolumeUse>>> reading;
    private final Loop loop;
    /** The signals of the volumes of the last request. */
    private Map<MountedVolume, Collector<Optional<VolumeUse>>> signals = Map.of();
    /** The volumes that are still to be looked at. */
    private final Deque<MountedVolume> left = new ArrayDeque<>();
    /** How many are being measured. */
    private int underWay;
    /** How many readings that count files have not returned, late ones included: each needs memory and open directories. */
    private int counting;
    /** Completes when nothing is left. */
    private CompletableFuture<Void> all = CompletableFuture.completedFuture(null);

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
     * measured or is late, at the latest after {@link #DEADLINE}; what is left then is measured all the same.
     */
    CompletableFuture<Void> refresh(List<MountedVolume> volumes) {
        Map<MountedVolume, Collector<Optional<VolumeUse>>> wanted = new HashMap<>();
        for (MountedVolume volume : volumes) {
            Collector<Optional<VolumeUse>> known = signals.get(volume);
            Duration deadline = volume.counted() ? COUNTING : DEADLINE;
            wanted.put(
                    volume, known != null ? known : new Collector<>("volume " + volume.text(), deadline, FRESH, loop));
        }
        signals = wanted;
        left.clear();
        left.addAll(volumes);
        if (underWay == 0) {
            all = new CompletableFuture<>();
        }
        int more = PARALLEL - underWay;
        underWay = PARALLEL;
        for (int i = 0; i < more; i++) {
            measure();
        }
        CompletableFuture<Void> answer = new CompletableFuture<>();
        all.thenRun(() -> answer.complete(null));
        loop.schedule(DEADLINE, () -> answer.complete(null));
        return answer;
    }

    /** Measures one after the other of what is left. */
    private void measure() {
        for (MountedVolume volume = left.poll(); volume != null; volume = left.poll()) {
            MountedVolume next = volume;
            Collector<Optional<VolumeUse>> collector = signals.get(next);
            // While as many are late as may be counted at all, others are left for a later request.
            CompletableFuture<Void> done = collector == null || next.counted() && counting >= PARALLEL
                    ? CompletableFuture.completedFuture(null)
                    : collector.refresh(() -> read(next));
            if (!done.isDone()) {
                done.whenCompleteAsync((measured, error) -> measure(), loop);
                return;
            }
        }
        underWay--;
        if (underWay == 0) {
            all.complete(null);
        }
    }

    private CompletableFuture<Optional<VolumeUse>> read(MountedVolume volume) {
        CompletableFuture<Optional<VolumeUse>> use = reading.apply(volume);
        if (!volume.counted()) {
            return use;
        }
        counting++;
        // Its place is free before anybody knows the result.
        return use.whenCompleteAsync((measured, error) -> counting--, loop);
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

    /** The late signals of volumes that are {@code present}, which is asked for only if any signal is late. */
    List<LateSignal> late(Supplier<List<MountedVolume>> present) {
        Map<MountedVolume, LateSignal> late = new HashMap<>();
        signals.forEach((volume, collector) ->
                collector.late().ifPresent(signal -> late.put(volume, signal.at(volume.path()))));
        if (!late.isEmpty()) {
            late.keySet().retainAll(Set.copyOf(present.get()));
        }
        return List.copyOf(late.values());
    }
}
