package io.nodekeeper.controller.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Joined live reads: how new their results are, and how many there are. */
class LiveReadsTest {
    private static final Duration DEADLINE = Duration.ofMillis(300);
    private static final Duration PATIENCE = Duration.ofMillis(700);

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-23T03:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("guard");
    private final List<String> sent = new ArrayList<>();
    private final Map<String, Integer> running = new HashMap<>();
    private final List<CompletableFuture<Reply>> replies = new ArrayList<>();

    private LiveReads reads(Function<Call, CompletableFuture<Reply>> server) {
        return new LiveReads(new KubeClient(new Server(server), loop, DEADLINE), PATIENCE);
    }

    /** An API server that answers when the test completes {@link #replies}. */
    private LiveReads held() {
        return reads(call -> {
            sent.add(call.target());
            CompletableFuture<Reply> reply = new CompletableFuture<>();
            replies.add(reply);
            return reply;
        });
    }

    private static CompletableFuture<JsonObject> read(LiveReads reads, String name) {
        return reads.read(ResourceType.NODES, "", name);
    }

    private static Reply version(long version) {
        return FakeTransport.reply(200, JsonObject.EMPTY.with("version", Long.toString(version)));
    }

    private static long version(CompletableFuture<JsonObject> read) {
        return Long.parseLong(read.join().text("version"));
    }

    @Test
    void requestsThatComeDuringAReadShareTheNextOne() {
        LiveReads reads = held();
        CompletableFuture<JsonObject> first = read(reads, "n1");
        List<CompletableFuture<JsonObject>> later =
                IntStream.range(0, 50).mapToObj(i -> read(reads, "n1")).toList();
        assertThat(sent).hasSize(1);

        replies.get(0).complete(version(1));
        time.advance(Duration.ofMillis(1));
        assertThat(version(first)).isEqualTo(1);
        assertThat(later).noneMatch(CompletableFuture::isDone);
        assertThat(sent).hasSize(2);

        replies.get(1).complete(version(2));
        time.advance(Duration.ofMillis(1));
        assertThat(later).allMatch(read -> version(read) == 2);
        assertThat(reads.reading()).isZero();
        assertThat(reads.waiting()).isZero();
    }

    @Test
    void otherObjectsAreReadAtTheSameTimeUpToALimit() {
        LiveReads reads = held();
        List<CompletableFuture<JsonObject>> all =
                IntStream.range(0, 100).mapToObj(i -> read(reads, "n" + i)).toList();
        assertThat(sent).hasSize(32);

        replies.get(0).complete(version(1));
        time.advance(Duration.ofMillis(1));
        assertThat(all.get(0)).isCompleted();
        assertThat(sent).hasSize(33);
    }

    @Test
    void aFailureFailsThoseThatSharedTheReadAndNoOthers() {
        LiveReads reads = held();
        CompletableFuture<JsonObject> first = read(reads, "n1");
        CompletableFuture<JsonObject> second = read(reads, "n1");

        time.advance(DEADLINE);
        assertThat(first).isCompletedExceptionally();
        assertThat(second).isNotDone();
        replies.get(1).complete(version(2));
        time.advance(Duration.ofMillis(1));
        assertThat(version(second)).isEqualTo(2);
    }

    @Test
    void aRequestThatGivesUpTakesNoResultFromTheOthers() {
        LiveReads reads = held();
        CompletableFuture<JsonObject> first = read(reads, "n1");
        CompletableFuture<JsonObject> second = read(reads, "n1");
        CompletableFuture<JsonObject> third = read(reads, "n1");
        first.cancel(true);
        second.cancel(true);

        replies.get(0).complete(version(1));
        time.advance(Duration.ofMillis(1));
        replies.get(1).complete(version(2));
        time.advance(Duration.ofMillis(1));
        assertThat(version(third)).isEqualTo(2);
    }

    @Test
    void aReadForWhichNobodyWaitsAnyMoreIsNotSent() {
        // given an API server that answers nothing, and 132 objects to read, 32 at a time
        LiveReads reads = held();
        List<CompletableFuture<JsonObject>> all =
                IntStream.range(0, 132).mapToObj(i -> read(reads, "n" + i)).toList();
        // when two rounds of reads took 300 ms each, and a third one is under way
        time.advance(Duration.ofMillis(601));
        assertThat(sent).hasSize(96);
        // then at 900 ms the others are too old
        time.advance(Duration.ofMillis(300));
        assertThat(sent).hasSize(96);
        assertThat(all).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(reads.waiting()).isZero();
        // and new requests are read
        read(reads, "n0");
        assertThat(sent).hasSize(97);
    }

