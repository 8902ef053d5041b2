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
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
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

    private final HttpConnections owner;
    private final Channel channel;
    private @Nullable HttpExchange exchange;
    private @Nullable Future<?> idling;
    /** Whether it has served an exchange before the current one. */
    private boolean isUsed;
    /** Whether the head of the current response has arrived. */
    private boolean isAnswered;
    /** Whether an interim response is being read, such as 100. */
    private boolean isInterim;

    private boolean isKept;

    HttpConnection(HttpConnections owner, Channel channel) {
        this.owner = owner;
        this.channel = channel;
    }

    /** Sends the request of {@code next}; the connection is idle. */
    void begin(HttpExchange next) {
        if (idling != null) {
            idling.cancel(false);
            idling = null;
        }
        exchange = next;
        isAnswered = false;
        next.on(channel);
        channel.writeAndFlush(next.request()).addListener(written -> {
            if (!written.isSuccess()) {
                fail(written.cause());
            }
        });
        channel.read();
    }

    /** Closes the connection if it is idle, otherwise after its exchange. */
    void retire() {
        if (exchange == null) {
            channel.close();
        }
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
            // Nobody asked, or nobody listens any more.
            channel.close();
            return;
        }
        if (message.decoderResult().isFailure()) {
            fail(new IOException(
                    "malformed response: " + message.decoderResult().cause().getMessage()));
            return;
        }
        if (message instanceof HttpResponse head) {
            isInterim = HttpStatusClass.valueOf(head.status().code()) == HttpStatusClass.INFORMATIONAL;
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
        if (isKept && owner.keep(this)) {
            idling = channel.eventLoop().schedule(() -> channel.close(), IDLE_SECONDS, TimeUnit.SECONDS);
        } else {
            channel.close();
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

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        owner.closed(this);
        if (isAnswered) {
            fail(new IOException("the connection was closed before the end of the response"));
        } else {
            fail(new ClosedChannelException());
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause);
    }

    /**
     * Ends the exchange and the connection. A server may close an idle connection just when a request is sent, so a request that may
     * be sent twice is, if an old connection ends without a byte of a response.
     */
    private void fail(Throwable why) {
        HttpExchange current = exchange;
        exchange = null;
        channel.close();
        if (current == null || current.isOver()) {
            return;
        }
        if (isUsed && !isAnswered && current.isSafe() && why instanceof IOException) {
            current.again();
        } else {
            current.fail(
                    why instanceof ClosedChannelException
                            ? new IOException("the connection was closed without a response")
                            : why);
        }
    }
}
