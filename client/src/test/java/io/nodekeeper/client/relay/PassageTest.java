package io.nodekeeper.client.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ends of connections in virtual time; {@link RelayTest} has them with real sockets. */
class PassageTest {
    private final EmbeddedChannel client = new EmbeddedChannel();
    private final EmbeddedChannel server = new EmbeddedChannel(new Passage(client, 30, any -> false));

    @BeforeEach
    void freeze() {
        client.freezeTime();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private void seconds(int seconds) {
        client.advanceTimeBy(seconds, TimeUnit.SECONDS);
        client.runScheduledPendingTasks();
    }

    @Test
    void aClientThatDoesNotCloseIsEndedAfterItsTime() {
        server.pipeline().fireUserEventTriggered(SslCloseCompletionEvent.SUCCESS);
        server.close();

        seconds(29);
        assertThat(client.isOpen()).isTrue();
        seconds(1);
        assertThat(client.isOpen()).isFalse();
    }

    @Test
    void aClientIsEndedAtOnceIfTheOtherSideBroke() {
        server.close();

        seconds(0);
        assertThat(client.isOpen()).isFalse();
    }

    @Test
    void whatAClientSendsAfterTheEndIsDropped() {
        EmbeddedChannel late = new EmbeddedChannel(new Passage(server, 0, any -> false));
        server.close();
        ByteBuf ping = Unpooled.copiedBuffer(new byte[] {1, 2, 3});

        late.writeInbound(ping);

        assertThat(ping.refCnt()).isZero();
        assertThat(late.isOpen()).isTrue();
        late.close();
    }

    @Test
    void aFailedWriteEndsNoConnectionAndLaterBytesAreDropped() {
        EmbeddedChannel broken = new EmbeddedChannel(new FailingWrites());
        EmbeddedChannel from = new EmbeddedChannel(new Passage(broken, 0, any -> false));
        ByteBuf late = Unpooled.copiedBuffer(new byte[] {4});

        from.writeInbound(Unpooled.copiedBuffer(new byte[] {1, 2, 3}));
        from.writeInbound(late);

        assertThat(from.isOpen()).isTrue();
        assertThat(broken.isOpen()).isTrue();
        assertThat(late.refCnt()).isZero();
        // It is not read for ever.
        broken.freezeTime();
        broken.advanceTimeBy(30, TimeUnit.SECONDS);
        broken.runScheduledPendingTasks();
        assertThat(broken.isOpen()).isFalse();
        from.close();
    }

    @Test
    void whatAClientSendsAfterTheServerClosedIsDroppedAndTheServersOutputStillArrives() {
        AtomicBoolean hasClosed = new AtomicBoolean();
        EmbeddedChannel from = new EmbeddedChannel(new Passage(server, 0, any -> hasClosed.get()));
        from.writeInbound(Unpooled.copiedBuffer(new byte[] {1}));
        hasClosed.set(true);
        ByteBuf late = Unpooled.copiedBuffer(new byte[] {2});

        from.writeInbound(late);
        server.writeInbound(Unpooled.copiedBuffer(new byte[] {3}));

        assertThat(server.<ByteBuf>readOutbound().readByte()).isEqualTo((byte) 1);
        assertThat(server.<ByteBuf>readOutbound()).isNull();
        assertThat(late.refCnt()).isZero();
        assertThat(client.<ByteBuf>readOutbound().readByte()).isEqualTo((byte) 3);
        from.close();
    }

    private static final class FailingWrites extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            ReferenceCountUtil.release(message);
            promise.setFailure(new IOException("connection reset"));
        }
    }
}
