package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;

/** One entry of {@code spec.containers}. Immutable. */
public record ContainerSpec(JsonObject json) {

    /** When the node pulls an image. */
    public enum PullPolicy {
        /** Before each start of a container. */
        ALWAYS,
        /** If the node does not have it. */
        IF_NOT_PRESENT,
        /** Never: it must be there. */
        NEVER
    }

    /** {@code name}. */
    public String name() {
        return json.text("name");
    }

    /** {@code image}. */
    public String image() {
        return json.text("image");
    }

    /** {@code imagePullPolicy}; without one, images without a tag other than {@code latest} are pulled always. */
    public PullPolicy pullPolicy() {
        return switch (json.text("imagePullPolicy")) {
            case "Always" -> PullPolicy.ALWAYS;
            case "Never" -> PullPolicy.NEVER;
            case "IfNotPresent" -> PullPolicy.IF_NOT_PRESENT;
            default -> isLatest() ? PullPolicy.ALWAYS : PullPolicy.IF_NOT_PRESENT;
        };
    }

    private boolean isLatest() {
        String last = image().substring(image().lastIndexOf('/') + 1);
        return !last.contains("@") && (!last.contains(":") || last.endsWith(":latest"));
    }

    /** {@code resources.requests}, which defaults to the limit. */
    public Optional<Quantity> request(String resource) {
        return quantity("requests", resource).or(() -> limit(resource));
    }

    /** {@code resources.limits}. */
    public Optional<Quantity> limit(String resource) {
        return quantity("limits", resource);
    }

    private Optional<Quantity> quantity(String kind, String resource) {
        return json.object("resources").object(kind).get(resource).flatMap(Quantity::from);
    }
}
