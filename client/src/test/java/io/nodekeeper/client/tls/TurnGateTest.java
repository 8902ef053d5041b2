package io.nodekeeper.client.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What waits of a connection, and for how long. */
class TurnGateTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-29T07:00:00Z"));
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final LoopTurns turns =
            new LoopTurns(channel.eventLoop(), time.loop("test").clock());
    private final List<String> seen = new ArrayList<>();

    @BeforeEach
    void start() {
        channel.freezeTime();
        channel.pipeline()
                .addLast(
                        new TurnGate(turns, "here", new CertifiedClient(() -> false)),
                        new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                seen.add("read " + ((ByteBuf) message).readableBytes());
                                ((ByteBuf) message).release();
                            }

                            @Override
                            public void channelReadComplete(ChannelHandlerContext context) {
                                seen.add("complete");
                            }
                        });
    }

    private ByteBuf send(int bytes) {
        ByteBuf message = Unpooled.wrappedBuffer(new byte[bytes]);
        channel.writeInbound(message);
        return message;
    }

    private void pass(long millis) {
        time.advance(Duration.ofMillis(millis));
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    @Test
    void nothingWaitsWithoutAnOffence() {
        send(10);
        assertThat(seen).containsExactly("read 10", "complete");
    }

    @Test
    void whatWaitsComesInOnePiece() {
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        send(1);
        send(2);
        send(3);
        assertThat(seen).isEmpty();
        pass(401);
        assertThat(seen).containsExactly("read 6", "complete");
        send(4);
        assertThat(seen).endsWith("read 4", "complete");
    }

    @Test
    void manySmallPartsTakeNoMoreThanTheirBytes() {
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        List<ByteBuf> parts = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            parts.add(send(1));
        }
        assertThat(parts.stream().filter(part -> part.refCnt() > 0)).hasSizeLessThanOrEqualTo(1);
        pass(401);
        assertThat(seen).containsExactly("read 1000", "complete");
    }

    @Test
    void connectionThatIsClosedWhileItWaitsLeavesNothing() {
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        ByteBuf message = send(1);
        channel.close();
        pass(401);
        assertThat(message.refCnt()).isZero();
        assertThat(seen).isEmpty();
        assertThat(turns.isFree()).isTrue();
    }

    @Test
    void connectionWithTooMuchThatWaitsIsClosed() {
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        send(TurnGate.MOST_BYTES);
        assertThat(channel.isOpen()).isTrue();
        ByteBuf last = send(1);
        assertThat(channel.isOpen()).isFalse();
        assertThat(last.refCnt()).isZero();
    }

    @Test
    void clientThatMayNotWaitIsDisconnected() {
        EmbeddedChannel other = new EmbeddedChannel(new TurnGate(turns, "here", new TlsClient() {
            @Override
            public boolean isTrusted() {
                return false;
            }

            @Override
            public boolean mayWait() {
                return false;
            }

            @Override
            public void offended() {}
        }));
        other.writeOneInbound(Unpooled.wrappedBuffer(new byte[1])).syncUninterruptibly();
        assertThat(other.isOpen()).isTrue();
        other.releaseInbound();
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        ByteBuf message = Unpooled.wrappedBuffer(new byte[1]);
        other.writeOneInbound(message);
        assertThat(other.isOpen()).isFalse();
        assertThat(message.refCnt()).isZero();
        assertThat(turns.isFree()).isFalse();
    }
}
