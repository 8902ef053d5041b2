package io.nodekeeper.apiserver.flowcontrol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Fair queuing of heavy tasks. Each task advances a virtual clock. */
@Tag("W86")
class FairWorkQueueTest {
    private final ArrayDeque<Runnable> threads = new ArrayDeque<>();
    private final List<String> done = new ArrayList<>();
    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final FairWorkQueue turns =
            new FairWorkQueue(threads::add, 2, time.loop("clock").clock(), 100);

    private void run(String user, String what) {
        run(user, what, 0, Duration.ZERO);
    }

    private void run(String user, String what, long weight, Duration cost) {
        turns.run(user, weight, () -> {
            time.advance(cost);
            done.add(user + " " + what);
        });
    }

    /** Runs all work one after the other. */
    private void runAll() {
        while (!threads.isEmpty()) {
            threads.remove().run();
        }
    }

    @Test
    void usersTakeTurnsEvenIfOneHasMoreWork() {
        run("a", "1");
        run("a", "2");
        run("a", "3");
        run("a", "4");
        run("b", "1");
        run("c", "1");
        run("b", "2");
        assertThat(threads).hasSize(2);
        runAll();
        assertThat(done.subList(0, 3)).containsExactlyInAnyOrder("a 1", "b 1", "c 1");
        assertThat(done.subList(3, 5)).containsExactlyInAnyOrder("a 2", "b 2");
        assertThat(done.subList(5, 7)).containsExactly("a 3", "a 4");
    }

    @Test
    void workContinuesAfterAPause() {
        run("a", "1");
        runAll();
        run("a", "2");
        runAll();
        assertThat(done).containsExactly("a 1", "a 2");
    }

    @Test
    void heavyTasksOfOneUserDelayOnlyThatUser() {
        // given a user whose tasks take a second each, and others whose tasks take 10 ms
        for (int i = 0; i < 10; i++) {
            run("heavy", "" + i, 0, Duration.ofSeconds(1));
        }
        for (int i = 0; i < 30; i++) {
            run("light", "" + i, 0, Duration.ofMillis(10));
        }

        // when one thread runs all tasks
        runAll();

        // then at most one heavy task precedes all light ones, which together cost less
        assertThat(done.subList(0, 31).stream().filter(piece -> piece.startsWith("light")))
                .hasSize(30);
        assertThat(done).hasSize(40);
    }

    /** Queues {@code left} tasks of a second, each before the one before it has ended, then {@code last}. */
    private void overlapping(String user, int left, Runnable last) {
        turns.run(user, 0, () -> {
            if (left == 1) {
                last.run();
            } else {
                overlapping(user, left - 1, last);
            }
            time.advance(Duration.ofSeconds(1));
            done.add(user);
        });
    }

    @Test
    void userGetsNoCreditForIdleTime() {
        // given a user who had one short task, and another one whose work went on for 100 s since
        run("a", "early", 0, Duration.ofMillis(1));
        overlapping("b", 100, () -> {
            // when the first user queues 50 tasks of a second, and a new user a single one
            for (int i = 0; i < 50; i++) {
                run("a", "late", 0, Duration.ofSeconds(1));
            }
            run("d", "only", 0, Duration.ofSeconds(1));
        });
        runAll();

        // then the new user waits for one task at most
        assertThat(done).hasSize(152);
        assertThat(done.indexOf("d only") - done.indexOf("a late")).isLessThanOrEqualTo(1);
    }

    @Test
    void idleTimeDoesNotEndADebt() {
        // given a user whose task took a minute, while another one's work goes on
        run("a", "long", 0, Duration.ofMinutes(1));
        overlapping("b", 10, () -> {
            // when both have more
            run("a", "late", 0, Duration.ofSeconds(1));
            for (int i = 0; i < 20; i++) {
                run("b", "late", 0, Duration.ofSeconds(1));
            }
        });
        runAll();

        // then the work of the minute still counts
        assertThat(done).hasSize(32).endsWith("a late");
    }

    @Test
    void moreThan200TasksOfOneUserAreRefused() {
        for (int i = 0; i < 200; i++) {
            assertThat(turns.run("a", 0, () -> {})).isTrue();
        }
        assertThat(turns.run("a", 0, () -> {})).isFalse();
        assertThat(turns.run("b", 0, () -> {})).isTrue();

        // but the rest of what has begun is not
        turns.resume("a", () -> done.add("a rest"));
        runAll();
        assertThat(done).containsExactly("a rest");
    }

