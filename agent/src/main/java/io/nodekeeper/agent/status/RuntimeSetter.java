package io.nodekeeper.agent.status;

import io.nodekeeper.agent.facts.RuntimeFacts;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeHandler;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Sets the fields that come from the container runtime: images, handlers, features. Without a runtime it sets nothing.
 * Stateless.
 */
final class RuntimeSetter {
    /** The most names of one image that Kubernetes reports. */
    private static final int NAMES = 5;

    private static final Comparator<Image> LARGEST_FIRST =
            Comparator.comparingLong(Image::size).thenComparing(Image::id).reversed();

    private RuntimeSetter() {}

    /** {@code node} with the values from the runtime's facts. */
    static Node set(Node node, StatusInputs inputs, List<String> errors) {
        RuntimeFacts runtime = inputs.runtime();
        if (!runtime.present()) {
            return node;
        }
        JsonArray images = images(runtime, inputs.config().runtime().maxImages(), errors);
        return new Node(node.json()
                .update("status", status -> features(handlers(status.with("images", images), runtime), runtime)));
    }

    private static JsonArray images(RuntimeFacts runtime, int most, List<String> errors) {
        // The list is kept while the runtime does not answer: its images still exist.
        Optional<List<Image>> known = runtime.images().value();
        if (known.isEmpty()) {
            errors.add("error getting image list: " + runtime.images().error());
            return JsonArray.EMPTY;
        }
        List<Image> images = known.get();
        return new JsonArray(images.stream()
                .sorted(LARGEST_FIRST)
                .limit(most < 0 ? images.size() : most)
                .<JsonValue>map(RuntimeSetter::image)
                .toList());
    }

    private static JsonObject image(Image image) {
        List<String> names = Stream.concat(image.digests().stream(), image.tags().stream())
                .limit(NAMES)
                .toList();
        return JsonObject.builder()
                .put("names", JsonArray.ofStrings(names))
                .put("sizeBytes", image.size())
                .build();
    }

    /** Sorted by name: some runtimes shuffle them, and each shuffle would be a change to report. */
    private static JsonObject handlers(JsonObject status, RuntimeFacts runtime) {
        if (runtime.handlers().isEmpty()) {
            return status.without("runtimeHandlers");
        }
        return status.with(
                "runtimeHandlers",
                new JsonArray(runtime.handlers().stream()
                        .sorted(Comparator.comparing(RuntimeHandler::name))
                        .<JsonValue>map(RuntimeSetter::handler)
                        .toList()));
    }

    private static JsonObject handler(RuntimeHandler handler) {
        return JsonObject.builder()
                .put("name", handler.name())
                .put(
                        "features",
                        JsonObject.builder()
                                .put("recursiveReadOnlyMounts", handler.recursiveReadOnlyMounts())
                                .put("userNamespaces", handler.userNamespaces())
                                .build())
                .build();
    }

    private static JsonObject features(JsonObject status, RuntimeFacts runtime) {
        return runtime.supplementalGroupsPolicy()
                .map(known -> status.with(
                        "features",
                        JsonObject.builder()
                                .put("supplementalGroupsPolicy", known)
                                .build()))
                .orElse(status);
    }
}
