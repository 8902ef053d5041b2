package io.nodekeeper.client.http;

import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Turns to open connections, {@value #MOST} at a time. A burst of calls would open one connection for each, and the handshakes, which take
 * milliseconds of processor time at both ends, would delay all of them; most are served sooner by a connection that becomes idle meanwhile.
 * An opening counts for {@value #LONG_MILLIS} ms at most, so an address that does not answer delays other calls by little. What waits is
 * bounded by the exchanges. Confined to its event loop.
 */
final class OpeningTurns {
    /** Some milliseconds each, they take a small part of a second; a client that is no burst rarely opens more at once. */
    static final int MOST = 8;
    /** Many times a handshake in one data center, and a small part of the deadline of a call. */
    static final int LONG_MILLIS = 500;

    private final EventLoop loop;
    private final Consumer<HttpExchange> open;
    private final Set<HttpExchange> opening = new HashSet<>();
    private final ArrayDeque<HttpExchange> waiting = new ArrayDeque<>();
    /** Whether {@link #next} runs: an opening that fails at once needs no second round. */
    private boolean granting;

    /** Calls {@code open} for each exchange whose turn it is. */
    OpeningTurns(EventLoop loop, Consumer<HttpExchange> open) {
        this.loop = loop;
        this.open = open;
    }

    /** Opens a connection for {@code exchange} as soon as it is its turn. */
    void add(HttpExchange exchange) {
        waiting.addLast(exchange);
        next();
    }

    /** Whether an exchange waits for its turn. */
    boolean isAnyWaiting() {
        return !waiting.isEmpty();
    }

    /** Removes the exchange that has waited longest, for which there is a connection now. */
    Optional<HttpExchange> poll() {
        HttpExchange exchange = waiting.pollFirst();
        while (exchange != null && exchange.isOver()) {
            exchange = waiting.pollFirst();
        }
        return Optional.ofNullable(exchange);
    }

    /** The connection of {@code exchange} is open, or will not be. */
    void ended(HttpExchange exchange) {
        if (opening.remove(exchange)) {
            next();
        }
    }

    private void next() {
        if (granting) {
            return;
        }
        granting = true;
        try {
            for (Optional<HttpExchange> exchange = mayOpen(); exchange.isPresent(); exchange = mayOpen()) {
                begin(exchange.get());
            }
        } finally {
            granting = false;
        }
    }

    private Optional<HttpExchange> mayOpen() {
        return opening.size() < MOST ? poll() : Optional.empty();
    }

    private void begin(HttpExchange exchange) {
        opening.add(exchange);
        loop.schedule(() -> ended(exchange), LONG_MILLIS, TimeUnit.MILLISECONDS);
        open.accept(exchange);
    }
}
