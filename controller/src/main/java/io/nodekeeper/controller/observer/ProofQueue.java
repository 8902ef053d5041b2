package io.nodekeeper.controller.observer;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes whose verdict or warning waits for a proof of sight. Each node has at most one entry. Every proof and every
 * period checks each entry, so none depends on a report of blindness. Confined to the loop.
 *
 * @param <T> the nodes, compared by identity; their text is their name
 */
public final class ProofQueue<T> {
    /** An entry that waits. */
    public interface Waiter {
        /** Checks again; true if it no longer waits. An exception is logged, and the next check comes as usual. */
        boolean check();
    }

    private static final Logger log = LoggerFactory.getLogger(ProofQueue.class);

    /** Bound: one entry for each node, including replaced nodes of the same name until the next check. */
    private final Map<T, Waiter> waiting = new IdentityHashMap<>();

    /** Adds {@code waiter}, replacing another one of the same node. */
    public void add(T node, Waiter waiter) {
        waiting.put(node, waiter);
    }

    /** Whether there is an entry for that node. */
    public boolean holds(T node) {
        return waiting.containsKey(node);
    }

    /** The number of waiting nodes. */
    public int size() {
        return waiting.size();
    }

    /** Checks all entries. */
    public void sweep() {
        // Logged once per sweep, because the same fault may affect every node.
        boolean logged = false;
        for (T node : List.copyOf(waiting.keySet())) {
            logged |= !check(node, !logged);
        }
    }

    /** Checks the entry of that node. */
    public void sweep(T node) {
        check(node, true);
    }

    /** False if the check failed. */
    private boolean check(T node, boolean mayLog) {
        // Removed first, because the check may add the same node again.
        Waiter waiter = waiting.remove(node);
        if (waiter == null) {
            return true;
        }
        boolean done = false;
        try {
            done = waiter.check();
        } catch (RuntimeException e) {
            if (mayLog) {
                log.error("node {} waits for a proof of sight, and checking it failed", node, e);
            }
            return false;
        } finally {
            if (!done) {
                waiting.putIfAbsent(node, waiter);
            }
        }
        return true;
    }
}
