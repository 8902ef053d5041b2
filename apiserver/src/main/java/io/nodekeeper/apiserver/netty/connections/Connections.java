package io.nodekeeper.apiserver.netty.connections;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.nodekeeper.client.tls.TlsClient;
import io.nodekeeper.client.tls.TlsTurns;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the connections of all clients, and the memory of those that have not proven who they are. A client proves it by a client
 * certificate, or by a request that is authorized for its token; its connection is then never closed for others. At the limit of
 * connections the oldest unproven one is closed. At the limit of memory those are that use most of it, then also the oldest. So a
 * client that proves itself soon is not closed whatever others do. Thread-safe.
 */
public final class Connections {
    private static final Logger log = LoggerFactory.getLogger(Connections.class);

    /** What a connection takes: TLS, handlers, and a buffer. Measured with 1,000 idle ones: 8 KB. */
    static final int CONNECTION_BYTES = 16 << 10;

    /** What a stream takes while its body has not arrived: its handlers, and headers of up to 1 KB. */
    static final int STREAM_BYTES = 8 << 10;

    /** The most that a connection keeps of what it has received: a request line and headers, each with its limit of 64 KB. */
    static final int RECEIVED_BYTES = 128 << 10;

    /** The connections that use most have more than this, and more than the average: twice what an idle one has. */
    private static final int LARGE_BYTES = 2 * CONNECTION_BYTES;

    /** The part of all connections that is always left for unproven ones: an eighth. Otherwise no new client could connect. */
    private static final int LEFT = 8;

    /** The part of the memory that is freed at its limit: an eighth, because that takes a look at each connection. */
    private static final int FREED = 8;

    private static final long SECONDS_BETWEEN_WARNINGS = 30;

    /** How long a user is not trusted: an offence can stop an event loop for 0.13 s, so once in this time does no harm. */
    private static final Duration DISTRUST = Duration.ofMinutes(5);

    /** The most users who are not trusted at a time; beyond that the oldest one is trusted again. */
    private static final int OFFENDERS = 1_000;

    private final ConnectionLimits limits;
    private final Clock clock;

    /** Unproven connections, the oldest first; their number and bytes have the limits above. */
    private final Set<Client> unproven = new LinkedHashSet<>();
    /** Flows of users who are not trusted, and until when, in nanoseconds of the clock. Nearly always empty. */
    private final Map<String, Long> offenders = new ConcurrentHashMap<>();
    /** The number of proven ones. */
    private int proven;
    /** The bytes that unproven ones use. */
    private long bytes;
    /** Those that were closed since the last warning. */
    private int closed;

    private long warned;

    /** Connections with these limits; {@code clock} measures how long users are not trusted, and limits warnings. */
    public Connections(ConnectionLimits limits, Clock clock) {
        this.limits = limits;
        this.clock = clock;
        warned = clock.nanoTime() - TimeUnit.SECONDS.toNanos(SECONDS_BETWEEN_WARNINGS);
    }

    /** Whether a connection counts, and as what. */
    private enum State {
        UNPROVEN,
        PROVEN,
        CLOSED
    }

    /**
     * The client of one connection, and the first handler of its pipeline until the client is proven: it counts what is received. Its
     * methods can be called on any thread.
     */
    public final class Client extends ChannelInboundHandlerAdapter implements TlsClient {
        private final Channel channel;

        /** The flow of its user; empty while it is unproven. */
        private volatile String flow = "";

        /** Changed by the connections only, under their lock. */
        private volatile State state = State.UNPROVEN;
        /** The bytes that it uses while it is unproven. Guarded by the lock of the connections. */
        private long held = CONNECTION_BYTES;

        /** Received bytes that may still be kept. Confined to the event loop. */
        private int received;

        private Client(Channel channel) {
            this.channel = channel;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof ByteBuf part && received < RECEIVED_BYTES) {
                int more = Math.min(part.readableBytes(), RECEIVED_BYTES - received);
                received += more;
                hold(this, more);
            }
            context.fireChannelRead(message);
        }

        /** The client has proven that it is a user with this flow. It stays unproven while that is not trusted. */
        public void proven(String user) {
            if (state == State.UNPROVEN && prove(this, user)) {
                channel.eventLoop().execute(() -> {
                    // Closed meanwhile, it has no handlers.
                    if (channel.pipeline().context(this) != null) {
                        channel.pipeline().remove(this);
                    }
                    TlsTurns.trusted(channel);
                });
            }
        }

        @Override
        public boolean isTrusted() {
            return state == State.PROVEN && !isOffender(flow);
        }

        /** The memory of unproven clients is limited. One that is proven, but not trusted, connects again. */
        @Override
        public boolean mayWait() {
            return state != State.PROVEN;
        }

