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
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

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
     * Kubernetes is tested with 3,000 pods in a namespace. {@link #SYSTEM} has no share: its pods are on each node.
     */
    private static final int POD_SHARE = 4;

    /** The namespace of the cluster's own pods, in which only administrators write. */
    private static final String SYSTEM = "kube-system";

    private final Budget policy;
    private final Budget pods;

    /** Limits, bytes, of roles and bindings, and of the relations of pods. A collection of the whole heap visits each of these. */
    public AccessSpace(AccessState state, long policyLimit, long graphLimit) {
        policy = new Budget(
                policyLimit,
                namespace -> policyLimit / SHARE,
                state::policyBytes,
                state::policyBytes,
                "roles or bindings with many subjects");
        pods = new Budget(
                graphLimit,
                namespace -> namespace.equals(SYSTEM) ? graphLimit : graphLimit / POD_SHARE,
                state::graphBytes,
                state::graphBytes,
                "pods with many references");
    }

    /** A limit, and what writes that have not ended will take of it. */
    private static final class Budget {
        private final long limit;
        private final ToLongFunction<String> limitIn;
        private final LongSupplier used;
        private final ToLongFunction<String> usedIn;
        private final String cause;
        private final AtomicLong claimed = new AtomicLong();
        private final Map<String, Long> claimedIn = new ConcurrentHashMap<>();

        Budget(
                long limit,
                ToLongFunction<String> limitIn,
                LongSupplier used,
                ToLongFunction<String> usedIn,
                String cause) {
            this.limit = limit;
            this.limitIn = limitIn;
            this.used = used;
            this.usedIn = usedIn;
            this.cause = cause;
        }

        /** Takes {@code more}, also if it refuses it: release gives back all of it. */
        void take(long more, String namespace) {
            long all = claimed.addAndGet(more);
            long here = claimedIn.merge(namespace, more, Long::sum);
            check(more, used.getAsLong() + all, limit, "");
            if (!namespace.isEmpty()) {
                check(
                        more,
                        usedIn.applyAsLong(namespace) + here,
                        limitIn.applyAsLong(namespace),
                        " in the namespace " + namespace);
            }
        }

        private void check(long more, long sum, long most, String where) {
            if (sum > most) {
                throw new ApiException(
                        500,
                        "InternalError",
                        "no space for authorization: the object needs " + more + " bytes of memory, and others" + where
                                + " take " + (sum - more) + " of " + most + "; delete " + cause + where);
            }
        }

        void release(long own, String namespace) {
            claimed.addAndGet(-own);
            claimedIn.computeIfPresent(namespace, (same, bytes) -> bytes == own ? null : bytes - own);
        }
    }

    /** The room for one write, which is kept for it until it ends: only then what it has written is counted. Not thread-safe. */
    public final class Claim {
        private Budget budget = policy;
        private long own;
        private String namespace = "";

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
            if (more > 0) {
                budget = resource.equals(Resources.PODS) ? pods : policy;
                own = more;
                namespace = next.object("metadata").text("namespace");
                budget.take(more, namespace);
            }
        }

        /** The write has ended. */
        public void release() {
            if (own > 0) {
                budget.release(own, namespace);
                own = 0;
            }
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
