package io.nodekeeper.agent.pods.garbage;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes the containers of pods that have ended while the API still has the pods. Stateless. */
public final class EndedContainers {
    private static final Logger log = LoggerFactory.getLogger(EndedContainers.class);
    /** At a time; containers of a node that is short of disk are removed in several rounds. */
    private static final int MOST = 100;

    private EndedContainers() {}

    /**
     * Removes those of {@code containers} that have ended and belong to one of {@code pods}; completes, and never fails, when
     * the runtime has answered each call.
     *
     * @param pods UIDs of pods of which nothing will run again
     * @param deadline of each call; the calls run at the same time, so that one that hangs delays no other
     */
    public static CompletableFuture<Void> remove(
            ContainerRuntime runtime, List<Container> containers, Set<String> pods, Duration deadline) {
        return CompletableFuture.allOf(containers.stream()
                .filter(container -> pods.contains(container.podUid()) && container.state() == ContainerState.EXITED)
                .limit(MOST)
                .map(container -> runtime.call(new RuntimeCall.RemoveContainer(container.id()), deadline)
                        .handle((done, error) -> {
                            if (error != null) {
                                log.warn("Container {} is not removed: {}", container.id(), Failures.text(error));
                            }
                            return done;
                        }))
                .toArray(CompletableFuture[]::new));
    }
}
