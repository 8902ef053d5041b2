package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The status calls for one pod in progress, sent at once as far as {@link CallGroup} allows: a slow runtime delays them
 * together, not one after another.
 */
record PodInspection(CallGroup calls, CompletableFuture<PodStatus> status) {

    /** Requests the status of everything that {@code pod} has in the list; omits objects that no longer exist. */
    static PodInspection start(ContainerRuntime runtime, PodRef ref, ListedPod pod, Duration deadline) {
        CallGroup calls = new CallGroup(runtime, deadline);
        List<CompletableFuture<Optional<PodSandboxStatus>>> sandboxes = new ArrayList<>();
        for (PodSandbox sandbox : pod.newestFirst()) {
            sandboxes.add(calls.sendIfThere(new RuntimeCall.GetSandbox(sandbox.id())));
        }
        List<CompletableFuture<Optional<ContainerStatus>>> containers = new ArrayList<>();
        for (Container container : pod.containers()) {
            containers.add(calls.sendIfThere(new RuntimeCall.GetContainer(container.id())));
        }
        return new PodInspection(
                calls,
                calls.all()
                        .thenApply(done -> PodStatus.of(ref, found(sandboxes), found(containers), pod.containers())));
    }

    /** Cancels the calls; the status fails. */
    void cancel() {
        calls.cancel();
    }

    private static <T> List<T> found(List<CompletableFuture<Optional<T>>> answers) {
        return answers.stream().flatMap(answer -> answer.join().stream()).toList();
    }
}
