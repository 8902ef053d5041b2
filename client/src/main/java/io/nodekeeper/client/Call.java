package io.nodekeeper.client;

/**
 * One request to an API server.
 *
 * @param method the HTTP method
 * @param target path and query, percent-encoded, as in {@code /api/v1/nodes?limit=1}
 * @param contentType the media type of {@code body}; empty if there is none
 * @param body the request body; empty for none; must not be changed
 */
public record Call(String method, String target, String contentType, byte[] body) {

    /** A request without a body. */
    public static Call get(String target) {
        return new Call("GET", target, "", new byte[0]);
    }

    @Override
    public String toString() {
        return method + " " + target;
    }
}
