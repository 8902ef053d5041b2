package io.nodekeeper.controller.observe;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The last sign of life that was seen of each node: with the node's UID it names an episode of silence, so that what two
 * controllers did about different silences is never taken for the same. Time is nanoseconds, passed in. Not thread-safe.
 */
final class Signs {
    private static final class Sign {
        private String heartbeat = "";
        private String renewal = "";
        private long seenAt;
        /** Whether a sign was seen as it came; how old those are that were found is not known. */
        private boolean fresh;

        private void came(boolean justNow, long now) {
            if (justNow) {
                fresh = true;
                seenAt = now;
            }
        }
    }

    /** By name; one entry for each node and each lease of the cluster at most. */
    private final Map<String, Sign> byName = new HashMap<>();

    /** A lease of a node was seen. */
    void lease(Lease lease, long now) {
        Sign sign = byName.computeIfAbsent(lease.name(), name -> new Sign());
        String renewal = lease.spec().text("renewTime");
        if (!renewal.equals(sign.renewal)) {
            sign.came(!sign.renewal.isEmpty(), now);
            sign.renewal = renewal;
        }
    }

    /** A node was seen. No controller moves the heartbeat of a node that is not Unknown. */
    void node(Node node, long now) {
        Sign sign = byName.computeIfAbsent(node.name(), name -> new Sign());
        String heartbeat = heartbeat(node);
        boolean unknown = node.ready()
                .filter(ready -> ready.status().equals(Condition.UNKNOWN))
                .isPresent();
        if (!heartbeat.equals(sign.heartbeat)) {
            sign.came(!unknown && !sign.heartbeat.isEmpty(), now);
            sign.heartbeat = heartbeat;
        }
    }

    /** The node, or a lease without one, is gone. */
    void gone(String name) {
        byName.remove(name);
    }

    /** The silence in which something is done to a node: the same text for the same silence of the same node only. */
    String episode(Node node) {
        Sign sign = byName.get(node.name());
        return node.uid() + " " + (sign == null ? heartbeat(node) : sign.heartbeat + " " + sign.renewal);
    }

    /** How long ago the last sign of life was seen as it came; empty if none was. */
    Optional<Duration> age(String name, long now) {
        return Optional.ofNullable(byName.get(name))
                .filter(sign -> sign.fresh)
                .map(sign -> Duration.ofNanos(now - sign.seenAt));
    }

    /** How many names are remembered. */
    int size() {
        return byName.size();
    }

    private static String heartbeat(Node node) {
        return node.ready().map(ready -> ready.json().text("lastHeartbeatTime")).orElse("");
    }
}
