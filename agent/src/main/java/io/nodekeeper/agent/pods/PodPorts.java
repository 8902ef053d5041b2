package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.PodMetrics;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.persistent.PersistentVolumes;
import io.nodekeeper.agent.pods.probes.ProbePorts;
import io.nodekeeper.agent.pods.registry.NodeCredentials;
import io.nodekeeper.agent.pods.turns.StartTurns;
import io.nodekeeper.agent.pods.turns.StopTurns;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The collaborators of a pod's commands, shared by all pods of a node.
 *
 * @param runtime whose answers come on {@code loop}
 * @param starts gives calls that start something their turn
 * @param stops gives calls that end containers their turn
 * @param callDeadline of each call to the runtime, without the grace period of containers and the time of pulls
 * @param client whose answers come on {@code loop}
 * @param objects what pods refer to
 * @param disk runs what may block on the node's own files
 * @param hostDisk runs what takes long or may block, such as a removal, or a mount whose server is gone
 * @param resolvConf the node's {@code resolv.conf}; may be the empty path
 * @param node the newest facts about the node
 * @param probes runs probes and hooks
 * @param cgroups those of pods; empty if pods have none
 * @param resources what pods have for themselves
 * @param persistent mounts persistent volumes
 * @param credentials the node's own, for image registries
 * @param metrics receives the numbers of pods
 */
record PodPorts(
        ContainerRuntime runtime,
        StartTurns starts,
        StopTurns stops,
        Duration callDeadline,
        KubeClient client,
        EventRecorder events,
        Loop loop,
        ObjectCache objects,
        PodFiles files,
        BlockingCalls disk,
        HostDisk hostDisk,
        Path resolvConf,
        Supplier<NodeSettings> node,
        ProbePorts probes,
        Optional<NodeCgroups> cgroups,
        NodeResources resources,
        PersistentVolumes persistent,
        NodeCredentials credentials,
        PodMetrics metrics) {

    /** Runs {@code work}, which may block, beside the loop; the result completes on the loop. */
    <T> CompletableFuture<T> onDisk(String what, Callable<T> work) {
        return loop.deliver(disk.call(what, callDeadline, work));
    }

    /**
     * As {@link #onDisk}, for the removal of files of {@code pod}, which takes longer the more there are: another attempt does not
     * begin beside one that has passed its deadline, and only this pod waits.
     */
    <T> CompletableFuture<T> onRemoval(Pod pod, String what, Callable<T> work) {
        return loop.deliver(hostDisk.removal("removal of " + pod.uid(), what, callDeadline, work));
    }

    /**
     * Completes once each of {@code places} has answered, one after the other: a pod holds one thread, and pods that come and go hold
     * one together if they ask about the same place.
     */
    CompletableFuture<Void> ask(Map<String, Callable<Boolean>> places) {
        CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
        for (Map.Entry<String, Callable<Boolean>> place : places.entrySet()) {
            all = all.thenCompose(done -> loop.deliver(hostDisk.ask(place.getKey(), callDeadline, place.getValue())))
                    .thenAccept(answer -> {});
        }
        return all;
    }

    /**
     * As {@link #onDisk}, for work that touches volumes of {@code pod}: if it hangs, or takes long because the pod mounts thousands of
     * parts of them, only this pod waits.
     */
    <T> CompletableFuture<T> onVolumes(Pod pod, String what, Callable<T> work) {
        return loop.deliver(hostDisk.call(pod.uid(), what, callDeadline, work));
    }
}
