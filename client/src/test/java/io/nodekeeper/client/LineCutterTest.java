package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.nodekeeper.time.Randoms;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class LineCutterTest {
    private final Handler handler = new Handler();
    private final LineCutter cutter = new LineCutter(handler);

    /** Processes lines when it is told to, as a loop does that has other work. */
    private static final class Handler implements Transport.StreamHandler {
        private final List<String> processed = new ArrayList<>();
        private final ArrayDeque<Lines> passed = new ArrayDeque<>();
        private final ArrayDeque<CompletableFuture<Void>> promises = new ArrayDeque<>();
        private int batches;

        @Override
        public void onOpen() {}

        @Override
        public void onLine(byte[] line) {
            processed.add(new String(line, StandardCharsets.UTF_8));
        }

        @Override
        public void onLines(Lines together) {
            batches++;
            passed.add(together);
        }

        @Override
        public CompletableFuture<Void> drained() {
            CompletableFuture<Void> promise = new CompletableFuture<>();
            promises.add(promise);
            return promise;
        }

        /** Processes what was passed on first. */
        void process() {
            Transport.StreamHandler.super.onLines(passed.remove());
            if (!promises.isEmpty()) {
                promises.remove().complete(null);
            }
        }

        void processAll() {
            while (!passed.isEmpty()) {
                process();
            }
        }

        @Override
        public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {}
    }

    @Test
    void handsOverTogetherWhatArrivesTogether() throws Exception {
        arrives("one\ntwo\nthr");
        handler.processAll();
        arrives("ee\n");
        arrives("fo");
        handler.processAll();
        arrives("ur");
        cutter.end();
        handler.processAll();

        assertThat(handler.processed).containsExactly("one", "two", "three", "four");
        assertThat(handler.batches).isEqualTo(3);
    }

    @Test
    void asksForMoreWhileTheHandlerProcessesOneBatchButNotTwo() throws Exception {
        assertThat(arrives("one\n")).isCompleted();
        CompletableFuture<Void> second = arrives("two\n");
        assertThat(second).isNotDone();

        handler.process();
        assertThat(second).isCompleted();
        assertThat(arrives("three\n")).isNotDone();
    }

    @Test
    void theLastLineDoesNotDisturbThoseThatWait() throws Exception {
        arrives("one\ntwo\nrest");
        cutter.end();
        handler.processAll();

        assertThat(handler.processed).containsExactly("one", "two", "rest");
    }

    @Test
    void aLineWithoutEndEndsTheStream() throws Exception {
        ByteBuf piece = Unpooled.wrappedBuffer(new byte[1 << 20]);
        for (int i = 0; i < 16; i++) {
            cutter.take(piece.slice());
            assertThat(cutter.passOn()).isCompleted();
        }

        assertThatThrownBy(() -> cutter.take(piece.slice()))
                .isInstanceOf(IOException.class)
                .hasMessage("a line of the stream is longer than 16777216 bytes");
    }

    @Property(tries = 1_000)
    void cutsTheSameLinesHoweverTheNetworkCutsThemAndWheneverTheyAreProcessed(@ForAll long seed) throws Exception {
        RandomGenerator random = Randoms.seeded(seed);
        List<String> sent = new ArrayList<>();
        for (int i = random.nextInt(20); i > 0; i--) {
            sent.add("x".repeat(random.nextInt(10) == 0 ? random.nextInt(200_000) : random.nextInt(500)) + i);
            if (random.nextInt(4) == 0) {
                sent.add("");
            }
        }
        sent.add("last");
        boolean hasLastEnd = random.nextBoolean();
        byte[] all = (String.join("\n", sent) + (hasLastEnd ? "\n" : "")).getBytes(StandardCharsets.UTF_8);
        Handler slow = new Handler();
        LineCutter cut = new LineCutter(slow);

        int at = 0;
        while (at < all.length) {
            for (int i = random.nextInt(1, 4); i > 0 && at < all.length; i--) {
                int length = Math.min(all.length - at, random.nextInt(1, 16_384));
                cut.take(Unpooled.wrappedBuffer(all, at, length));
                at += length;
            }
            CompletableFuture<Void> free = cut.passOn();
            while (!free.isDone() || !slow.passed.isEmpty() && random.nextBoolean()) {
                slow.process();
            }
        }
        cut.end();
        slow.processAll();

        assertThat(slow.processed).isEqualTo(sent);
    }

    /** The text arrives, and is passed on if it ends a line; the result is that of the cutter. */
    private CompletableFuture<Void> arrives(String text) throws IOException {
        cutter.take(Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
        return cutter.passOn();
    }
}