    @Test
    void requestsForTooManyObjectsFailImmediately() {
        LiveReads reads = held();
        for (int i = 0; i < LiveReads.MOST_READS + LiveReads.MOST_WAITING; i++) {
            assertThat(read(reads, "n" + i)).isNotDone();
        }
        assertThat(read(reads, "one-more")).isCompletedExceptionally();
        assertThat(reads.waiting()).isEqualTo(LiveReads.MOST_WAITING);
        assertThat(read(reads, "n" + LiveReads.MOST_READS))
                .as("an object that is waited for")
                .isNotDone();
    }

    /** A server that processes a read at any time before it answers, or never answers. */
    @Property(tries = 200)
    void everyResultIsNewerThanItsRequestAndNoObjectIsReadTwiceAtATime(@ForAll long seed) {
        RandomGenerator random = Randoms.seeded(seed);
        List<String> faults = new ArrayList<>();
        LiveReads reads = reads(call -> {
            if (running.merge(call.target(), 1, Integer::sum) > 1) {
                faults.add(call + " runs twice");
            }
            if (running.values().stream().mapToInt(count -> count).sum() > 32) {
                faults.add("too many reads: " + running);
            }
            CompletableFuture<Reply> reply = new CompletableFuture<>();
            reply.whenComplete((done, error) -> running.merge(call.target(), -1, Integer::sum));
            if (random.nextInt(10) > 0) {
                loop.schedule(Duration.ofMillis(random.nextInt(20)), () -> {
                    Reply seen = version(loop.nanoTime());
                    loop.schedule(Duration.ofMillis(random.nextInt(40)), () -> reply.complete(seen));
                });
            }
            return reply;
        });
        int objects = 1 + random.nextInt(60);
        List<Asked> all = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            time.advance(Duration.ofMillis(random.nextInt(4)));
            all.add(new Asked(loop.nanoTime(), read(reads, "n" + random.nextInt(objects))));
        }
        time.advance(Duration.ofSeconds(5));
        assertThat(faults).isEmpty();
        assertThat(all).allMatch(asked -> asked.result.isDone());
        assertThat(all.stream().filter(asked -> !asked.result.isCompletedExceptionally()))
                .isNotEmpty()
                .allMatch(asked -> version(asked.result) >= asked.at);
        assertThat(reads.reading()).isZero();
        assertThat(reads.waiting()).isZero();
    }

    private record Asked(long at, CompletableFuture<JsonObject> result) {}

    @Test
    void threadsThatAskAtTheSameTimeAllGetANewResult() throws Exception {
        // given a server whose state changes with each read
        AtomicLong version = new AtomicLong();
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        int threads = 4;
        int each = 2_000;
        CountDownLatch left = new CountDownLatch(threads * each);
        ThreadLoop real = new ThreadLoop("test");
        try {
            Server server = new Server(call -> CompletableFuture.completedFuture(version(version.incrementAndGet())));
            LiveReads reads =
                    new LiveReads(new KubeClient(server, real, Duration.ofSeconds(60)), Duration.ofSeconds(60));
            for (int i = 0; i < threads; i++) {
                Thread.ofPlatform().start(() -> {
                    for (int k = 0; k < each; k++) {
                        long before = version.get();
                        read(reads, "n" + k % 3).whenComplete((object, error) -> {
                            if (error != null || Long.parseLong(object.text("version")) <= before) {
                                wrong.add(before + " " + object + " " + error);
                            }
                            left.countDown();
                        });
                    }
                });
            }
            assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(wrong).isEmpty();
        } finally {
            real.close();
        }
    }

    private record Server(Function<Call, CompletableFuture<Reply>> answers) implements Transport {
        @Override
        public CompletableFuture<Reply> send(Call call) {
            return answers.apply(call);
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            throw new AssertionError("no watch is expected, got " + call);
        }

        @Override
        public void close() {}
    }
}
