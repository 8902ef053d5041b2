package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.csi.CsiDriver;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.cri.plugin.PluginCalls;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The collaborators of persistent volumes.
 *
 * @param node the node's name
 * @param client whose answers come on {@code loop}
 * @param objects what volumes refer to
 * @param disk runs what may block on the node's own files
 * @param plugins calls drivers
 * @param drivers finds a registered driver by its name
 * @param controllerAttaches whether the control plane attaches volumes
 * @param changed called when the volumes in use have changed
 * @param warnings records what takes long
 */
public record VolumePorts(
        String node,
        Path rootDir,
        KubeClient client,
        ObjectCache objects,
        Loop loop,
        BlockingCalls disk,
        PluginCalls plugins,
        Function<String, Optional<CsiDriver>> drivers,
        boolean controllerAttaches,
        Runnable changed,
        Warnings warnings) {
    /** The deadline of work on the node's own files, which takes some ms. */
    private static final Duration DISK = Duration.ofSeconds(30);

    /** Records a warning about a pod. */
    public interface Warnings {
        /** Records it as an event. */
        void warning(Pod pod, String reason, String message);
    }

    /** Runs {@code work}, which may block, beside the loop; the result completes on the loop. */
    <T> CompletableFuture<T> onDisk(String what, Callable<T> work) {
        return loop.deliver(disk.call(what, DISK, work));
    }
}
