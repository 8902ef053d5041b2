package io.nodekeeper.apiserver.request;

import io.nodekeeper.api.ApiException;

/** Refusals of requests that no resource or document answers, in Kubernetes' words. */
public final class Refusals {
    private Refusals() {}

    /** The path names a resource or subresource that the server does not have. */
    public static ApiException notServed() {
        return new ApiException(404, "NotFound", "the server could not find the requested resource");
    }

    /** The server has the resource but does not take this method on it. */
    public static ApiException notAllowed() {
        return new ApiException(
                405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
    }
}
