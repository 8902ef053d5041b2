package io.nodekeeper.client;

import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The way to one API server: HTTPS in a real process, an in-process network in the simulator. Thread-safe; results come
 * on any thread.
 */
public interface Transport {

    /**
     * Sends a request. The result fails with {@link TransportException} if there was no answer; cancelling it gives the
     * request up and frees what it held.
     */
    CompletableFuture<Reply> send(Call call);

    /**
     * Sends a request that may take {@code deadline} once it is on its way, timed by {@code timer}; then it fails with
     * {@link io.nodekeeper.time.DeadlineExceededException} and is given up. The wait for a free connection does not count:
     * giving up what only waits for its neighbours would make them all slower.
     */
    default CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
        return Deadlines.within(timer, deadline, call.toString(), send(call));
    }

    /** Opens a long answer that is read line by line. */
    Stream open(Call call, StreamHandler handler);

    /** Gives up what is under way and frees connections and threads. */
    void close();

    /** A long answer under way. */
    interface Stream {
        /** Ends it; the handler may still hear of lines that were on their way. Idempotent. */
        void cancel();
    }

    /** What happens on a {@link Stream}, one call after the other. */
    interface StreamHandler {
        /** The server agreed, with status 200; lines follow. */
        void onOpen();

        /** One line, without its end. */
        void onLine(byte[] line);

        /**
         * Lines that arrived together, for a handler that can do without copies of them. Their bytes are used again once
         * {@link #drained} completes.
         */
        default void onLines(Lines lines) {
            for (int i = 0; i < lines.count(); i++) {
                onLine(lines.copy(i));
            }
        }

        /**
         * Completes when the handler has dealt with the lines so far; a transport reads on only then, so that a slow
         * handler slows the server instead of filling memory. At once by default.
         */
        default CompletableFuture<Void> drained() {
            return CompletableFuture.completedFuture(null);
        }

        /**
         * Nothing more comes: the server refused, in which case {@code refusal} is its answer; or the stream broke, of
         * which {@code why} tells; or it ended as agreed, with both empty.
         */
        void onEnd(Optional<Reply> refusal, Optional<TransportException> why);
    }
}
