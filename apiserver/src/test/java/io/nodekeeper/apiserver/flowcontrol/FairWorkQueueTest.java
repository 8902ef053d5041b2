package io.nodekeeper.apiserver.flowcontrol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
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
        threads.remove().run();
        assertThat(done.subList(0, 3)).containsExactlyInAnyOrder("a 1", "b 1", "c 1");
        assertThat(done.subList(3, 5)).containsExactlyInAnyOrder("a 2", "b 2");
        assertThat(done.subList(5, 7)).containsExactly("a 3", "a 4");
    }

    @Test
    void workContinuesAfterAPause() {
        run("a", "1");
        threads.remove().run();
        run("a", "2");
        threads.remove().run();
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
        threads.remove().run();

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
        threads.remove().run();

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
        threads.remove().run();

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
    }

    @Test
    void taskWaitsUntilItsMemoryIsFree() {
        // given a task that holds 60 of 100 units until it is released
        run("a", "1", 60, Duration.ZERO);
        run("a", "2", 60, Duration.ZERO);
        threads.remove().run();
        assertThat(done).containsExactly("a 1");

        // when it is released, then the next one starts; a task above the limit runs alone
        turns.release(60);
        threads.forEach(Runnable::run);
        threads.clear();
        assertThat(done).containsExactly("a 1", "a 2");
        run("a", "3", 1_000, Duration.ZERO);
        assertThat(threads).isEmpty();
        turns.release(60);
        threads.remove().run();
        assertThat(done).endsWith("a 3");
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
