package io.nodekeeper.apiserver.nodecalls;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.store.Store;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

/** A pod, its containers, and where its node's API is, once the node is read. Immutable. */
record PodOnNode(JsonObject pod, Optional<JsonObject> node) {
    private static final List<String> CONTAINERS = List.of("containers", "initContainers", "ephemeralContainers");

    /**
     * Reads the pod that {@code target} names, without its node: a large one in the {@code turn} of who asks.
     *
     * @throws ApiException in the result, if there is no such pod
     */
    static CompletableFuture<PodOnNode> find(Store store, Resource pods, RequestTarget target, Executor turn) {
        return store.read(pods.key(target.namespace(), target.name()))
                .thenCompose(found -> NodeObject.decoded(
                        pods, found.orElseThrow(() -> ApiException.notFound(pods.type(), target.name())), turn))
                .thenApply(pod -> new PodOnNode(pod, Optional.empty()));
    }

    /** The pod with its node, if it has one. The node may be large, so what the pod alone decides comes before. */
    CompletableFuture<PodOnNode> withNode(Store store, Executor turn) {
        String name = pod.object("spec").text("nodeName");
        return name.isEmpty()
                ? CompletableFuture.completedFuture(this)
                : NodeObject.read(store, name, turn).thenApply(found -> new PodOnNode(pod, Optional.of(found)));
    }

    String name() {
        return pod.object("metadata").text("name");
    }

    /** The container to use if {@code asked} is wanted, which may be empty. Refuses in kube-apiserver's words. */
    String container(String asked) {
        List<String> names = names("containers");
        if (asked.isEmpty()) {
            if (names.size() == 1) {
                return names.getFirst();
            }
            List<String> first = names("initContainers");
            throw ApiException.badRequest("a container name must be specified for pod " + name()
                    + (names.isEmpty() ? "" : ", choose one of: " + list(names))
                    + (first.isEmpty() ? "" : " or one of the init containers: " + list(first)));
        }
        if (Stream.of(CONTAINERS.toArray(String[]::new))
                .flatMap(kind -> names(kind).stream())
                .noneMatch(asked::equals)) {
            throw ApiException.badRequest("container " + asked + " is not valid for pod " + name());
        }
        return asked;
    }

    private List<String> names(String kind) {
        return pod.object("spec")
                .array(kind)
                .objects()
                .map(container -> container.text("name"))
                .toList();
    }

    private static String list(List<String> names) {
        return "[" + String.join(" ", names) + "]";
    }

    /** Where the node's API is. */
    NodeAddress address() {
        return NodeAddress.of(node.orElseThrow())
                .orElseThrow(() -> NodeAddress.unknown(
                        "pod " + name(), node.get().object("metadata").text("name")));
    }
}
