package io.nodekeeper.apiserver.authorization;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.node.NodeGraph;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.authorization.rbac.Role;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the memory of authorization: the subjects of bindings, the rules of roles and the relations of pods on nodes stay in memory,
 * however their objects are kept. A write that takes more than is left is refused, as by a store that is full; deletions make room.
 * The roles and bindings of one namespace may take a part of all only, and so may its pods: the others have room whatever one namespace
 * does, and what a decision has to look at is bounded. Thread-safe.
 */
public final class AccessSpace {
    /** One namespace may take this part of the limit for roles and bindings. */
    private static final int SHARE = 8;

    /**
     * One namespace may take this part of the limit for pods: of the 50 MB of a heap of 800 MB some 10,000 pods with five references each.
     * Kubernetes is tested with 3,000 pods in a namespace.
     */
    private static final int POD_SHARE = 4;

    private final AccessState state;
    private final long policyLimit;
    private final long graphLimit;
    /** What writes that have not ended will take. */
    private final AtomicLong claimed = new AtomicLong();
    /** The same in each namespace. */
    private final Map<String, Long> claimedIn = new ConcurrentHashMap<>();

    /** Limits, bytes, of roles and bindings, and of the relations of pods. A collection of the whole heap visits each of these. */
    public AccessSpace(AccessState state, long policyLimit, long graphLimit) {
        this.state = state;
        this.policyLimit = policyLimit;
        this.graphLimit = graphLimit;
    }

    /** The room for one write, which is kept for it until it ends: only then what it has written is counted. Not thread-safe. */
    public final class Claim {
        private long own;
        /** The namespace in which it counts; empty if there is none. */
        private String place = "";

        private Claim() {}

        /**
         * Claims room for {@code next} in place of {@code old}, which is empty for a creation, and gives up what this write claimed
         * before.
         *
         * @throws ApiException 500 if there is none
         */
        public void take(Resource resource, JsonObject old, JsonObject next) {
            release();
            long more = Math.max(0, bytes(resource, old, next));
            if (more == 0) {
                return;
            }
            boolean pod = resource.equals(Resources.PODS);
            own = more;
            place = next.object("metadata").text("namespace");
            // All is claimed before anything is refused, because release gives all of it back.
            long all = claimed.addAndGet(more);
            long here = place.isEmpty() ? 0 : claimedIn.merge(place, more, Long::sum);
            check(
                    more,
                    (pod ? state.graphBytes() : state.policyBytes()) + all,
                    pod ? graphLimit : policyLimit,
                    pod,
                    "");
            if (!place.isEmpty()) {
                check(
                        more,
                        (pod ? state.graphBytes(place) : state.policyBytes(place)) + here,
                        pod ? graphLimit / POD_SHARE : policyLimit / SHARE,
                        pod,
                        " in the namespace " + place);
            }
        }

        private void check(long more, long sum, long limit, boolean pod, String where) {
            if (sum > limit) {
                throw new ApiException(
                        500,
                        "InternalError",
                        "no space for authorization: the object needs " + more + " bytes of memory, and others" + where
                                + " take " + (sum - more) + " of " + limit + "; delete "
                                + (pod ? "pods with many references" : "roles or bindings with many subjects") + where);
            }
        }

        /** The write has ended. */
        public void release() {
            claimed.addAndGet(-own);
            if (!place.isEmpty()) {
                claimedIn.computeIfPresent(place, (same, bytes) -> bytes == own ? null : bytes - own);
            }
            own = 0;
            place = "";
        }
    }

    /** A claim of nothing yet. */
    public Claim claim() {
        return new Claim();
    }

    /** Refuses a write as {@link Claim#take}, and keeps no room for it. */
    public void check(Resource resource, JsonObject old, JsonObject next) {
        Claim claim = claim();
        try {
            claim.take(resource, old, next);
        } finally {
            claim.release();
        }
    }

    private static long bytes(Resource resource, JsonObject old, JsonObject next) {
        if (old == next) {
            return 0;
        }
        if (resource.equals(Resources.PODS)) {
            return podBytes(old, next);
        }
        if (!AccessResources.STORED.contains(resource)) {
            return 0;
        }
        return AccessResources.isRole(resource)
                ? Policy.bytes(Role.of(next)) - (old.isEmpty() ? 0 : Policy.bytes(Role.of(old)))
                : Policy.bytes(Binding.of(next)) - (old.isEmpty() ? 0 : Policy.bytes(Binding.of(old)));
    }

    /** A pod has relations once it is on a node; then only containers for debugging add to them. */
    private static long podBytes(JsonObject old, JsonObject next) {
        boolean begins = old.object("spec").text("nodeName").isEmpty()
                && !next.object("spec").text("nodeName").isEmpty();
        if (begins) {
            return NodeGraph.bytes(next);
        }
        boolean grows = !old.object("spec")
                .array("ephemeralContainers")
                .equals(next.object("spec").array("ephemeralContainers"));
        return grows ? NodeGraph.bytes(next) - NodeGraph.bytes(old) : 0;
    }
}
