package io.nodekeeper.agent.pods.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PodTurnsTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    /** Those that were made, in their order. */
    private final Map<String, CompletableFuture<String>> calls = new LinkedHashMap<>();

    private final Map<String, PodTurns.Turn<String>> taken = new LinkedHashMap<>();

    @Test
    void shouldMakeOneCallOfAPodAndMoreWhileSharedPlacesAreLeft() {
        PodTurns turns = new PodTurns(3, 2);

        take(turns, "web", "a", "b", "c");
        take(turns, "db", "d", "e");

        // The second call of the one takes a shared place; of the last shared one it may have no quarter more.
        assertThat(calls).containsOnlyKeys("a", "b", "d", "e");
        answer("a");
        assertThat(calls).containsOnlyKeys("a", "b", "c", "d", "e");
    }

    @Test
    void shouldMakeTheCallsOfOnePodInTheirOrder() {
        PodTurns turns = new PodTurns(1, 0);

        take(turns, "web", "a", "b", "c");
        answer("a");
        answer("b");
        answer("c");

        assertThat(calls.keySet()).containsExactly("a", "b", "c");
        assertThat(taken("c").answer()).isCompletedWithValue("c");
    }

    @Test
    void shouldTakeTurnsAmongPodsThatWait() {
        // given no place left
        PodTurns turns = new PodTurns(1, 0);
        take(turns, "first", "a");
        // and one pod that waits with many calls before another does with one
        take(turns, "many", "b", "c", "d");
        take(turns, "one", "e");

        // when places become free
        answer("a");
        answer("b");

        // then both have had one
        assertThat(calls.keySet()).containsExactly("a", "b", "e");
    }

    @Test
    void shouldMakeRoomWhenACallFailsOrCannotBeMadeOrIsCancelled() {
        PodTurns turns = new PodTurns(1, 0);
        CompletableFuture<String> impossible = turns.run("web", () -> {
            throw new IllegalStateException("no");
        });
        take(turns, "web", "a", "b", "c");

        call("a").completeExceptionally(new IllegalStateException("no"));
        taken("b").answer().cancel(true);

        assertThat(impossible).isCompletedExceptionally();
        assertThat(taken("a").answer()).isCompletedExceptionally();
        assertThat(call("b")).isCancelled();
        assertThat(calls.keySet()).containsExactly("a", "b", "c");
    }

    @Test
    void shouldForgetACallThatIsGivenUpWhileItWaits() {
        PodTurns turns = new PodTurns(1, 0);
        take(turns, "web", "a", "b", "c");

        taken("b").answer().cancel(true);
        taken("c").abandon(new IllegalStateException("no time left"));
        taken("a").abandon(new IllegalStateException("no time left"));

        assertThat(turns.waiting()).isZero();
        assertThat(taken("c").answer()).isCompletedExceptionally();
        // The first one had begun, and goes on.
        answer("a");
        assertThat(taken("a").answer()).isCompletedWithValue("a");
        assertThat(calls.keySet()).containsExactly("a");
        assertThat(turns.pods()).isZero();
    }

    @Test
    void shouldEndManyCallsThatAreAnsweredAtOnceWithoutADeepStack() {
        PodTurns turns = new PodTurns(1, 0);
        take(turns, "web", "a");
        CompletableFuture<String> last = new CompletableFuture<>();
        for (int i = 0; i < 100_000; i++) {
            last = turns.run("web", () -> CompletableFuture.completedFuture("at once"));
        }

        answer("a");

        assertThat(last).isCompletedWithValue("at once");
    }

    /**
     * Whatever 255 pods do, and whenever: a call of another one begins as soon as the earlier ones of its own pod let it. Three calls of half a
     * second that come at the same time have all begun after one.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldDelayNoPodByCallsOfOthersThatHang(long seed) {
        Random random = new Random(seed);
        PodTurns turns = new PodTurns(64);
        List<CompletableFuture<?>> hanging = new ArrayList<>();
        List<Duration> delays = new ArrayList<>();
        int hostile = random.nextInt(1, 256);
        int healthy = 256 - hostile;

        // given pods that begin calls without an end at any time in a minute; some give them up
        for (int pod = 0; pod < hostile; pod++) {
            String uid = "hanging-" + pod;
            for (int count = random.nextInt(1, 129); count > 0; count--) {
                loop.schedule(Duration.ofMillis(random.nextInt(60_000)), () -> {
                    CompletableFuture<Void> call = turns.run(uid, CompletableFuture::new);
                    hanging.add(call);
                    if (random.nextInt(4) == 0) {
                        loop.schedule(Duration.ofMillis(random.nextInt(60_000)), () -> call.cancel(true));
                    }
                });
            }
        }
        // and others with three calls of half a second every ten seconds
        for (int pod = 0; pod < healthy; pod++) {
            String uid = "healthy-" + pod;
            int offset = random.nextInt(10_000);
            for (int round = 0; round < 12; round++) {
                loop.schedule(Duration.ofMillis(offset + 10_000 * round), () -> {
                    for (int call = 0; call < 3; call++) {
                        Duration due = time.elapsed();
                        turns.run(uid, () -> {
                            delays.add(time.elapsed().minus(due));
                            return Deadlines.sleep(loop, Duration.ofMillis(500));
                        });
                    }
                });
            }
        }

        // when two minutes pass
        for (int second = 0; second < 140; second++) {
            time.advance(Duration.ofSeconds(1));
            assertThat(turns.running()).isLessThanOrEqualTo(256 + 64);
        }

        // then all of their calls were made, the third one a second late at most
        assertThat(delays).hasSize(healthy * 3 * 12);
        assertThat(delays).allMatch(delay -> delay.compareTo(Duration.ofSeconds(1)) <= 0);
        // and what ends leaves nothing
        List.copyOf(hanging).forEach(call -> call.cancel(true));
        assertThat(turns.running()).isZero();
        assertThat(turns.waiting()).isZero();
        assertThat(turns.pods()).isZero();
    }

    private void take(PodTurns turns, String uid, String... names) {
        for (String name : names) {
            taken.put(name, turns.take(uid, () -> call(name)));
        }
    }

    private PodTurns.Turn<String> taken(String name) {
        return Objects.requireNonNull(taken.get(name), name);
    }

    private CompletableFuture<String> call(String name) {
        return calls.computeIfAbsent(name, key -> new CompletableFuture<>());
    }

    private void answer(String name) {
        Objects.requireNonNull(calls.get(name), name).complete(name);
    }
}
