package io.nodekeeper.it;

import java.util.ArrayDeque;
import java.util.Deque;

/** Things that are closed together, the newest first: each of them, also if another one fails to close. Used by one thread. */
final class Parts implements AutoCloseable {
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    /** Adds a part, and returns it. */
    <T extends AutoCloseable> T opened(T part) {
        parts.push(part);
        return part;
    }

    @Override
    public void close() throws Exception {
        if (!parts.isEmpty()) {
            AutoCloseable newest = parts.pop();
            // The older ones are closed even if this fails; what they throw is added to its exception.
            try (Parts _ = this) {
                newest.close();
            }
        }
    }
}
