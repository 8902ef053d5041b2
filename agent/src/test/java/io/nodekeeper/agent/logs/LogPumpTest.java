package io.nodekeeper.agent.logs;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log on its way to one client, in virtual time. */
class LogPumpTest {
    private static final LogOptions FOLLOW =
            new LogOptions(true, false, OptionalLong.empty(), Optional.empty(), OptionalLong.empty());

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Client client = new Client();
    private int reads;
    private Path log = Path.of("none");

    /** A client that takes everything at once, unless it is slow. */
    private static final class Client implements Feed.Reader {
        private final StringBuilder got = new StringBuilder();
        private boolean slow;
        private boolean closed;
        private CompletableFuture<Void> taken = new CompletableFuture<>();

        @Override
        public CompletableFuture<Void> send(byte[] bytes) {
            got.append(new String(bytes, StandardCharsets.UTF_8));
            taken = slow ? new CompletableFuture<>() : CompletableFuture.completedFuture(null);
            return taken;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @BeforeEach
    void aLog() throws Exception {
        log = Files.writeString(directory.resolve("0.log"), "2026-01-01T00:00:01Z stdout F one\n");
    }

    @Test
    void shouldEndWithTheFileUnlessItIsFollowed() {
        start(LogOptions.ALL);

        time.advance(Duration.ofSeconds(1));

        assertThat(client.got).hasToString("one\n");
        assertThat(client.closed).isTrue();
    }

    @Test
    void shouldSendWhatIsWrittenUntilTheContainerEnds() throws Exception {
        start(FOLLOW);
        time.advance(Duration.ofSeconds(5));
        assertThat(client.got).hasToString("one\n");
        assertThat(client.closed).isFalse();

        append("2026-01-01T00:00:02Z stdout F two\n");
        time.advance(Duration.ofSeconds(1));
        assertThat(client.got).hasToString("one\ntwo\n");

        append("2026-01-01T00:00:03Z stdout F last words");
        ended.set(true);
        time.advance(Duration.ofSeconds(1));
        assertThat(client.got).hasToString("one\ntwo\nlast words\n");
        assertThat(client.closed).isTrue();
    }

    @Test
    void shouldReadNoFurtherThanItsClient() throws Exception {
        append("2026-01-01T00:00:02Z stdout F some more text\n".repeat(10_000));
        client.slow = true;
        start(LogOptions.ALL);

        time.advance(Duration.ofHours(1));

        assertThat(reads).isEqualTo(1);
        assertThat(client.got.length()).isLessThan(LogReader.STEP);
        client.taken.complete(null);
        time.advance(Duration.ofSeconds(1));
        assertThat(reads).isEqualTo(2);
    }

    @Test
    void shouldStopWhenItsClientHasGone() throws Exception {
        start(FOLLOW).stop();
        time.advance(Duration.ofSeconds(1));
        int before = reads;

        append("2026-01-01T00:00:02Z stdout F two\n");
        time.advance(Duration.ofMinutes(1));

        assertThat(reads).isEqualTo(before);
        assertThat(client.closed).isTrue();
    }

    @Test
    void shouldStopWhenAPartCannotBeSent() throws Exception {
        append("2026-01-01T00:00:02Z stdout F some more text\n".repeat(10_000));
        client.slow = true;
        start(FOLLOW);
        time.advance(Duration.ofSeconds(1));

        client.taken.completeExceptionally(new IllegalStateException("gone"));
        time.advance(Duration.ofMinutes(1));

        assertThat(reads).isEqualTo(1);
        assertThat(client.closed).isTrue();
    }

    private LogPump start(LogOptions options) {
        LogPump pump = new LogPump(
                new LogReader(log, options),
                options.follow(),
                ended::get,
                new BlockingCalls() {
                    @Override
                    public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
                        reads += what.equals("reading a log") ? 1 : 0;
                        try {
                            return CompletableFuture.completedFuture(work.call());
                        } catch (Exception e) {
                            return CompletableFuture.failedFuture(e);
                        }
                    }
                },
                loop,
                client);
        pump.start();
        return pump;
    }

    private void append(String text) throws Exception {
        Files.writeString(log, text, StandardOpenOption.APPEND);
    }
}