    @Test
    void taskWaitsUntilItsMemoryIsFree() {
        // given a task that holds 60 of 100 units until it is released
        run("a", "1", 60, Duration.ZERO);
        run("a", "2", 60, Duration.ZERO);
        runAll();
        assertThat(done).containsExactly("a 1");

        // when it is released, then the next one starts; a task above the limit runs alone
        turns.release(60);
        runAll();
        assertThat(done).containsExactly("a 1", "a 2");
        run("a", "3", 1_000, Duration.ZERO);
        assertThat(threads).isEmpty();
        turns.release(60);
        runAll();
        assertThat(done).endsWith("a 3");
    }

    /** Queues a task that queues the next one before it ends, {@code left} times. */
    private void endless(FairWorkQueue queue, int left) {
        queue.resume("a", () -> {
            done.add("a");
            if (left > 1) {
                endless(queue, left - 1);
            }
        });
    }

    @Test
    void otherWorkOfTheThreadsHasItsTurnThoughSomethingAlwaysWaits() {
        // given one thread, and two queues in each of which a task always waits
        endless(turns, 1_000);
        FairWorkQueue second =
                new FairWorkQueue(threads::add, 2, time.loop("second").clock());
        endless(second, 1_000);

        // when somebody else uses the thread
        threads.add(() -> done.add("other"));
        runAll();

        // then that waits for one task of each
        assertThat(done).hasSize(2_001).startsWith("a", "a", "other");
    }

    /** A hundred thousand random steps, with all weights and many users. */
    @Test
    void eachTaskRunsOnceWithinTheLimits() {
        RandomGenerator random = Randoms.seeded(7);
        ArrayDeque<Long> held = new ArrayDeque<>();
        Map<Integer, Integer> runs = new HashMap<>();
        int accepted = 0;
        for (int step = 0; step < 100_000; step++) {
            int task = step;
            long weight = random.nextInt(4) == 0 ? 1 + random.nextInt(150) : 0;
            int dice = random.nextInt(5);
            if (dice < 2 && !threads.isEmpty()) {
                threads.remove().run();
            } else if (dice == 2 && !held.isEmpty()) {
                turns.release(held.remove());
            } else if (dice == 3) {
                turns.resume("user " + random.nextInt(2_000), () -> runs.merge(task, 1, Integer::sum));
                accepted++;
            } else if (turns.run("user " + random.nextInt(2_000), weight, () -> {
                runs.merge(task, 1, Integer::sum);
                time.advance(Duration.ofMillis(random.nextInt(3)));
                held.add(weight);
                long all = held.stream().mapToLong(Long::longValue).sum();
                assertThat(all <= 100 || all == weight || weight == 0).isTrue();
            })) {
                accepted++;
            }
            assertThat(threads).hasSizeLessThanOrEqualTo(2);
        }
        while (!threads.isEmpty() || !held.isEmpty()) {
            runAll();
            held.forEach(turns::release);
            held.clear();
        }
        assertThat(runs)
                .hasSize(accepted)
                .allSatisfy((task, times) -> assertThat(times).isOne());
    }

    @Test
    void restOfWhatHasBegunComesBeforeNewRequestsOfTheSameUser() {
        run("a", "1");
        run("a", "2");
        turns.resume("a", () -> done.add("a rest"));
        runAll();

        assertThat(done).containsExactly("a rest", "a 1", "a 2");
    }

    @Test
    void threadGoesOnItselfIfNoOtherOneCanBeHad() {
        // given a server that can start one thread only
        List<Runnable> started = new ArrayList<>();
        FairWorkQueue queue = new FairWorkQueue(
                task -> {
                    if (!started.isEmpty()) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    started.add(task);
                },
                2,
                time.loop("short").clock());
        for (String what : List.of("1", "2", "3")) {
            queue.resume("a", () -> done.add(what));
        }

        // when that one runs
        started.getFirst().run();

        // then it does all
        assertThat(done).containsExactly("1", "2", "3");

        // and later work has a place
        started.clear();
        queue.resume("a", () -> done.add("4"));
        started.getFirst().run();
        assertThat(done).endsWith("4");
    }

    @Test
    void taskThatThrowsAnErrorFreesItsPlace() {
        turns.run("a", 0, () -> {
            throw new StackOverflowError();
        });
        turns.run("b", 0, () -> {
            throw new StackOverflowError();
        });
        run("a", "after");
        while (!threads.isEmpty()) {
            Runnable thread = threads.remove();
            assertThatCode(() -> {
                        try {
                            thread.run();
                        } catch (StackOverflowError e) {
                            // as a thread pool would do
                        }
                    })
                    .doesNotThrowAnyException();
        }
        assertThat(done).containsExactly("a after");
    }
}
