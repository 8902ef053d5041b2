package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.devices.ContainerDevices;
import io.nodekeeper.agent.devices.DeviceManager;
import io.nodekeeper.agent.pods.containers.OwnResources;
import io.nodekeeper.agent.pods.cpus.CpuManager;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * What pods have of a node for themselves: from their admission until they have ended. Confined to the loop of its parts.
 *
 * @param devices of plugins; empty if the agent manages none
 * @param cpus processors; empty if all pods share all of them
 */
record NodeResources(Optional<DeviceManager> devices, Optional<CpuManager> cpus) {
    /** A node that gives nothing. */
    static final NodeResources NONE = new NodeResources(Optional.empty(), Optional.empty());

    /** Gives {@code pod} all that it needs; it keeps what it has. If that fails, it has nothing, and must not start. */
    CompletableFuture<Void> allocate(Pod pod) {
        CompletableFuture<Void> given = devices.map(manager -> manager.allocate(pod))
                .orElseGet(NodeResources::done)
                .thenCompose(done -> cpus.map(manager -> manager.allocate(pod)).orElseGet(NodeResources::done));
        return given.whenComplete((done, error) -> {
            if (error != null) {
                release(pod);
            }
        });
    }

    private static CompletableFuture<Void> done() {
        return CompletableFuture.completedFuture(null);
    }

    /** The kubelet's words for a pod whose allocation failed. */
    static Wanted.Eviction refusal(Throwable error) {
        return new Wanted.Eviction(
                "UnexpectedAdmissionError",
                "Allocate failed due to " + Failures.text(error) + ", which is unexpected",
                false);
    }

    /** Prepares a start of a container. */
    CompletableFuture<OwnResources> prepare(Pod pod, ContainerSpec container) {
        return devices.map(manager -> manager.prepare(pod, container))
                .orElseGet(() -> CompletableFuture.completedFuture(ContainerDevices.NONE))
                .thenApply(own -> new OwnResources(
                        own,
                        cpus.map(manager -> manager.cpus(pod.uid(), container.name()))
                                .orElse("")));
    }

    /** Frees what pods other than {@code uids} have. */
    void retain(Set<String> uids) {
        devices.ifPresent(manager -> manager.retain(uids));
        cpus.ifPresent(manager -> manager.retain(uids));
    }

    /** Frees what a pod has that has not started. */
    void release(Pod pod) {
        devices.ifPresent(manager -> manager.release(pod.uid()));
        cpus.ifPresent(manager -> manager.release(pod.uid()));
    }

    /** What of {@code allocatable} limits a pod by its amount. Devices do not: each one is given or is not. */
    JsonObject countable(JsonObject allocatable) {
        JsonObject left = allocatable;
        for (String resource : allocatable.fields().keySet()) {
            if (devices.filter(manager -> manager.isDevice(resource)).isPresent()) {
                left = left.without(resource);
            }
        }
        return left;
    }
}
