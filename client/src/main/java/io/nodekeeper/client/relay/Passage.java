package io.nodekeeper.client.relay;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes the bytes that one connection reads to another one. It reads only while the other one accepts, so what waits is
 * bounded by Netty's write buffer (64 KiB) and one read. Confined to the event loop that both connections share.
 *
 * <p>When the connection ends, the output of the other one ends after it has everything; its input is read and dropped
 * until its other end closes it. If it were closed with unread input, a ping for example, the kernel would reset it, and
 * what waits in its send buffer would be lost: megabytes, and without an error for kubectl. For the same reason a failed
 * write does not end a connection that is still read. When the client closes its connection, {@link Relay} closes the server's
 * connection at once, because nobody reads the rest.
 *
 * <p>The output to a client of SPDY may end later, so that the client closes its connection first. Older versions of its
 * library drop what they have received and not yet delivered when they read the end of a connection
 * (kubernetes/kubernetes 124571). The ends of its streams are frames, so it needs no other end, unless the connection behind it
 * broke.
 */
final class Passage extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(Passage.class);
    /** How long the last bytes may take after one side has ended; also for a user who reads them page by page. */
    private static final int FAREWELL_SECONDS = 300;
    /** How long a connection that accepts no bytes is still read. */
    private static final int FAILED_SECONDS = 30;

    private final Channel to;
    private final int patienceSeconds;
    private final Predicate<Channel> hasClosed;
    /** Whether this side has said that it ends, as TLS does; a connection without TLS cannot say so. */
    private boolean orderly;
    /** Whether bytes find no receiver any more. */
    private boolean dropping;

    /**
     * A passage to {@code to}.
     *
     * @param patienceSeconds how long the output to {@code to} stays open after an orderly end of this side
     * @param hasClosed whether the other end of {@code to} is known to have closed it; then bytes are dropped
     */
    Passage(Channel to, int patienceSeconds, Predicate<Channel> hasClosed) {
        this.to = to;
        this.patienceSeconds = patienceSeconds;
        this.hasClosed = hasClosed;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        dropping = dropping || !to.isActive() || hasClosed.test(to);
        if (dropping) {
            ReferenceCountUtil.release(message);
            return;
        }
        to.write(message).addListener(written -> {
            if (!written.isSuccess() && !dropping) {
                dropping = true;
                failed(context);
            }
        });
    }

    /** The receiver may have sent more before it went, which is read while there is room for it. */
    private void failed(ChannelHandlerContext context) {
        if (context.channel().isWritable()) {
            afterSeconds(FAILED_SECONDS, to, to::close);
            context.read();
        } else {
            to.close();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        to.flush();
        // Without a receiver the end of this connection must still be read.
        if (to.isWritable() || dropping || !to.isActive()) {
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
            orderly |= event == SslCloseCompletionEvent.SUCCESS;
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        end(to, orderly ? patienceSeconds : 0);
    }

    /** Ends the output of {@code to} after {@code seconds}, and reads its input until it is closed. */
    static void end(Channel to, int seconds) {
        if (to.isActive()) {
            to.writeAndFlush(Unpooled.EMPTY_BUFFER)
                    .addListener(written -> afterSeconds(seconds, to, () -> endOutput(to)));
            to.read();
            afterSeconds(FAREWELL_SECONDS, to, to::close);
        }
    }

    private static void afterSeconds(int seconds, Channel channel, Runnable action) {
        if (seconds == 0) {
            action.run();
        } else {
            var later = channel.eventLoop().schedule(action, seconds, TimeUnit.SECONDS);
            channel.closeFuture().addListener(closed -> later.cancel(false));
        }
    }

    private static void endOutput(Channel to) {
        SslHandler tls = to.pipeline().get(SslHandler.class);
        ChannelFuture ended = tls == null ? to.newSucceededFuture() : tls.closeOutbound();
        ended.addListener(done -> {
            if (to instanceof DuplexChannel socket) {
                socket.shutdownOutput();
            } else {
                to.close();
            }
        });
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        log.debug("stream of {}: {}", context.channel(), cause.toString());
        context.close();
    }
}
