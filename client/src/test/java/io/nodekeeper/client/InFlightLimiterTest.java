package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class InFlightLimiterTest {
    private final InFlightLimiter limiter = new InFlightLimiter(2);
    private final List<CompletableFuture<String>> started = new ArrayList<>();

    @Test
    void theThirdCallWaitsUntilOneIsDone() {
        call();
        call();
        CompletableFuture<String> third = call();
        assertThat(started).hasSize(2);

        started.get(0).complete("first");
        assertThat(started).hasSize(3);
        started.get(2).complete("third");

        assertThat(third).isCompletedWithValue("third");
    }

    @Test
    void aFailureMakesRoomAndIsPassedOn() {
        CompletableFuture<String> first = call();
        call();
        call();

        started.get(0).completeExceptionally(new IllegalStateException("broken"));

        assertThat(first).isCompletedExceptionally();
        assertThat(started).hasSize(3);
    }

    @Test
    void aCallThatCannotBeMadeFailsAndMakesRoom() {
        CompletableFuture<String> first = limiter.pass(InFlightLimiterTest::impossible);
        call();
        call();

        assertThat(first).isCompletedExceptionally();
        assertThat(started).hasSize(2);
    }

    private static CompletableFuture<String> impossible() {
        throw new IllegalStateException("no");
    }

    @Test
    void aCallCancelledWhileItWaitsIsNeverMade() {
        call();
        call();
        CompletableFuture<String> cancelled = call();
        cancelled.cancel(true);
        call();

        started.get(0).complete("first");

        assertThat(started).hasSize(3);
        started.get(1).complete("second");
        assertThat(started).hasSize(3);
    }

    @Test
    void cancellingACallUnderWayCancelsItAndMakesRoom() {
        CompletableFuture<String> first = call();
        call();
        call();

        first.cancel(true);

        assertThat(started.get(0)).isCancelled();
        assertThat(started).hasSize(3);
    }

    private CompletableFuture<String> call() {
        return limiter.pass(() -> {
            CompletableFuture<String> future = new CompletableFuture<>();
            started.add(future);
            return future;
        });
    }
}
