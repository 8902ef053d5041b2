package io.nodekeeper.controller.guard;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Limits how many nodes the guard protects and for how long, so that a guard that is wrong does limited harm. An episode
 * begins with the first refusal and ends when nothing would have been refused for {@link #QUIET}. Within one episode
 * refusals stop for good once it has lasted the allowed time, and concern at most the allowed share of nodes. Time is
 * nanoseconds by a monotonic clock. Not thread-safe.
 */
public final class RefusalBudget {
    /**
     * How long nothing must be refusable before a new episode may begin. The node controller repeats a refused write
     * every few seconds, so that a longer pause means that the trouble is over.
     */
    static final Duration QUIET = Duration.ofMinutes(10);

    private final double share;
    private final long longest;
    /** The protected nodes of this episode; at most the number of nodes in the cluster. */
    private final Set<String> nodes = new HashSet<>();

    private boolean running;
    private long startedAt;
    private long wantedAt;

    /**
     * An unspent budget.
     *
     * @param share the largest share of nodes to protect in one episode, above 0 and at most 1
     * @param longest how long refusals may go on in one episode
     */
    public RefusalBudget(double share, Duration longest) {
        this.share = share;
        this.longest = longest.toNanos();
    }

    /** Whether a write that blames {@code node}, one of {@code all} nodes, may be refused at {@code now}. */
    boolean admits(String node, int all, long now) {
        if (isOver(now)) {
            running = true;
            startedAt = now;
            nodes.clear();
        }
        wantedAt = now;
        if (now - startedAt > longest) {
            return false;
        }
        if (nodes.contains(node)) {
            return true;
        }
        // At least one: a share of a small cluster would otherwise protect no node at all.
        if (all < 1 || nodes.size() >= Math.max(1, (int) Math.floor(share * all))) {
            return false;
        }
        return nodes.add(node);
    }

    /** The number of nodes that the episode has protected so far; 0 if there is none at {@code now}. */
    int used(long now) {
        return isOver(now) ? 0 : nodes.size();
    }

    private boolean isOver(long now) {
        return !running || now - wantedAt > QUIET.toNanos();
    }
}
