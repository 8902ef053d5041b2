package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** In which order the pieces of large answers are made. */
@Tag("W86")
class PiecesTest {
    private static final int PIECES = 10;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-27T07:00:00Z"));
    private final ArrayDeque<Runnable> threads = new ArrayDeque<>();
    private final ServerContext serverContext = ServerContexts.of(time.loop("store"), 1L << 40, threads::add);
    private final List<EmbeddedChannel> channels = new ArrayList<>();
    /** Whose pieces were made, in their order. */
    private final List<String> made = new ArrayList<>();

    /** Starts a large list of {@code user}, each piece of which takes {@code each}. */
    private void list(String user, Duration each) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channels.add(channel);
        channel.pipeline().addLast("last", new ChannelInboundHandlerAdapter());
        NettySink sink = new NettySink(channel.pipeline().context("last"), serverContext, Framing.BODY, user, () -> {});
        sink.writeFirst(new ResponseChunks() {
            private int left = PIECES;

            @Override
            public List<byte[]> next() {
                if (left-- == 0) {
                    return List.of();
                }
                time.advance(each);
                made.add(user);
                return List.of(new byte[1]);
            }

            @Override
            public long held() {
                return 0;
            }
        });
        sink.end();
        channel.runPendingTasks();
    }

    private void runAll() {
        while (!threads.isEmpty()) {
            threads.remove().run();
            channels.forEach(EmbeddedChannel::runPendingTasks);
        }
    }

    @Test
    void userWithOneLargeListDoesNotWaitForAnotherUsersMany() {
        // given a user with 300 large lists, more than a user's requests that may wait
        for (int i = 0; i < 300; i++) {
            list("a", Duration.ofMillis(10));
        }
        // when another user has one
        list("b", Duration.ofMillis(10));
        runAll();

        // then its pieces are every second one, as if each user had one
        assertThat(made).hasSize(301 * PIECES);
        assertThat(made.lastIndexOf("b")).isLessThan(2 * PIECES + 2);
    }

    @Test
    void usersShareTheTimeNotTheNumberOfPieces() {
        for (int i = 0; i < 10; i++) {
            list("slow", Duration.ofMillis(50));
        }
        list("quick", Duration.ofMillis(5));
        runAll();

        // then the ten pieces of 5 ms take as long as one of the others
        assertThat(made.subList(0, PIECES + 3)).filteredOn("quick"::equals).hasSize(PIECES);
    }
}
