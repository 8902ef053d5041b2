package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.ContainerState;
import java.util.List;

/** The state of a container or sandbox for events, and the table of events between two states. */
enum PlegState {
    NON_EXISTENT,
    RUNNING,
    EXITED,
    UNKNOWN;

    static PlegState of(ContainerState state) {
        return switch (state) {
            case RUNNING -> RUNNING;
            case EXITED -> EXITED;
            case CREATED, UNKNOWN -> UNKNOWN;
        };
    }

    static PlegState ofSandbox(boolean ready) {
        return ready ? RUNNING : EXITED;
    }

    /** The event for the change from this state to {@code next}. */
    List<PodEvent.Type> eventsTo(PlegState next) {
        if (this == next) {
            return List.of();
        }
        return switch (next) {
            case RUNNING -> List.of(PodEvent.Type.STARTED);
            case EXITED -> List.of(PodEvent.Type.DIED);
            // Requires an inspection, but Kubernetes never delivers its event ContainerChanged.
            case UNKNOWN -> List.of();
            case NON_EXISTENT ->
                this == EXITED ? List.of(PodEvent.Type.REMOVED) : List.of(PodEvent.Type.DIED, PodEvent.Type.REMOVED);
        };
    }
}
