package io.nodekeeper.controller.guard;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.Optional;

/** What a live read said about the lease of a blamed node. Immutable. */
public sealed interface LiveLease {

    /**
     * The lease was read.
     *
     * @param renewTime by the node's clock
     */
    record Renewed(Instant renewTime) implements LiveLease {}

    /**
     * The reads succeeded and prove nothing in the node's favour: no lease, no renewTime, or another cause.
     *
     * @param why in words
     */
    record NoProof(String why) implements LiveLease {}

    /**
     * A read failed or took too long.
     *
     * @param why in words
     */
    record Unread(String why) implements LiveLease {}

    /** The result of reading the lease of the node {@code name}; {@code json} is empty if there is none. */
    static LiveLease of(String name, JsonObject json) {
        if (json.isEmpty()) {
            return new NoProof("the node has no lease");
        }
        Lease lease = new Lease(json);
        if (!lease.name().equals(name)) {
            return new NoProof("the API server answered with the lease of another node");
        }
        return lease.renewTime()
                .<LiveLease>map(Renewed::new)
                .orElseGet(() -> new NoProof("the node's lease has no renewTime"));
    }

    /** The same for the eviction of a pod from that node; {@code node} is empty if there is none. */
    static LiveLease of(String name, JsonObject lease, JsonObject node) {
        if (node.isEmpty()) {
            return new NoProof("the node does not exist");
        }
        if (!new Node(node).name().equals(name)) {
            return new NoProof("the API server answered with another node");
        }
        Optional<String> other = Blame.otherCause(new Node(node));
        return other.<LiveLease>map(NoProof::new).orElseGet(() -> of(name, lease));
    }
}
