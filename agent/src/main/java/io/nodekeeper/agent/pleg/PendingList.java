package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A list in progress: of all sandboxes and containers, or of those of one pod. */
record PendingList(CallGroup calls, CompletableFuture<Inventory> inventory) {

    /** Lists the pod {@code uid}, or all pods. */
    static PendingList start(ContainerRuntime runtime, Optional<String> uid, Duration deadline) {
        CallGroup calls = new CallGroup(runtime, deadline);
        CompletableFuture<List<PodSandbox>> sandboxes = calls.send(new RuntimeCall.ListSandboxes(uid));
        CompletableFuture<List<Container>> containers = calls.send(new RuntimeCall.ListContainers(uid));
        return new PendingList(
                calls, calls.all().thenApply(done -> new Inventory(sandboxes.join(), containers.join())));
    }

    /** Cancels the calls; the inventory fails. */
    void cancel() {
        calls.cancel();
    }
}
