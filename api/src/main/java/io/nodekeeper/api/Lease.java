package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.Optional;

/** A Lease of coordination.k8s.io/v1. */
public record Lease(JsonObject json) implements ApiObject {
    /** The namespace of node leases; a node's lease has the node's name. */
    public static final String NODE_NAMESPACE = "kube-node-lease";

    /** {@code spec.holderIdentity}. */
    public String holderIdentity() {
        return spec().text("holderIdentity");
    }

    /** {@code spec.renewTime}, by the holder's clock. */
    public Optional<Instant> renewTime() {
        return KubeTime.parse(spec().text("renewTime"));
    }

    /** {@code spec.leaseDurationSeconds}. */
    public Optional<Long> durationSeconds() {
        return spec().number("leaseDurationSeconds");
    }
}
