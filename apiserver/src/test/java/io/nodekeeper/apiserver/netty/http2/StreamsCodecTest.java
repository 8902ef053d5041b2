package io.nodekeeper.apiserver.netty.http2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The limit of large headers. */
class StreamsCodecTest {
    private static final int HEADERS = 1;
    private static final int END_OF_STREAM_AND_HEADERS = 5;
    /** GET https /, from the table that all connections have. */
    private static final byte[] REQUEST = {(byte) 0x82, (byte) 0x87, (byte) 0x84};
    /** The latest header of a connection's own table. */
    private static final byte LATEST = (byte) 0xbe;

    /** Counts requests and keeps the error. */
    private static final class Streams extends ChannelInboundHandlerAdapter {
        private int requests;
        private @Nullable Throwable error;

        @Override
        public void channelRead(ChannelHandlerContext context, Object frame) {
            if (frame instanceof Http2HeadersFrame) {
                requests++;
            }
            ReferenceCountUtil.release(frame);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            error = cause;
        }
    }

    private final Streams streams = new Streams();
    private final FrameMeter meter = new FrameMeter();
    private final EmbeddedChannel channel =
            new EmbeddedChannel(meter, StreamsCodec.of(meter, 250, 64 << 10, Duration.ZERO), streams);

    @AfterEach
    void close() {
        channel.releaseOutbound();
        channel.close();
    }

    /** The begin of a connection: the preface and empty settings. */
    private static ByteBuf preface() {
        return Http2CodecUtil.connectionPrefaceBuf()
                .copy()
                .writeMedium(0)
                .writeByte(4)
                .writeByte(0)
                .writeInt(0);
    }

    private static void frame(ByteBuf out, int stream, ByteBuf headers) {
        out.writeMedium(headers.readableBytes())
                .writeByte(HEADERS)
                .writeByte(END_OF_STREAM_AND_HEADERS)
                .writeInt(stream)
                .writeBytes(headers);
        headers.release();
    }

    /** A request with a header of 4,000 bytes, which enters the table. */
    private static ByteBuf first() {
        return Unpooled.buffer()
                .writeBytes(REQUEST)
                .writeBytes(new byte[] {0x40, 1, 'x', 127, (byte) 0xa1, 0x1e})
                .writeBytes("y".repeat(4_000).getBytes(StandardCharsets.US_ASCII));
    }

    /** A request with that header 15 times: 60 KB in 18 bytes. */
    private static ByteBuf large() {
        ByteBuf headers = Unpooled.buffer().writeBytes(REQUEST);
        for (int i = 0; i < 15; i++) {
            headers.writeByte(LATEST);
        }
        return headers;
    }

    /** A connection's begin: the request whose header enters the table, and {@code count} large ones. */
    private static ByteBuf requests(int count) {
        ByteBuf requests = preface();
        frame(requests, 1, first());
        for (int i = 1; i <= count; i++) {
            frame(requests, 2 * i + 1, large());
        }
        return requests;
    }

    @Test
    void requestsWithLargeHeadersCloseTheConnection() {
        // given 200 requests of 18 bytes with 60,619 bytes of headers each: 13 frames of 4 KB above the usual 10 KB

        // when they come in one read
        channel.writeInbound(requests(200));

        // then 1 and 153 of them are requests: 13 * 153 = 1,989 of 2,000 frames
        assertThat(streams.requests).isEqualTo(154);
        assertThat(streams.error)
                .isInstanceOfSatisfying(
                        Http2Exception.class,
                        error -> assertThat(error.error()).isEqualTo(Http2Error.ENHANCE_YOUR_CALM));
    }

    @Test
    void aFewLargeHeadersAreNoFault() {
        // given the limit but one

        // when they come
        channel.writeInbound(requests(153));

        // then all are requests
        assertThat(streams.requests).isEqualTo(154);
        assertThat(streams.error).isNull();
    }

    @Test
    void headersOfUsualSizeCountNothing() {
        assertThatCode(() -> {
                    for (int i = 0; i < 100_000; i++) {
                        meter.headers(10 << 10);
                    }
                })
                .doesNotThrowAnyException();
    }
}
