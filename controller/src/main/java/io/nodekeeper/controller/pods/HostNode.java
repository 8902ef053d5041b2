package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The state of a pod's node. It may exist only for its pods, if the node is unknown or was deleted. Confined to the
 * loop.
 */
final class HostNode {
    /** The taint with which operators mark a node that is powered off permanently (Kubernetes' name). */
    private static final String OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

    /** The parts of a node's state that changed. */
    record News(boolean ready, boolean taints) {
        static final News NOTHING = new News(false, false);

        boolean any() {
            return ready || taints;
        }
    }

    /** The taints of the state {@code live} that count, computed when this node was last seen at {@code seenAt}. */
    private record Counted(Node live, long seenAt, List<ActiveTaint> taints) {}

    /** The value for an absent time. */
    static final long NO_TIME = Long.MIN_VALUE;

    final String name;

    /** Whether the node object exists. */
    boolean known;

    String uid = "";
    /** The status of its Ready condition; empty if it has none. */
    String ready = "";
    /** When that began, in seconds since 1970 by its writer's clock; or {@link #NO_TIME}. */
    long readySince = NO_TIME;

    List<ActiveTaint> taints = List.of();
    /** When the current {@link #taints} were last seen, monotonic. */
    private long taintsSeenAt;

    boolean outOfService;
    /** While it is unknown: since when, by the monotonic clock. */
    long missingSince;

    /** The last live read that began after {@link #news}, and when it began. */
    @Nullable
    CompletableFuture<Optional<Node>> liveRead;

    long liveReadAt;
    /** What {@link #taintsThatCount} answered last; kept no longer than {@link #liveRead}, because it holds the whole node. */
    @Nullable
    private Counted counted;
    /**
     * Counts the changes that were seen. A live read that began before the last change may return the state before it.
     */
    int news;
    /** Whether a live read returned another state than the known one; the next state then counts as a change. */
    boolean disputed;

    /** How many of its pods are being marked, and how many were marked since there were none. */
    int marking;

    int marked;
    /** With level marking disabled: whether marking failed and must be repeated. */
    boolean markAgain;

    HostNode(String name) {
        this.name = name;
    }

    /** Updates this from the newest state of the node. */
    News saw(Node node, Instant wallTime, long now) {
        List<ActiveTaint> after = taintsOf(node, wallTime, now);
        taintsSeenAt = now;
        Optional<Condition> condition = node.ready();
        String status = condition.map(Condition::status).map(HostNode::word).orElse("");
        long since = condition.map(HostNode::since).orElse(NO_TIME);
        boolean out = isOutOfService(node);
        News news = new News(
                !known || !ready.equals(status) || readySince != since,
                disputed || !known || !isSame(node) || !after.equals(taints));
        if (!news.any() && out == outOfService) {
            return News.NOTHING;
        }
        changed();
        known = true;
        uid = node.uid();
        ready = status;
        readySince = since;
        taints = after;
        outOfService = out;
        return news;
    }

    /** The NoExecute taints of {@code node}, a state of this node or of another one of its name. */
    List<ActiveTaint> taintsOf(Node node, Instant wallTime, long now) {
        ActiveTaint.Before before =
                isSame(node) ? new ActiveTaint.Before(taints, taintsSeenAt) : ActiveTaint.Before.NOTHING;
        return ActiveTaint.of(node, before, wallTime, now);
    }

    /**
     * The taints of {@code node}, as read from the API, for which pods may leave. If it is Ready and the watch has not said so yet,
     * its taints of not being so are about to be removed, and do not count. Computed once for a live read, because each of the
     * node's pods asks.
     */
    List<ActiveTaint> taintsThatCount(Node node, Instant wallTime, long now) {
        if (counted != null && counted.live == node && counted.seenAt == taintsSeenAt) {
            return counted.taints;
        }
        List<ActiveTaint> taints = computeTaintsThatCount(node, wallTime, now);
        if (liveRead != null) {
            counted = new Counted(node, taintsSeenAt, taints);
        }
        return taints;
    }

    private List<ActiveTaint> computeTaintsThatCount(Node node, Instant wallTime, long now) {
        boolean returned = !ready.equals(Condition.TRUE)
                && node.ready()
                        .filter(condition -> condition.status().equals(Condition.TRUE))
                        .isPresent();
        return taintsOf(node, wallTime, now).stream()
                .filter(taint -> !returned || !taint.isOfFailure())
                .toList();
    }

    /** When a condition began, in seconds since 1970 by its writer; or {@link #NO_TIME}. */
    static long since(Condition condition) {
        return condition.lastTransitionTime().map(Instant::getEpochSecond).orElse(NO_TIME);
    }

    /** The node was deleted at {@code now}. */
    void gone(long now) {
        changed();
        known = false;
        uid = "";
        ready = "";
        readySince = NO_TIME;
        taints = List.of();
        outOfService = false;
        missingSince = now;
    }

    private void changed() {
        news++;
        disputed = false;
        forgetLiveRead();
    }

    /** The next action on a pod reads this node again. */
    void forgetLiveRead() {
        liveRead = null;
        counted = null;
    }

    /** Whether {@code node} has the known UID. */
    boolean isSame(Node node) {
        return known && node.uid().equals(uid);
    }

    /** Whether {@code node} is marked as out of service: its pods run no more. */
    static boolean isOutOfService(Node node) {
        return node.taints().stream().anyMatch(taint -> taint.key().equals(OUT_OF_SERVICE));
    }

    /** Interns the status of a condition: one of three words. */
    static String word(String status) {
        return switch (status) {
            case Condition.TRUE -> Condition.TRUE;
            case Condition.FALSE -> Condition.FALSE;
            default -> Condition.UNKNOWN;
        };
    }

    @Override
    public String toString() {
        return name;
    }
}
