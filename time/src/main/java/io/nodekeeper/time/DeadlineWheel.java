package io.nodekeeper.time;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.DeadlineTimerWheel;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A timer wheel with one deadline for each owner, for deadlines that are usually moved long before they pass. Moving
 * one only stores a number: its timer stays where it is, fires too early, and is then set again for the stored
 * deadline.
 *
 * <p>Nearly all timers fire too early, one for each owner and turn. So that the caller does not wake up for each of them,
 * {@link #poll} also sets those of the next {@value #AHEAD} ticks again, up to the first tick in which a deadline may really pass.
 *
 * <p>All deadlines of one tick share one timer of the wheel. All spokes of the wheel grow with the fullest one, and after
 * a list of 10,000 nodes all of them are due in the same tick. A bit per tick marks the ticks with deadlines, so that
 * the caller does not wake up for empty ones.
 *
 * <p>Time is in nanoseconds from an origin that the caller chooses, and is passed in. Not thread-safe.
 */
public final class DeadlineWheel<T> {
    /** The result of {@link #nextWake} when no deadline is set. */
    public static final long NEVER = Long.MAX_VALUE;

    private static final int TICK_SHIFT = 20;
    /**
     * The resolution, about 1 ms. A coarser tick would delay every expiry by its length; a finer one would be below the
     * accuracy of timers.
     */
    public static final long TICK_NANOS = 1L << TICK_SHIFT;
    /**
     * Ticks in one turn of the wheel, about 69 s: longer than the default grace periods (50 and 60 s). Timers of later
     * deadlines fire early once per turn and are set again, so a smaller wheel would cost every node additional timers.
     */
    private static final int TICKS = 1 << 16;

    /**
     * The ticks in which {@link #poll} looks for moved deadlines, about 134 ms: at most 8 wakes a second for these. Ten times
     * as much would find deadlines that are moved in time, but not yet.
     */
    private static final int AHEAD = 128;

    private static final long UNARMED = -1;

    /** The deadline of one owner; belongs to one wheel. */
    public static final class Deadline<T> {
        private final T owner;
        private long at = NEVER;
        private long armedTick = UNARMED;

        public Deadline(T owner) {
            this.owner = owner;
        }

        /** The deadline; {@link #NEVER} if it is not set. */
        public long at() {
            return at;
        }
    }

    private record Bucket<T>(long tick, long timer, List<Deadline<T>> deadlines) {
        /** Whether none of its deadlines passes in its tick, because all were moved or unset. */
        boolean isMoved() {
            for (Deadline<T> deadline : deadlines) {
                if (deadline.armedTick == tick && tickAfter(deadline.at) <= tick) {
                    return false;
                }
            }
            return true;
        }
    }

    private final DeadlineTimerWheel wheel = new DeadlineTimerWheel(TimeUnit.NANOSECONDS, 0, TICK_NANOS, TICKS, 1);
    private final Long2ObjectHashMap<Bucket<T>> byTimer = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<Bucket<T>> byTick = new Long2ObjectHashMap<>();
    private final BitSet occupied = new BitSet(TICKS);
    private final List<Bucket<T>> fired = new ArrayList<>();
    private long nextWake = NEVER;

    /** Sets or moves a deadline; it expires strictly after {@code at}. {@link #nextWake} may become earlier. */
    public void set(Deadline<T> deadline, long at) {
        deadline.at = at;
        long tick = tickAfter(at);
        if (deadline.armedTick == UNARMED || deadline.armedTick > tick) {
            arm(deadline, tick);
        }
    }

    /** Unsets a deadline. */
    public void cancel(Deadline<T> deadline) {
        deadline.at = NEVER;
    }

    /** Unsets the deadlines before {@code now} and passes their owners on; before {@link #nextWake} there are none. */
    public void poll(long now, Consumer<T> expired) {
        while (nextWake <= now) {
            wheel.currentTickTime(nextWake);
            wheel.poll(now, this::fire, Integer.MAX_VALUE);
            nextWake = findNext();
            for (Bucket<T> bucket : fired) {
                for (Deadline<T> deadline : bucket.deadlines) {
                    expire(deadline, bucket.tick, now, expired);
                }
            }
            fired.clear();
        }
        wheel.currentTickTime(now);
        rearmMoved();
    }

    /** Sets the deadlines of the next ticks again that were moved, up to the first one that was not. */
    private void rearmMoved() {
        long last = currentTick() + AHEAD;
        while (nextWake >> TICK_SHIFT <= last) {
            Bucket<T> bucket = byTick.get(nextWake >> TICK_SHIFT);
            if (bucket == null || !bucket.isMoved()) {
                return;
            }
            wheel.cancelTimer(bucket.timer);
            remove(bucket);
            for (Deadline<T> deadline : bucket.deadlines) {
                if (deadline.armedTick == bucket.tick) {
                    deadline.armedTick = UNARMED;
                    if (deadline.at != NEVER) {
                        arm(deadline, tickAfter(deadline.at));
                    }
                }
            }
            nextWake = findNext();
        }
    }

    /** The first tick that begins after {@code at}. */
    private static long tickAfter(long at) {
        return Math.floorDiv(at, TICK_NANOS) + 1;
    }

    /** When to poll next; {@link #NEVER} if nothing is armed. */
    public long nextWake() {
        return nextWake;
    }

    private long findNext() {
        if (byTick.isEmpty()) {
            return NEVER;
        }
        long current = currentTick();
        int spoke = (int) (current & (TICKS - 1));
        int next = occupied.nextSetBit(spoke);
        if (next < 0) {
            next = occupied.nextSetBit(0);
        }
        return (current + ((next - spoke) & (TICKS - 1))) << TICK_SHIFT;
    }

    private void expire(Deadline<T> deadline, long tick, long now, Consumer<T> expired) {
        if (deadline.armedTick != tick) {
            // It was set again for an earlier tick in the meantime; that timer counts.
            return;
        }
        deadline.armedTick = UNARMED;
        if (deadline.at == NEVER) {
            return;
        }
        if (now > deadline.at) {
            deadline.at = NEVER;
            expired.accept(deadline.owner);
        } else {
            arm(deadline, tickAfter(deadline.at));
        }
    }

    private void arm(Deadline<T> deadline, long wanted) {
        long current = currentTick();
        // Within one turn of the wheel, so that no two ticks share a spoke.
        long tick = Math.clamp(wanted, current, current + TICKS - 1);
        deadline.armedTick = tick;
        Bucket<T> bucket = byTick.get(tick);
        if (bucket == null) {
            bucket = new Bucket<>(tick, wheel.scheduleTimer(tick << TICK_SHIFT), new ArrayList<>(1));
            byTick.put(tick, bucket);
            byTimer.put(bucket.timer, bucket);
            occupied.set((int) (tick & (TICKS - 1)));
            nextWake = Math.min(nextWake, tick << TICK_SHIFT);
        }
        bucket.deadlines.add(deadline);
    }

    private boolean fire(TimeUnit unit, long now, long timer) {
        @Nullable Bucket<T> bucket = byTimer.get(timer);
        if (bucket == null) {
            throw new IllegalStateException("the wheel fired timer " + timer + ", which was never armed");
        }
        remove(bucket);
        fired.add(bucket);
        return true;
    }

    private void remove(Bucket<T> bucket) {
        byTimer.remove(bucket.timer);
        byTick.remove(bucket.tick);
        occupied.clear((int) (bucket.tick & (TICKS - 1)));
    }

    private long currentTick() {
        return (wheel.currentTickTime() >> TICK_SHIFT) - 1;
    }
}
