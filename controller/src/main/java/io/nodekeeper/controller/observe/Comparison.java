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
 * Pairs what we would have done with what another controller did. A change that one side made waits for the other's;
 * when that does not come within the window it was the one's alone. Only changes of the same episode are the same change. Time is nanoseconds, passed in. Not thread-safe.
 */
final class Comparison {
    /** Who did it. */
    enum Side {
        OURS,
        THEIRS
    }

    /** A change by one side. */
    private record Made(Side side, Instant at, long nanos) {}

    /**
     * The outcome for one change.
     *
     * @param ours when we would have made it, if we would
     * @param theirs when it was seen that they made it, if they did
     * @param lead by how much ours came before theirs; negative if after; zero unless both made it
     * @param heard how long before a verdict of theirs the node was heard, if that makes it a false one
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

    private final long window;
    /** In the order in which they were made; each leaves after the window, so it holds what both sides do in that time. */
    private final Map<Change, Made> waiting = new LinkedHashMap<>();
    /** Outcomes by {@code both}, {@code oursAlone}, {@code theirsAlone}, {@code theirsFalse}. */
    private final Map<String, Integer> counts = new HashMap<>();

    Comparison(Duration window) {
        this.window = window.toNanos();
    }

    /** A side made a change; the outcome if the other one had made it already. What one side repeats does not count. */
    Optional<Difference> made(Side side, Change change, Instant at, long nanos) {
        Made other = waiting.get(change);
        if (other == null) {
            waiting.put(change, new Made(side, at, nanos));
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

    /** They declared a node Unknown that was heard that long before: whatever we do later is about another silence. */
    Difference theirsFalse(Change change, Instant at, Duration heard) {
        counts.merge("theirsFalse", 1, Integer::sum);
        return new Difference(change, Optional.empty(), Optional.of(at), Duration.ZERO, Optional.of(heard));
    }

    /** Whether we would have made this change, and they have not. */
    boolean isOursAlone(Change change) {
        Made made = waiting.get(change);
        return made != null && made.side == Side.OURS;
    }

    /** The changes that the other side will not make any more. */
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

    /** How often that outcome came: {@code both}, {@code oursAlone}, {@code theirsAlone} or {@code theirsFalse}. */
    int count(String outcome) {
        return counts.getOrDefault(outcome, 0);
    }

    /** How many changes wait for the other side. */
    int waiting() {
        return waiting.size();
    }
}
