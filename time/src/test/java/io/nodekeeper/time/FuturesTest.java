package io.nodekeeper.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class FuturesTest {
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
}
