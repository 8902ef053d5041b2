package io.nodekeeper.client.workqueue;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.FencedTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A queue of calls to a server that serves some calls concurrently and lets the others wait. */
class AdaptiveLimitTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final Server server = new Server();
    private final PriorityWorkQueue workQueue = new PriorityWorkQueue();
    private final KubeClient plain = new KubeClient(
            new FencedTransport(server, () -> true, PriorityWorkQueue.CALLS), loop, Duration.ofSeconds(2));
    private final KubeClient client = workQueue.measured(plain);
    private int done;

    /**
     * Serves {@code capacity} calls at once, each in {@code service}; may refuse those that would have to wait too
     * long.
     */
    private final class Server implements Transport {
        private final VirtualTime.VirtualLoop machine = time.loop("server");
        private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
        private int capacity = 40;
        private Duration service = Duration.ofMillis(20);
        private int longestQueue = Integer.MAX_VALUE;
        private boolean down;
        /** The calls that were sent while it was down. */
        private int unanswered;

        private int serving;
        private int most;

        @Override
        public CompletableFuture<Reply> send(Call call) {
            CompletableFuture<Reply> result = new CompletableFuture<>();
            if (down) {
                unanswered++;
                return result;
            }
            if (queue.size() >= longestQueue) {
                ApiException busy = new ApiException(429, "TooManyRequests", "too many requests");
                machine.schedule(Duration.ofMillis(1), () -> result.complete(FakeTransport.refusal(busy)));
                return result;
            }
            queue.add(() -> machine.schedule(service, () -> {
                serving--;
                result.complete(FakeTransport.reply(200, JsonObject.EMPTY));
                serve();
            }));
            most = Math.max(most, queue.size() + serving);
            serve();
            return result;
        }

        private void serve() {
            while (serving < capacity && !queue.isEmpty()) {
                serving++;
                queue.remove().run();
            }
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            throw new UnsupportedOperationException("this test opens no watch");
        }

        @Override
        public void close() {}
    }

    @Test
    void theLimitConvergesToTheCapacityOfTheServer() {
        keepBusy(2_000_000);

        List<Integer> limits = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            time.advance(Duration.ofMillis(200));
            limits.add(workQueue.limit());
        }

        // 1.5 × 40 and the √L that are put up with; ordinary jobs use 7/8 of it.
        assertThat(limits.subList(10, 100))
                .allSatisfy(limit -> assertThat(limit).isBetween(55, 90));
    }

    @Test
    void theLimitFollowsAServerThatGrowsAndShrinks() {
        keepBusy(10_000_000);
        time.advance(Duration.ofSeconds(10));

        server.capacity = 200;
        time.advance(Duration.ofSeconds(10));
        assertThat(workQueue.limit()).as("the most").isEqualTo(96);

        server.capacity = 12;
        time.advance(Duration.ofSeconds(10));
        assertThat(workQueue.limit()).isBetween(15, 35);
    }

    @Test
    void aThousandWritesTakeASmallPartOfTheTimeThatTwentyASecondWould() {
        keepBusy(1_000);

        time.advance(Duration.ofSeconds(1));

        // 1,000 × 20 ms / 40 = 0.5 s at best; 50 s at client-go's usual 20 calls a second.
        assertThat(done).isEqualTo(1_000);
    }

    @Test
    void urgentJobsStartAtOnceHoweverManyOthersWait() {
        keepBusy(2_000_000);
        for (int i = 0; i < 10_000; i++) {
            workQueue.submit(PriorityWorkQueue.Priority.BACKGROUND, this::job);
        }
        time.advance(Duration.ofSeconds(10));
        List<Duration> waits = new ArrayList<>();

        for (int i = 0; i < 50; i++) {
            Duration asked = time.elapsed();
            workQueue.urgent(() -> {
                waits.add(time.elapsed().minus(asked));
                return job();
            });
            time.advance(Duration.ofMillis(100));
        }

        assertThat(waits).hasSize(50).allSatisfy(wait -> assertThat(wait).isLessThan(server.service));
    }

    @Test
    void callsOfUrgentJobsAreSentAtOnceWhenAllOthersHangAtTheHighestLimit() {
        // given a server that could take any number of calls, so the limit is at its highest, and then answers no more
        server.capacity = 1_000;
        keepBusy(10_000_000);
        time.advance(Duration.ofSeconds(20));
        assertThat(workQueue.limit()).isEqualTo(96);
        server.down = true;
        time.advance(Duration.ofMillis(100));
        assertThat(server.unanswered).as("seven eighths").isEqualTo(84);

        // when verdicts read two objects each
        for (int i = 0; i < 12; i++) {
            workQueue.urgent(() -> CompletableFuture.allOf(
                    client.get(ResourceType.LEASES, "kube-node-lease", "n1"),
                    client.get(ResourceType.NODES, "", "n1")));
        }

        // then none of them waits in the transport
        assertThat(server.unanswered).isEqualTo(84 + 24);
        // and no canary either
        plain.get(ResourceType.LEASES, "kube-node-lease", "canary");
        assertThat(server.unanswered).isEqualTo(84 + 24 + 1);
    }

    /** Each 30 s the limit falls to 8 to measure the base, and it halves after a failure; what runs then may hang. */
    @Test
    void urgentJobsStartAtOnceWhenTheLimitFallsBelowWhatHangs() {
        for (int i = 0; i < 1_000; i++) {
            workQueue.submit(PriorityWorkQueue.Priority.BACKGROUND, CompletableFuture::new);
            workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, CompletableFuture::new);
        }
        assertThat(workQueue.underWay()).isEqualTo(56);
        server.down = true;
        client.get(ResourceType.NODES, "", "n1").exceptionally(error -> JsonObject.EMPTY);
        time.advance(Duration.ofSeconds(2));
        assertThat(workQueue.limit()).isLessThan(56);

        List<Integer> begun = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            int number = i;
            workQueue.urgent(() -> {
                begun.add(number);
                return new CompletableFuture<Void>();
            });
        }

        // Not more than the server must be able to take, whatever the limit.
        assertThat(begun).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    }

    @Test
    void aFailureEndsTheMeasurementOfTheBase() {
        AdaptiveLimit limit = new AdaptiveLimit(64);
        limit.begin();
        limit.measured(5_000_000, false, 5_000_000, false);
        assertThat(limit.limit()).isEqualTo(8);

        limit.measured(15_000_000, false, 5_000_000, true);

        assertThat(limit.limit()).isEqualTo(32);
    }

    @Test
    void backgroundJobsLeaveRoomForTheOthers() {
        for (int i = 0; i < 1_000; i++) {
            workQueue.submit(PriorityWorkQueue.Priority.BACKGROUND, this::job);
        }

        assertThat(workQueue.limit()).isEqualTo(64);
        assertThat(workQueue.underWay()).isEqualTo(32);
        for (int i = 0; i < 1_000; i++) {
            workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, this::job);
        }
        assertThat(workQueue.underWay()).as("an eighth is kept for urgent jobs").isEqualTo(56);
        for (int i = 0; i < 10; i++) {
            workQueue.urgent(this::job);
        }
        assertThat(workQueue.underWay()).isEqualTo(64);
    }

    @Test
    void refusalsShrinkTheLimitUntilThereAreFew() {
        server.longestQueue = 4;
        keepBusy(10_000_000);
        time.advance(Duration.ofSeconds(20));

        List<Integer> limits = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            time.advance(Duration.ofMillis(50));
            limits.add(workQueue.limit());
        }

        assertThat(limits).allSatisfy(limit -> assertThat(limit).isBetween(8, 64));
    }

    @Test
    void aServerThatDoesNotAnswerIsAskedByAFewAndFoundAgainSoon() {
        keepBusy(10_000_000);
        time.advance(Duration.ofSeconds(10));

        server.down = true;
        time.advance(Duration.ofSeconds(20));
        assertThat(workQueue.limit()).isEqualTo(8);

        server.down = false;
        time.advance(Duration.ofSeconds(5));
        assertThat(workQueue.limit()).isGreaterThan(40);
    }

    @Test
    void aConflictDoesNotLowerTheLimit() {
        AdaptiveLimit limit = new AdaptiveLimit(64);
        FakeTransport transport = new FakeTransport();
        transport.answer(call -> Optional.of(FakeTransport.refusal(ApiException.modified(ResourceType.NODES, "n1"))));
        PriorityWorkQueue other = new PriorityWorkQueue();
        KubeClient conflicting = other.measured(new KubeClient(transport, loop, Duration.ofSeconds(2)));
        for (int i = 0; i < 200; i++) {
            other.submit(
                    PriorityWorkQueue.Priority.ORDINARY,
                    () -> conflicting.get(ResourceType.NODES, "", "n1").exceptionally(error -> JsonObject.EMPTY));
        }
        time.advance(Duration.ofSeconds(1));

        assertThat(transport.calls()).hasSize(200);
        assertThat(other.limit()).isGreaterThanOrEqualTo(limit.limit());
    }

    @Test
    void fastReadsDoNotMakeWritesLookSlow() {
        AdaptiveLimit limit = new AdaptiveLimit(64);
        long now = 0;
        for (int i = 0; i < 100; i++) {
            now = window(limit, now, false, 1_000_000);
        }
        int before = limit.limit();
        for (int i = 0; i < 10; i++) {
            now = window(limit, now, true, 8_000_000);
        }

        assertThat(limit.limit()).isGreaterThanOrEqualTo(before);
    }

    @Test
    void whatIsNotUsedIsNotExtended() {
        AdaptiveLimit limit = new AdaptiveLimit(64);
        long now = 0;
        for (int i = 0; i < 2_000; i++) {
            limit.begin();
            now += 5_000_000;
            limit.measured(now, true, 5_000_000, false);
            limit.end();
        }

        assertThat(limit.limit()).isEqualTo(64);
    }

    /** As many calls as may be, all at once. */
    private static long window(AdaptiveLimit limit, long now, boolean write, long nanos) {
        int calls = Math.max(16, limit.limit());
        for (int i = 0; i < calls; i++) {
            limit.begin();
        }
        for (int i = 0; i < calls; i++) {
            limit.measured(now + nanos, write, nanos, false);
            limit.end();
        }
        return now + nanos;
    }

    private void keepBusy(int jobs) {
        // A supplier each would be too much memory: jobs call for their successors.
        int waiting = Math.min(jobs, 1_024);
        int[] left = {jobs - waiting};
        for (int i = 0; i < waiting; i++) {
            more(left);
        }
    }

    private void more(int[] left) {
        workQueue.submit(
                PriorityWorkQueue.Priority.ORDINARY,
                () -> job().thenRun(() -> {
                    if (left[0] > 0) {
                        left[0]--;
                        more(left);
                    }
                }));
    }

    private CompletionStage<?> job() {
        return client.update(ResourceType.NODES, "", "n1", JsonObject.EMPTY).handle((stored, error) -> {
            done += error == null ? 1 : 0;
            return stored;
        });
    }
}
