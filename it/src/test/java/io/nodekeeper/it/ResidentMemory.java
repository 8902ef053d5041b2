package io.nodekeeper.it;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** The most memory that a process had resident while it was watched, looked at ten times a second. */
final class ResidentMemory implements AutoCloseable {
    private final Thread thread;
    private volatile long most;
    private volatile boolean ended;

    ResidentMemory(long pid) {
        thread = Thread.ofVirtual().start(() -> {
            while (!ended) {
                try {
                    most = Math.max(most, ProcessFacts.residentKb(pid));
                    TimeUnit.MILLISECONDS.sleep(100);
                } catch (IOException | InterruptedException e) {
                    // The process has ended, which others notice.
                    return;
                }
            }
        });
    }

    /** KB. */
    long mostKb() {
        return most;
    }

    @Override
    public void close() throws InterruptedException {
        ended = true;
        thread.join();
    }
}
