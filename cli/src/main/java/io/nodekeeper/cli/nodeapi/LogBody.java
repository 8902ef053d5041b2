package io.nodekeeper.cli.nodeapi;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.nodekeeper.client.pages.Feed;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The answer to a request for a log, part by part; the connection is closed after it. Thread-safe. */
final class LogBody implements Feed.Reader {
    /** How long a client may take for one part, as long as a stream may be idle: people read logs in pagers. */
    private static final int STALL_HOURS = 4;

    private final ChannelHandlerContext context;
    /** Confined to the event loop. */
    private boolean ended;

    /** Writes the head of the answer; to be called on the event loop. */
    LogBody(ChannelHandlerContext context) {
        this.context = context;
        HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        head.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, "text/plain")
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        HttpUtil.setTransferEncodingChunked(head, true);
        context.writeAndFlush(head);
    }

    @Override
    public CompletableFuture<Void> send(byte[] bytes) {
        CompletableFuture<Void> sent = new CompletableFuture<>();
        context.executor().execute(() -> {
            var late = context.executor().schedule(() -> context.close(), STALL_HOURS, TimeUnit.HOURS);
            context.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)))
                    .addListener((ChannelFutureListener) written -> {
                        late.cancel(false);
                        if (written.isSuccess()) {
                            sent.complete(null);
                        } else {
                            sent.completeExceptionally(written.cause());
                        }
                    });
        });
        return sent;
    }

    @Override
    public void close() {
        context.executor().execute(() -> {
            if (!ended) {
                ended = true;
                context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT).addListener(ChannelFutureListener.CLOSE);
            }
        });
    }
}
