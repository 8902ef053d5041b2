package io.nodekeeper.agent.pods.garbage;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes the containers of pods that have ended, and their logs, while the API still has the pods. Stateless. */
public final class EndedContainers {
    private static final Logger log = LoggerFactory.getLogger(EndedContainers.class);
    /** At a time; containers of a node that is short of disk are removed in several rounds. */
    private static final int MOST = 100;

    private EndedContainers() {}

    /** A container that has ended, of a pod of which nothing will run again. Immutable. */
    public record Ended(Pod pod, String name, int attempt, String id) {}

    /**
     * Removes {@code containers}; completes, and never fails, when the runtime has answered each call.
     *
     * @param files removes the log of a container that is gone, and the rest of its files
     * @param deadline of each call; the calls run at the same time, so that one that hangs delays no other
     */
    public static CompletableFuture<Void> remove(
            ContainerRuntime runtime,
            List<Ended> containers,
            Function<Ended, CompletableFuture<?>> files,
            Duration deadline) {
        return CompletableFuture.allOf(containers.stream()
                .limit(MOST)
                .map(container -> runtime.call(new RuntimeCall.RemoveContainer(container.id()), deadline)
                        .thenCompose(done -> files.apply(container)
                                .exceptionallyCompose(error -> CompletableFuture.failedFuture(new IllegalStateException(
                                        "it is gone, but its files are left: " + Failures.text(error)))))
                        .handle((done, error) -> {
                            if (error != null) {
                                log.warn("Container {} is not removed: {}", container.id(), Failures.text(error));
                            }
                            return done;
                        }))
                .toArray(CompletableFuture[]::new));
    }
}
