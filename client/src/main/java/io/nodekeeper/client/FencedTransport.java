package io.nodekeeper.client;

import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Keeps back what a process may not write any more because it leads no more; reads go through. Thread-safe.
 *
 * <p>A process that was frozen goes on where it stood: with verdicts made and writes that wait for a connection. So the
 * question is asked when a call's turn to be sent has come, not when it was handed in; for that the wait for a connection
 * is here. What was on the wire before cannot be fetched back, nor can a write that was frozen between question and wire:
 * against these each write carries the version or the UID that it is meant for.
 */
public final class FencedTransport implements Transport {
    private final Transport real;
    private final BooleanSupplier leads;
    private final Turnstile turnstile = new Turnstile(HttpTransport.CALLS);

    /** A fence before {@code real}; {@code leads} is asked before each write, on any thread. */
    public FencedTransport(Transport real, BooleanSupplier leads) {
        this.real = real;
        this.leads = leads;
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        return turnstile.pass(() -> unlessDeposed(call, () -> real.send(call)));
    }

    @Override
    public CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
        return turnstile.pass(() -> unlessDeposed(call, () -> real.send(call, timer, deadline)));
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
                        new TransportException(call + ": not sent, as this process is not the leader", null));
    }
}
