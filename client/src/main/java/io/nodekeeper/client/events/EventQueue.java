package io.nodekeeper.client.events;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Events that wait for the API server: the most important first, at most {@link #ROOM}, and each Event object once, however
 * often it happened meanwhile. When it is full, the oldest of the least important events makes room. Pure; not thread-safe.
 */
final class EventQueue {
    /** As many as client-go keeps. */
    static final int ROOM = 1_000;

    /** What comes with every node, whether something is wrong or not: it waits for everything else. */
    private static final Set<String> ROUTINE = Set.of("RegisteredNode", "RemovingNode");

    /**
     * A write of an Event object.
     *
     * @param event what happened
     * @param write what the object is to say
     * @param last when it happened last
     * @param isNew whether the object is to be created; else it is there and is to be patched
     */
    record Send(EventCorrelator.Input event, EventCorrelator.Write write, Instant last, boolean isNew) {
        private Send after(Send earlier) {
            return new Send(event, write, last, earlier.isNew);
        }
    }

    /** By rank, most important first; by name of the Event object. Together at most {@link #ROOM}. */
    private final List<Map<String, Send>> ranks = new ArrayList<>();

    private int size;

    EventQueue() {
        for (int rank = 0; rank < 3; rank++) {
            ranks.add(new LinkedHashMap<>());
        }
    }

    /** Verdicts on nodes and what else is said of them, then what is said of pods, of which there are many, then routine. */
    private static int rank(EventCorrelator.Input event) {
        if (ROUTINE.contains(event.reason())) {
            return 2;
        }
        return event.about().kind().equals("Pod") ? 1 : 0;
    }

    /** Lets {@code send} wait, with an earlier write of its object as one; the result is what had to make room for it. */
    Optional<Send> add(Send send) {
        Map<String, Send> rank = ranks.get(rank(send.event));
        Send earlier = rank.get(send.write.name());
        if (earlier != null) {
            rank.put(send.write.name(), send.after(earlier));
            return Optional.empty();
        }
        rank.put(send.write.name(), send);
        size++;
        return size > ROOM ? removeLeast() : Optional.empty();
    }

    private Optional<Send> removeLeast() {
        return ranks.reversed().stream()
                .filter(rank -> !rank.isEmpty())
                .findFirst()
                .map(this::removeEldest);
    }

    /** The most important one that waits, the oldest of its rank; it has left the queue then. */
    Optional<Send> poll() {
        return ranks.stream().filter(rank -> !rank.isEmpty()).findFirst().map(this::removeEldest);
    }

    private Send removeEldest(Map<String, Send> rank) {
        Iterator<Send> eldest = rank.values().iterator();
        Send send = eldest.next();
        eldest.remove();
        size--;
        return send;
    }

    /** How many wait. */
    int size() {
        return size;
    }
}
