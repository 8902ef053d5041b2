package io.nodekeeper.apiserver.netty.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.ReferenceCountUtil;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The limit of useless frames. */
class FrameMeterTest {
    /** A fake codec that counts the received bytes and keeps the error. */
    private static final class Codec extends ChannelInboundHandlerAdapter {
        private long bytes;
        private @Nullable Throwable error;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            bytes += ((ByteBuf) message).readableBytes();
            ReferenceCountUtil.release(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            error = cause;
        }
    }

    private final Codec codec = new Codec();
    private final EmbeddedChannel channel = new EmbeddedChannel(new FrameMeter(), codec);

    private void preface() {
        channel.writeInbound(Unpooled.wrappedBuffer(new byte[24]));
    }

    private static ByteBuf frames(int count, int type, int length) {
        ByteBuf frames = Unpooled.buffer();
        for (int i = 0; i < count; i++) {
            frames.writeMedium(length).writeByte(type).writeByte(0).writeInt(0).writeZero(length);
        }
        return frames;
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6, 7, 9, 10, 200})
    void moreThan2000UselessFramesCloseTheConnection(int type) {
        // given a connection with as many useless frames as the limit
        preface();
        channel.writeInbound(frames(2_000, type, 8));
        assertThat(codec.error).isNull();

        // when there is one more, then the client gets ENHANCE_YOUR_CALM, and the connection is closed
        channel.writeInbound(frames(1, type, 8));
        assertThat(codec.error)
                .isInstanceOfSatisfying(
                        Http2Exception.class,
                        error -> assertThat(error.error()).isEqualTo(Http2Error.ENHANCE_YOUR_CALM));
        long before = codec.bytes;
        channel.writeInbound(frames(1, 1, 8));
        assertThat(codec.bytes).isEqualTo(before);
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void emptyDataFramesAreUseless() {
        preface();
        channel.writeInbound(frames(10_000, 1, 20));
        channel.writeInbound(frames(10_000, 0, 1));
        channel.writeInbound(frames(2_000, 0, 0));
        assertThat(codec.error).isNull();
        channel.writeInbound(frames(1, 0, 0));
        assertThat(codec.error).isNotNull();
    }

    @Test
    void countRestartsEveryTenSeconds() {
        preface();
        for (int period = 0; period < 5; period++) {
            channel.writeInbound(frames(2_000, 6, 8));
            channel.advanceTimeBy(10, TimeUnit.SECONDS);
            channel.runScheduledPendingTasks();
        }
        assertThat(codec.error).isNull();
    }

    @Test
    void windowUpdatesForReadDataAreNotUseless() {
        // given a response of 20 MB
        preface();
        channel.writeOutbound(Unpooled.buffer().writeZero(20 << 20));

        // when its reader updates two windows per 4 KB, the connection stays; with twice as many it is closed
        channel.writeInbound(frames(10_240, 8, 4));
        assertThat(codec.error).isNull();
        channel.writeInbound(frames(10_240, 8, 4));
        assertThat(codec.error).isNotNull();
        channel.releaseOutbound();
    }

    @Test
    void framesAreCountedAcrossAnyBufferBoundaries() {
        // given 2,000 frames of different lengths, in buffers of different lengths
        SplittableRandom random = new SplittableRandom(1);
        ByteBuf all = Unpooled.buffer().writeZero(24);
        for (int i = 0; i < 2_000; i++) {
            int length = random.nextInt(50);
            all.writeMedium(length).writeByte(4).writeByte(0).writeInt(0).writeZero(length);
        }
        int total = all.readableBytes();
        while (all.isReadable()) {
            channel.writeInbound(all.readBytes(Math.min(all.readableBytes(), 1 + random.nextInt(30))));
        }

        // then all are passed on, and the next one is above the limit
        assertThat(codec.bytes).isEqualTo(total);
        assertThat(codec.error).isNull();
        channel.writeInbound(frames(1, 4, 0));
        assertThat(codec.error).isNotNull();
        all.release();
    }
}
