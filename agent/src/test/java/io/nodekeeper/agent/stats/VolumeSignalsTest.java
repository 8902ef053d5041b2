package io.nodekeeper.agent.stats;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.stats.signals.LateSignal;
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
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Volumes that are measured in virtual time; some hang. */
class VolumeSignalsTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-03-01T12:00:00Z"));
    private final List<String> read = new ArrayList<>();
    private final Map<String, CompletableFuture<Optional<VolumeUse>>> hung = new HashMap<>();
    private final VolumeSignals signals = new VolumeSignals(this::measure, time.loop("agent"));

    private CompletableFuture<Optional<VolumeUse>> measure(MountedVolume volume) {
        read.add(volume.name());
        return Optional.ofNullable(hung.get(volume.name()))
                .orElseGet(() -> CompletableFuture.completedFuture(Optional.of(use(volume.name()))));
    }

    private static VolumeUse use(String name) {
        return new VolumeUse(
                name, Optional.empty(), new Filesystem(new Level(1, 2), new Level(3, 4)), new DiskUse(5, 6), false);
    }

    private static List<MountedVolume> volumes(String... names) {
        return Stream.of(names).map(name -> volume(name, false)).toList();
    }

    private static MountedVolume volume(String name, boolean counted) {
        return new MountedVolume("shop", "web", "u1", name, Path.of("/volumes/" + name), Optional.empty(), counted);
    }

    private List<String> known() {
        return signals.newest().getOrDefault("u1", List.of()).stream()
                .map(use -> use.value().name() + " " + use.time())
                .toList();
    }

    @Test
    @Tag("A98")
    void aMountThatHangsKeepsOnlyItsOwnVolumeFromBeingMeasured() {
        List<MountedVolume> all = volumes("a", "b", "c", "d", "e", "f");
        signals.refresh(all);
        time.advance(Duration.ofMinutes(2));
        hung.put("a", new CompletableFuture<>());

        CompletableFuture<Void> answer = signals.refresh(all);
        time.advance(Duration.ZERO);
        assertThat(answer).isNotDone();
        time.advance(Duration.ofSeconds(1));

        assertThat(answer).isCompleted();
        assertThat(known())
                .containsExactly(
                        "a 2026-03-01T12:00:00Z",
                        "b 2026-03-01T12:02:00Z",
                        "c 2026-03-01T12:02:00Z",
                        "d 2026-03-01T12:02:00Z",
                        "e 2026-03-01T12:02:00Z",
                        "f 2026-03-01T12:02:00Z");
        assertThat(signals.late(() -> all))
                .containsExactly(new LateSignal(
                        "volume shop/web/a",
                        Instant.parse("2026-03-01T12:02:00Z"),
                        Duration.ofMinutes(2).toNanos(),
                        "no answer within 1s",
                        Optional.of(Path.of("/volumes/a"))));

        CompletableFuture<Void> next = signals.refresh(all);
        time.advance(Duration.ZERO);
        assertThat(next).isCompleted();
        assertThat(read).filteredOn("a"::equals).hasSize(2);
    }

    /** A pod can have more files than can be counted in a day. */
    @Test
    void countsOfFilesThatNeverEndAreFour() {
        List<MountedVolume> endless = Stream.of("a", "b", "c", "d", "e", "f")
                .map(name -> volume(name, true))
                .toList();
        endless.forEach(volume -> hung.put(volume.name(), new CompletableFuture<>()));

        for (int i = 0; i < 10; i++) {
            signals.refresh(endless);
            time.advance(Duration.ofMinutes(1));
        }
        assertThat(read).hasSize(4);

        // One that returns makes room for another one.
        requireNonNull(hung.get("a")).complete(Optional.of(use("a")));
        time.advance(Duration.ZERO);
        signals.refresh(endless);
        assertThat(read).hasSize(5);
    }

    @Test
    void morePlacesThanMeasurementsAtATimeAreFreedByTheDeadline() {
        List<MountedVolume> all = volumes("h1", "h2", "h3", "h4", "x");
        Stream.of("h1", "h2", "h3", "h4").forEach(name -> hung.put(name, new CompletableFuture<>()));

        signals.refresh(all);
        time.advance(Duration.ofMillis(900));
        assertThat(read).containsExactly("h1", "h2", "h3", "h4");
        time.advance(Duration.ofMillis(200));

        assertThat(known()).containsExactly("x 2026-03-01T12:00:01Z");
        assertThat(signals.late(() -> all)).hasSize(4);
    }

    @Test
    void aRequestWaitsASecondHoweverManyMountsHangAndTheOthersAreMeasuredAfterwards() {
        List<MountedVolume> all = Stream.concat(
                        Stream.iterate(1, i -> i <= 40, i -> i + 1).map(i -> volume("h" + i, false)),
                        Stream.of(volume("x", false)))
                .toList();
        all.stream()
                .filter(volume -> !volume.name().equals("x"))
                .forEach(volume -> hung.put(volume.name(), new CompletableFuture<>()));

        CompletableFuture<Void> answer = signals.refresh(all);
        time.advance(Duration.ofSeconds(1));
        assertThat(answer).isCompleted();
        assertThat(known()).isEmpty();

        time.advance(Duration.ofSeconds(10));
        assertThat(known()).hasSize(1);
        assertThat(read).hasSize(41);
    }

    @Test
    void aVolumeWhoseFilesAreCountedHasTimeForIt() {
        MountedVolume large = volume("large", true);
        CompletableFuture<Optional<VolumeUse>> counting = new CompletableFuture<>();
        hung.put("large", counting);

        signals.refresh(List.of(large));
        time.advance(Duration.ofSeconds(10));
        assertThat(signals.late(() -> List.of(large))).isEmpty();
        counting.complete(Optional.of(use("large")));
        time.advance(Duration.ZERO);

        assertThat(known()).containsExactly("large 2026-03-01T12:00:10Z");
    }

    @Test
    void aVolumeIsMeasuredAgainAfterAMinute() {
        signals.refresh(volumes("a"));
        time.advance(Duration.ofSeconds(59));
        signals.refresh(volumes("a"));
        time.advance(Duration.ZERO);
        assertThat(read).hasSize(1);

        time.advance(Duration.ofSeconds(1));
        signals.refresh(volumes("a"));
        time.advance(Duration.ZERO);
        assertThat(read).hasSize(2);
    }

    @Test
    void volumesThatAreGoneAreForgotten() {
        hung.put("a", CompletableFuture.failedFuture(new IOException("errno 5")));
        signals.refresh(volumes("a", "b"));
        time.advance(Duration.ZERO);
        assertThat(signals.late(() -> volumes("a", "b")))
                .extracting(LateSignal::error)
                .containsExactly("errno 5");

        assertThat(signals.late(() -> volumes("b"))).isEmpty();
        signals.refresh(volumes("b"));
        time.advance(Duration.ZERO);
        assertThat(known()).containsExactly("b 2026-03-01T12:00:00Z");
    }

    @Test
    void whatIsNoDirectoryHasNoNumbers() {
        hung.put("block", CompletableFuture.completedFuture(Optional.empty()));
        signals.refresh(volumes("block"));
        time.advance(Duration.ZERO);

        assertThat(signals.newest()).isEmpty();
        assertThat(signals.late(() -> volumes("block"))).isEmpty();
    }
}
