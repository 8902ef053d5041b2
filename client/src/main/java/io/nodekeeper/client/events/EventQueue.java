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
 * A queue of events for the API server, the most important first. It has at most {@link #ROOM} entries, and one for
 * each Event object, however often the event happens. A full queue drops the oldest of the least important events.
 * Pure; not thread-safe.
 */
final class EventQueue {
    /** The same as in client-go. */
    static final int ROOM = 1_000;

    /** Events that every node has in normal operation; they are least important. */
    private static final Set<String> ROUTINE = Set.of("RegisteredNode", "RemovingNode");

    /**
     * A write of an Event object.
     *
     * @param event what happened
     * @param write the content of the object
     * @param last when it last happened
     * @param isNew whether to create the object; otherwise patch it
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

    /**
     * The rank of an event: first events of nodes, such as verdicts, then of pods, which are many, then routine events.
     */
    private static int rank(EventCorrelator.Input event) {
        if (ROUTINE.contains(event.reason())) {
            return 2;
        }
        return event.about().kind().equals("Pod") ? 1 : 0;
    }

    /**
     * Adds {@code send}, merged with a waiting write of its object; returns the write that was dropped for it, if any.
     */
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

    /** Removes and returns the oldest write of the highest rank. */
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

    /** The number of waiting writes. */
    int size() {
        return size;
    }
}
