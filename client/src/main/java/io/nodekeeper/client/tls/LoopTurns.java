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
 * Turns on one event loop, to which this is confined: after an offence, the others wait until four fifths of the time are left for
 * those who need no turn. Addresses take turns, and the connections of one address. Only open connections wait.
 */
final class LoopTurns {
    /** How many times the time of an offence the next turn is later. */
    private static final int OTHERS = 4;

    /** The most that an offence counts: a pause of the whole process may be in the time that it took. */
    private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Turns in a row before the event loop does something else: 64 small requests take some milliseconds. */
    private static final int IN_A_ROW = 64;

    private final EventLoop loop;
    private final Clock clock;
    /** Those that wait, by address; the address with the next turn is first. */
    private final SequencedMap<Object, SequencedSet<Runnable>> waiting = new LinkedHashMap<>();
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
        return waiting.isEmpty() && isDue();
    }

    private boolean isDue() {
        return clock.nanoTime() - next >= 0;
    }

    /** An offence took so long. */
    void charge(long nanos) {
        long now = clock.nanoTime();
        next = (next - now > 0 ? next : now) + OTHERS * Math.min(nanos, MOST_NANOS);
    }

    /** Runs {@code turn} once when it is the turn of {@code address}. */
    void await(Object address, Runnable turn) {
        waiting.computeIfAbsent(address, first -> new LinkedHashSet<>()).add(turn);
        if (!scheduled) {
            schedule();
        }
    }

    /** {@code turn} waits no longer. */
    void leave(Object address, Runnable turn) {
        SequencedSet<Runnable> turns = waiting.get(address);
        if (turns != null && turns.remove(turn) && turns.isEmpty()) {
            waiting.remove(address);
        }
    }

    private void schedule() {
        scheduled = true;
        loop.schedule(this::run, Math.max(0, next - clock.nanoTime()), TimeUnit.NANOSECONDS);
    }

    private void run() {
        try {
            for (int i = 0; i < IN_A_ROW && !waiting.isEmpty() && isDue(); i++) {
                Map.Entry<Object, SequencedSet<Runnable>> first = waiting.pollFirstEntry();
                SequencedSet<Runnable> turns = first.getValue();
                Runnable turn = turns.removeFirst();
                if (!turns.isEmpty()) {
                    waiting.put(first.getKey(), turns);
                }
                turn.run();
            }
        } finally {
            scheduled = false;
            if (!waiting.isEmpty()) {
                schedule();
            }
        }
    }
}
