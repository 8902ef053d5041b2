package io.nodekeeper.controller.observe;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Matches the changes that this controller would have made with those of another controller. A change by one side waits
 * for the same change by the other; without one within the window, it counts for one side only. Changes match only
 * within the same episode. Time is nanoseconds, passed in. Not thread-safe.
 */
final class Comparison {
    /** The controller that made a change. */
    enum Side {
        OURS,
        THEIRS
    }

    /** A change by one side. */
    private record Made(Side side, Instant at, long nanos) {}

    /**
     * The outcome for one change.
     *
     * @param ours when this controller would have made it, if so
     * @param theirs when the other controller's change was seen, if so
     * @param lead how much earlier ours was than theirs; negative if later; zero unless both made it
     * @param heard how long before the other's change the node sent a heartbeat, if that proves the change false
     */
    record Difference(
            Change change, Optional<Instant> ours, Optional<Instant> theirs, Duration lead, Optional<Duration> heard) {

        String text() {
            if (heard.isPresent()) {
                return change + ": theirs alone, and false: the node was heard "
                        + heard.get().toMillis() + " ms before";
            }
            if (ours.isEmpty()) {
                return change + ": theirs alone";
            }
            if (theirs.isEmpty()) {
                return change + ": ours alone";
            }
            return change + ": both, ours " + lead.abs().toMillis() + " ms " + (lead.isNegative() ? "after" : "before")
                    + " theirs";
        }
    }

    /**
     * The most changes that wait; beyond it the oldest is dropped and counted. That is 10 changes for each of 5,000
     * nodes, the most that Kubernetes supports: its verdict, two taints set and removed, and five for its pods. With
     * about 600 bytes for each it is 30 MB of the 512 MB that a controller has.
     */
    static final int MOST_WAITING = 50_000;

    private final long window;
    /**
     * In order of time. Each entry is removed after the window, and the oldest beyond {@link #MOST_WAITING}.
     */
    private final Map<Change, Made> waiting = new LinkedHashMap<>();
    /** Outcomes by {@code both}, {@code oursAlone}, {@code theirsAlone}, {@code theirsFalse}, {@code dropped}. */
    private final Map<String, Integer> counts = new HashMap<>();

    Comparison(Duration window) {
        this.window = window.toNanos();
    }

    /**
     * A side made a change. Returns the outcome if the other side had made it already. Repetitions by one side do not
     * count.
     */
    Optional<Difference> made(Side side, Change change, Instant at, long nanos) {
        Made other = waiting.get(change);
        if (other == null) {
            waiting.put(change, new Made(side, at, nanos));
            if (waiting.size() > MOST_WAITING) {
                waiting.remove(waiting.keySet().iterator().next());
                counts.merge("dropped", 1, Integer::sum);
            }
            return Optional.empty();
        }
        if (other.side == side) {
            return Optional.empty();
        }
        waiting.remove(change);
        counts.merge("both", 1, Integer::sum);
        Duration lead = Duration.ofNanos(side == Side.OURS ? other.nanos - nanos : nanos - other.nanos);
        return Optional.of(
                side == Side.OURS
                        ? new Difference(change, Optional.of(at), Optional.of(other.at), lead, Optional.empty())
                        : new Difference(change, Optional.of(other.at), Optional.of(at), lead, Optional.empty()));
    }

    /**
     * The other controller declared a node Unknown, or evicted a pod from such a node, though the node had sent a heartbeat
     * shortly before. Our later changes belong to another outage.
     */
    Difference theirsFalse(Change change, Instant at, Duration heard) {
        counts.merge("theirsFalse", 1, Integer::sum);
        return new Difference(change, Optional.empty(), Optional.of(at), Duration.ZERO, Optional.of(heard));
    }

    /** Whether only this controller would have made this change. */
    boolean isOursAlone(Change change) {
        Made made = waiting.get(change);
        return made != null && made.side == Side.OURS;
    }

    /** Removes and returns the changes whose window has passed. */
    List<Difference> expired(long nanos) {
        List<Difference> expired = new ArrayList<>();
        Iterator<Map.Entry<Change, Made>> oldestFirst = waiting.entrySet().iterator();
        while (oldestFirst.hasNext()) {
            Map.Entry<Change, Made> entry = oldestFirst.next();
            Made made = entry.getValue();
            if (nanos - made.nanos < window) {
                break;
            }
            oldestFirst.remove();
            boolean ours = made.side == Side.OURS;
            counts.merge(ours ? "oursAlone" : "theirsAlone", 1, Integer::sum);
            expired.add(new Difference(
                    entry.getKey(),
                    ours ? Optional.of(made.at) : Optional.empty(),
                    ours ? Optional.empty() : Optional.of(made.at),
                    Duration.ZERO,
                    Optional.empty()));
        }
        return expired;
    }

    /**
     * The count of an outcome: {@code both}, {@code oursAlone}, {@code theirsAlone}, {@code theirsFalse}, or {@code
     * dropped} for changes that could not wait for the other side.
     */
    int count(String outcome) {
        return counts.getOrDefault(outcome, 0);
    }

    /** The number of changes that wait for the other side. */
    int waiting() {
        return waiting.size();
    }
}
