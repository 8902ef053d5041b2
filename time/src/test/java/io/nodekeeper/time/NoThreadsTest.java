package io.nodekeeper.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A machine that has no process id left for a thread: Java reports it as an OutOfMemoryError, and goes on. */
class NoThreadsTest {
    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("loop");

    @Test
    void callFailsAndLaterOnesRunAgain() {
        // given a pool that cannot start its first thread
        AtomicInteger started = new AtomicInteger();
        try (Workers workers = new Workers("disk", 1, loop, task -> {
            if (started.getAndIncrement() == 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return Thread.ofVirtual().unstarted(task);
        })) {
            CompletableFuture<String> first = workers.call("reading", Duration.ofSeconds(1), () -> "read");

            // then the caller learns of it, and the next call is answered
            assertThat(first)
                    .isCompletedExceptionally()
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withMessageContaining("disk: no worker can be started for reading");
            assertThat(workers.call("reading", Duration.ofSeconds(1), () -> "read")
                            .join())
                    .isEqualTo("read");
        }
    }

    @Test
    void whatIsPeriodicGoesOn() {
        AtomicInteger runs = new AtomicInteger();
        Periodic periodic = Periodic.start("pods", loop, Duration.ofSeconds(1), 0, Randoms.seeded(1), () -> {
            if (runs.getAndIncrement() == 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return CompletableFuture.completedFuture(null);
        });

        time.advance(Duration.ofSeconds(3));

        assertThat(runs).hasValue(4);
        periodic.stop();
    }
}
