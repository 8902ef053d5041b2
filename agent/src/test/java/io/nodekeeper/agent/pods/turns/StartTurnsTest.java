package io.nodekeeper.agent.pods.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class StartTurnsTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final StartTurns turns = new StartTurns(time.loop("agent"), 2);
    private final Map<String, CompletableFuture<String>> calls = new LinkedHashMap<>();
    private final Map<String, StartTurns.Turn<String>> taken = new LinkedHashMap<>();

    @Test
    void shouldMakeOnlySoManyCallsAtOnceAndTheOthersInTheirOrder() {
        take("a", "b", "c", "d");
        assertThat(calls).containsOnlyKeys("a", "b");

        answer("b");
        assertThat(calls).containsOnlyKeys("a", "b", "c");

        answer("c");
        answer("a");
        answer("d");
        assertThat(taken("d").answer()).isCompletedWithValue("d");
    }

    @Test
    void shouldPreferContainersToSandboxes() {
        take("a", "b", "c");
        turns.take(StartTurns.Kind.CONTAINER, () -> call("container"));

        answer("a");

        assertThat(calls).containsOnlyKeys("a", "b", "container");
    }

    @Test
    void shouldCountACallThatHangsForTwoSeconds() {
        take("a", "b", "c", "d", "e");

        time.advance(Duration.ofMillis(1_999));
        assertThat(calls).containsOnlyKeys("a", "b");

        time.advance(Duration.ofMillis(1));
        assertThat(calls).containsOnlyKeys("a", "b", "c", "d");

        // A late answer makes no room a second time.
        answer("a");
        assertThat(taken("a").answer()).isCompletedWithValue("a");
        assertThat(calls).containsOnlyKeys("a", "b", "c", "d");
    }

    @Test
    void shouldMakeRoomWhenACallFails() {
        take("a", "b", "c");

        call("a").completeExceptionally(new IllegalStateException("no"));

        assertThat(taken("a").answer()).isCompletedExceptionally();
        assertThat(calls).containsOnlyKeys("a", "b", "c");
    }

    @Test
    void shouldNeverMakeACallThatWasAbandonedWhileItWaited() {
        take("a", "b", "c", "d");
        List<Throwable> errors = new ArrayList<>();
        taken("c").answer().whenComplete((done, error) -> errors.add(error));
        IllegalStateException over = new IllegalStateException("the pod must end");

        taken("c").abandon(over);
        taken("a").abandon(over);
        assertThat(errors).containsExactly(over);

        // The first one had begun, and goes on.
        answer("a");
        assertThat(taken("a").answer()).isCompletedWithValue("a");
        assertThat(calls).containsOnlyKeys("a", "b", "d");
    }

    @Test
    void shouldMakeRoomWhenACallCannotBeMade() {
        StartTurns.Turn<String> impossible = turns.take(StartTurns.Kind.SANDBOX, () -> {
            throw new IllegalStateException("no");
        });

        take("a", "b");

        assertThat(impossible.answer()).isCompletedExceptionally();
        assertThat(calls).containsOnlyKeys("a", "b");
    }

    private void take(String... names) {
        for (String name : names) {
            taken.put(name, turns.take(StartTurns.Kind.SANDBOX, () -> call(name)));
        }
    }

    private StartTurns.Turn<String> taken(String name) {
        return Objects.requireNonNull(taken.get(name), name);
    }

    private CompletableFuture<String> call(String name) {
        return calls.computeIfAbsent(name, key -> new CompletableFuture<>());
    }

    private void answer(String name) {
        Objects.requireNonNull(calls.get(name), name).complete(name);
    }
}
