package io.nodekeeper.agent.heartbeat;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * Builds a node's lease. Renew times strictly increase even if the wall clock goes back, because the control plane
 * accepts only an increase. Not thread-safe.
 */
final class LeaseBuilder {
    private final String nodeName;
    private final int durationSeconds;
    private Instant latest = Instant.MIN;

    LeaseBuilder(String nodeName, int durationSeconds) {
        this.nodeName = nodeName;
        this.durationSeconds = durationSeconds;
    }

    /** A new lease, owned by {@code owner}. */
    JsonObject create(Node owner, Instant now) {
        return JsonObject.builder()
                .put("apiVersion", ResourceType.LEASES.apiVersion())
                .put("kind", ResourceType.LEASES.kind())
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", nodeName)
                                .put("namespace", Lease.NODE_NAMESPACE)
                                .put("ownerReferences", JsonArray.of(reference(owner)))
                                .build())
                .put(
                        "spec",
                        JsonObject.builder()
                                .put("holderIdentity", nodeName)
                                .put("leaseDurationSeconds", durationSeconds)
                                .put("renewTime", KubeTime.formatMicro(next(Instant.MIN, now)))
                                .build())
                .build();
    }

    /** Whether {@code lease} has no owner at all and so needs one. */
    static boolean orphan(Lease lease) {
        return lease.metadata().array("ownerReferences").isEmpty();
    }

    /**
     * {@code lease} renewed. Its duration follows the configuration: with an older, shorter duration the lease would expire
     * before the next renewal. Its holder is the node, also after somebody else changed it: the controller does not count renewals
     * of a lease that another one holds.
     *
     * @param owner the owner to add, if any
     */
    JsonObject renew(Lease lease, Optional<Node> owner, Instant now) {
        Instant renewTime = next(lease.renewTime().orElse(Instant.MIN), now);
        JsonObject renewed = lease.json()
                .update(
                        "spec",
                        spec -> spec.toBuilder()
                                .put("holderIdentity", nodeName)
                                .put("renewTime", KubeTime.formatMicro(renewTime))
                                .put("leaseDurationSeconds", durationSeconds)
                                .build());
        return owner.map(node -> renewed.update(
                        "metadata", metadata -> metadata.with("ownerReferences", JsonArray.of(reference(node)))))
                .orElse(renewed);
    }

    private Instant next(Instant stored, Instant now) {
        Instant previous = stored.isAfter(latest) ? stored : latest;
        Instant micro = now.truncatedTo(ChronoUnit.MICROS);
        latest = micro.isAfter(previous) ? micro : previous.plus(1, ChronoUnit.MICROS);
        return latest;
    }

    private static JsonObject reference(Node owner) {
        return JsonObject.builder()
                .put("apiVersion", ResourceType.NODES.apiVersion())
                .put("kind", ResourceType.NODES.kind())
                .put("name", owner.name())
                .put("uid", owner.uid())
                .build();
    }
}
