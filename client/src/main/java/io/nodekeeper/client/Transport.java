package io.nodekeeper.client;

import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Sends requests to one API server: over HTTPS in a real process, over an in-process network in the simulator.
 * Thread-safe; results complete on any thread.
 */
public interface Transport {

    /**
     * Sends a request. The result fails with {@link TransportException} if there was no answer; cancelling it cancels
     * the request and frees its resources.
     */
    CompletableFuture<Reply> send(Call call);

    /**
     * Sends a request that may take {@code deadline} after it was sent, timed by {@code timer}; after that it fails
     * with {@link io.nodekeeper.time.DeadlineExceededException} and is cancelled. The wait for a free connection does
     * not count, because cancelling requests that only wait for others would make all of them slower.
     */
    default CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
        return Deadlines.within(timer, deadline, call.toString(), send(call));
    }

    /** Opens a streaming response that is read line by line. */
    Stream open(Call call, StreamHandler handler);

    /** Cancels all requests and streams, and frees connections and threads. */
    void close();

    /** An open streaming response. */
    interface Stream {
        /** Cancels the stream; the handler may still receive lines that had already arrived. Idempotent. */
        void cancel();
    }

    /** Receives the events of a {@link Stream}, one call after another. */
    interface StreamHandler {
        /** The server accepted the request with status 200; lines follow. */
        void onOpen();

        /** One line, without its end. */
        void onLine(byte[] line);

        /**
         * Lines that arrived together, for a handler that needs no copies. Their bytes are reused when {@link #drained}
         * completes.
         */
        default void onLines(Lines lines) {
            for (int i = 0; i < lines.count(); i++) {
                onLine(lines.copy(i));
            }
        }

        /**
         * Completes when the handler has processed the lines so far. A transport reads more only then, so that a slow
         * handler slows the server down instead of filling memory. Completed by default.
         */
        default CompletableFuture<Void> drained() {
            return CompletableFuture.completedFuture(null);
        }

        /**
         * The stream has ended: the server refused, with its answer in {@code refusal}; or the stream broke, with the
         * cause in {@code why}; or it ended as requested, with both empty.
         */
        void onEnd(Optional<Reply> refusal, Optional<TransportException> why);
    }
}
