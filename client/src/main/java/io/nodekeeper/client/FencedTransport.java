package io.nodekeeper.client;

import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Blocks writes of a process that is no longer the leader; reads pass. Thread-safe.
 *
 * <p>A frozen process continues where it stopped, with verdicts made and writes that wait for a connection. The check
 * is therefore made when a call is about to be sent, not when it was submitted, and the wait for a connection is in
 * this class. A write that was sent before, or that froze between the check and the network, cannot be recalled:
 * against these, each write has the version or the UID of its object.
 */
public final class FencedTransport implements Transport {
    private final Transport real;
    private final BooleanSupplier leads;
    private final InFlightLimiter limiter;

    /**
     * A fence for {@code real}.
     *
     * @param leads called before each write, on any thread
     * @param calls the most concurrent calls, not more than {@code real} sends at once
     */
    public FencedTransport(Transport real, BooleanSupplier leads, int calls) {
        this.real = real;
        this.leads = leads;
        this.limiter = new InFlightLimiter(calls);
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        return limiter.pass(() -> unlessDeposed(call, () -> real.send(call)));
    }

    @Override
    public CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
        return limiter.pass(() -> unlessDeposed(call, () -> real.send(call, timer, deadline)));
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        return real.open(call, handler);
    }

    @Override
    public void close() {
        real.close();
    }

    private CompletableFuture<Reply> unlessDeposed(Call call, Supplier<CompletableFuture<Reply>> send) {
        return call.method().equals("GET") || leads.getAsBoolean()
                ? send.get()
                : CompletableFuture.failedFuture(
                        new TransportException(call + ": not sent, because this process is not the leader", null));
    }
}
