package io.nodekeeper.client.access;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.pages.Page;

/**
 * Why a request is refused.
 *
 * @param code the HTTP status: 401, 403 or 429
 * @param reason Kubernetes' word for it
 * @param message the text for the caller; says nothing about the cluster
 */
public record Refusal(int code, String reason, String message) {
    static Refusal unauthorized(String message) {
        return new Refusal(401, "Unauthorized", message);
    }

    static Refusal forbidden(String message) {
        return new Refusal(403, "Forbidden", message);
    }

    static Refusal tooMany() {
        return new Refusal(429, "TooManyRequests", "too many requests wait for a review; try again in a second");
    }

    /** A Status object, as the API server answers. */
    public Page page() {
        Page page = Page.json(JsonObject.builder()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("metadata", JsonObject.EMPTY)
                .put("status", "Failure")
                .put("message", message)
                .put("reason", reason)
                .put("code", code)
                .build());
        return new Page(code, page.type(), page.body());
    }
}
