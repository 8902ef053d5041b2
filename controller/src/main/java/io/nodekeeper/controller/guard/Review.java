package io.nodekeeper.controller.guard;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;

/**
 * The request of an AdmissionReview of {@code admission.k8s.io/v1}. Immutable.
 *
 * @param uid identifies the request; never empty
 * @param user the name of the user who writes
 * @param operation {@code CREATE}, {@code UPDATE}, {@code DELETE} or {@code CONNECT}
 * @param resource the group and the plural: {@code nodes}, or {@code GROUP/PLURAL} for other groups than the core
 * @param subresource such as {@code status}; empty for the object itself
 * @param namespace empty for objects without one
 * @param name the object's name; may be empty
 * @param dryRun whether the API server will not store the result
 * @param before the stored object; empty for CREATE
 * @param after the object that would be stored; empty for DELETE
 */
public record Review(
        String uid,
        String user,
        String operation,
        String resource,
        String subresource,
        String namespace,
        String name,
        boolean dryRun,
        JsonObject before,
        JsonObject after) {
    /** The group and version of the exchange. */
    static final String API_VERSION = "admission.k8s.io/v1";
    /** A UID has 36 characters; a longer one is neither echoed nor kept. */
    static final int LONGEST_UID = 128;

    /**
     * Reads a review.
     *
     * @param body the body of the request, JSON in UTF-8; the caller limits its size
     * @throws JsonException if it is not JSON, has too many values or is nested too deep
     * @throws IllegalArgumentException if it is no AdmissionReview with a request
     */
    public static Review parse(byte[] body) {
        if (!(Json.parseBody(body) instanceof JsonObject review)) {
            throw new IllegalArgumentException("the body is not a JSON object; expected an AdmissionReview");
        }
        if (!review.text("apiVersion").equals(API_VERSION)
                || !review.text("kind").equals("AdmissionReview")) {
            throw new IllegalArgumentException("the body is " + quoted(review.text("apiVersion")) + " "
                    + quoted(review.text("kind")) + "; expected " + API_VERSION + " AdmissionReview");
        }
        JsonObject request = review.object("request");
        String uid = request.text("uid");
        if (uid.isEmpty() || uid.length() > LONGEST_UID) {
            throw new IllegalArgumentException(
                    "request.uid has " + uid.length() + " characters; expected 1 to " + LONGEST_UID);
        }
        JsonObject resource = request.object("resource");
        String group = resource.text("group");
        return new Review(
                uid,
                request.object("userInfo").text("username"),
                request.text("operation"),
                (group.isEmpty() ? "" : group + "/") + resource.text("resource"),
                request.text("subResource"),
                request.text("namespace"),
                request.text("name"),
                request.bool("dryRun"),
                request.object("oldObject"),
                request.object("object"));
    }

    private static String quoted(String text) {
        return "\"" + (text.length() > 60 ? text.substring(0, 60) + "..." : text) + "\"";
    }
}
