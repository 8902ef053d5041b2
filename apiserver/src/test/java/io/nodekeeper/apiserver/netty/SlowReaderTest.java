package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.time.VirtualTime;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A reader that stops in the middle of a large list, with the channel's frozen clock. */
class SlowReaderTest {
    private static final long HELD = 10_000;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T07:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final ServerContext serverContext = ServerContexts.of(loop, 1 << 20);

    /** A connection whose reader can stop. */
    private final class Reader {
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private int made;

        private Reader() {
            channel.freezeTime();
            channel.pipeline().addLast("last", new ChannelInboundHandlerAdapter());
            ChannelHandlerContext context = channel.pipeline().context("last");
            NettySink sink = new NettySink(context, serverContext, Framing.BODY, "a", () -> {});
            sink.writeFirst(new ResponseChunks() {
                @Override
                public List<byte[]> next() {
                    made++;
                    if (made == 3) {
                        reads(false);
                    }
                    return made > 100 ? List.of() : List.of(new byte[SIZE]);
                }

                @Override
                public long held() {
                    return HELD;
                }
            });
            sink.end();
        }

        private void reads(boolean reads) {
            channel.unsafe().outboundBuffer().setUserDefinedWritability(1, reads);
        }

        private void pass(int seconds) {
            for (int i = 0; i < seconds; i++) {
                channel.advanceTimeBy(1, TimeUnit.SECONDS);
                channel.runPendingTasks();
            }
        }
    }

    @Test
    void stoppedReaderPausesItsListAndIsDisconnectedWithinTwoMinutes() {
        Reader slow = new Reader();
        // given a stopped reader
        slow.pass(59);
        // then at most one chunk is created ahead, and its memory is counted
        assertThat(slow.made).isLessThanOrEqualTo(4);
        assertThat(slow.channel.isOpen()).isTrue();
        assertThat(serverContext.answers.has("b", (1 << 20) * 7 / 8 - 2L * ResponseChunks.SIZE - HELD))
                .isTrue();
        assertThat(serverContext.answers.has("b", (1 << 20) * 7 / 8 - 2L * ResponseChunks.SIZE - HELD + 1))
                .isFalse();
        // when a minute passes without progress, which is checked once per minute
        slow.pass(62);
        // then the connection is closed and the memory is free
        assertThat(slow.channel.isOpen()).isFalse();
        assertThat(serverContext.answers.has("b", (1 << 20) * 7 / 8)).isTrue();
        assertThat(slow.made).isLessThanOrEqualTo(4);
    }
}
