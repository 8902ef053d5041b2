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

/** How the lines of a watch travel. The bytes are wrapped, never copied: all watchers share them. */
enum Framing {
    /** As parts of one body: chunks in HTTP/1.1, data frames in HTTP/2. Lines that go together share a part. */
    BODY {
        @Override
        void write(ChannelHandlerContext context, List<byte[]> lines) {
            context.write(new DefaultHttpContent(Unpooled.wrappedBuffer(lines.size(), lines.toArray(byte[][]::new))));
        }

        @Override
        ChannelFuture end(ChannelHandlerContext context) {
            return context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
        }
    },

    /** As text messages of a WebSocket, one a line, without the line's end. */
    WEB_SOCKET {
        @Override
        void write(ChannelHandlerContext context, List<byte[]> lines) {
            for (byte[] line : lines) {
                int length = line[line.length - 1] == '\n' ? line.length - 1 : line.length;
                context.write(new TextWebSocketFrame(Unpooled.wrappedBuffer(line, 0, length)));
            }
        }

        @Override
        ChannelFuture end(ChannelHandlerContext context) {
            return context.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE));
        }
    };

    /** Writes whole lines; the caller flushes. */
    abstract void write(ChannelHandlerContext context, List<byte[]> lines);

    /** Says that nothing follows, and flushes. */
    abstract ChannelFuture end(ChannelHandlerContext context);
}
