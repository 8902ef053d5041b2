package io.nodekeeper.agent.pods.garbage;

import io.nodekeeper.agent.config.ImageGcConfig;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.Image;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes images that nothing uses: each 5 min if their disk is fuller than the high threshold, until it is emptier than the low
 * one, and all of them when pods would be evicted otherwise. Which images those are is read from the runtime each time; if that
 * fails, none is removed. Confined to its loop.
 */
public final class ImageCollector {
    private static final Logger log = LoggerFactory.getLogger(ImageCollector.class);
    /** The kubelet's period. */
    private static final Duration PERIOD = Duration.ofMinutes(5);
    /** After a round that failed for the first time: at the start the runtime or the disk may not have answered yet. */
    private static final Duration SOON = Duration.ofSeconds(20);
    /** Images share layers, so that their sizes say too little or too much; each pass measures what is left. */
    private static final int MOST_PASSES = 20;

    private static final long EVERYTHING = Long.MAX_VALUE;

    private final ImageGcConfig config;
    private final ContainerRuntime runtime;
    private final ImageRemover remover;
    private final Supplier<CompletableFuture<Level>> space;
    private final Supplier<Collection<String>> needed;
    private final GarbageListener listener;
    private final Loop loop;
    private final ImageRecords records = new ImageRecords();
    private final long began;
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
    private long nextRound;
    private boolean running;
    /** Rounds that failed one after another. */
    private int failures;

    /**
     * A collector that has done nothing.
     *
     * @param deadline of the removal of one image
     * @param space measures the bytes of the images' file system; fails if they are not known
     * @param needed the names of the images of the pods that shall run: those that have no container yet need theirs, too
     */
    public ImageCollector(
            ImageGcConfig config,
            ContainerRuntime runtime,
            Duration deadline,
            Supplier<CompletableFuture<Level>> space,
            Supplier<Collection<String>> needed,
            GarbageListener listener,
            Loop loop) {
        this.config = config;
        this.runtime = runtime;
        this.space = space;
        this.needed = needed;
        this.listener = listener;
        this.loop = loop;
        remover = new ImageRemover(runtime, deadline, loop, listener);
        began = loop.clock().nanoTime();
        nextRound = began;
    }

    /** Images with these ids are in use now; begins a round if it is time. To be called about each 10 s. */
    public void tick(Collection<String> used) {
        records.used(used, now());
        if (!running && now() - nextRound >= 0) {
            running = true;
            round().thenRun(() -> {
                running = false;
                nextRound = now() + (failures == 1 ? SOON : PERIOD).toNanos();
            });
        }
    }

    /** One round; completes, and never fails, when it has ended. One that has not ended delays the next. */
    CompletableFuture<Void> round() {
        return after(() -> unused().thenCompose(this::removeOld).thenCompose(ready -> space(0)))
                .handle((ready, error) -> {
                    ended(error);
                    return null;
                });
    }

    /** Removes all images that nothing uses; completes, and never fails, when it has ended. */
    public CompletableFuture<Void> removeUnused() {
        return after(() -> free(EVERYTHING).thenApply(outcome -> null)).handle((ready, error) -> {
            if (error != null) {
                log.warn("Unused images are not removed: {}", Failures.text(error));
            }
            return null;
        });
    }

    /** One at a time, so that no image is removed twice. */
    private CompletableFuture<Void> after(Supplier<CompletableFuture<Void>> work) {
        last = last.<Void>handle((ready, error) -> null).thenComposeAsync(ready -> work.get(), loop);
        return last;
    }

    private void ended(@Nullable Throwable error) {
        if (error == null) {
            failures = 0;
            return;
        }
        String text = Failures.text(error);
        log.warn("Image garbage collection failed: {}", text);
        failures++;
        if (failures > 1) {
            listener.failed("ImageGCFailed", text);
        }
    }

    private CompletableFuture<UnusedImages> unused() {
        return UnusedImages.read(runtime)
                .thenApplyAsync(
                        found -> {
                            records.listed(found.all(), now());
                            records.used(found.used(), now());
                            return found;
                        },
                        loop);
    }

    private CompletableFuture<Void> removeOld(UnusedImages found) {
        if (config.maximumAge().isZero()) {
            return CompletableFuture.completedFuture(null);
        }
        List<Image> old = removable(found).stream()
                .filter(image -> records.isUnusedFor(image, config.maximumAge(), began, now()))
                .toList();
        return remove(new ArrayDeque<>(old), EVERYTHING, ImageRemover.Outcome.NOTHING, "age")
                .thenApply(outcome -> null);
    }

    private CompletableFuture<Void> space(int pass) {
        if (config.highThresholdPercent() == 100) {
            return CompletableFuture.completedFuture(null);
        }
        return space.get().thenCompose(level -> {
            if (level.capacity() == 0) {
                String message = "invalid capacity 0 on image filesystem";
                listener.failed("InvalidDiskCapacity", message);
                return CompletableFuture.failedFuture(new IllegalStateException(message));
            }
            long usage = 100 - Math.min(level.available(), level.capacity()) * 100 / level.capacity();
            long amount = config.missing(level);
            boolean due = pass == 0 ? usage >= config.highThresholdPercent() : amount > 0;
            if (!due) {
                return CompletableFuture.completedFuture(null);
            }
            log.info(
                    "Images are removed: {} % of their file system are used, {} bytes more shall be free",
                    usage, amount);
            return free(amount).thenCompose(outcome -> {
                if (outcome.removed() > 0 && pass < MOST_PASSES) {
                    return space(pass + 1);
                }
                return outcome.error().isEmpty() ? tooLittle(amount, outcome) : outcome.failure(amount);
            });
        });
    }

    private CompletableFuture<Void> tooLittle(long amount, ImageRemover.Outcome outcome) {
        String message = "Failed to garbage collect required amount of images. Attempted to free " + amount
                + " bytes, but only found " + outcome.freed() + " bytes eligible to free.";
        listener.failed("FreeDiskSpaceFailed", message);
        return CompletableFuture.failedFuture(new IllegalStateException(message));
    }

    private CompletableFuture<ImageRemover.Outcome> free(long amount) {
        return unused().thenCompose(found ->
                remove(new ArrayDeque<>(removable(found)), amount, ImageRemover.Outcome.NOTHING, "space"));
    }

    private List<Image> removable(UnusedImages found) {
        return records.removable(found.unused(), config.minimumAge(), now());
    }

    /** Removes images from the front of {@code left} until that much is free, by their sizes or by measurement. */
    private CompletableFuture<ImageRemover.Outcome> remove(
            Deque<Image> left, long amount, ImageRemover.Outcome soFar, String reason) {
        Image image = left.poll();
        if (image == null || soFar.freed() >= amount) {
            return CompletableFuture.completedFuture(soFar);
        }
        if (ImageNames.isOneOf(image, needed.get())) {
            // A pod has come meanwhile.
            return remove(left, amount, soFar, reason);
        }
        return remover.remove(image, reason).thenCompose(outcome -> {
            ImageRemover.Outcome all = soFar.plus(outcome);
            if (amount == EVERYTHING || left.isEmpty()) {
                return remove(left, amount, all, reason);
            }
            return space.get()
                    .thenCompose(level -> config.missing(level) <= 0
                            ? CompletableFuture.completedFuture(all)
                            : remove(left, amount, all, reason));
        });
    }

    private long now() {
        return loop.clock().nanoTime();
    }
}
