package io.nodekeeper.client.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Finds the addresses of a server. All exchanges that need them at a time share one lookup, so one that hangs blocks one thread only.
 * Confined to the event loop.
 */
final class AddressLookup {
    /** Asks for the addresses of a host: at least one. May block. */
    interface Resolver {
        List<InetAddress> addresses(String host) throws UnknownHostException;
    }

    private final String host;
    private final Resolver resolver;
    private final Executor threads;
    private final Executor loop;
    private final BiConsumer<HttpExchange, List<InetAddress>> found;
    private final BiConsumer<HttpExchange, Throwable> failed;
    private final ArrayDeque<HttpExchange> waiting = new ArrayDeque<>();

    /**
     * A lookup of {@code host}.
     *
     * @param threads runs what blocks
     * @param loop the event loop
     * @param found continues an exchange
     * @param failed ends an exchange
     */
    AddressLookup(
            String host,
            Resolver resolver,
            Executor threads,
            Executor loop,
            BiConsumer<HttpExchange, List<InetAddress>> found,
            BiConsumer<HttpExchange, Throwable> failed) {
        this.host = host;
        this.resolver = resolver;
        this.threads = threads;
        this.loop = loop;
        this.found = found;
        this.failed = failed;
    }

    /** Continues {@code exchange} with the addresses, or fails it. */
    void start(HttpExchange exchange) {
        waiting.add(exchange);
        if (waiting.size() == 1) {
            try {
                threads.execute(this::ask);
            } catch (RuntimeException | OutOfMemoryError e) {
                // No thread, for example; the next exchange tries again.
                fail(e);
            }
        }
    }

    private void ask() {
        List<InetAddress> addresses;
        try {
            addresses = resolver.addresses(host);
        } catch (UnknownHostException | RuntimeException | Error e) {
            loop.execute(() -> fail(e));
            return;
        }
        loop.execute(() -> take(exchange -> found.accept(exchange, addresses)));
    }

    /** Fails all that wait. */
    void fail(Throwable why) {
        take(exchange -> failed.accept(exchange, why));
    }

    private void take(Consumer<HttpExchange> next) {
        List<HttpExchange> taken = List.copyOf(waiting);
        waiting.clear();
        for (HttpExchange exchange : taken) {
            try {
                next.accept(exchange);
            } catch (RuntimeException e) {
                failed.accept(exchange, e);
            }
        }
    }
}
