package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.controller.config.ZoneConfig;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Iterator;

/**
 * Checks when nodes get NoExecute taints, in a cluster of one zone: never while Ready, not faster than the zone's rate,
 * not at all while a disruption stops them, and not slower while none delays them. Confined to virtual time.
 */
final class NoExecuteRules {
    /** The most taints remembered for the rate: at the default 0.1 a second more than ten minutes of them. */
    private static final int REMEMBERED = 128;
    /** A zone with fewer nodes that are not ready is not disrupted, however small it is (Kubernetes' number). */
    private static final int FEW = 3;
    /** How much later than its turn a taint may come: the write and one retry after a conflict. */
    private static final Duration WRITE = Duration.ofSeconds(2);

    /** How far back a disturbance may have made nodes wait for a write: longer than any disturbance lasts. */
    private static final long BACKLOG = Duration.ofMinutes(15).toNanos();

    private final Scales scales;
    private final Collection<NodeFacts> nodes;
    private final ZoneConfig config;
    private final Duration turn;
    /** When taints were added; the newest last, {@link #REMEMBERED} at most. */
    private final ArrayDeque<Long> added = new ArrayDeque<>();

    /** When controllers became active, each of which has a token of its own; {@link #REMEMBERED} at most. */
    private final ArrayDeque<Long> begun = new ArrayDeque<>();

    /** The time since when the zone has been disrupted without a break so that no node may get a taint. */
    private long stoppedSince = NodeFacts.NEVER;

    /** The time since when some node has waited without a break while nothing delayed it and none got a taint. */
    private long waitingSince = NodeFacts.NEVER;

    NoExecuteRules(Scales scales, Collection<NodeFacts> nodes, ZoneConfig config) {
        this.scales = scales;
        this.nodes = nodes;
        this.config = config;
        this.turn = Duration.ofNanos((long) (1e9 / config.nodeEvictionRate())).plus(WRITE);
    }

    void controllerBegan() {
        remember(begun);
        waitingSince = NodeFacts.NEVER;
        review();
    }

    /**
     * The node's taints are about to become those of {@code object}; its facts still have the previous Ready condition.
     */
    void changed(NodeFacts node, Node object) {
        boolean has = object.hasTaint(Taint.UNREACHABLE, Taint.NO_EXECUTE)
                || object.hasTaint(Taint.NOT_READY, Taint.NO_EXECUTE);
        if (has == node.hasNoExecute()) {
            return;
        }
        long now = scales.now();
        node.noExecuteChangedAt = now;
        if (!has) {
            node.noExecuteSince = NodeFacts.NEVER;
            return;
        }
        node.noExecuteSince = now;
        scales.tally().noExecute();
        if (node.isReady() && object.isReady()) {
            scales.violated(Rule.NO_EXECUTE_WRONG, node.name, "Ready, and given a NoExecute taint");
        }
        if (stoppedSince != NodeFacts.NEVER && scales.undisturbed(stoppedSince, scales.control) > WRITE.toNanos()) {
            scales.violated(
                    Rule.NO_EXECUTE_FAST,
                    node.name,
                    "given a NoExecute taint though its zone has been disrupted for "
                            + Scales.text(now - stoppedSince));
        }
        remember(added);
        judgeRate(node);
        waitingSince = NodeFacts.NEVER;
    }

    /** Checks again after a change that may make a node wait, or end that; all facts are current. */
    void review() {
        if (!isStopped()) {
            stoppedSince = NodeFacts.NEVER;
        } else if (stoppedSince == NodeFacts.NEVER) {
            stoppedSince = scales.now();
        }
        if (!isWaiting()) {
            waitingSince = NodeFacts.NEVER;
        } else if (waitingSince == NodeFacts.NEVER) {
            long since = scales.now();
            waitingSince = since;
            scales.after(since, turn, scales.control, () -> waitingSince == since, () -> {
                waitingSince = NodeFacts.NEVER;
                scales.violated(
                        Rule.NO_EXECUTE_LATE,
                        "cluster",
                        "nodes wait for NoExecute taints and none got one for " + Scales.text(scales.now() - since));
            });
        }
    }

    /** Whether a node waits that no disruption can delay. */
    private boolean isWaiting() {
        int known = 0;
        int notReady = 0;
        boolean waits = false;
        for (NodeFacts node : nodes) {
            if (node.known) {
                known++;
                notReady += node.isReady() ? 0 : 1;
                // A node without a condition has not failed.
                waits |= !node.isReady() && !node.ready.isEmpty() && !node.hasNoExecute();
            }
        }
        boolean disrupted = notReady == known
                || (notReady >= FEW && (float) notReady / known >= config.unhealthyZoneThreshold() / 2);
        return waits && !disrupted;
    }

    /** Whether the zone is certainly so disrupted that no node may get a taint. */
    private boolean isStopped() {
        long known = nodes.stream().filter(node -> node.known).count();
        long notReady =
                nodes.stream().filter(node -> node.known && !node.isReady()).count();
        boolean partly = notReady >= FEW
                && (float) notReady / known >= config.unhealthyZoneThreshold()
                && known <= config.largeClusterSizeThreshold();
        return notReady > 0 && (notReady == known || partly);
    }

    /**
     * In every span of time: at most what its length allows, one saved token, and one for each controller that became
     * active.
     */
    private void judgeRate(NodeFacts node) {
        long now = scales.now();
        int count = 0;
        for (Iterator<Long> newest = added.descendingIterator(); newest.hasNext(); ) {
            long since = newest.next();
            count++;
            // A taint that was admitted during a disturbance may be written after it.
            long span = now - since + scales.control.within(since - BACKLOG, now) + WRITE.toNanos();
            long tokens = 1 + begun.stream().filter(at -> at >= since - span).count();
            if (count > tokens + config.nodeEvictionRate() * span / 1e9 + 1e-6) {
                scales.violated(
                        Rule.NO_EXECUTE_FAST,
                        node.name,
                        "the " + count + "th node with a NoExecute taint in " + Scales.text(now - since));
                return;
            }
        }
    }

    private void remember(ArrayDeque<Long> times) {
        times.addLast(scales.now());
        if (times.size() > REMEMBERED) {
            times.removeFirst();
        }
    }
}
