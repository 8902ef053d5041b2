package io.nodekeeper.agent.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.agent.stats.signals.Collector;
import io.nodekeeper.agent.stats.signals.FactSignal;
import io.nodekeeper.agent.stats.signals.LateSignal;
import io.nodekeeper.agent.stats.signals.LateSignals;
import io.nodekeeper.agent.stats.signals.SignalEvent;
import io.nodekeeper.agent.stats.signals.Timed;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerUsage;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Signals that hang or fail: their last value stays, and they are named. */
class LateSignalTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-03-01T12:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final Collector<String> collector =
            new Collector<>("logs", Duration.ofSeconds(1), Duration.ofSeconds(5), loop);
    private int readings;

    private CompletableFuture<Void> refresh(CompletableFuture<String> reading) {
        CompletableFuture<Void> answer = collector.refresh(() -> {
            readings++;
            return reading;
        });
        time.advance(Duration.ZERO);
        return answer;
    }

    @Test
    @Tag("A98")
    void aReadingThatHangsKeepsTheLastValueWithItsOldTime() {
        refresh(CompletableFuture.completedFuture("first"));
        time.advance(Duration.ofSeconds(10));

        CompletableFuture<String> hangs = new CompletableFuture<>();
        CompletableFuture<Void> answer = refresh(hangs);
        assertThat(answer).isNotDone();
        time.advance(Duration.ofSeconds(1));

        assertThat(answer).isCompleted();
        assertThat(collector.newest().orElseThrow().value()).isEqualTo("first");
        assertThat(collector.newest().orElseThrow().time()).isEqualTo("2026-03-01T12:00:00Z");
        assertThat(collector.late().orElseThrow().since()).isEqualTo("2026-03-01T12:00:10Z");
        assertThat(collector.late().orElseThrow().error()).isEqualTo("no answer within 1s");
    }

    @Test
    void requestsDoNotWaitAgainForAReadingThatHangsNorStartAnother() {
        refresh(new CompletableFuture<>());
        time.advance(Duration.ofSeconds(30));

        assertThat(refresh(CompletableFuture.completedFuture("other"))).isCompleted();
        assertThat(readings).isEqualTo(1);
    }

    @Test
    void aLateAnswerCountsWhenItArrives() {
        CompletableFuture<String> hangs = new CompletableFuture<>();
        refresh(hangs);
        time.advance(Duration.ofSeconds(30));

        hangs.complete("late");
        time.advance(Duration.ZERO);

        assertThat(collector.newest().orElseThrow().time()).isEqualTo("2026-03-01T12:00:30Z");
        assertThat(collector.late()).isEmpty();
    }

    @Test
    void aReadingThatIsAlwaysLateIsUsableForItsTime() {
        Duration age = Duration.ofSeconds(30);

        // given a first reading that takes 3 s
        CompletableFuture<String> slow = new CompletableFuture<>();
        refresh(slow);
        time.advance(Duration.ofSeconds(3));
        assertThat(collector.late(age)).isPresent();
        slow.complete("first");
        time.advance(Duration.ofSeconds(7));

        // when the next one passes its deadline, too
        refresh(new CompletableFuture<>());
        time.advance(Duration.ofSeconds(1));

        // then the signal is late, but its value may be used until it is too old
        assertThat(collector.late()).isPresent();
        assertThat(collector.late(age)).isEmpty();
        time.advance(Duration.ofSeconds(22));
        assertThat(collector.late(age)).isEmpty();
        time.advance(Duration.ofSeconds(1));
        assertThat(collector.late(age)).isPresent();
    }

    @Test
    void aFreshValueIsNotReadAgain() {
        refresh(CompletableFuture.completedFuture("first"));
        time.advance(Duration.ofMillis(4_900));
        refresh(CompletableFuture.completedFuture("second"));
        assertThat(collector.newest().orElseThrow().value()).isEqualTo("first");

        time.advance(Duration.ofMillis(200));
        refresh(CompletableFuture.completedFuture("second"));
        assertThat(collector.newest().orElseThrow().value()).isEqualTo("second");
        assertThat(collector.previous().orElseThrow().value()).isEqualTo("first");
    }

    @Test
    void aReadingThatFailsIsLateSinceItsFirstFailure() {
        refresh(CompletableFuture.failedFuture(new IOException("errno 5")));
        time.advance(Duration.ofSeconds(20));
        refresh(CompletableFuture.failedFuture(new IOException("errno 6")));

        assertThat(collector.late())
                .contains(
                        new LateSignal("logs", Instant.parse("2026-03-01T12:00:00Z"), 0, "errno 6", Optional.empty()));
    }

    @Test
    void aFactKeepsTheWallTimeOfItsReading() {
        FactSignal<String> signal = new FactSignal<>("nodefs", loop);
        time.advance(Duration.ofSeconds(7));
        Fact<String> fact = Fact.of("full", Duration.ofSeconds(4).toNanos());
        signal.update(fact, Optional.of(Path.of("/data")));
        assertThat(signal.newest().orElseThrow().time()).isEqualTo("2026-03-01T12:00:04Z");
        assertThat(signal.late()).isEmpty();

        time.advance(Duration.ofSeconds(60));
        loop.skewWallClock(Duration.ofHours(1));
        signal.update(fact.failed("statvfs of /data does not return"), Optional.of(Path.of("/data")));

        assertThat(signal.newest().orElseThrow().time()).isEqualTo("2026-03-01T12:00:04Z");
        assertThat(signal.late())
                .contains(new LateSignal(
                        "nodefs",
                        Instant.parse("2026-03-01T12:00:04Z"),
                        Duration.ofSeconds(4).toNanos(),
                        "statvfs of /data does not return",
                        Optional.of(Path.of("/data"))));
    }

    @Test
    void aFactThatIsNotReadOnThisNodeIsNotLate() {
        FactSignal<String> signal = new FactSignal<>("imagefs", loop);
        signal.update(Fact.unknown(), Optional.empty());

        assertThat(signal.late()).isEmpty();
    }

    @Test
    void aLateSignalIsNamedOnceWithItsMountAndAgainWhenItIsMeasured() {
        List<SignalEvent> events = new ArrayList<>();
        LateSignals signals = new LateSignals(events::add);
        LateSignal late = new LateSignal(
                "nodefs",
                Instant.parse("2026-03-01T12:00:00Z"),
                0,
                "statvfs of /data/agent: no answer",
                Optional.of(Path.of("/data/agent")));
        MountTable mounts = MountTable.parse(List.of(
                "27 1 253:1 / / rw - ext4 /dev/vda1 rw", "40 27 0:44 / /data rw - fuse.gluster gfs:/volume rw"));

        assertThat(signals.hasNew(List.of(late))).isTrue();
        signals.name(List.of(late), mounts);
        assertThat(signals.hasNew(List.of(late))).isFalse();
        signals.name(List.of(late), mounts);
        signals.ended(List.of(late));
        signals.ended(List.of());

        assertThat(events)
                .containsExactly(
                        new SignalEvent(
                                true,
                                "StatisticsLate",
                                "the signal nodefs has not been measured since 2026-03-01T12:00:00Z: statvfs of"
                                        + " /data/agent: no answer; the file system is mounted at /data from"
                                        + " gfs:/volume, type fuse.gluster; its last value is shown with its old time"),
                        new SignalEvent(
                                false,
                                "StatisticsMeasured",
                                "the signal nodefs is measured again; it was not since 2026-03-01T12:00:00Z"));
        assertThat(LateSignals.ages(List.of(late), 2_500_000_000L)).isEqualTo(Map.of("nodefs", 2.5));
    }

    /** Containers whose names begin with "hung" never answer. */
    private final class Shims implements ContainerRuntime {
        private final Map<String, Long> bytes = new HashMap<>();
        private final List<String> asked = new ArrayList<>();

        @Override
        public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
            String id = call.containerId().orElseThrow();
            asked.add(id);
            CompletableFuture<T> answer = new CompletableFuture<>();
            if (id.startsWith("hung")) {
                loop.schedule(deadline, () -> answer.completeExceptionally(new IOException("no answer")));
            } else {
                @SuppressWarnings("unchecked") // GetContainerStats is the only call.
                T usage = (T) new ContainerUsage(id, 0, 0, bytes.getOrDefault(id, 5L), 1);
                loop.execute(() -> answer.complete(usage));
            }
            return answer;
        }

        @Override
        public CompletableFuture<Void> events(Consumer<ContainerEvent> listener) {
            return new CompletableFuture<>();
        }
    }

    private static List<RunningPod> pods(String... containers) {
        return List.of(new RunningPod(
                "u1",
                "web",
                "default",
                "s1",
                Optional.empty(),
                List.of(containers).stream()
                        .map(id -> new RunningPod.RunningContainer(id, id, Optional.empty()))
                        .toList()));
    }

    @Test
    void aContainerThatHangsKeepsOnlyItsOwnLayerFromBeingRead() {
        Shims shims = new Shims();
        WritableLayers layers = new WritableLayers(shims, loop);
        CompletableFuture<Map<String, Timed<DiskUse>>> round =
                layers.read(pods("hung-1", "c2", "c3", "c4", "c5", "c6"));
        time.advance(WritableLayers.DEADLINE);

        assertThat(round.join()).containsOnlyKeys("c2", "c3", "c4", "c5", "c6");
        assertThat(round.join())
                .hasEntrySatisfying("c6", use -> assertThat(use.time()).isEqualTo("2026-03-01T12:00:00Z"));
    }

    @Test
    void aRuntimeThatHangsIsAskedForFourContainersOnly() {
        Shims shims = new Shims();
        CompletableFuture<Map<String, Timed<DiskUse>>> round =
                new WritableLayers(shims, loop).read(pods("hung-1", "hung-2", "hung-3", "hung-4", "hung-5", "hung-6"));
        time.advance(WritableLayers.DEADLINE);

        assertThat(round).isCompletedExceptionally();
        assertThat(shims.asked).containsExactly("hung-1", "hung-2", "hung-3", "hung-4");
    }

    /** An init container may fill the disk and end. */
    @Test
    void whatAContainerWroteStaysKnownAfterItsEnd() {
        Shims shims = new Shims();
        shims.bytes.put("c1", 800L);
        WritableLayers layers = new WritableLayers(shims, loop);
        layers.read(pods("c1", "c2"));
        time.advance(WritableLayers.DEADLINE);
        shims.asked.clear();
        RunningPod running = pods("c2").getFirst();

        CompletableFuture<Map<String, Timed<DiskUse>>> round = layers.read(List.of(new RunningPod(
                "u1",
                "web",
                "default",
                "s1",
                Optional.empty(),
                running.containers(),
                List.of(new RunningPod.EndedContainer("c1", "c1"), new RunningPod.EndedContainer("c0", "c0")))));
        time.advance(WritableLayers.DEADLINE);

        assertThat(round.join()).containsOnlyKeys("c1", "c2");
        assertThat(round.join().get("c1")).extracting(Timed::value).isEqualTo(new DiskUse(800, 1));
        assertThat(shims.asked).containsExactly("c2");
    }
}
