package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One keep-alive connection with at most one request in progress. It reads only what the benchmark needs of a response: the
 * status and the body, which must have a Content-Length. Confined to the event loop.
 */
final class KeepAliveConnection extends ChannelInboundHandlerAdapter {
    /** Receives the events of the connection. */
    interface Owner {
        /** The connection can be used. */
        void ready(KeepAliveConnection exchange);

        /** The request was answered; {@code body} is valid only during the call. */
        void answered(KeepAliveConnection exchange, int status, ByteBuf body);

        /** The connection was closed, and its request failed. */
        void gone(KeepAliveConnection exchange, Throwable why);
    }

    private final Owner owner;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf received;
    private boolean gone;
    /** The number of the request's object, for the owner. */
    int about;
    /** When the request was due, by System.nanoTime. */
    long due;

    KeepAliveConnection(Owner owner) {
        this.owner = owner;
    }

    ByteBuf buffer(int bytes) {
        return Objects.requireNonNull(context).alloc().directBuffer(bytes);
    }

    void send(ByteBuf request) {
        ChannelHandlerContext connection = Objects.requireNonNull(context);
        connection.writeAndFlush(request, connection.voidPromise());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext from, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                owner.ready(this);
            } else {
                lost(handshake.cause());
            }
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext from, Object message) {
        ByteBuf part = (ByteBuf) message;
        ByteBuf all = received;
        if (all == null) {
            all = part;
        } else {
            all.writeBytes(part);
            part.release();
        }
        int end = Bytes.indexOf(all, Bytes.HEAD_END, all.readerIndex());
        int length = end < 0 ? -1 : Bytes.contentLength(all, all.readerIndex(), end);
        int bodyStart = end + Bytes.HEAD_END.length;
        if (end < 0 || all.writerIndex() - bodyStart < length) {
            if (received == null) {
                received = from.alloc()
                        .buffer(Math.max(4_096, all.readableBytes() * 2))
                        .writeBytes(all);
                all.release();
            }
            return;
        }
        received = null;
        int status = Bytes.number(all, all.readerIndex() + "HTTP/1.1 ".length(), 3);
        all.readerIndex(bodyStart);
        owner.answered(this, status, all);
        all.release();
    }

    @Override
    public void channelInactive(ChannelHandlerContext from) {
        lost(new java.io.IOException("the server closed the connection"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext from, Throwable cause) {
        lost(cause);
        from.close();
    }

    private void lost(Throwable why) {
        if (!gone) {
            gone = true;
            owner.gone(this, why);
        }
    }
}
