package io.nodekeeper.client.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.SystemClock;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * Limits the work that peers cause by TLS: by the group for the keys, and by records without data, mainly key updates.
 *
 * <p>A record of TLS 1.3 has room for 3,276 key updates, and the JDK carries out all of them in one call on the event loop: 40 µs
 * each, 130 ms together (measured). The keys are agreed on without a credential. RFC 8446, 5.1 demands that a key update ends its
 * record, but the JDK does not check it, and a server cannot look into a record before it is decrypted. So the first such record of a
 * connection cannot be prevented. What follows is limited:
 *
 * <ul>
 *   <li>A connection ends after more than {@value MeteredTls#OF_CLIENT} bytes of records without data in ten seconds, and after
 *       {@value MeteredTls#HANDSHAKE_RECORDS} records of a handshake ({@link MeteredTls}). This also holds for connections to nodes.
 *   <li>While such records are processed, what clients send that are not trusted takes turns, until there was time for others: four times
 *       what these records took. So key updates of all such clients together take at most a fifth of an event loop, however many
 *       connections they open. Addresses that did not exceed the limit are first ({@link TurnGate}, {@link LoopTurns}).
 *   <li>Key updates in the record that ends the handshake count in the same way, as far as it takes longer than a handshake.
 *   <li>The server learns which trusted client did it, and should not trust it for some time.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class TlsTurns {
    /**
     * The groups for the agreement on keys: Go's. Clients choose among those that a server allows, and of all that the JDK has,
     * ffdhe8192 costs the server 18 ms of processor time, these 4 to 13 ms (measured, soon after a start).
     */
    private static final String[] GROUPS = {"x25519", "secp256r1", "secp384r1", "secp521r1"};

    private final Duration handshake;
    private final Clock clock;
    /** One for each event loop of the server. */
    private final Map<EventLoop, LoopTurns> loops = new ConcurrentHashMap<>();

    /**
     * Turns of a server, measured by {@code clock}. A connection ends if its handshake takes longer than {@code handshake}, which includes
     * the time that it waits for its turns.
     */
    public TlsTurns(Duration handshake, Clock clock) {
        this.handshake = handshake;
        this.clock = clock;
    }

    /** Whether this handler belongs to TLS: it must stay as long as the connection. */
    public static boolean isTls(ChannelHandler handler) {
        return handler instanceof SslHandler || handler instanceof TurnGate || handler instanceof MeteredTls.Data;
    }

    /** The handlers of a connection to a server that may be hostile, such as a node. */
    public static ChannelHandler[] toServer(SslContext context, ByteBufAllocator memory, String host, int port) {
        MeteredTls tls = new MeteredTls(
                context.newEngine(memory, host, port), MeteredTls.OF_SERVER, MeteredTls.Costs.NONE, new SystemClock());
        return new ChannelHandler[] {tls, tls.data()};
    }

    /** As {@link #secure(Channel, SslContext, TlsClient)}, where clients are trusted that have shown a certificate and come from an address without an offence. */
    public void secure(Channel connection, SslContext context) {
        LoopTurns turns = turns(connection);
        Object source = source(connection.remoteAddress());
        CertifiedClient client = new CertifiedClient(() -> turns.isSuspect(source));
        SslHandler tls = secure(connection, context, client, turns, source);
        tls.handshakeFuture()
                .addListener(done -> client.established(tls.engine().getSession()));
    }

    /** Adds TLS to the end of a new connection's pipeline, as several handlers. */
    public void secure(Channel connection, SslContext context, TlsClient client) {
        secure(connection, context, client, turns(connection), source(connection.remoteAddress()));
    }

    private SslHandler secure(
            Channel connection, SslContext context, TlsClient client, LoopTurns turns, Object source) {
        SSLEngine engine = context.newEngine(connection.alloc());
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setNamedGroups(GROUPS);
        engine.setSSLParameters(parameters);
        MeteredTls tls = new MeteredTls(engine, MeteredTls.OF_CLIENT, costs(turns, source, client), clock);
        // The handshake of an accepted connection begins when the handler is added; a later timeout has no effect.
        tls.setHandshakeTimeoutMillis(handshake.toMillis());
        connection.pipeline().addLast(new TurnGate(turns, source, client), tls, tls.data());
        return tls;
    }

    private LoopTurns turns(Channel connection) {
        return loops.computeIfAbsent(connection.eventLoop(), loop -> new LoopTurns(loop, clock));
    }

    private static MeteredTls.Costs costs(LoopTurns turns, Object source, TlsClient client) {
        return new MeteredTls.Costs() {
            @Override
            public void spent(long nanos) {
                if (nanos > 0 && !client.isTrusted()) {
                    turns.charge(nanos);
                }
            }

            @Override
            public void exceeded() {
                if (client.isTrusted()) {
                    client.offended();
                }
                turns.suspect(source);
            }
        };
    }

    private static Object source(SocketAddress remote) {
        return remote instanceof InetSocketAddress internet ? internet.getAddress() : remote;
    }

    /** Tells a connection that its client may be trusted now, so that nothing of it waits any longer. Called on any thread. */
    public static void trusted(Channel connection) {
        connection.pipeline().fireUserEventTriggered(TurnGate.TRUSTED);
    }
}
