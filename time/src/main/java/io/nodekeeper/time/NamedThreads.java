package io.nodekeeper.time;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates daemon threads with descriptive names. Thread-safe. */
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
