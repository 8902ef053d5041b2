package io.nodekeeper.apiserver.pods;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;

/** The refusal of a pod by an admission plugin. */
final class PodRefusal {
    private PodRefusal() {}

    static ApiException of(JsonObject pod, String why) {
        JsonObject metadata = pod.object("metadata");
        String name = metadata.text("name").isEmpty() ? metadata.text("generateName") : metadata.text("name");
        return new ApiException(
                403,
                "Forbidden",
                "pods \"" + name + "\" is forbidden: " + why,
                JsonObject.builder()
                        .putUnlessEmpty("name", name)
                        .put("kind", "pods")
                        .build());
    }
}
