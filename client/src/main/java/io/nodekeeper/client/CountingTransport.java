package io.nodekeeper.client;

import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/** A transport that counts the results of another one's requests. Streams are not counted. Thread-safe. */
public final class CountingTransport implements Transport {
    /** From this status on a request was refused. */
    private static final int REFUSED = 400;

    private final Transport transport;
    private final LongAdder answered = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder failed = new LongAdder();

    /**
     * The results of the requests so far.
     *
     * @param answered as they were meant
     * @param refused with a status of 400 or higher
     * @param failed without an answer
     */
    public record Counts(long answered, long refused, long failed) {}

    /** Counts the requests that it sends through {@code transport}. */
    public CountingTransport(Transport transport) {
        this.transport = transport;
    }

    /** The results so far. */
    public Counts counts() {
        return new Counts(answered.sum(), refused.sum(), failed.sum());
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        return counted(transport.send(call));
    }

    @Override
    public CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
        return counted(transport.send(call, timer, deadline));
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        return transport.open(call, handler);
    }

    @Override
    public void close() {
        transport.close();
    }

    /** The same result, because cancelling another one would not cancel the request. */
    private CompletableFuture<Reply> counted(CompletableFuture<Reply> result) {
        var unused = result.whenComplete((reply, error) -> {
            if (error != null) {
                failed.increment();
            } else if (reply.status() >= REFUSED) {
                refused.increment();
            } else {
                answered.increment();
            }
        });
        return result;
    }
}
