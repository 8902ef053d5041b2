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
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * {@code nodes/NAME/proxy/PATH}: any request to a node's API, whose answer is passed on. The node is {@code NAME} or
 * {@code NAME:PORT} with the port of its API; other ports are refused. Thread-safe.
 */
public final class NodeProxy implements Action {
    /** Of the client's headers only these reach the node; credentials do not. */
    private static final List<String> HEADERS = List.of("accept", "content-type");

    private final Store store;
    private final Function<User, Executor> turns;

    /** Finds nodes in {@code store}. {@code turns} runs what takes long in the turn of a user. */
    public NodeProxy(Store store, Function<User, Executor> turns) {
        this.store = store;
        this.turns = turns;
    }

    @Override
    public CompletableFuture<ApiResponse> on(User user, Resource nodes, RequestTarget target, ApiRequest request) {
        if (request.method().equals("HEAD")) {
            throw Refusals.notAllowed();
        }
        boolean upgrade = !request.header("upgrade").isEmpty();
        if (upgrade && !request.method().equals("POST")) {
            // With GET, which is the right to read, clients could run commands in containers.
            throw ApiException.badRequest("an upgrade through a node's proxy requires the method POST, got "
                    + request.method() + "; use the subresources exec, attach and portforward of the pod");
        }
        String asked = ProxyPath.of(request.uri(), target.name());
        int colon = target.name().indexOf(':');
        String name = colon < 0 ? target.name() : target.name().substring(0, colon);
        Optional<String> port =
                colon < 0 ? Optional.empty() : Optional.of(target.name().substring(colon + 1));
        return NodeObject.read(store, name, turns.apply(user)).thenApply(node -> {
            NodeAddress place = NodeAddress.of(node).orElseThrow(() -> NodeAddress.unknown("node " + name, name));
            if (port.isPresent() && !port.get().equals(Integer.toString(place.port()))) {
                throw ApiException.badRequest("the proxy reaches only the API of node " + name + " at port "
                        + place.port() + ", got \"" + port.get() + "\"");
            }
            if (place.loopback() && !isLocal(request.source())) {
                throw ApiException.badRequest("address not allowed: node " + name + " has the loopback address "
                        + place.host() + ", which only clients on the API server's machine may reach");
            }
            Map<String, String> headers = new HashMap<>();
            HEADERS.stream()
                    .filter(header -> !request.header(header).isEmpty())
                    .forEach(header -> headers.put(header, request.header(header)));
            return new ApiResponse.Relayed(
                    upgrade ? 101 : 200,
                    new NodeCall(
                            place.host(),
                            place.port(),
                            asked,
                            upgrade,
                            true,
                            user.flow(),
                            Optional.of(new NodeCall.Passed(headers, request.body()))));
        });
    }

    /** Whether a client at {@code source} is on this machine, so that it can reach its loopback itself. */
    private static boolean isLocal(String source) {
        return !source.isEmpty() && InetAddress.ofLiteral(source).isLoopbackAddress();
    }
}
