package io.nodekeeper.controller.history;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Keeps the newest decisions in memory, with a limit in total and for each node, so that a flapping node does not
 * displace the others. Confined to the controller's loop.
 */
public final class MemoryHistory implements SearchableHistory {
    /** The most decisions of one node: about five outages with their recovery. */
    private static final int PER_NODE = 32;
    /**
     * The most decisions in total: about 4 MB, which is little for a controller; enough for a verdict on each of 4,000
     * nodes.
     */
    private static final int IN_ALL = 4_096;

    private final int perNode;
    private final int inAll;
    private final ArrayDeque<Decision> decisions = new ArrayDeque<>();
    private final Map<String, Integer> count = new HashMap<>();
    /** The time of the last decision that was dropped. */
    private Optional<Instant> forgotten = Optional.empty();

    /** An empty history with the default limits. */
    public MemoryHistory() {
        this(PER_NODE, IN_ALL);
    }

    MemoryHistory(int perNode, int inAll) {
        this.perNode = perNode;
        this.inAll = inAll;
    }

    @Override
    public void add(Decision decision) {
        decisions.add(decision);
        int ofNode = count.merge(decision.node(), 1, Integer::sum);
        // A scan of all decisions is cheap enough, because it happens only for nodes that flap.
        if (ofNode > perNode) {
            forgetOldest(decision.node());
        } else if (decisions.size() > inAll) {
            forgetOldest(decisions.getFirst().node());
        }
    }

    private void forgetOldest(String node) {
        Iterator<Decision> oldestFirst = decisions.iterator();
        while (oldestFirst.hasNext()) {
            Decision oldest = oldestFirst.next();
            if (oldest.node().equals(node)) {
                oldestFirst.remove();
                forgotten = Optional.of(oldest.at());
                count.computeIfPresent(node, (name, before) -> before == 1 ? null : before - 1);
                return;
            }
        }
    }

    @Override
    public <R> CompletableFuture<R> find(Search<R> search) {
        Search.Sieve<R> sieve = search.sieve();
        forgotten.ifPresent(sieve::deletedUntil);
        decisions.forEach(sieve::offer);
        return CompletableFuture.completedFuture(sieve.answer());
    }

    /** All decisions, oldest first. */
    Collection<Decision> all() {
        return decisions;
    }

    @Override
    public void close() {}
}
