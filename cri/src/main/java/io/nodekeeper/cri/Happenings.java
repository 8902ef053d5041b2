package io.nodekeeper.cri;

import com.google.protobuf.InvalidProtocolBufferException;
import io.nodekeeper.cri.containerd.Envelope;
import io.nodekeeper.cri.containerd.TaskEvent;
import io.nodekeeper.cri.containerd.TaskExit;
import io.nodekeeper.cri.v1.ContainerEventResponse;
import java.util.Optional;

/** Parses events of CRI and of containerd. Events that are not about a container's life cycle give an empty result. */
final class Happenings {
    private Happenings() {}

    static Optional<ContainerEvent> of(ContainerEventResponse event) {
        return type(event)
                .map(type -> new ContainerEvent(
                        event.getContainerId(),
                        event.getPodSandboxStatus().getMetadata().getUid(),
                        type));
    }

    private static Optional<ContainerEvent.Type> type(ContainerEventResponse event) {
        return switch (event.getContainerEventType()) {
            case CONTAINER_CREATED_EVENT -> Optional.of(ContainerEvent.Type.CREATED);
            case CONTAINER_STARTED_EVENT -> Optional.of(ContainerEvent.Type.STARTED);
            case CONTAINER_STOPPED_EVENT -> Optional.of(ContainerEvent.Type.STOPPED);
            case CONTAINER_DELETED_EVENT -> Optional.of(ContainerEvent.Type.DELETED);
            case UNRECOGNIZED -> Optional.empty();
        };
    }

    static Optional<ContainerEvent> of(Envelope event) throws InvalidProtocolBufferException {
        return switch (event.getTopic()) {
            case "/tasks/create" -> task(event, ContainerEvent.Type.CREATED);
            case "/tasks/start" -> task(event, ContainerEvent.Type.STARTED);
            case "/tasks/delete" -> task(event, ContainerEvent.Type.DELETED);
            case "/tasks/exit" -> {
                // An additional process in a container, such as a probe, ends with the same event.
                TaskExit exit = TaskExit.parseFrom(event.getEvent().getValue());
                yield exit.getId().isEmpty() || exit.getId().equals(exit.getContainerId())
                        ? task(event, ContainerEvent.Type.STOPPED)
                        : Optional.empty();
            }
            default -> Optional.empty();
        };
    }

    private static Optional<ContainerEvent> task(Envelope event, ContainerEvent.Type type)
            throws InvalidProtocolBufferException {
        TaskEvent task = TaskEvent.parseFrom(event.getEvent().getValue());
        return Optional.of(new ContainerEvent(task.getContainerId(), "", type));
    }
}
