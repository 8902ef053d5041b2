package io.nodekeeper.api.patch;

import io.nodekeeper.api.ApiException;

/** The refusals of operations of a JSON patch. */
final class PatchRefusals {
    /** The most characters of a path or value in a message. */
    private static final int SHOWN = 200;

    private PatchRefusals() {}

    /** The refusal of an operation, with Kubernetes' text. */
    static ApiException refused(String why) {
        return new ApiException(
                422, "Invalid", "the server rejected our request due to an error in our request: " + why);
    }

    /** {@code text}, shortened for a message. */
    static String shown(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }
}
