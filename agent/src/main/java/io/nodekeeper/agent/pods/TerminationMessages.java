package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.volumes.TerminationFiles;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * What the ended containers of one pod wrote about their end, by {@code terminationMessagePath} and {@code
 * terminationMessagePolicy}. Each is read once, and again if the disk did not answer. Confined to the loop of its ports.
 */
final class TerminationMessages {
    private final PodPorts ports;
    /** By the id of a container that the runtime shows; {@link TerminationFiles} bounds each. */
    private final Map<String, String> messages = new HashMap<>();
    /** One read at a time, so that one which hangs holds no second thread. */
    private final HostDisk disk;

    private boolean complete = true;

    TerminationMessages(PodPorts ports) {
        this.ports = ports;
        disk = new HostDisk(ports.disk(), Integer.MAX_VALUE);
    }

    /** Whether the last status had all messages; otherwise they must be read again. */
    boolean isComplete() {
        return complete;
    }

    /** The same status, with the messages of containers that have ended. Never fails. */
    CompletableFuture<PodStatus> with(Pod pod, PodStatus status) {
        List<ContainerStatus> all = status.containers();
        messages.keySet().retainAll(all.stream().map(ContainerStatus::id).collect(Collectors.toSet()));
        List<ContainerStatus> unread = all.stream()
                .filter(container -> container.state() == ContainerState.EXITED)
                .filter(container -> !messages.containsKey(container.id()))
                .toList();
        complete = unread.isEmpty();
        if (complete) {
            return CompletableFuture.completedFuture(joined(status, messages));
        }
        String what = "termination messages of " + pod.fullName();
        return ports.loop()
                .deliver(disk.call(pod.uid(), what, ports.callDeadline(), () -> read(pod, unread)))
                .handle((read, error) -> {
                    if (error == null) {
                        messages.putAll(read);
                        complete = true;
                        return joined(status, messages);
                    }
                    Map<String, String> shown = new HashMap<>(messages);
                    String why = "Error on reading termination messages: " + Failures.text(error);
                    unread.forEach(container -> shown.put(container.id(), why));
                    return joined(status, shown);
                });
    }

    private Map<String, String> read(Pod pod, List<ContainerStatus> containers) {
        Map<String, String> read = new HashMap<>();
        for (ContainerStatus container : containers) {
            int attempt = container.origin().attempt();
            Path file = ports.files().terminationLog(pod.uid(), container.name(), attempt);
            Path log = PodLabels.logDirectory(ports.node().get().logsDirectory(), pod)
                    .resolve(PodLabels.logPath(container.name(), attempt));
            read.put(container.id(), TerminationFiles.message(container, file, log));
        }
        return read;
    }

    private static PodStatus joined(PodStatus status, Map<String, String> messages) {
        if (messages.values().stream().allMatch(String::isEmpty)) {
            return status;
        }
        return status.with(status.containers().stream()
                .map(container -> joined(container, messages.getOrDefault(container.id(), "")))
                .toList());
    }

    /** What the runtime says about the end stays, before what the container says. */
    private static ContainerStatus joined(ContainerStatus status, String message) {
        if (message.isEmpty()) {
            return status;
        }
        return new ContainerStatus(
                status.id(),
                status.name(),
                status.state(),
                status.startedAtNanos(),
                status.finishedAtNanos(),
                status.exitCode(),
                status.reason(),
                status.message().isEmpty() ? message : status.message() + ": " + message,
                status.origin());
    }
}
