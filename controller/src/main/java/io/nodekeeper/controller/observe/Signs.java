package io.nodekeeper.controller.observe;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Keeps the last heartbeat of each node. With the node's UID it identifies an outage, so that two controllers' changes
 * in different outages never match. Time is nanoseconds, passed in. Not thread-safe.
 *
 * <p>A heartbeat can arrive long after it was sent, as when a connection was away. So it counts as sent, at the latest, as long
 * after the one before as its sender's clock says: a difference of one clock, whatever that shows.
 */
final class Signs {
    /** What arrives as long after the one before as its sender's clock says, but for this, is not late. */
    private static final Duration IN_TIME = Duration.ofSeconds(1);

    private static final class Sign {
        private final Mark heartbeat = new Mark();
        private final Mark renewal = new Mark();
        /** When the newest heartbeat was sent, at the latest; empty if only a list has shown it, in which its age is unknown. */
        private OptionalLong sentAt = OptionalLong.empty();

        private OptionalLong came(OptionalLong at) {
            if (at.isPresent() && (sentAt.isEmpty() || at.getAsLong() - sentAt.getAsLong() > 0)) {
                sentAt = at;
            }
            return at;
        }
    }

    /** The newest time that a sender wrote, and when that was at the latest. */
    private static final class Mark {
        private String written = "";
        private long arrivedAt;
        private long sentAt;

        /** The sender wrote {@code time}. Returns when that was at the latest; empty if it is the first one known. */
        private OptionalLong next(String time, long now) {
            boolean known = !written.isEmpty();
            long passed = between(written, time, now - sentAt);
            // What arrives in the sender's own time is not late: the small errors of its clock must not add up.
            boolean inTime = Math.abs(now - arrivedAt - passed) <= IN_TIME.toNanos();
            sentAt = known && !inTime ? Math.min(now, sentAt + passed) : now;
            arrivedAt = now;
            written = time;
            return known ? OptionalLong.of(sentAt) : OptionalLong.empty();
        }

        /** The time between two written times, {@code most} if that is more or the clock was set back. */
        private static long between(String before, String after, long most) {
            Optional<Instant> from = KubeTime.parse(before);
            Optional<Instant> to = KubeTime.parse(after);
            if (from.isEmpty() || to.isEmpty() || to.get().isBefore(from.get())) {
                return most;
            }
            Duration passed = Duration.between(from.get(), to.get());
            return passed.compareTo(Duration.ofNanos(most)) > 0 ? most : passed.toNanos();
        }
    }

    /** By name; at most one entry for each node and each lease of the cluster. */
    private final Map<String, Sign> byName = new HashMap<>();

    /** A lease of a node was seen. Returns when it was renewed, at the latest; empty if it was not, or if it is the first one seen. */
    OptionalLong lease(Lease lease, long now) {
        Sign sign = byName.computeIfAbsent(lease.name(), name -> new Sign());
        String renewal = lease.spec().text("renewTime");
        return renewal.equals(sign.renewal.written) ? OptionalLong.empty() : sign.came(sign.renewal.next(renewal, now));
    }

    /**
     * A node was seen. No controller changes the heartbeat time of a node that is not Unknown. Returns when that was written, at the
     * latest; empty as for a lease.
     */
    OptionalLong node(Node node, long now) {
        Sign sign = byName.computeIfAbsent(node.name(), name -> new Sign());
        String heartbeat = heartbeat(node);
        boolean unknown = node.ready()
                .filter(ready -> ready.status().equals(Condition.UNKNOWN))
                .isPresent();
        if (heartbeat.equals(sign.heartbeat.written)) {
            return OptionalLong.empty();
        }
        OptionalLong sent = sign.heartbeat.next(heartbeat, now);
        return unknown ? OptionalLong.empty() : sign.came(sent);
    }

    /** The node, or a lease without a node, was deleted. */
    void gone(String name) {
        byName.remove(name);
    }

    /** Identifies the current outage of a node: the text is the same only for the same outage of the same node. */
    String episode(Node node) {
        Sign sign = byName.get(node.name());
        return node.uid() + " "
                + (sign == null ? heartbeat(node) : sign.heartbeat.written + " " + sign.renewal.written);
    }

    /** The time since the last heartbeat that was seen to arrive, at least; empty if none was. */
    Optional<Duration> age(String name, long now) {
        Sign sign = byName.get(name);
        return sign == null || sign.sentAt.isEmpty()
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(now - sign.sentAt.getAsLong()));
    }

    /** The number of remembered names. */
    int size() {
        return byName.size();
    }

    private static String heartbeat(Node node) {
        return node.ready().map(ready -> ready.json().text("lastHeartbeatTime")).orElse("");
    }
}
