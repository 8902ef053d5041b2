package io.nodekeeper.client.relay;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes the bytes that one connection reads to another one. It reads only while the other one accepts, so what waits is
 * bounded by Netty's write buffer (64 KiB) and one read. When the connection ends, the other one is closed after it has
 * received everything. Confined to the event loop that both connections share.
 */
final class Passage extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(Passage.class);
    /** How long the last bytes may take after one side has ended; more than a slow network needs. */
    private static final int FAREWELL_SECONDS = 30;

    private final Channel to;

    Passage(Channel to) {
        this.to = to;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!to.isActive()) {
            ReferenceCountUtil.release(message);
            return;
        }
        to.write(message).addListener(written -> {
            if (!written.isSuccess()) {
                context.close();
            }
        });
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        to.flush();
        if (to.isWritable()) {
            context.read();
        }
    }

    /** The other one waits for room here. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (context.channel().isWritable()) {
            to.read();
        }
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof IdleStateEvent) {
            log.info("closing a stream between {} and {}: no byte passed", to.remoteAddress(), context.channel());
            context.close();
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (to.isActive()) {
            to.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
            var late = context.executor().schedule(() -> to.close(), FAREWELL_SECONDS, TimeUnit.SECONDS);
            to.closeFuture().addListener(closed -> late.cancel(false));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        log.debug("stream of {}: {}", context.channel(), cause.toString());
        context.close();
    }
}
