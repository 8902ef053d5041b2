package io.nodekeeper.bench;

import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;

/** A loop of minimal cost: tasks run immediately, timers when time is advanced past them. Used by one thread. */
final class BenchLoop implements Loop {
    private static final class Task implements Timer {
        private final long at;
        private final Runnable action;
        private boolean cancelled;

        private Task(long at, Runnable action) {
            this.at = at;
            this.action = action;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    private final Instant start;
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final PriorityQueue<Task> timers = new PriorityQueue<>(Comparator.comparingLong(task -> task.at));
    private final Clock clock = new Clock() {
        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public Instant wallTime() {
            return start.plusNanos(now);
        }
    };
    private long now;
    private boolean running;

    BenchLoop(Instant start) {
        this.start = start;
    }

    /** Advances the time and runs what is due. */
    void advance(long nanos) {
        now += nanos;
        while (!timers.isEmpty() && timers.peek().at <= now) {
            Task task = timers.remove();
            if (!task.cancelled) {
                execute(task.action);
            }
        }
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public void execute(Runnable task) {
        if (running) {
            tasks.add(task);
            return;
        }
        running = true;
        task.run();
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        running = false;
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        Task timer = new Task(now + Math.max(0, delay.toNanos()), task);
        timers.add(timer);
        return timer;
    }

    @Override
    public void close() {
        tasks.clear();
        timers.clear();
    }
}
