package io.nodekeeper.agent.pods.garbage;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes single images. One that the runtime does not remove is named, and delays the others little. Confined to its loop. */
final class ImageRemover {
    private static final Logger log = LoggerFactory.getLogger(ImageRemover.class);
    /** Some GB are removed within seconds; after that the next image has its turn while this call goes on. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    /** Calls that hang at the same time; more do not help. */
    private static final int MOST_OPEN = 4;

    private final ContainerRuntime runtime;
    private final Duration deadline;
    private final Loop loop;
    private final GarbageListener listener;
    /** The ids of images whose removal has not ended; at most {@link #MOST_OPEN}. */
    private final Set<String> open = new HashSet<>();

    ImageRemover(ContainerRuntime runtime, Duration deadline, Loop loop, GarbageListener listener) {
        this.runtime = runtime;
        this.deadline = deadline;
        this.loop = loop;
        this.listener = listener;
    }

    /**
     * What removals did.
     *
     * @param removed the number of images
     * @param freed the sum of their sizes in bytes
     * @param error why an image was not removed; empty if all were
     */
    record Outcome(int removed, long freed, Optional<String> error) {
        static final Outcome NOTHING = new Outcome(0, 0, Optional.empty());

        Outcome plus(Outcome other) {
            return new Outcome(removed + other.removed, freed + other.freed, error.or(other::error));
        }

        /** The kubelet's error for a removal that should have freed {@code amount} bytes. */
        CompletableFuture<Void> failure(long amount) {
            return CompletableFuture.failedFuture(new IllegalStateException("wanted to free " + amount
                    + " bytes, but freed " + freed + " bytes space with errors in image deletion: "
                    + error.orElse("")));
        }
    }

    /** Removes {@code image}; never fails. */
    CompletableFuture<Outcome> remove(Image image, String reason) {
        String name = image.tags().stream().findFirst().orElse(image.id());
        if (open.contains(image.id()) || open.size() >= MOST_OPEN) {
            return CompletableFuture.completedFuture(
                    new Outcome(0, 0, Optional.of("image " + name + ": earlier removals have not ended: " + open)));
        }
        open.add(image.id());
        CompletableFuture<Outcome> call = runtime.call(new RuntimeCall.RemoveImage(image.id()), deadline)
                .handle((done, error) -> {
                    open.remove(image.id());
                    if (error != null) {
                        String text = "image " + name + ": " + Failures.text(error);
                        log.warn("Not removed: {}", text);
                        return new Outcome(0, 0, Optional.of(text));
                    }
                    log.info("Removed image {} of {} bytes for {}", name, image.size(), reason);
                    listener.imageRemoved(reason);
                    return new Outcome(1, image.size(), Optional.empty());
                });
        CompletableFuture<Outcome> late = Deadlines.sleep(loop, PATIENCE).thenApply(passed -> {
            String text = "image " + name + ": no answer for " + PATIENCE.toSeconds() + " s";
            if (!call.isDone()) {
                log.warn("Not removed yet: {}; others are removed meanwhile", text);
            }
            return new Outcome(0, 0, Optional.of(text));
        });
        return call.applyToEither(late, outcome -> outcome);
    }
}
