package io.nodekeeper.time;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Daemon threads with names that tell what they do. Thread-safe. */
final class NamedThreads {
    private NamedThreads() {}

    static ThreadFactory daemon(String prefix) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            int number = count.getAndIncrement();
            Thread thread = new Thread(task, number == 0 ? prefix : prefix + "-" + number);
            thread.setDaemon(true);
            return thread;
        };
    }
}
