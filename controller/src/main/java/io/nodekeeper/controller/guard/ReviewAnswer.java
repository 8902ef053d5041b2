package io.nodekeeper.controller.guard;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;

/** Writes the answer to an AdmissionReview. */
final class ReviewAnswer {
    /** The API server may truncate a warning after this many characters. */
    private static final int LONGEST_WARNING = 256;

    private ReviewAnswer() {}

    /** The answer to the review {@code uid}, JSON in UTF-8. */
    static byte[] of(String uid, GuardVerdict verdict) {
        JsonObject.Builder response = JsonObject.builder().put("uid", uid);
        switch (verdict) {
            case GuardVerdict.Allow allow -> response.put("allowed", true);
            case GuardVerdict.AllowWithWarning warned ->
                response.put("allowed", true).put("warnings", JsonArray.ofStrings(List.of(warning(warned.proof()))));
            case GuardVerdict.Refuse refused ->
                response.put("allowed", false)
                        .put(
                                "status",
                                JsonObject.builder()
                                        .put("code", 403)
                                        .put("reason", "Forbidden")
                                        .put(
                                                "message",
                                                "nodekeeper: " + refused.proof().text())
                                        .build());
        }
        return Json.writeBytes(JsonObject.builder()
                .put("apiVersion", Review.API_VERSION)
                .put("kind", "AdmissionReview")
                .put("response", response.build())
                .build());
    }

    private static String warning(Proof proof) {
        String text = "nodekeeper would refuse this: " + proof.text();
        return text.length() > LONGEST_WARNING ? text.substring(0, LONGEST_WARNING) : text;
    }
}
