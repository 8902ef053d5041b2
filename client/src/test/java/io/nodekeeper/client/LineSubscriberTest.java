package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.Randoms;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.random.RandomGenerator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class LineSubscriberTest {
    private final Recording heard = new Recording();
    private final LineSubscriber subscriber = new LineSubscriber(heard);
    private int requested;
    private boolean cancelled;

    private static final class Recording implements Transport.StreamHandler {
        private final List<String> lines = new ArrayList<>();
        private int batches;
        private CompletableFuture<Void> drained = CompletableFuture.completedFuture(null);

        @Override
        public void onOpen() {}

        @Override
        public void onLine(byte[] line) {
            lines.add(new String(line, StandardCharsets.UTF_8));
        }

        @Override
        public void onLines(Lines together) {
            batches++;
            Transport.StreamHandler.super.onLines(together);
        }

        @Override
        public CompletableFuture<Void> drained() {
            return drained;
        }

        @Override
        public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {}
    }

    @Test
    void handsOverTogetherWhatArrivesTogether() {
        subscribe();

        next("one\ntwo\nthr");
        next("ee\n");
        next("fo");
        next("ur");
        subscriber.onComplete();

        assertThat(heard.lines).containsExactly("one", "two", "three", "four");
        assertThat(heard.batches).isEqualTo(3);
    }

    @Test
    void asksForMoreOnlyWhenTheHandlerIsDone() {
        subscribe();
        heard.drained = new CompletableFuture<>();

        next("one\n");
        assertThat(requested).isEqualTo(1);
        heard.drained.complete(null);
        assertThat(requested).isEqualTo(2);
    }

    @Test
    void theLastLineDoesNotDisturbThoseThatWait() {
        List<Lines> waiting = new ArrayList<>();
        LineSubscriber slow = new LineSubscriber(new Transport.StreamHandler() {
            @Override
            public void onOpen() {}

            @Override
            public void onLine(byte[] line) {}

            @Override
            public void onLines(Lines lines) {
                waiting.add(lines);
            }

            @Override
            public CompletableFuture<Void> drained() {
                return new CompletableFuture<>();
            }

            @Override
            public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {}
        });

        slow.onNext(List.of(bytes("one\ntwo\nrest")));
        slow.onComplete();

        assertThat(waiting).hasSize(2);
        assertThat(new String(waiting.get(0).copy(1), StandardCharsets.UTF_8)).isEqualTo("two");
        assertThat(new String(waiting.get(1).copy(0), StandardCharsets.UTF_8)).isEqualTo("rest");
    }

    @Test
    void aLineWithoutEndEndsTheStream() {
        subscribe();
        byte[] piece = new byte[1 << 20];
        for (int i = 0; i < 17; i++) {
            subscriber.onNext(List.of(ByteBuffer.wrap(piece)));
        }

        assertThat(cancelled).isTrue();
        assertThat(subscriber.getBody().toCompletableFuture()).isCompletedExceptionally();
    }

    @Property(tries = 1_000)
    void cutsTheSameLinesHoweverTheNetworkCutsThem(@ForAll long seed) {
        RandomGenerator random = Randoms.seeded(seed);
        List<String> sent = new ArrayList<>();
        for (int i = random.nextInt(20); i > 0; i--) {
            sent.add("x".repeat(random.nextInt(10) == 0 ? random.nextInt(200_000) : random.nextInt(500)) + i);
        }
        byte[] all = (String.join("\n", sent) + (sent.isEmpty() ? "" : "\n")).getBytes(StandardCharsets.UTF_8);
        Recording recording = new Recording();
        LineSubscriber cutter = new LineSubscriber(recording);

        int at = 0;
        while (at < all.length) {
            List<ByteBuffer> buffers = new ArrayList<>();
            for (int i = random.nextInt(1, 4); i > 0 && at < all.length; i--) {
                int length = Math.min(all.length - at, random.nextInt(1, 16_384));
                buffers.add(ByteBuffer.wrap(all, at, length).slice());
                at += length;
            }
            cutter.onNext(buffers);
        }
        cutter.onComplete();

        assertThat(recording.lines).isEqualTo(sent);
    }

    private void subscribe() {
        subscriber.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long n) {
                requested += (int) n;
            }

            @Override
            public void cancel() {
                cancelled = true;
            }
        });
    }

    private void next(String text) {
        subscriber.onNext(List.of(bytes(text)));
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
