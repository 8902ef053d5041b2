package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;

/**
 * Limits the rate of accepted connections. The TLS setup of a connection costs an event loop some 0.2 ms before the client
 * is authenticated, so clients that only connect could starve the requests of others. Further connections wait in the
 * backlog of the operating system. For one server channel.
 */
final class AcceptRate extends ChannelInboundHandlerAdapter {
    /** The length of a window: short compared with the connect timeout of clients. */
    static final int WINDOW_MILLIS = 10;

    private final int most;
    private int accepted;

    /** Accepts at most {@code most} connections per window. */
    AcceptRate(int most) {
        this.most = most;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object connection) {
        accepted++;
        if (accepted == 1) {
            context.executor().schedule(() -> next(context), WINDOW_MILLIS, TimeUnit.MILLISECONDS);
        }
        if (accepted >= most) {
            context.channel().config().setAutoRead(false);
        }
        context.fireChannelRead(connection);
    }

    private void next(ChannelHandlerContext context) {
        accepted = 0;
        context.channel().config().setAutoRead(true);
    }
}
