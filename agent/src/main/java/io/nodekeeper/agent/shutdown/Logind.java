package io.nodekeeper.agent.shutdown;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;

/** The service that shuts the machine down, and waits for those who asked it to. All calls block. */
public interface Logind {

    /**
     * Connects.
     *
     * @param shutdown gets whether a shutdown has begun or was cancelled, from any thread
     * @param lost runs once when the connection ends by itself, on any thread
     * @throws IOException if there is no such service
     */
    Session connect(Consumer<Boolean> shutdown, Runnable lost) throws IOException;

    /** A connection. */
    interface Session extends AutoCloseable {
        /** How long a shutdown waits at most ({@code InhibitDelayMaxUSec}). */
        Duration longestDelay() throws IOException;

        /** Asks for a longer delay, which {@link #longestDelay} tells a moment later; needs root. */
        void extendDelay(Duration delay) throws IOException;

        /** Whether a shutdown has begun and was not cancelled ({@code PreparingForShutdown}). */
        boolean isShuttingDown() throws IOException;

        /** From now on a shutdown waits until the lock is closed, or for the longest delay. */
        Lock delayShutdown() throws IOException;

        @Override
        void close();
    }

    /** Delays a shutdown until it is closed. */
    interface Lock extends AutoCloseable {
        @Override
        void close();
    }
}
