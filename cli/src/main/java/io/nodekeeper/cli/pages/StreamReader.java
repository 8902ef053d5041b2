package io.nodekeeper.cli.pages;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.nodekeeper.client.pages.Feed;
import java.util.concurrent.CompletableFuture;

/** The client of a connection that receives a stream of server-sent events. Thread-safe. */
final class StreamReader implements Feed.Reader {
    private final ChannelHandlerContext context;
    /** Confined to the event loop. */
    private boolean started;

    StreamReader(ChannelHandlerContext context) {
        this.context = context;
    }

    @Override
    public CompletableFuture<Void> send(byte[] bytes) {
        CompletableFuture<Void> sent = new CompletableFuture<>();
        context.executor().execute(() -> {
            start();
            context.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)))
                    .addListener((ChannelFutureListener) written -> {
                        if (written.isSuccess()) {
                            sent.complete(null);
                        } else {
                            sent.completeExceptionally(written.cause());
                        }
                    });
        });
        return sent;
    }

    private void start() {
        if (started) {
            return;
        }
        started = true;
        HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        head.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8");
        BrowserRules.add(head.headers());
        HttpUtil.setTransferEncodingChunked(head, true);
        context.write(head);
    }

    @Override
    public void close() {
        context.close();
    }
}
