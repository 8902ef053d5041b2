package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.cri.ContainerStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One thing to do for a pod. Immutable. */
public sealed interface PodCommand {

    /** Makes the pod's directories and volumes. Can be repeated; keeps what is there. */
    record Prepare() implements PodCommand {}

    /** Creates the pod's sandbox. */
    record CreateSandbox(int attempt) implements PodCommand {}

    /** Stops a sandbox and all that runs in it. Can be repeated. */
    record StopSandbox(String id) implements PodCommand {}

    /** Removes a stopped sandbox and its containers. */
    record RemoveSandbox(String id) implements PodCommand {}

    /**
     * Gets the image of a container if necessary, creates the container in a sandbox, starts it, and runs its hook.
     *
     * @param target the runtime's id of the container whose processes it sees; empty for its own
     */
    record StartContainer(ContainerSpec container, String sandbox, int attempt, Optional<String> target)
            implements PodCommand {
        /** The start of a container that sees its own processes. */
        public StartContainer(ContainerSpec container, String sandbox, int attempt) {
            this(container, sandbox, attempt, Optional.empty());
        }
    }

    /**
     * Ends containers, all at the same time, but sidecars after the others and in reverse order. Their hooks run first.
     *
     * @param grace the time that they have to end by themselves, hooks included
     */
    record KillContainers(List<Kill> containers, Duration grace) implements PodCommand {}

    /**
     * A container that must end.
     *
     * @param message why, for the event
     */
    record Kill(String id, String name, String message) {}

    /** Removes a container that does not run, and its log. */
    record RemoveContainer(String id, String name, int attempt) implements PodCommand {
        static RemoveContainer of(ContainerStatus container) {
            return new RemoveContainer(
                    container.id(), container.name(), container.origin().attempt());
        }
    }

    /** Removes the pod's directories, volumes and logs. Can be repeated. */
    record CleanUp() implements PodCommand {}

    /** Ends the deletion of the pod in the API. */
    record DeleteFromApi() implements PodCommand {}
}
