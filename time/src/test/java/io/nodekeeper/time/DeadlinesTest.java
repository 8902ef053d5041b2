package io.nodekeeper.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("loop");
    private final CompletableFuture<String> work = new CompletableFuture<>();
    private final CompletableFuture<String> timed = Deadlines.within(loop, Duration.ofSeconds(3), "the server", work);

    @Test
    void resultIsThatOfTheWorkInTime() {
        time.advance(Duration.ofMillis(2_999));
        work.complete("done");
        time.advance(Duration.ofSeconds(1));
        assertThat(timed).isCompletedWithValue("done");
    }

    @Test
    void workIsCancelledAtTheDeadline() {
        time.advance(Duration.ofSeconds(3));
        assertThat(work).isCancelled();
        assertThat(timed.exceptionNow())
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageContaining("the server");
    }

    @Test
    void workIsCancelledWithTheResult() {
        timed.cancel(true);
        assertThat(work).isCancelled();
    }

    @Test
    void failureOfTheResultByItsHolderLeavesTheWorkAlone() {
        timed.completeExceptionally(new IllegalStateException("not needed"));
        assertThat(work).isNotDone();
    }
}
