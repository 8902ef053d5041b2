package io.nodekeeper.client.tls;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.nodekeeper.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** TLS that ends after too much without data, and says what that cost. See {@link TlsTurns}. */
final class MeteredTls extends SslHandler {
    private static final Logger log = LoggerFactory.getLogger(MeteredTls.class);

    /**
     * The most bytes of a client's records without data in ten seconds. That are nine records of one key update or alert in TLS 1.3, and
     * three alerts of the longest suites of TLS 1.2; a client needs one of them in hours. At most 46 key updates fit, which take 2 ms.
     */
    static final int OF_CLIENT = 256;

    /** The same of a server, which sends tickets for further connections, of some hundred bytes each. */
    static final int OF_SERVER = 4_096;

    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * The most records of a handshake. Usual are fewer than ten, and 70 of 512 bytes if there are long certificates. The JDK copies all of a
     * message, which may have 32 KB, with each of its records.
     */
    static final int HANDSHAKE_RECORDS = 128;

    /** What the record that ends a handshake takes at most, with a certificate that must be verified, on a busy machine. */
    private static final long HANDSHAKE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** A key update takes 40 µs and five bytes; a record of one has 27 bytes, an alert up to 85, the end of a handshake up to 74. */
    private static final long UPDATE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    private static final int UPDATE_BYTES = 5;
    private static final int FRAME_BYTES = 96;

    private final int most;
    private final Costs costs;
    private final Clock clock;

    /** Whether the record that is processed has data. */
    private boolean hasData;
    /** Whether the connection ends, and the rest of what was received is dropped. */
    private boolean ended;

    private int handshake;
    /** Bytes without data, since when. */
    private int useless;

    private long since;

    /** Receives what records without data cost, on the event loop. */
    interface Costs {
        /** Ignores all costs. */
        Costs NONE = new Costs() {
            @Override
            public void spent(long nanos) {}

            @Override
            public void exceeded() {}
        };

        /** A record without data took so long. Not more than it can contain: the process may have paused meanwhile. */
        void spent(long nanos);

        /** There were too many, and the connection ends. */
        void exceeded();
    }

    /** At most {@code most} bytes in ten seconds. */
    MeteredTls(SSLEngine engine, int most, Costs costs, Clock clock) {
        super(engine);
        this.most = most;
        this.costs = costs;
        this.clock = clock;
        since = clock.nanoTime();
    }

    /** The handler that must follow: it notices data. */
    ChannelHandler data() {
        return new Data();
    }

    /** Called for each record while there are more bytes. */
    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws SSLException {
        if (ended || engine().isInboundDone()) {
            // The engine takes no more bytes after the end of TLS, and the decoder would keep them without a limit.
            in.skipBytes(in.readableBytes());
            return;
        }
        boolean established = handshakeFuture().isSuccess();
        hasData = false;
        int before = in.readableBytes();
        long began = clock.nanoTime();
        boolean failed = true;
        try {
            super.decode(context, in, out);
            failed = false;
        } finally {
            int bytes = before - in.readableBytes();
            if (bytes > 0 && !hasData) {
                long now = clock.nanoTime();
                if (established) {
                    costs.spent(Math.min(now - began, content(bytes)));
                    if (!failed) {
                        wasted(context, bytes, now);
                    }
                } else {
                    agreed(context, bytes, now - began);
                }
            }
        }
    }

    /** How long the key updates take that fit into a record of so many bytes. */
    private static long content(int bytes) {
        return Math.max(0, bytes - FRAME_BYTES) / UPDATE_BYTES * UPDATE_NANOS;
    }

    /** A record of the handshake is processed. The one that ends it may have key updates, too. */
    private void agreed(ChannelHandlerContext context, int bytes, long nanos) {
        if (++handshake > HANDSHAKE_RECORDS) {
            end(context, handshake + " TLS records of a handshake");
        } else if (handshakeFuture().isSuccess()) {
            costs.spent(Math.min(Math.max(0, nanos - HANDSHAKE_NANOS), content(bytes)));
        }
    }

    private void wasted(ChannelHandlerContext context, int bytes, long now) {
        if (now - since > PERIOD_NANOS) {
            since = now;
            useless = 0;
        }
        useless += bytes;
        if (useless > most) {
            end(context, useless + " bytes of TLS without data");
            costs.exceeded();
        }
    }

    private void end(ChannelHandlerContext context, String what) {
        ended = true;
        log.debug("{} sends {}", context.channel().remoteAddress(), what);
        context.close();
    }

    /** The first handler that gets data. */
    final class Data extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            hasData = true;
            context.fireChannelRead(message);
        }
    }
}
