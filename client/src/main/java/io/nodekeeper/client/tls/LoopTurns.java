package io.nodekeeper.client.tls;

import io.netty.channel.EventLoop;
import io.nodekeeper.time.Clock;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.TimeUnit;

/**
 * Turns on one event loop, to which this is confined: after a record without data, others wait until four fifths of the time are left for
 * those who need no turn. Sources take turns, and the connections of one source; sources that are suspect only if no other waits. Only
 * open connections wait.
 */
final class LoopTurns {
    /** How many times what a record took the next turn is later. */
    private static final int OTHERS = 4;

    /** Turns in a row before the event loop does something else: 64 small requests take some milliseconds. */
    private static final int IN_A_ROW = 64;

    private static final long SUSPECT_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** The most sources that are suspect; beyond that the oldest one no longer is. */
    static final int SUSPECTS = 1_000;

    private final EventLoop loop;
    private final Clock clock;
    /** Those that wait, by source; the source with the next turn is first. */
    private final SequencedMap<Object, SequencedSet<Runnable>> waiting = new LinkedHashMap<>();
    /** The same, of sources that were suspect when they began to wait. */
    private final SequencedMap<Object, SequencedSet<Runnable>> behind = new LinkedHashMap<>();
    /** Until when sources are suspect, in nanoseconds of the clock; the oldest first. */
    private final SequencedMap<Object, Long> suspects = new LinkedHashMap<>();
    /** When the next turn is, in nanoseconds of the clock. */
    private long next;
    /** Whether {@link #run} is scheduled or runs. */
    private boolean scheduled;

    LoopTurns(EventLoop loop, Clock clock) {
        this.loop = loop;
        this.clock = clock;
        next = clock.nanoTime();
    }

    /** Whether a client may go on without a turn. */
    boolean isFree() {
        return !isWaited() && isDue();
    }

    private boolean isWaited() {
        return !waiting.isEmpty() || !behind.isEmpty();
    }

    private boolean isDue() {
        return clock.nanoTime() - next >= 0;
    }

    /** A record without data took so long. */
    void charge(long nanos) {
        long now = clock.nanoTime();
        next = (next - now > 0 ? next : now) + OTHERS * nanos;
    }

    /** A connection from {@code source} sent too many. */
    void suspect(Object source) {
        suspects.remove(source);
        suspects.put(source, clock.nanoTime() + SUSPECT_NANOS);
        if (suspects.size() > SUSPECTS) {
            suspects.pollFirstEntry();
        }
    }

    /** Whether a connection from {@code source} sent too many in the last minutes. */
    boolean isSuspect(Object source) {
        Long until = suspects.get(source);
        return until != null && until - clock.nanoTime() > 0;
    }

    /** Runs {@code turn} once when it is the turn of {@code source}. */
    void await(Object source, Runnable turn) {
        (isSuspect(source) ? behind : waiting)
                .computeIfAbsent(source, first -> new LinkedHashSet<>())
                .add(turn);
        if (!scheduled) {
            schedule();
        }
    }

    /** {@code turn} waits no longer. */
    void leave(Object source, Runnable turn) {
        leave(waiting, source, turn);
        leave(behind, source, turn);
    }

    private static void leave(Map<Object, SequencedSet<Runnable>> from, Object source, Runnable turn) {
        SequencedSet<Runnable> turns = from.get(source);
        if (turns != null && turns.remove(turn) && turns.isEmpty()) {
            from.remove(source);
        }
    }

    private void schedule() {
        scheduled = true;
        loop.schedule(this::run, Math.max(0, next - clock.nanoTime()), TimeUnit.NANOSECONDS);
    }

    private void run() {
        try {
            for (int i = 0; i < IN_A_ROW && isWaited() && isDue(); i++) {
                take(waiting.isEmpty() ? behind : waiting).run();
            }
        } finally {
            scheduled = false;
            if (isWaited()) {
                schedule();
            }
        }
    }

    private static Runnable take(SequencedMap<Object, SequencedSet<Runnable>> from) {
        Map.Entry<Object, SequencedSet<Runnable>> first = from.pollFirstEntry();
        SequencedSet<Runnable> turns = first.getValue();
        Runnable turn = turns.removeFirst();
        if (!turns.isEmpty()) {
            from.put(first.getKey(), turns);
        }
        return turn;
    }
}
