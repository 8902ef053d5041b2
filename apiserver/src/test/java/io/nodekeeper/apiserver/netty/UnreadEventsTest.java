package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.nodekeeper.time.VirtualTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The memory of the events that all watches together have not sent, with a limit of 1 MiB. */
class UnreadEventsTest {
    private static final int LIMIT = 1 << 20;
    private static final int KIB = 1 << 10;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-30T22:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final ServerContext serverContext = ServerContexts.of(loop, LIMIT);
    private final List<Watch> watches = new ArrayList<>();

    /** What keeps the events of a reader that does not read. */
    private enum Kept {
        /** They wait for the channel, as the socket is full. */
        WAITING,
        /** The channel has accepted them, and did not send them. */
        ACCEPTED
    }

    private final class Watch {
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private final NettySink sink;
        private boolean reads = true;

        private Watch(String user) {
            channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
                @Override
                public void flush(ChannelHandlerContext context) {
                    if (reads) {
                        context.flush();
                    }
                }
            });
            channel.pipeline().addLast("last", new ChannelInboundHandlerAdapter());
            sink = new NettySink(channel.pipeline().context("last"), serverContext, Framing.BODY, user, () -> {});
            channel.closeFuture().addListener(closed -> sink.closed());
            serverContext.opened(sink);
            watches.add(this);
        }

        /** The reader stops. */
        private Watch stop(Kept kept) {
            if (kept == Kept.WAITING) {
                channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
            } else {
                reads = false;
            }
            return this;
        }

        /** The reader reads everything, and goes on to read. */
        private void read() {
            reads = true;
            channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
            sink.write();
            channel.flush();
        }

        private void send(byte[] line) {
            sink.write(List.of(line));
            settle();
        }

        private boolean open() {
            return channel.isOpen();
        }
    }

    private void settle() {
        for (int i = 0; i < 3; i++) {
            watches.forEach(watch -> watch.channel.runPendingTasks());
        }
    }

    private static byte[] line(int kib) {
        return new byte[kib * KIB];
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void userWithMostUnreadEventsIsDisconnectedAndOthersAreNot(Kept kept) {
        // given a user whose nine readers left 100 KiB each, one who left 100 KiB, and one who reads
        for (int i = 0; i < 9; i++) {
            new Watch("a").stop(kept).send(line(100));
        }
        Watch slow = new Watch("b").stop(kept);
        slow.send(line(100));
        Watch idle = new Watch("a");
        Watch fast = new Watch("c");
        assertThat(serverContext.unread.total()).isEqualTo(1_000 * KIB);
        assertThat(watches).allMatch(Watch::open);

        // when all together exceed the limit, because of one who reads
        fast.send(line(100));

        // then the readers of the first user that left something are disconnected, and their memory is free
        assertThat(watches.subList(0, 9)).noneMatch(Watch::open);
        assertThat(List.of(slow, idle, fast)).allMatch(Watch::open);
        assertThat(serverContext.unread.total()).isEqualTo(100 * KIB);
        // and when the next one goes too far
        for (int i = 0; i < 9; i++) {
            new Watch("d").stop(kept).send(line(120));
        }
        // then the same happens again
        assertThat(watches.subList(watches.size() - 9, watches.size())).anyMatch(watch -> !watch.open());
        assertThat(List.of(slow, idle, fast)).allMatch(Watch::open);
        assertThat(serverContext.unread.total()).isLessThanOrEqualTo(LIMIT);
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void eventThatManyWatchesShareCountsOnceUntilTheLastHasSentIt(Kept kept) {
        byte[] shared = line(100);
        for (int i = 0; i < 200; i++) {
            new Watch(i % 2 == 0 ? "a" : "b").stop(kept).send(shared);
        }
        assertThat(watches).allMatch(Watch::open);
        assertThat(serverContext.unread.total()).isEqualTo(100 * KIB);

        watches.subList(0, 199).forEach(Watch::read);
        assertThat(serverContext.unread.total()).isEqualTo(100 * KIB);
        watches.getLast().read();
        assertThat(serverContext.unread.total()).isZero();
        assertThat(watches).allMatch(Watch::open);
    }

    @Test
    void readersThatReadAreNeverDisconnected() {
        Watch fast = new Watch("a");
        for (int i = 0; i < 100; i++) {
            fast.send(line(100));
        }
        assertThat(fast.open()).isTrue();
        assertThat(serverContext.unread.total()).isZero();
    }

    @Test
    void linesOfAClosedWatchNeedNothing() {
        Watch gone = new Watch("a").stop(Kept.WAITING);
        gone.send(line(100));
        gone.channel.close();
        gone.send(line(100));
        gone.sink.write(line(100));
        settle();
        assertThat(serverContext.unread.total()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void unreadEventsStayBelowTheLimitWhateverHappens(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        byte[][] lines = new byte[8][];
        for (int step = 0; step < 3_000; step++) {
            int drawn = random.nextInt(lines.length);
            if (lines[drawn] == null || random.nextInt(10) == 0) {
                lines[drawn] = line(1 + random.nextInt(300));
            }
            if (watches.size() < 30) {
                new Watch("user" + random.nextInt(5));
            }
            Watch watch = watches.get(random.nextInt(watches.size()));
            switch (random.nextInt(20)) {
                case 0 -> watch.channel.close();
                case 1, 2 -> watch.read();
                case 3 -> {
                    watch.sink.end();
                    settle();
                }
                case 4, 5 -> watch.stop(Kept.values()[random.nextInt(2)]);
                default -> watch.send(lines[drawn]);
            }
            watches.removeIf(each -> !each.open());
            assertThat(serverContext.unread.total()).isBetween(0L, (long) LIMIT);
        }
        watches.forEach(watch -> watch.channel.close());
        settle();
        assertThat(serverContext.unread.total()).isZero();
    }
}
