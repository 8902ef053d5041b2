package io.nodekeeper.apiserver.routing;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authentication.ServiceAccountTokens;
import io.nodekeeper.apiserver.discovery.Discovery;
import io.nodekeeper.apiserver.discovery.OpenApi;
import io.nodekeeper.apiserver.metrics.ServerMetrics;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.Refusals;
import java.util.Map;
import java.util.Optional;

/**
 * Serves the documents about the server itself: health, metrics, discovery, OpenAPI, and the issuer of its tokens.
 * Thread-safe.
 */
public final class DocumentHandler {
    private final Health health;
    private final ServerMetrics metrics;
    private final Discovery discovery;
    private final OpenApi openApi = new OpenApi();
    private final Optional<ServiceAccountTokens> tokens;
    private final String serverAddress;

    public DocumentHandler(
            Health health, ServerMetrics metrics, Optional<ServiceAccountTokens> tokens, String serverAddress) {
        this.health = health;
        this.metrics = metrics;
        this.tokens = tokens;
        this.serverAddress = serverAddress;
        discovery = new Discovery(serverAddress);
    }

    public ApiResponse answer(ApiRequest request) {
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            throw Refusals.notAllowed();
        }
        if (Health.covers(request.path())) {
            return health.answer(request);
        }
        if (request.path().equals("/metrics")) {
            return new ApiResponse.Full(
                    200, Map.of("content-type", "text/plain; version=0.0.4; charset=utf-8"), metrics.expose());
        }
        Optional<ApiResponse> issued = issuer(request.path()).map(document -> ApiResponse.json(200, document));
        return issued.or(() -> discovery.answer(request))
                .or(() -> openApi.answer(request))
                .orElseGet(() -> ApiResponse.text(404, "404 page not found\n"));
    }

    /** The documents with which others verify service account tokens. */
    private Optional<JsonObject> issuer(String path) {
        return switch (path) {
            case "/openid/v1/jwks" -> tokens.map(ServiceAccountTokens::keySet);
            case "/.well-known/openid-configuration" ->
                tokens.map(signer -> signer.configuration("https://" + serverAddress + "/openid/v1/jwks"));
            default -> Optional.empty();
        };
    }
}
