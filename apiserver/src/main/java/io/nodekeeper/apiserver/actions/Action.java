package io.nodekeeper.apiserver.actions;

import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import java.util.concurrent.CompletableFuture;

/**
 * A request that reads or writes no stored object of its own: a review, an eviction, a binding, a token, a log, a stream.
 * Implementations are thread-safe.
 */
public interface Action {

    /**
     * Performs the action for {@code user}, who is authorized; refuses with an {@link io.nodekeeper.api.ApiException},
     * thrown or as the result.
     */
    CompletableFuture<ApiResponse> on(User user, Resource resource, RequestTarget target, ApiRequest request);

    /** The answer of an action without a result. */
    static ApiResponse done() {
        return ApiResponse.json(201, ApiResponse.success().put("code", 201).build());
    }
}
