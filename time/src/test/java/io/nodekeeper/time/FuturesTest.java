package io.nodekeeper.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class FuturesTest {
    /** The machine has no process id left. */
    @Test
    void aCallThatFindsNoThreadFails() {
        CompletableFuture<String> future = Futures.start(() -> {
            throw new OutOfMemoryError("unable to create native thread");
        });

        assertThat(future.exceptionNow()).hasMessage("unable to create native thread");
    }

    @Test
    void shouldFailTheFutureOfACallThatThrows() {
        IllegalStateException broken = new IllegalStateException("broken");

        CompletableFuture<String> future = Futures.start(() -> {
            throw broken;
        });

        assertThat(future.exceptionNow()).isSameAs(broken);
    }

    @Test
    void shouldPassOnTheFutureOfACall() {
        CompletableFuture<String> answer = new CompletableFuture<>();

        assertThat(Futures.start(() -> answer)).isSameAs(answer);
    }

    @Test
    void shouldCallOnTheExecutor() {
        List<Runnable> tasks = new ArrayList<>();
        IllegalStateException broken = new IllegalStateException("broken");

        CompletableFuture<String> answer = Futures.startOn(tasks::add, () -> CompletableFuture.completedFuture("done"));
        CompletableFuture<String> failed = Futures.startOn(tasks::add, () -> {
            throw broken;
        });

        assertThat(answer).isNotDone();
        assertThat(failed).isNotDone();
        tasks.forEach(Runnable::run);
        assertThat(answer).isCompletedWithValue("done");
        assertThat(failed.exceptionNow()).isSameAs(broken);
    }

    @Test
    void shouldFailTheFutureOfACallForWhichTheExecutorHasNoThread() {
        RejectedExecutionException closed = new RejectedExecutionException("closed");

        CompletableFuture<String> future = Futures.startOn(
                task -> {
                    throw closed;
                },
                () -> CompletableFuture.completedFuture("done"));

        assertThat(future.exceptionNow()).isSameAs(closed);
    }

    @Test
    void shouldNotCallWhatIsCancelledBeforeTheExecutorBegins() {
        List<Runnable> tasks = new ArrayList<>();
        List<String> called = new ArrayList<>();

        CompletableFuture<String> answer = Futures.startOn(tasks::add, () -> {
            called.add("called");
            return CompletableFuture.completedFuture("done");
        });
        answer.cancel(true);
        tasks.forEach(Runnable::run);

        assertThat(called).isEmpty();
    }

    @Test
    void shouldCombineBothOrCancelBoth() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> second = new CompletableFuture<>();

        assertThat(Futures.both(
                        CompletableFuture.completedFuture("a"), CompletableFuture.completedFuture("b"), String::concat))
                .isCompletedWithValue("ab");
        Futures.both(first, second, String::concat).cancel(true);

        assertThat(first).isCancelled();
        assertThat(second).isCancelled();
    }

    @Test
    void shouldStartWhatComesAfterAFailureToo() {
        CompletableFuture<String> before = new CompletableFuture<>();

        CompletableFuture<String> after = Futures.after(before, () -> CompletableFuture.completedFuture("done"));

        assertThat(after).isNotDone();
        before.completeExceptionally(new IllegalStateException("broken"));
        assertThat(after).isCompletedWithValue("done");
    }
}
