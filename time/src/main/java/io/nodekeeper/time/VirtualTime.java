package io.nodekeeper.time;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.TreeSet;

/**
 * Virtual time, which advances only when told to, and the loops that run in it. Tasks of all loops run on the calling
 * thread, ordered by their time and, within one instant, by submission: a program whose only inputs are these loops and
 * seeded randomness does the same every time. Not thread-safe.
 *
 * <p>A loop can be frozen, as SIGSTOP freezes a process: its tasks wait until it is thawed, even if they are overdue.
 * Its wall clock can differ from that of the other loops.
 */
public final class VirtualTime {
    private final TreeSet<Task> queue = new TreeSet<>();
    private final Instant wallOrigin;
    private long nanos;
    private long sequence;
    private long executed;

    /** Virtual time that starts at {@code wallOrigin}. */
    public VirtualTime(Instant wallOrigin) {
        this.wallOrigin = wallOrigin;
    }

    /** A new loop in this time. */
    public VirtualLoop loop(String name) {
        return new VirtualLoop(name);
    }

    /** The time since the start. */
    public Duration elapsed() {
        return Duration.ofNanos(nanos);
    }

    /** The wall time of a loop without skew. */
    public Instant wallTime() {
        return wallOrigin.plusNanos(nanos);
    }

    /** How many tasks have run so far. */
    public long executed() {
        return executed;
    }

    /** Runs all tasks that become due within {@code duration}, in order, and ends exactly that much later. */
    public void advance(Duration duration) {
        long end = Math.addExact(nanos, duration.toNanos());
        while (!queue.isEmpty() && queue.first().at <= end) {
            Task task = queue.removeFirst();
            nanos = Math.max(nanos, task.at);
            task.loop.deliver(task);
        }
        nanos = end;
    }

    private final class Task implements Comparable<Task> {
        private final VirtualLoop loop;
        private final long at;
        private final long order = sequence++;
        private final Runnable action;
        private boolean cancelled;

        private Task(VirtualLoop loop, long at, Runnable action) {
            this.loop = loop;
            this.at = at;
            this.action = action;
        }

        @Override
        public int compareTo(Task other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    /** A loop in virtual time. Not thread-safe. */
    public final class VirtualLoop implements Loop, Clock {
        private final String name;
        private final ArrayDeque<Task> held = new ArrayDeque<>();
        private Duration skew = Duration.ZERO;
        private boolean frozen;
        private boolean closed;

        private VirtualLoop(String name) {
            this.name = name;
        }

        @Override
        public Clock clock() {
            return this;
        }

        @Override
        public long nanoTime() {
            return nanos;
        }

        @Override
        public Instant wallTime() {
            return VirtualTime.this.wallTime().plus(skew);
        }

        @Override
        public void execute(Runnable task) {
            schedule(Duration.ZERO, task);
        }

        @Override
        public Timer schedule(Duration delay, Runnable action) {
            Task task = new Task(this, nanos + Math.max(0, delay.toNanos()), action);
            if (!closed) {
                queue.add(task);
            }
            return () -> {
                // A cancelled timer leaves the queue immediately: a run may set a million of them again.
                task.cancelled = true;
                queue.remove(task);
            };
        }

        @Override
        public void close() {
            closed = true;
            held.clear();
            // Timers of years would keep everything that a closed loop refers to in memory.
            queue.removeIf(task -> task.loop == this);
        }

        /** Offsets this loop's wall clock from the common one; does not affect the monotonic clock. */
        public void skewWallClock(Duration skew) {
            this.skew = skew;
        }

        /** Freezes the loop: from now on tasks wait. */
        public void freeze() {
            frozen = true;
        }

        /** Thaws the loop: waiting tasks run now, in their order. */
        public void thaw() {
            frozen = false;
            while (!held.isEmpty()) {
                Task task = held.poll();
                schedule(Duration.ZERO, () -> runUnlessCancelled(task));
            }
        }

        @Override
        public String toString() {
            return name;
        }

        private void deliver(Task task) {
            if (frozen) {
                held.add(task);
            } else {
                runUnlessCancelled(task);
            }
        }

        private void runUnlessCancelled(Task task) {
            if (!closed && !task.cancelled) {
                executed++;
                task.action.run();
            }
        }
    }
}
