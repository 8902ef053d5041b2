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
 * One deadline for each owner, most of which are moved on long before they come. Moving one on writes a number and
 * nothing else: its timer stays where it is, fires too early, and is armed again for what was written by then.
 *
 * <p>All deadlines of one tick share one timer of the wheel. The wheel's spokes all grow with the fullest one, and after
 * a list of 10,000 nodes all of them are due in the same tick. A bit a tick tells which tick is next, so that nobody has
 * to wake up for the empty ones.
 *
 * <p>Time is nanoseconds, passed in, from an origin of the caller's. Not thread-safe.
 */
public final class DeadlineWheel<T> {
    /** What {@link #nextWake} answers when there is nothing to wait for. */
    public static final long NEVER = Long.MAX_VALUE;

    private static final int TICK_SHIFT = 20;
    /** About 1 ms: how late a deadline may be noticed. Chosen. */
    public static final long TICK_NANOS = 1L << TICK_SHIFT;
    /** About 69 s, more than the default graces; what lies further away fires early and is armed again. Chosen. */
    private static final int TICKS = 1 << 16;

    private static final long UNARMED = -1;

    /** The deadline of one owner; belongs to one wheel. */
    public static final class Deadline<T> {
        private final T owner;
        private long at = NEVER;
        private long armedTick = UNARMED;

        public Deadline(T owner) {
            this.owner = owner;
        }

        /** When it is; {@link #NEVER} if it is not set. */
        public long at() {
            return at;
        }
    }

    private record Bucket<T>(long tick, List<Deadline<T>> deadlines) {}

    private final DeadlineTimerWheel wheel = new DeadlineTimerWheel(TimeUnit.NANOSECONDS, 0, TICK_NANOS, TICKS, 1);
    private final Long2ObjectHashMap<Bucket<T>> byTimer = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<Bucket<T>> byTick = new Long2ObjectHashMap<>();
    private final BitSet occupied = new BitSet(TICKS);
    private final List<Bucket<T>> fired = new ArrayList<>();
    private long nextWake = NEVER;

    /** Sets or moves a deadline; it expires strictly after {@code at}. {@link #nextWake} may be sooner then. */
    public void set(Deadline<T> deadline, long at) {
        deadline.at = at;
        long tick = Math.floorDiv(at, TICK_NANOS) + 1;
        if (deadline.armedTick == UNARMED || deadline.armedTick > tick) {
            arm(deadline, tick);
        }
    }

    /** Unsets a deadline. */
    public void cancel(Deadline<T> deadline) {
        deadline.at = NEVER;
    }

    /** Unsets the deadlines that lie before {@code now} and hands over their owners. Idle before {@link #nextWake}. */
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
            // Armed anew for an earlier tick in the meantime; that timer counts.
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
            arm(deadline, Math.floorDiv(deadline.at, TICK_NANOS) + 1);
        }
    }

    private void arm(Deadline<T> deadline, long wanted) {
        long current = currentTick();
        // Within one turn of the wheel, so that no two ticks meet in a spoke.
        long tick = Math.clamp(wanted, current, current + TICKS - 1);
        deadline.armedTick = tick;
        Bucket<T> bucket = byTick.get(tick);
        if (bucket == null) {
            bucket = new Bucket<>(tick, new ArrayList<>(1));
            byTick.put(tick, bucket);
            byTimer.put(wheel.scheduleTimer(tick << TICK_SHIFT), bucket);
            occupied.set((int) (tick & (TICKS - 1)));
            nextWake = Math.min(nextWake, tick << TICK_SHIFT);
        }
        bucket.deadlines.add(deadline);
    }

    private boolean fire(TimeUnit unit, long now, long timer) {
        @Nullable Bucket<T> bucket = byTimer.remove(timer);
        if (bucket == null) {
            throw new IllegalStateException("the wheel fired timer " + timer + ", which was never armed");
        }
        byTick.remove(bucket.tick);
        occupied.clear((int) (bucket.tick & (TICKS - 1)));
        fired.add(bucket);
        return true;
    }

    private long currentTick() {
        return (wheel.currentTickTime() >> TICK_SHIFT) - 1;
    }
}
