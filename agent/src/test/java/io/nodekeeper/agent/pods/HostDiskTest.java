package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Calls that may hang on paths of the host. */
class HostDiskTest {
    private static final Duration DEADLINE = Duration.ofMinutes(2);

    private final HeldCalls queue = new HeldCalls();
    private final HostDisk disk = new HostDisk(queue, 2);

    @Test
    void shouldGiveEachPodOneCallAtATime() throws Exception {
        CompletableFuture<String> first = disk.call("u1", "volumes of a", DEADLINE, () -> "a");
        CompletableFuture<String> second = disk.call("u1", "volumes of a", DEADLINE, () -> "again");
        CompletableFuture<String> other = disk.call("u2", "volumes of b", DEADLINE, () -> "b");

        assertThat(second).isCompletedExceptionally();
        queue.runAll();
        assertThat(first).isCompletedWithValue("a");
        assertThat(other).isCompletedWithValue("b");

        CompletableFuture<String> next = disk.call("u1", "volumes of a", DEADLINE, () -> "next");
        queue.runAll();
        assertThat(next).isCompletedWithValue("next");
    }

    @Test
    void shouldWaitForACallThatHangsAlsoAfterItsDeadline() throws Exception {
        CompletableFuture<String> hangs = disk.call("u1", "volumes of a", DEADLINE, () -> {
            queue.giveUp();
            assertThat(disk.call("u1", "volumes of a", DEADLINE, () -> "next")).isCompletedExceptionally();
            return "late";
        });
        queue.runAll();

        assertThat(hangs).isCompletedExceptionally();
        assertThat(disk.call("u1", "volumes of a", DEADLINE, () -> "next")).isNotDone();
    }

    @Test
    void shouldForgetACallThatWasGivenUpBeforeItBegan() {
        disk.call("u1", "volumes of a", DEADLINE, () -> "a");
        queue.giveUp();

        assertThat(disk.call("u1", "volumes of a", DEADLINE, () -> "next")).isNotDone();
    }

    @Test
    void shouldAskOnceForAllPodsWhetherAPlaceAnswers() {
        CompletableFuture<Boolean> first = disk.ask("/data", DEADLINE, () -> true);
        CompletableFuture<Boolean> second = disk.ask("/data", DEADLINE, () -> true);
        assertThat(queue.work()).hasSize(1);

        queue.runAll();

        assertThat(first).isCompletedWithValue(true);
        assertThat(second).isCompletedWithValue(true);
        assertThat(disk.ask("/data", DEADLINE, () -> true)).isNotDone();
    }

    /** Pods on a path that hangs are replaced by others, which must not cost a thread each. */
    @Test
    void shouldRefuseQuestionsAboutAPlaceWhileOneHangsAndTakeThemAgainOnceItHasEnded() {
        CompletableFuture<Boolean> hangs = disk.ask("/data", DEADLINE, () -> {
            queue.giveUp();
            CompletableFuture<Boolean> next = disk.ask("/data", DEADLINE, () -> true);
            assertThat(next.exceptionNow()).hasMessage("/data: an earlier call has not ended");
            assertThat(disk.ask("/other", DEADLINE, () -> true)).isNotDone();
            return true;
        });
        queue.runAll();

        assertThat(hangs).isCompletedExceptionally();
        assertThat(disk.ask("/data", DEADLINE, () -> true)).isNotDone();
    }

    @Test
    void shouldBeginNothingButRemovalsWhileTooManyCallsHang() {
        disk.call("u1", "volumes of a", DEADLINE, () -> {
            disk.call("u2", "volumes of b", DEADLINE, () -> {
                queue.giveUp();
                CompletableFuture<String> third = disk.call("u3", "volumes of c", DEADLINE, () -> "c");
                assertThat(third.exceptionNow())
                        .hasMessage("volumes of c: not begun, because 2 calls hang on paths of the host or volumes");
                assertThat(disk.removal("removal of u3", "directories of c", DEADLINE, () -> "c"))
                        .isNotDone();
                return "b";
            });
            queue.runAll();
            return "a";
        });
        queue.runAll();

        assertThat(disk.call("u3", "volumes of c", DEADLINE, () -> "c")).isNotDone();
    }
}
