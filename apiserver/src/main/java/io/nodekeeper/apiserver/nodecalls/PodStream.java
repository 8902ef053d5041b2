package io.nodekeeper.apiserver.nodecalls;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.apiserver.actions.Action;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.NodeCall;
import io.nodekeeper.apiserver.request.Refusals;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Store;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * {@code exec}, {@code attach} and {@code portforward} of a pod: streams between the client and the pod's node.
 * Thread-safe.
 */
public final class PodStream implements Action {
    private static final Set<String> METHODS = Set.of("GET", "POST");

    private final Store store;
    private final Function<User, Executor> turns;

    /** Finds pods and nodes in {@code store}. {@code turns} runs what takes long in the turn of a user. */
    public PodStream(Store store, Function<User, Executor> turns) {
        this.store = store;
        this.turns = turns;
    }

    @Override
    public CompletableFuture<ApiResponse> on(User user, Resource resource, RequestTarget target, ApiRequest request) {
        if (!METHODS.contains(request.method())) {
            throw Refusals.notAllowed();
        }
        Executor turn = turns.apply(user);
        return PodOnNode.find(store, resource, target, turn).thenCompose(pod -> {
            Parameters asked = asked(pod, target, request);
            return pod.withNode(store, turn).thenApply(found -> {
                if (found.node().isEmpty()) {
                    throw ApiException.badRequest("pod " + target.name() + " does not have a host assigned");
                }
                return new ApiResponse.Relayed(
                        101,
                        new NodeCall(
                                found.address().host(),
                                found.address().port(),
                                asked.target(),
                                true,
                                true,
                                user.flow()));
            });
        });
    }

    private static Parameters asked(PodOnNode pod, RequestTarget target, ApiRequest request) {
        if (target.subresource().equals("portforward")) {
            Parameters asked = new Parameters("portForward", target.namespace(), target.name());
            request.query().getOrDefault("ports", List.of()).forEach(port -> asked.put("port", port));
            return asked;
        }
        String container = pod.container(request.parameter("container"));
        Parameters asked = new Parameters(target.subresource(), target.namespace(), target.name(), container);
        // Both are the default.
        boolean chosen =
                request.query().containsKey("stdout") || request.query().containsKey("stderr");
        asked.putIf(request.flag("stdin"), "input", "1")
                .putIf(!chosen || request.flag("stdout"), "output", "1")
                .putIf(!chosen || request.flag("stderr"), "error", "1")
                .putIf(request.flag("tty"), "tty", "1");
        if (target.subresource().equals("exec")) {
            request.query().getOrDefault("command", List.of()).forEach(word -> asked.put("command", word));
        }
        return asked;
    }
}
