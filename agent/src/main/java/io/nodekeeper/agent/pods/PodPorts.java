package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The collaborators of a pod's commands, shared by all pods of a node.
 *
 * @param runtime whose answers come on {@code loop}
 * @param callDeadline of each call to the runtime, without the grace period of containers and the time of pulls
 * @param client whose answers come on {@code loop}
 * @param disk runs what may block on files
 * @param resolvConf the node's {@code resolv.conf}
 * @param node the newest facts about the node
 */
record PodPorts(
        ContainerRuntime runtime,
        Duration callDeadline,
        KubeClient client,
        EventRecorder events,
        Loop loop,
        PodFiles files,
        Disk disk,
        Path resolvConf,
        Supplier<NodeSettings> node) {

    /** Runs what may block on files, such as a pool of threads. */
    interface Disk {
        /** Runs {@code work}; the result completes on any thread, at the latest after {@code deadline}. */
        <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work);
    }

    /** Runs {@code work}, which may block, beside the loop; the result completes on the loop. */
    <T> CompletableFuture<T> onDisk(String what, Callable<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        disk.call(what, callDeadline, work)
                .whenComplete((value, error) -> loop.execute(() -> {
                    if (error == null) {
                        result.complete(value);
                    } else {
                        result.completeExceptionally(error);
                    }
                }));
        return result;
    }
}
