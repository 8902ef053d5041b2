package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2ChannelDuplexHandler;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of a {@link KeepAliveConnection}, which are texts of HTTP/1.1, as streams of HTTP/2, and turns each response back
 * into such a text with the status, the length and the body. At most one request is in progress. Confined to the event loop.
 */
final class Http2Requests extends Http2ChannelDuplexHandler {
    private String status = "";
    private @Nullable ByteBuf body;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        ByteBuf request = (ByteBuf) message;
        int end = Bytes.indexOf(request, Bytes.HEAD_END, request.readerIndex());
        Http2Headers headers = headers(request.readCharSequence(end - request.readerIndex(), StandardCharsets.US_ASCII)
                .toString());
        request.skipBytes(Bytes.HEAD_END.length);
        Http2FrameStream stream = newStream();
        context.write(new DefaultHttp2HeadersFrame(headers, !request.isReadable()).stream(stream));
        if (request.isReadable()) {
            context.write(new DefaultHttp2DataFrame(request, true).stream(stream));
        } else {
            request.release();
        }
    }

    /** The fields of HTTP/2 for the head of a request. */
    private static Http2Headers headers(String head) {
        String[] lines = head.split("\r\n");
        String[] first = lines[0].split(" ");
        Http2Headers headers =
                new DefaultHttp2Headers(false).method(first[0]).path(first[1]).scheme("https");
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            String name = lines[i].substring(0, colon).toLowerCase(Locale.ROOT);
            String value = lines[i].substring(colon + 1).strip();
            if (name.equals("host")) {
                headers.authority(value);
            } else {
                headers.add(name, value);
            }
        }
        return headers;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            switch (message) {
                case Http2HeadersFrame head -> {
                    status = head.headers().status().toString();
                    if (head.isEndStream()) {
                        answered(context);
                    }
                }
                case Http2DataFrame data -> {
                    ByteBuf all = body == null ? context.alloc().buffer(4_096) : body;
                    body = all;
                    all.writeBytes(data.content());
                    context.write(
                            new DefaultHttp2WindowUpdateFrame(data.initialFlowControlledBytes()).stream(data.stream()));
                    if (data.isEndStream()) {
                        answered(context);
                    }
                }
                case Http2ResetFrame reset ->
                    context.fireExceptionCaught(new IOException("the server reset a stream: " + reset.errorCode()));
                default -> {
                    // Settings and pings, which the codec answers.
                }
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void answered(ChannelHandlerContext context) {
        ByteBuf all = body;
        int length = all == null ? 0 : all.readableBytes();
        ByteBuf text = context.alloc().buffer(length + 64);
        text.writeCharSequence(
                "HTTP/1.1 " + status + "\r\ncontent-length: " + length + "\r\n\r\n", StandardCharsets.US_ASCII);
        if (all != null) {
            text.writeBytes(all);
            all.release();
            body = null;
        }
        context.fireChannelRead(text);
    }

    @Override
    public void handlerRemoved0(ChannelHandlerContext context) {
        if (body != null) {
            body.release();
            body = null;
        }
    }
}
