package io.nodekeeper.client.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reading credentials again when no thread can do it. */
class RereadingTest {
    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final List<String> read = new ArrayList<>();
    private Optional<Throwable> failure = Optional.empty();

    private final Rereading rereading = new Rereading(time.loop("client").clock(), task -> {
        switch (failure.orElse(null)) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> task.run();
        }
    });

    private static List<Throwable> failures() {
        return List.of(
                new RejectedExecutionException("closed"), new OutOfMemoryError("unable to create native thread"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void credentialsAreReadAgainAMinuteAfterNoThreadCouldDoIt(Throwable noThread) {
        failure = Optional.of(noThread);
        time.advance(Duration.ofMinutes(1));
        rereading.look(() -> read.add("first"));
        assertThat(read).isEmpty();

        failure = Optional.empty();
        time.advance(Duration.ofMinutes(1));
        rereading.look(() -> read.add("second"));
        assertThat(read).containsExactly("second");
    }
}
