package io.nodekeeper.apiserver;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Heavy work, such as lists of everything: a few pieces at a time beside the threads that serve heartbeats, the users by
 * turns, so that whoever asks for a hundred lists does not hold up somebody who asks for one. Thread-safe.
 */
final class Turns {
    private final Executor workers;
    private final int atOnce;
    private final Map<String, ArrayDeque<Runnable>> waiting = new LinkedHashMap<>();
    private int running;

    /** Runs at most {@code atOnce} tasks at a time on {@code workers}. */
    Turns(Executor workers, int atOnce) {
        this.workers = workers;
        this.atOnce = atOnce;
    }

    /** Runs {@code task}, which throws nothing, when it is the turn of {@code user}. */
    void run(String user, Runnable task) {
        synchronized (this) {
            if (running == atOnce) {
                waiting.computeIfAbsent(user, name -> new ArrayDeque<>()).add(task);
                return;
            }
            running++;
        }
        workers.execute(() -> work(task));
    }

    private void work(Runnable first) {
        // One piece after another on the same thread: a chain of calls would grow with what waits.
        for (Runnable task = first; task != null; task = next()) {
            task.run();
        }
    }

    private synchronized @Nullable Runnable next() {
        if (waiting.isEmpty()) {
            running--;
            return null;
        }
        String user = waiting.keySet().iterator().next();
        ArrayDeque<Runnable> tasks = Objects.requireNonNull(waiting.remove(user));
        Runnable task = tasks.remove();
        if (!tasks.isEmpty()) {
            // To the end of the line.
            waiting.put(user, tasks);
        }
        return task;
    }
}
