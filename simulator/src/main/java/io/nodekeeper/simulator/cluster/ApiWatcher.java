package io.nodekeeper.simulator.cluster;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.simulator.oracle.Sights;

/**
 * Watches nodes, leases, pods and events as any client could, but inside the API server, so that it sees each change
 * at the moment of its commit. Confined to virtual time.
 */
public final class ApiWatcher {
    private static final LeaderElectionConfig LOCK = LeaderElectionConfig.defaults();

    private final Follower nodes;
    private final Follower leases;
    private final Follower locks;
    private final Follower events;
    private final Follower pods;

    /** A watcher that reports to {@code sights} once it is attached. */
    public ApiWatcher(Sights sights) {
        nodes = new Follower(ResourceType.NODES.path(), (type, object) -> {
            if (type.equals("DELETED")) {
                sights.nodeGone(object);
            } else {
                sights.node(object);
            }
        });
        leases = new Follower(ResourceType.LEASES.path(Lease.NODE_NAMESPACE), (type, object) -> {
            // The controller's canary is not a node's lease.
            if (!type.equals("DELETED") && !new Lease(object).labels().containsKey("nodekeeper.io/canary")) {
                sights.lease(object);
            }
        });
        locks = new Follower(ResourceType.LEASES.path(LOCK.namespace()), (type, object) -> {
            if (!type.equals("DELETED") && new Lease(object).name().equals(LOCK.name())) {
                sights.lock(object);
            }
        });
        events = new Follower(ResourceType.EVENTS.path(), (type, object) -> {
            if (!type.equals("DELETED")) {
                sights.event(object);
            }
        });
        pods = new Follower(ResourceType.PODS.path(), (type, object) -> {
            if (type.equals("DELETED")) {
                sights.podGone(object);
            } else {
                sights.pod(object);
            }
        });
    }

    /** Watches a new API server; skips what the previous one has shown. */
    void attach(ApiServer core) {
        nodes.follow(core);
        leases.follow(core);
        locks.follow(core);
        events.follow(core);
        pods.follow(core);
    }
}
