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

/**
 * What the ended containers of one pod wrote about their end, by {@code terminationMessagePath} and {@code
 * terminationMessagePolicy}. Each is read once. Confined to the loop of its ports.
 */
final class TerminationMessages {
    private final PodPorts ports;
    /** By the id of a container that the runtime shows; {@link TerminationFiles} bounds each. */
    private final Map<String, String> messages = new HashMap<>();

    TerminationMessages(PodPorts ports) {
        this.ports = ports;
    }

    /** The same status, with the messages of containers that have ended. Never fails. */
    CompletableFuture<PodStatus> with(Pod pod, PodStatus status) {
        List<ContainerStatus> all = status.containers();
        messages.keySet()
                .removeIf(
                        id -> all.stream().noneMatch(container -> container.id().equals(id)));
        List<ContainerStatus> unread = all.stream()
                .filter(container -> container.state() == ContainerState.EXITED)
                .filter(container -> !messages.containsKey(container.id()))
                .toList();
        if (unread.isEmpty()) {
            return CompletableFuture.completedFuture(joined(status));
        }
        return ports.onDisk("termination messages of " + pod.fullName(), () -> read(pod, unread))
                .exceptionally(error -> {
                    String why = "Error on reading termination messages: " + Failures.text(error);
                    Map<String, String> failed = new HashMap<>();
                    unread.forEach(container -> failed.put(container.id(), why));
                    return failed;
                })
                .thenApply(read -> {
                    messages.putAll(read);
                    return joined(status);
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

    private PodStatus joined(PodStatus status) {
        if (messages.values().stream().allMatch(String::isEmpty)) {
            return status;
        }
        return new PodStatus(
                status.pod(),
                status.ips(),
                status.sandboxes(),
                status.containers().stream().map(this::joined).toList());
    }

    /** What the runtime says about the end stays, before what the container says. */
    private ContainerStatus joined(ContainerStatus status) {
        String message = messages.getOrDefault(status.id(), "");
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
