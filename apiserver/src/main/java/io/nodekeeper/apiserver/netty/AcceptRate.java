package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;

/**
 * Bounds how many connections a server accepts in a time. Setting up TLS for a connection costs an event loop some 0.2 ms
 * before the client has proven anything, so clients that connect and leave could keep the loops from the requests of others.
 * What is not accepted yet waits in the backlog of the operating system. For one server channel.
 */
final class AcceptRate extends ChannelInboundHandlerAdapter {
    /** The length of a window: short beside the time that a client waits for a connection. */
    static final int WINDOW_MILLIS = 10;

    private final int most;
    private int accepted;

    /** At most {@code most} connections in each window. */
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
