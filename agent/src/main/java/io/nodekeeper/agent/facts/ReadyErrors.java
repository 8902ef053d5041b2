package io.nodekeeper.agent.facts;

import java.util.List;
import java.util.stream.Stream;

/** Reasons why the node may not be ready, besides those in its status itself; each list may be empty. Immutable. */
public record ReadyErrors(List<String> runtime, List<String> network, List<String> storage, List<String> shutdown) {
    /** Nothing is wrong. */
    public static final ReadyErrors NONE = new ReadyErrors(List.of(), List.of(), List.of(), List.of());

    /** Whether nothing is wrong. */
    public boolean isEmpty() {
        return runtime.isEmpty() && network.isEmpty() && storage.isEmpty() && shutdown.isEmpty();
    }

    /** All of them, in the order in which Kubernetes names them. */
    public List<String> inOrder() {
        return Stream.of(runtime, network, storage, shutdown)
                .flatMap(List::stream)
                .toList();
    }

    /** With these about the node's volumes. */
    public ReadyErrors withStorage(List<String> errors) {
        return new ReadyErrors(runtime, network, errors, shutdown);
    }

    /** With one more: that the machine is shut down. */
    public ReadyErrors withShutdown(String error) {
        return new ReadyErrors(runtime, network, storage, List.of(error));
    }
}
