package io.nodekeeper.client.tls;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.nodekeeper.time.Clock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * Limits the work that clients cause by TLS: by the group for the keys, and by records without data, mainly key updates.
 *
 * <p>A record of TLS 1.3 has room for 3,276 key updates, and the JDK carries out all of them in one call on the event loop: 40 µs
 * each, 130 ms together (measured). The keys are agreed on without a credential. RFC 8446, 5.1 demands that a key update ends its
 * record, but the JDK does not check it, and nobody else can see into a record before. So the first such record of a
 * connection cannot be prevented. What follows is limited:
 *
 * <ul>
 *   <li>A connection ends after more than {@value MeteredTls#USELESS_BYTES} bytes of records without data in ten seconds
 *       ({@link MeteredTls}).
 *   <li>After such an end, what clients send that are not trusted takes turns, one address after the other, until there was time for
 *       others: four times what these records took. So all such clients together take at most a fifth of an event loop, however many
 *       connections they open, and each address has its part ({@link TurnGate}, {@link LoopTurns}).
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

    /** How long the JVM compiles the code of handshakes, which take up to ten times as long meanwhile. */
    private static final long WARM_UP_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Clock clock;
    private final long warm;
    /** One for each event loop of the server. */
    private final Map<EventLoop, LoopTurns> loops = new ConcurrentHashMap<>();

    /** Turns of a server that starts, measured by {@code clock}. */
    public TlsTurns(Clock clock) {
        this.clock = clock;
        warm = clock.nanoTime() + WARM_UP_NANOS;
    }

    /** Whether this handler belongs to TLS: it must stay as long as the connection. */
    public static boolean isTls(ChannelHandler handler) {
        return handler instanceof SslHandler || handler instanceof TurnGate || handler instanceof MeteredTls.Data;
    }

    /** Adds TLS to the end of a new connection's pipeline, as several handlers. Returns that which encrypts. */
    public SslHandler secure(Channel connection, SslContext context, TlsClient client) {
        SSLEngine engine = context.newEngine(connection.alloc());
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setNamedGroups(GROUPS);
        engine.setSSLParameters(parameters);
        LoopTurns turns = loops.computeIfAbsent(connection.eventLoop(), loop -> new LoopTurns(loop, clock));
        MeteredTls tls = new MeteredTls(engine, client, turns, clock, warm);
        connection.pipeline().addLast(new TurnGate(turns, client), tls, tls.data());
        return tls;
    }

    /** Tells a connection that its client may be trusted now, so that nothing of it waits any longer. Called on any thread. */
    public static void trusted(Channel connection) {
        connection.pipeline().fireUserEventTriggered(TurnGate.TRUSTED);
    }
}
