package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Keep-alive connections that send requests, one at a time each. Confined to the event loop. */
final class Clients implements KeepAliveConnection.Owner {
    /** The source of requests. */
    interface Work {
        /** Sends the next request with {@code exchange}; false if there is none now. */
        boolean next(KeepAliveConnection exchange);

        /** The request was answered. */
        void answered(KeepAliveConnection exchange, int status, ByteBuf body);
    }

    private static final Work NOTHING = new Work() {
        @Override
        public boolean next(KeepAliveConnection exchange) {
            return false;
        }

        @Override
        public void answered(KeepAliveConnection exchange, int status, ByteBuf body) {}
    };

    /** Handshakes in progress at once: on a server that has just started they are slow, and time out when there are many. */
    private static final int OPENING = 8;

    private final ArrayDeque<KeepAliveConnection> idle = new ArrayDeque<>();
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final ServerConnections connections;
    private final int wanted;
    private final boolean http2;
    private int begun;
    private Work work = NOTHING;
    private int open;
    private Optional<String> fault = Optional.empty();

    private Clients(ServerConnections connections, int wanted, boolean http2) {
        this.connections = connections;
        this.wanted = wanted;
        this.http2 = http2;
    }

    /** Opens {@code count} connections, of HTTP/2 or of HTTP/1.1; wait for {@link #ready}. */
    static Clients connect(ServerConnections connections, int count, boolean http2) {
        Clients clients = new Clients(connections, count, http2);
        for (int i = 0; i < Math.min(count, OPENING); i++) {
            clients.connectNext();
        }
        return clients;
    }

    private void connectNext() {
        if (begun < wanted) {
            begun++;
            KeepAliveConnection client = new KeepAliveConnection(this);
            (http2 ? connections.connectHttp2(client) : connections.connect(client)).addListener(done -> {
                if (!done.isSuccess()) {
                    ready.completeExceptionally(done.cause());
                }
            });
        }
    }

    /** Completes when all are connected. */
    CompletableFuture<Void> ready() {
        return ready;
    }

    /** The first error of a connection. */
    Optional<String> fault() {
        return fault;
    }

    /** Sends the requests of {@code next} from now on; requests in progress are also answered to it. */
    void work(Work next) {
        work = next;
        kick();
    }

    /** There may be new requests for idle connections. */
    void kick() {
        while (!idle.isEmpty()) {
            if (!work.next(idle.peekFirst())) {
                return;
            }
            idle.removeFirst();
        }
    }

    /** Whether no request is in progress. */
    boolean atRest() {
        return idle.size() == open;
    }

    /** Sends no more requests. */
    void rest() {
        Work before = work;
        work = new Work() {
            @Override
            public boolean next(KeepAliveConnection exchange) {
                return false;
            }

            @Override
            public void answered(KeepAliveConnection exchange, int status, ByteBuf body) {
                before.answered(exchange, status, body);
            }
        };
    }

    @Override
    public void ready(KeepAliveConnection exchange) {
        open++;
        idle.addLast(exchange);
        if (open == wanted) {
            ready.complete(null);
        }
        connectNext();
    }

    @Override
    public void answered(KeepAliveConnection exchange, int status, ByteBuf body) {
        work.answered(exchange, status, body);
        if (!work.next(exchange)) {
            idle.addLast(exchange);
        }
    }

    @Override
    public void gone(KeepAliveConnection exchange, Throwable why) {
        open--;
        idle.remove(exchange);
        if (fault.isEmpty()) {
            fault = Optional.of("a connection was lost: " + why);
        }
        ready.completeExceptionally(why);
    }
}
