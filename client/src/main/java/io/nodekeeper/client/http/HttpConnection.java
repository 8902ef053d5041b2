package io.nodekeeper.client.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.nodekeeper.api.Failures;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection, which serves one exchange after another. It reads only as fast as the receiver takes. While it is idle it reads,
 * too, to see that the server closes it. Confined to its event loop.
 */
final class HttpConnection extends ChannelInboundHandlerAdapter {
    /** As long as Java's own client keeps idle connections; three periods of a heartbeat. */
    private static final int IDLE_SECONDS = 30;

    /** Keeps connections. */
    interface Owner {
        /** Takes an idle connection for a later exchange. */
        void keep(HttpConnection connection);

        /** The connection is closed or will be, and must not be used again. */
        void gone(HttpConnection connection);

        /** Sends the request of {@code exchange} on another connection. */
        void again(HttpExchange exchange);
    }

    private final Owner owner;
    private final Channel channel;
    private @Nullable HttpExchange exchange;
    private @Nullable Future<?> idling;
    /** Whether it has served an exchange before the current one. */
    private boolean isUsed;
    /** Whether the current request is with the kernel. */
    private boolean isSent;
    /** Whether a response to the current request has begun, interim ones aside. */
    private boolean isAnswered;
    /** Whether an interim response is being read, such as 100. */
    private boolean isInterim;
    /** Whether the server keeps the connection after the current response. */
    private boolean isKept;

    /** Whether it serves no further exchange. */
    private boolean isRetired;

    HttpConnection(Owner owner, Channel channel) {
        this.owner = owner;
        this.channel = channel;
    }

    /** Whether the server has answered a request on it. */
    boolean hasAnswered() {
        return isUsed || isAnswered;
    }

    /** Whether the server has not closed it yet. */
    boolean isOpen() {
        return channel.isActive();
    }

    /** Sends the request of {@code next}; the connection is idle. */
    void begin(HttpExchange next) {
        stopIdling();
        exchange = next;
        isSent = false;
        isAnswered = false;
        next.on(channel);
        channel.writeAndFlush(next.request()).addListener(written -> {
            if (written.isSuccess()) {
                isSent = true;
            } else {
                fail(written.cause());
            }
        });
        channel.read();
    }

    /** Serves no further exchange. */
    void retire() {
        isRetired = true;
        if (exchange == null) {
            close();
        }
    }

    private void stopIdling() {
        if (idling != null) {
            idling.cancel(false);
            idling = null;
        }
    }

    private void close() {
        stopIdling();
        owner.gone(this);
        channel.close();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            read((HttpObject) message);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void read(HttpObject message) {
        HttpExchange current = exchange;
        if (current == null || current.isOver()) {
            // The data belongs to no request, or its caller has given up.
            close();
            return;
        }
        if (message.decoderResult().isFailure()) {
            isAnswered = true;
            fail(new IOException("malformed response: "
                    + Failures.text(message.decoderResult().cause())));
            return;
        }
        if (message instanceof HttpResponse head) {
            isInterim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            if (!isInterim) {
                isAnswered = true;
                isKept = HttpUtil.isKeepAlive(head);
                current.receiver().head(head);
            }
        }
        if (message instanceof HttpContent content && !isInterim) {
            take(current, content);
        }
    }

    private void take(HttpExchange current, HttpContent content) {
        try {
            if (content.content().isReadable()) {
                current.receiver().body(content.content());
            }
        } catch (IOException e) {
            fail(e);
            return;
        }
        if (content instanceof LastHttpContent) {
            current.end();
            exchange = null;
            isUsed = true;
            rest();
        }
    }

    private void rest() {
        if (isKept && isSent && !isRetired) {
            owner.keep(this);
            idling = channel.eventLoop().schedule(this::close, IDLE_SECONDS, TimeUnit.SECONDS);
        } else {
            close();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        HttpExchange current = exchange;
        CompletableFuture<Void> arrived =
                current == null || current.isOver() ? null : current.receiver().arrived();
        if (arrived == null || arrived.isDone()) {
            context.read();
        } else {
            arrived.whenComplete((nothing, error) -> context.read());
        }
    }

    /** The end that TLS announces is the end, even if the server leaves the connection open. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslCloseCompletionEvent) {
            close();
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        fail(new ClosedChannelException());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause);
    }

    /**
     * Ends the exchange and the connection. A server may close an idle connection just when a request is sent, so a request that may
     * be sent twice is, if an old connection ends before the head of a response.
     */
    void fail(Throwable why) {
        HttpExchange current = exchange;
        exchange = null;
        close();
        if (current == null || current.isOver()) {
            return;
        }
        if (isUsed && !isAnswered && current.isSafe() && why instanceof IOException) {
            owner.again(current);
        } else {
            current.fail(why instanceof ClosedChannelException ? new IOException(whatIsMissing()) : why);
        }
    }

    private String whatIsMissing() {
        return "the connection was closed " + (isAnswered ? "before the end of the response" : "without a response");
    }
}
