package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How long the first part of a watch counts towards the memory of all large responses. */
class WatchMemoryTest {
    private static final long LIMIT = 1 << 20;
    private static final long HELD = 10_000;
    /** What one watch takes at its start. */
    private static final long TAKEN = HELD + 2L * ResponseChunks.SIZE;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T07:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final ServerContext serverContext = ServerContexts.of(loop, LIMIT);

    /** A watch with three chunks of objects, which does not end. Its reader takes bytes only if it {@link #reads}. */
    private final class Watch {
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private final NettySink sink;
        private boolean reads = true;
        private int made;
        /** The number of chunks after which the reader disconnects. */
        private int last = Integer.MAX_VALUE;

        private Watch(Framing framing) {
            this(framing, "a");
        }

        private Watch(Framing framing, String user) {
            channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
                @Override
                public void flush(ChannelHandlerContext context) {
                    if (reads) {
                        context.flush();
                    }
                }
            });
            channel.pipeline().addLast("last", new ChannelInboundHandlerAdapter());
            sink = new NettySink(channel.pipeline().context("last"), serverContext, framing, user, () -> {});
            channel.closeFuture().addListener(closed -> sink.closed());
        }

        private Watch start() {
            sink.writeFirst(new ResponseChunks() {
                @Override
                public List<byte[]> next() {
                    if (made == last) {
                        channel.close();
                    }
                    made++;
                    return made > 3 ? List.of() : List.of("an object\n".getBytes(StandardCharsets.US_ASCII));
                }

                @Override
                public long held() {
                    return HELD;
                }
            });
            channel.runPendingTasks();
            return this;
        }
    }

    @Test
    void readerWhoseObjectsCannotBeListedIsDisconnected() {
        Watch watch = new Watch(Framing.BODY);

        watch.sink.inTurn(() -> {
            throw new IllegalStateException("planted");
        });
        watch.channel.runPendingTasks();

        assertThat(watch.channel.isOpen()).isFalse();
    }

    @Test
    void nothingIsListedForAReaderThatHasGone() {
        Watch watch = new Watch(Framing.BODY);
        watch.channel.close();
        watch.channel.runPendingTasks();
        List<String> done = new ArrayList<>();

        watch.sink.inTurn(() -> done.add("listed"));

        assertThat(done).isEmpty();
    }

    /** A user who holds nothing may fill seven eighths of the memory. */
    private void assertTaken(long bytes) {
        assertThat(serverContext.answers.has("another", LIMIT * 7 / 8 - bytes)).isTrue();
        assertThat(serverContext.answers.has("another", LIMIT * 7 / 8 - bytes + 1))
                .isFalse();
    }

    @Test
    void oneUsersUnreadWatchesLeaveMemoryForOthers() {
        // given a user who starts watches and reads none, until there is no more memory for them
        List<Watch> unread = new ArrayList<>();
        for (boolean open = true; open; open = unread.getLast().channel.isOpen()) {
            Watch watch = new Watch(Framing.BODY, "a");
            watch.reads = false;
            unread.add(watch.start());
        }
        assertThat(unread).hasSize(3);
        assertTaken(2 * TAKEN);

        // when another user starts one, and reads nothing either
        Watch other = new Watch(Framing.BODY, "b");
        other.reads = false;
        other.start();

        // then it stays open
        assertThat(other.channel.isOpen()).isTrue();
        assertTaken(3 * TAKEN);
    }

    @ParameterizedTest
    @EnumSource(Framing.class)
    void idleWatchesTakeNothing(Framing framing) {
        // when many more watches start than there is memory for at once, and their readers read all objects
        List<Watch> watches = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            watches.add(new Watch(framing).start());
        }
        // then all are open and take nothing
        assertThat(watches).allMatch(watch -> watch.channel.isOpen());
        assertTaken(0);
        // when they close
        watches.forEach(watch -> watch.channel.close());
        // then nothing is given back again
        assertTaken(0);
    }

    @ParameterizedTest
    @EnumSource(Framing.class)
    void theLastChunkCountsUntilItIsWritten(Framing framing) {
        // given a reader that accepts nothing
        Watch watch = new Watch(framing);
        watch.reads = false;
        // when all chunks were made
        watch.start();
        assertThat(watch.made).isEqualTo(4);
        // then they count
        assertTaken(TAKEN);
        // until the reader accepts them
        watch.reads = true;
        watch.channel.flush();
        assertTaken(0);
        assertThat(watch.channel.isOpen()).isTrue();
    }

    @Test
    void readerThatDoesNotTakeTheLastChunkIsDisconnectedAfterAMinute() {
        Watch watch = new Watch(Framing.BODY);
        watch.reads = false;
        watch.start();

        watch.channel.advanceTimeBy(59, TimeUnit.SECONDS);
        watch.channel.runScheduledPendingTasks();
        assertThat(watch.channel.isOpen()).isTrue();
        watch.channel.advanceTimeBy(2, TimeUnit.SECONDS);
        watch.channel.runScheduledPendingTasks();

        assertThat(watch.channel.isOpen()).isFalse();
        assertTaken(0);
    }

    @Test
    void readersThatDisconnectBetweenChunksGiveAllBackOnce() {
        for (int chunks = 0; chunks <= 4; chunks++) {
            for (boolean reads : new boolean[] {true, false}) {
                Watch watch = new Watch(Framing.BODY);
                watch.last = chunks;
                watch.reads = reads;
                watch.start();
                watch.channel.close();
                watch.channel.runPendingTasks();
                assertTaken(0);
            }
        }
    }

    @Test
    void readerThatDisconnectsBeforeItsObjectsGivesAllBack() {
        Watch watch = new Watch(Framing.BODY);
        watch.channel.close();
        watch.start();
        assertThat(watch.made).isZero();
        assertTaken(0);
    }
}
