package io.nodekeeper.controller.observe;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps the last heartbeat of each node. With the node's UID it identifies an outage, so that two controllers' changes
 * in different outages never match. Time is nanoseconds, passed in. Not thread-safe.
 */
final class Signs {
    private static final class Sign {
        private String heartbeat = "";
        private String renewal = "";
        private long seenAt;
        /** Whether the heartbeat was seen when it arrived; the age of one found in a list is unknown. */
        private boolean fresh;

        private boolean came(boolean justNow, long now) {
            if (justNow) {
                fresh = true;
                seenAt = now;
            }
            return justNow;
        }
    }

    /** By name; at most one entry for each node and each lease of the cluster. */
    private final Map<String, Sign> byName = new HashMap<>();

    /** A lease of a node was seen. Returns whether it is a heartbeat that just arrived. */
    boolean lease(Lease lease, long now) {
        Sign sign = byName.computeIfAbsent(lease.name(), name -> new Sign());
        String renewal = lease.spec().text("renewTime");
        if (renewal.equals(sign.renewal)) {
            return false;
        }
        boolean fresh = sign.came(!sign.renewal.isEmpty(), now);
        sign.renewal = renewal;
        return fresh;
    }

    /**
     * A node was seen. No controller changes the heartbeat time of a node that is not Unknown. Returns whether it is a
     * heartbeat that just arrived.
     */
    boolean node(Node node, long now) {
        Sign sign = byName.computeIfAbsent(node.name(), name -> new Sign());
        String heartbeat = heartbeat(node);
        boolean unknown = node.ready()
                .filter(ready -> ready.status().equals(Condition.UNKNOWN))
                .isPresent();
        if (heartbeat.equals(sign.heartbeat)) {
            return false;
        }
        boolean fresh = sign.came(!unknown && !sign.heartbeat.isEmpty(), now);
        sign.heartbeat = heartbeat;
        return fresh;
    }

    /** The node, or a lease without a node, was deleted. */
    void gone(String name) {
        byName.remove(name);
    }

    /** Identifies the current outage of a node: the text is the same only for the same outage of the same node. */
    String episode(Node node) {
        Sign sign = byName.get(node.name());
        return node.uid() + " " + (sign == null ? heartbeat(node) : sign.heartbeat + " " + sign.renewal);
    }

    /** The time since the last heartbeat that was seen when it arrived; empty if none was. */
    Optional<Duration> age(String name, long now) {
        return Optional.ofNullable(byName.get(name))
                .filter(sign -> sign.fresh)
                .map(sign -> Duration.ofNanos(now - sign.seenAt));
    }

    /** The number of remembered names. */
    int size() {
        return byName.size();
    }

    private static String heartbeat(Node node) {
        return node.ready().map(ready -> ready.json().text("lastHeartbeatTime")).orElse("");
    }
}
