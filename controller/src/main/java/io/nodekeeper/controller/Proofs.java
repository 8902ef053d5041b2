package io.nodekeeper.controller;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes about which something is to be said once sight is proved. Each node is there at most once, so there are never
 * more entries than nodes; each entry is looked at with every proof and every period, so none depends on a report of
 * blindness. Confined to the loop.
 */
final class Proofs {
    /** What waits. */
    interface Waiter {
        /** Looks again; true if it waits no longer. An exception is logged, and the next look comes as usual. */
        boolean look();
    }

    private static final Logger log = LoggerFactory.getLogger(Proofs.class);

    /** Bound: one entry for each node, replaced nodes of the same name until the next look included. */
    private final Map<NodeHealth, Waiter> waiting = new IdentityHashMap<>();

    /** {@code waiter} is looked at from now on, in place of another one of the same node. */
    void add(NodeHealth health, Waiter waiter) {
        waiting.put(health, waiter);
    }

    /** Whether something waits for that node. */
    boolean holds(NodeHealth health) {
        return waiting.containsKey(health);
    }

    /** How many nodes wait. */
    int size() {
        return waiting.size();
    }

    /** Looks at all that wait. */
    void sweep() {
        // Logged once a sweep: the same fault may concern every node.
        boolean logged = false;
        for (NodeHealth health : List.copyOf(waiting.keySet())) {
            logged |= !look(health, !logged);
        }
    }

    /** Looks at what waits for that node. */
    void sweep(NodeHealth health) {
        look(health, true);
    }

    /** False if the look failed. */
    private boolean look(NodeHealth health, boolean mayLog) {
        // Taken out first, as the look may add the same node again.
        Waiter waiter = waiting.remove(health);
        if (waiter == null) {
            return true;
        }
        boolean done = false;
        try {
            done = waiter.look();
        } catch (RuntimeException e) {
            if (mayLog) {
                log.error("node {} waits for a proof of sight, and its look failed", health.name(), e);
            }
            return false;
        } finally {
            if (!done) {
                waiting.putIfAbsent(health, waiter);
            }
        }
        return true;
    }
}
