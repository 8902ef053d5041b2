package io.nodekeeper.apiserver.nodecalls;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.apiserver.actions.Action;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.NodeCall;
import io.nodekeeper.apiserver.request.Refusals;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** {@code GET pods/NAME/log}: the log of a container, which its node reads. Thread-safe. */
public final class PodLog implements Action {
    private static final ResourceType OPTIONS = new ResourceType("", "v1", "podlogoptions", "PodLogOptions", true);
    private static final List<String> NUMBERS = List.of("sinceSeconds", "tailLines", "limitBytes");

    private final Store store;
    private final Function<User, Executor> turns;

    /** Finds pods and nodes in {@code store}. {@code turns} runs what takes long in the turn of a user. */
    public PodLog(Store store, Function<User, Executor> turns) {
        this.store = store;
        this.turns = turns;
    }

    @Override
    public CompletableFuture<ApiResponse> on(User user, Resource resource, RequestTarget target, ApiRequest request) {
        if (!request.method().equals("GET")) {
            throw Refusals.notAllowed();
        }
        check(target.name(), request);
        Executor turn = turns.apply(user);
        return PodOnNode.find(store, resource, target, turn).thenCompose(pod -> {
            Parameters asked = asked(pod, target, request);
            return pod.withNode(store, turn).thenApply(found -> {
                if (found.node().isEmpty()) {
                    // As in Kubernetes: a pod without a node has written nothing.
                    return ApiResponse.empty(204);
                }
                boolean verified = !request.flag("insecureSkipTLSVerifyBackend");
                return new ApiResponse.Relayed(
                        200,
                        new NodeCall(
                                found.address().host(),
                                found.address().port(),
                                asked.target(),
                                false,
                                verified,
                                user.flow()));
            });
        });
    }

    private static Parameters asked(PodOnNode pod, RequestTarget target, ApiRequest request) {
        String container = pod.container(request.parameter("container"));
        Parameters asked = new Parameters("containerLogs", target.namespace(), target.name(), container);
        for (String flag : List.of("follow", "previous", "timestamps")) {
            asked.putIf(request.flag(flag), flag, "true");
        }
        for (String text : List.of("sinceSeconds", "sinceTime", "tailLines", "limitBytes")) {
            asked.putIf(!request.parameter(text).isEmpty(), text, request.parameter(text));
        }
        return asked;
    }

    private static void check(String pod, ApiRequest request) {
        List<FieldError> faults = new ArrayList<>();
        String stream = request.parameter("stream");
        if (!stream.isEmpty() && !stream.equals("All")) {
            faults.add(FieldError.forbidden("stream", "may not be specified"));
        }
        for (String name : NUMBERS) {
            String text = request.parameter(name);
            if (!text.isEmpty()) {
                fault(name, text).ifPresent(why -> faults.add(FieldError.invalid(name, text, why)));
            }
        }
        String time = request.parameter("sinceTime");
        if (!time.isEmpty() && KubeTime.parse(time).isEmpty()) {
            faults.add(FieldError.invalid("sinceTime", time, "must be a time in RFC 3339"));
        }
        if (!time.isEmpty() && !request.parameter("sinceSeconds").isEmpty()) {
            faults.add(FieldError.forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
        }
        if (!faults.isEmpty()) {
            throw ApiException.invalid(OPTIONS, pod, faults);
        }
    }

    private static Optional<String> fault(String name, String text) {
        try {
            long value = Long.parseLong(text);
            if (name.equals("tailLines")) {
                return value < 0 ? Optional.of("must be greater than or equal to 0") : Optional.empty();
            }
            return value < 1 ? Optional.of("must be greater than 0") : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.of("must be a whole number");
        }
    }
}
