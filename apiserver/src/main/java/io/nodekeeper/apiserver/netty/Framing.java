package io.nodekeeper.apiserver.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import java.util.List;

/** The framing of a watch's lines. It wraps the bytes and never copies them, because all watchers share them. */
enum Framing {
    /** Parts of one body: chunks in HTTP/1.1, data frames in HTTP/2. Lines that are written together share a part. */
    BODY {
        @Override
        ChannelFuture write(ChannelHandlerContext context, List<byte[]> lines) {
            return context.write(
                    new DefaultHttpContent(Unpooled.wrappedBuffer(lines.size(), lines.toArray(byte[][]::new))));
        }

        @Override
        ChannelFuture end(ChannelHandlerContext context) {
            return context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
        }
    },

    /** Text messages of a WebSocket, one per line, without the line feed. */
    WEB_SOCKET {
        @Override
        ChannelFuture write(ChannelHandlerContext context, List<byte[]> lines) {
            ChannelFuture last = context.newSucceededFuture();
            for (byte[] line : lines) {
                int length = line[line.length - 1] == '\n' ? line.length - 1 : line.length;
                last = context.write(new TextWebSocketFrame(Unpooled.wrappedBuffer(line, 0, length)));
            }
            return last;
        }

        @Override
        ChannelFuture end(ChannelHandlerContext context) {
            return context.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE));
        }
    };

    /** Writes whole lines; the caller flushes. Returns the write of the last one. */
    abstract ChannelFuture write(ChannelHandlerContext context, List<byte[]> lines);

    /** Writes the end, and flushes. */
    abstract ChannelFuture end(ChannelHandlerContext context);
}
