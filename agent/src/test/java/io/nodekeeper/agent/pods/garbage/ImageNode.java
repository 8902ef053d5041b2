package io.nodekeeper.agent.pods.garbage;

import io.nodekeeper.agent.config.ImageGcConfig;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A simulated runtime whose images fill a disk of 1,000 bytes, and the collector of its images, in virtual time. */
final class ImageNode implements GarbageListener {
    static final long CAPACITY = 1_000;

    final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    final VirtualTime.VirtualLoop loop = time.loop("agent");
    final FakeRuntime runtime = new FakeRuntime(loop);
    final List<String> events = new ArrayList<>();
    final List<String> removed = new ArrayList<>();
    final Set<String> needed = new HashSet<>();
    /** Bytes on the disk that are no images. */
    long others;

    long capacity = CAPACITY;
    final ImageCollector collector;

    ImageNode(ImageGcConfig config) {
        collector = new ImageCollector(config, runtime, Duration.ofMinutes(2), this::measure, () -> needed, this, loop);
        image("pause", 1);
    }

    private CompletableFuture<Level> measure() {
        return CompletableFuture.completedFuture(new Level(capacity - used(), capacity));
    }

    long used() {
        return others + runtime.images().stream().mapToLong(Image::size).sum();
    }

    void image(String name, long size) {
        List<Image> images = new ArrayList<>(runtime.images());
        images.add(new Image("sha256:" + name, List.of(), List.of(name + ":1"), size));
        runtime.images(images);
    }

    void pinned(String name, long size) {
        List<Image> images = new ArrayList<>(runtime.images());
        images.add(new Image("sha256:" + name, List.of(), List.of(name + ":1"), size, OptionalLong.empty(), "", true));
        runtime.images(images);
    }

    List<String> images() {
        return runtime.images().stream().map(image -> image.id().substring(7)).toList();
    }

    /** The images that the collector asked to remove. */
    List<String> asked() {
        return runtime.calls().stream()
                .filter(RuntimeCall.RemoveImage.class::isInstance)
                .map(call -> ((RuntimeCall.RemoveImage) call).image().substring(7))
                .toList();
    }

    CompletableFuture<Void> round() {
        return run(collector.round());
    }

    CompletableFuture<Void> removeUnused() {
        return run(collector.removeUnused());
    }

    private CompletableFuture<Void> run(CompletableFuture<Void> work) {
        time.advance(Duration.ofSeconds(1));
        return work;
    }

    @Override
    public void imageRemoved(String reason) {
        removed.add(reason);
    }

    @Override
    public void failed(String reason, String message) {
        events.add(reason + ": " + message);
    }
}
