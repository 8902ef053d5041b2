package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Closes an idle connection, and one whose request headers arrive too slowly. It counts ticks of a slow timer, so that a
 * request needs no timer of its own. Confined to the connection's event loop.
 */
final class ConnectionTimeouts extends ChannelInboundHandlerAdapter {
    private static final int TICK_SECONDS = 10;
    /**
     * Ticks without a request before a connection is closed, 10 minutes: kubectl and agents send requests more often,
     * and a new TLS handshake costs more than an idle connection.
     */
    private static final int IDLE_TICKS = 60;
    /**
     * Ticks from the first byte of a request to the end of its headers, 30 s: close to Kubernetes' 32 s; headers
     * usually arrive in one packet.
     */
    private static final int HEAD_TICKS = 3;

    private final BooleanSupplier busy;
    private final int headTicks;
    private boolean begun;
    private int ticks;
    private @Nullable ScheduledFuture<?> timer;

    private ConnectionTimeouts(BooleanSupplier busy, int headTicks) {
        this.busy = busy;
        this.headTicks = headTicks;
    }

    /** For a connection with one request at a time; {@link #heard} reports complete headers. */
    static ConnectionTimeouts withRequests(BooleanSupplier busy) {
        return new ConnectionTimeouts(busy, HEAD_TICKS);
    }

    /** For a connection with many streams, each of which the codec limits; {@link #heard} reports complete headers. */
    static ConnectionTimeouts withStreams(BooleanSupplier busy) {
        return new ConnectionTimeouts(busy, IDLE_TICKS);
    }

    /** Called when the headers of a request are complete: the connection is not idle. */
    void heard() {
        begun = false;
        ticks = 0;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        timer = context.executor()
                .scheduleAtFixedRate(() -> tick(context), TICK_SECONDS, TICK_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        // The body of a request that is under way begins nothing.
        if (!begun && !busy.getAsBoolean()) {
            begun = true;
            ticks = 0;
        }
        context.fireChannelRead(message);
    }

    private void tick(ChannelHandlerContext context) {
        if (busy.getAsBoolean()) {
            ticks = 0;
        } else if (++ticks > (begun ? headTicks : IDLE_TICKS)) {
            context.channel().close();
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (timer != null) {
            timer.cancel(false);
        }
    }
}
