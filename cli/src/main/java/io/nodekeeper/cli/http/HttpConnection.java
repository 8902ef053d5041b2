package io.nodekeeper.cli.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of an HTTP/1.1 server, with one request at a time. It is closed when its client does not act within a
 * time limit, and when it fails. Confined to the event loop.
 *
 * <p>While a request is answered, nothing more is read. One read may have brought several requests, though: a client
 * that sends its next request before it has the answer is disconnected. Nothing waits in a queue. An answer that is not
 * sent with {@link #send}, such as a stream, lasts as long as the connection.
 *
 * @param <T> the parts of a request that the decoders pass on
 */
public abstract class HttpConnection<T> extends SimpleChannelInboundHandler<T> {
    private static final Logger log = LoggerFactory.getLogger(HttpConnection.class);

    /** Closes the connection when the client is late. */
    private @Nullable Future<?> deadline;
    /** Whether a request is being answered. */
    private boolean answering;

    /**
     * Begins to answer a request; the next one waits in the client's socket. If one is being answered already, the
     * connection is closed.
     *
     * @return whether the request is to be answered
     */
    protected final boolean begin(ChannelHandlerContext context) {
        if (answering) {
            context.close();
            return false;
        }
        answering = true;
        context.channel().config().setAutoRead(false);
        return true;
    }

    /** Whether a request is being answered. */
    protected final boolean isAnswering() {
        return answering;
    }

    /** Closes the connection unless its client acts within {@code seconds}. Replaces an earlier limit. */
    protected final void expectClient(ChannelHandlerContext context, int seconds) {
        stopTimer();
        deadline = context.executor().schedule(() -> context.close(), seconds, TimeUnit.SECONDS);
    }

    /** The client has no time limit until the next one is set. */
    protected final void stopTimer() {
        Future<?> waiting = deadline;
        if (waiting != null) {
            waiting.cancel(false);
        }
    }

    /** A response with this body; {@code keep} is whether the client may send another request. */
    protected static FullHttpResponse response(HttpResponseStatus status, String type, byte[] body, boolean keep) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
        HttpUtil.setContentLength(response, body.length);
        HttpUtil.setKeepAlive(response, keep);
        return response;
    }

    /**
     * Sends {@code response}. When the client has received it, the next request is read, or the connection is closed.
     *
     * @param receiveSeconds the time limit for the client to receive it
     * @param idleSeconds the time limit for the client to send its next request
     * @param sent runs before the next request is read
     */
    protected final void send(
            ChannelHandlerContext context,
            FullHttpResponse response,
            int receiveSeconds,
            int idleSeconds,
            Runnable sent) {
        boolean keep = HttpUtil.isKeepAlive(response);
        expectClient(context, receiveSeconds);
        context.writeAndFlush(response).addListener(written -> {
            if (!written.isSuccess() || !keep) {
                context.close();
                return;
            }
            sent.run();
            expectClient(context, idleSeconds);
            // Before reading: the client may have sent its next request already.
            answering = false;
            context.channel().config().setAutoRead(true);
        });
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        stopTimer();
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        log.debug("connection from {}: {}", context.channel().remoteAddress(), cause.toString());
        context.close();
    }
}
