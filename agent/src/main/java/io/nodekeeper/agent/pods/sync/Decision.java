package io.nodekeeper.agent.pods.sync;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What must be done for a pod now. Immutable.
 *
 * @param commands one after another; after a failure the rest is dropped and decided again
 * @param removal what of earlier sandboxes and containers goes next, beside the commands: nothing waits for it
 * @param waiting by container: why it does not run, for the status
 * @param events to record about the pod
 * @param memory the memory before the commands
 * @param wakeAt when to decide again even if nothing changes
 * @param over whether all containers of a pod that shall run have ended for good, and nothing is left to do
 * @param finished whether the pod had to end, and nothing is left of it
 */
public record Decision(
        List<PodCommand> commands,
        Optional<PodCommand> removal,
        Map<String, Waiting> waiting,
        List<Event> events,
        PodMemory memory,
        Optional<Instant> wakeAt,
        boolean over,
        boolean finished) {

    /** Keeps copies. */
    public Decision {
        commands = List.copyOf(commands);
        waiting = Map.copyOf(waiting);
        events = List.copyOf(events);
    }

    /** Why a container does not run. */
    public record Waiting(String reason, String message) {}

    /** An event about the pod; {@code type} is {@code Normal} or {@code Warning}. */
    public record Event(String type, String reason, String message) {}
}
