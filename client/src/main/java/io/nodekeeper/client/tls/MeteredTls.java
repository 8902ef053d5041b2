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

/** TLS that ends after too much without data. See {@link TlsTurns}. */
final class MeteredTls extends SslHandler {
    private static final Logger log = LoggerFactory.getLogger(MeteredTls.class);

    /**
     * The most bytes of records without data in ten seconds. That are nine records of one key update or alert in TLS 1.3, and three alerts of
     * the longest suites of TLS 1.2; a client needs one of them in hours. At most 46 key updates fit, which take 2 ms.
     */
    static final int USELESS_BYTES = 256;

    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** What a record of a handshake takes at most: 1 to 5 ms, with a client's certificate, on a machine that is busy. */
    private static final long HANDSHAKE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** The same while the code is not compiled yet. */
    private static final long COLD_HANDSHAKE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final TlsClient client;
    private final LoopTurns turns;
    private final Clock clock;
    private final long warm;

    /** Whether the record that is processed has data. */
    private boolean hasData;
    /** Whether the connection ends, and the rest of what was received is dropped. */
    private boolean ended;

    /** Bytes without data and the time that they took, since when. */
    private int useless;

    private long spent;
    private long since;

    /** The code is compiled from {@code warm} on, in nanoseconds of the clock. */
    MeteredTls(SSLEngine engine, TlsClient client, LoopTurns turns, Clock clock, long warm) {
        super(engine);
        this.client = client;
        this.turns = turns;
        this.clock = clock;
        this.warm = warm;
        since = clock.nanoTime();
    }

    /** The handler that must follow: it notices data. */
    ChannelHandler data() {
        return new Data();
    }

    /** Called for each record while there are more bytes. */
    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws SSLException {
        if (ended) {
            in.skipBytes(in.readableBytes());
            return;
        }
        boolean established = handshakeFuture().isSuccess();
        hasData = false;
        int before = in.readableBytes();
        long began = clock.nanoTime();
        try {
            super.decode(context, in, out);
        } finally {
            int bytes = before - in.readableBytes();
            if (!hasData && bytes > 0) {
                if (established) {
                    wasted(context, bytes, began);
                } else {
                    agreed(began);
                }
            }
        }
    }

    /** A record of the handshake is processed. Its last one may have key updates, too. */
    private void agreed(long began) {
        long now = clock.nanoTime();
        long more = now - began - (now - warm < 0 ? COLD_HANDSHAKE_NANOS : HANDSHAKE_NANOS);
        if (more > 0) {
            turns.charge(more);
        }
    }

    private void wasted(ChannelHandlerContext context, int bytes, long began) {
        long now = clock.nanoTime();
        if (now - since > PERIOD_NANOS) {
            since = now;
            useless = 0;
            spent = 0;
        }
        useless += bytes;
        spent += now - began;
        if (useless > USELESS_BYTES) {
            ended = true;
            log.debug("{} sends {} bytes of TLS without data", context.channel().remoteAddress(), useless);
            if (client.isTrusted()) {
                client.offended();
            } else {
                turns.charge(spent);
            }
            context.close();
        }
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