        /** Its user is not trusted for some time, on any connection. */
        @Override
        public void offended() {
            distrust(flow);
        }

        /** Counts an open stream of HTTP/2 until it is closed. */
        public void opened(Channel stream) {
            if (state == State.UNPROVEN) {
                hold(this, STREAM_BYTES);
                stream.closeFuture().addListener(ended -> hold(this, -STREAM_BYTES));
            }
        }

        /** Closes it from below all other handlers, which would wait for streams and for an answer to the end of TLS. */
        private void cut() {
            channel.eventLoop().execute(() -> {
                // Not this handler's place: an upgrade removes it.
                ChannelHandlerContext first = channel.pipeline().firstContext();
                if (first != null) {
                    first.close();
                }
            });
        }
    }

    /** Counts a connection until it is closed, and adds its first handler. Closes older ones at a limit. */
    public Client add(Channel connection) {
        Client client = new Client(connection);
        connection.pipeline().addFirst(client);
        connection.closeFuture().addListener(ended -> remove(client));
        List<Client> surplus;
        synchronized (this) {
            unproven.add(client);
            bytes += client.held;
            surplus = surplus();
        }
        surplus.forEach(Client::cut);
        return client;
    }

    private void hold(Client client, long more) {
        List<Client> surplus;
        synchronized (this) {
            if (client.state != State.UNPROVEN) {
                return;
            }
            client.held += more;
            bytes += more;
            surplus = surplus();
        }
        surplus.forEach(Client::cut);
    }

    /** Returns whether the client is now proven. It is not, although it could be, if too few connections are left for others. */
    private synchronized boolean prove(Client client, String flow) {
        if (client.state != State.UNPROVEN || proven >= limits.most() - limits.most() / LEFT || isOffender(flow)) {
            return false;
        }
        client.flow = flow;
        forget(client, State.PROVEN);
        proven++;
        return true;
    }

    private boolean isOffender(String flow) {
        Long until = offenders.get(flow);
        return until != null && until - clock.nanoTime() > 0;
    }

    private void distrust(String flow) {
        log.warn(
                "{} sends TLS records without data; its connections count as those of an unknown client for {}",
                "%.100s".formatted(flow),
                GoDuration.format(DISTRUST));
        long now = clock.nanoTime();
        synchronized (offenders) {
            offenders.values().removeIf(until -> until - now <= 0);
            if (offenders.size() >= OFFENDERS) {
                offenders.entrySet().stream()
                        .min(Comparator.comparingLong(entry -> entry.getValue() - now))
                        .ifPresent(oldest -> offenders.remove(oldest.getKey()));
            }
            offenders.put(flow, now + DISTRUST.toNanos());
        }
    }

    private synchronized void remove(Client client) {
        if (client.state == State.UNPROVEN) {
            forget(client, State.CLOSED);
        } else if (client.state == State.PROVEN) {
            client.state = State.CLOSED;
            proven--;
        }
    }

    private void forget(Client client, State next) {
        unproven.remove(client);
        bytes -= client.held;
        client.state = next;
    }

    /** Removes unproven ones above the limits, and returns them. Called under the lock. */
    private List<Client> surplus() {
        if (bytes <= limits.unprovenBytes() && proven + unproven.size() <= limits.most()) {
            return List.of();
        }
        List<Client> surplus = new ArrayList<>();
        if (bytes > limits.unprovenBytes()) {
            long average = bytes / unproven.size();
            long enough = limits.unprovenBytes() - limits.unprovenBytes() / FREED;
            for (Client client : List.copyOf(unproven)) {
                if (bytes > enough && client.held > LARGE_BYTES && client.held >= average) {
                    forget(client, State.CLOSED);
                    surplus.add(client);
                }
            }
        }
        while (!unproven.isEmpty() && (bytes > limits.unprovenBytes() || proven + unproven.size() > limits.most())) {
            Client oldest = unproven.iterator().next();
            forget(oldest, State.CLOSED);
            surplus.add(oldest);
        }
        warn(surplus.size());
        return surplus;
    }

    private void warn(int more) {
        closed += more;
        long now = clock.nanoTime();
        if (now - warned < TimeUnit.SECONDS.toNanos(SECONDS_BETWEEN_WARNINGS)) {
            return;
        }
        log.warn(
                "closed {} connections of clients that have not shown a credential, because there are too many: {} others of such"
                        + " clients and {} of authorized ones are open; limits: {} connections, {} MB of memory for such clients",
                closed,
                unproven.size(),
                proven,
                limits.most(),
                limits.unprovenBytes() >> 20);
        warned = now;
        closed = 0;
    }
}
