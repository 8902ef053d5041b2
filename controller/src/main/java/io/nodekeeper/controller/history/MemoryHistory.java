package io.nodekeeper.controller.history;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

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
    /** What one node may cause many times, unlike its verdict: for each of its pods, or with each change of Ready. */
    private static final Set<String> MANY = Set.of("Evicted", "EvictionCancelled", "Collected", Decision.READY_CHANGED);

    /** The latest time of a decision that was dropped: the wall clock may have been set back. */
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
        int size = count.merge(decision.node(), 1, Integer::sum);
        // A scan of all decisions is cheap enough, because it happens only for nodes that flap.
        if (size > perNode) {
            Predicate<Decision> ofNode = decided -> decided.node().equals(decision.node());
            if (!forgetOldest(ofNode.and(decided -> MANY.contains(decided.kind())))) {
                forgetOldest(ofNode);
            }
        } else if (decisions.size() > inAll) {
            forgetOldest(any -> true);
        }
    }

    /** The later one of the times of two dropped decisions. */
    static Instant later(Optional<Instant> known, Instant time) {
        return known.filter(time::isBefore).orElse(time);
    }

    /** Drops the oldest decision that meets the condition; false if there is none. */
    private boolean forgetOldest(Predicate<Decision> condition) {
        Iterator<Decision> oldestFirst = decisions.iterator();
        while (oldestFirst.hasNext()) {
            Decision oldest = oldestFirst.next();
            if (condition.test(oldest)) {
                oldestFirst.remove();
                forgotten = Optional.of(later(forgotten, oldest.at()));
                count.computeIfPresent(oldest.node(), (name, before) -> before == 1 ? null : before - 1);
                return true;
            }
        }
        return false;
    }

    @Override
    public <R> CompletableFuture<R> find(Search<R> search) {
        Search.Sieve<R> sieve = search.sieve();
        offerTo(sieve);
        return CompletableFuture.completedFuture(sieve.answer());
    }

    /** Offers all decisions, newest first. */
    void offerTo(Search.Sieve<?> sieve) {
        forgotten.ifPresent(sieve::deletedUntil);
        decisions.descendingIterator().forEachRemaining(sieve::offer);
    }

    /** The time since which no decision is missing here; empty if there is no decision. */
    Optional<Instant> completeSince() {
        return Optional.ofNullable(decisions.peekFirst()).map(oldest -> later(forgotten, oldest.at()));
    }

    @Override
    public void close() {}
}
