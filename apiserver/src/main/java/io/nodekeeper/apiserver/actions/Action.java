package io.nodekeeper.apiserver.actions;

import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import java.util.concurrent.CompletableFuture;

/** What a POST does that creates no object: a review, an eviction, a binding, a token. Implementations are thread-safe. */
public interface Action {

    /** Does it for {@code user}, who may; refuses with an {@link io.nodekeeper.api.ApiException}, thrown or as the result. */
    CompletableFuture<ApiResponse> on(User user, Resource resource, RequestTarget target, ApiRequest request);

    /** The answer where there is nothing to show but that it is done. */
    static ApiResponse done() {
        return ApiResponse.json(201, ApiResponse.success().put("code", 201).build());
    }
}
