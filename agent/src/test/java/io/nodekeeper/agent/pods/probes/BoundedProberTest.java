package io.nodekeeper.agent.pods.probes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class BoundedProberTest {
    private static final Action.Exec FIRST = new Action.Exec(List.of("first"));
    private static final Action.Exec SECOND = new Action.Exec(List.of("second"));

    @Test
    void shouldGiveThePlaceBackIfAnActionCannotBegin() {
        // given one place, and an action that fails before it begins
        BoundedProber prober = new BoundedProber(
                (target, action, timeout) -> {
                    if (action.equals(FIRST)) {
                        throw new ArithmeticException("integer overflow");
                    }
                    return CompletableFuture.completedFuture(ProbeResult.success("fine"));
                },
                1);

        // when it is run, and then another one
        CompletableFuture<ProbeResult> first = run(prober, FIRST);
        CompletableFuture<ProbeResult> second = run(prober, SECOND);

        // then both have a result
        assertThat(first).isCompletedWithValue(ProbeResult.error("integer overflow"));
        assertThat(second).isCompletedWithValue(ProbeResult.success("fine"));
    }

    private static CompletableFuture<ProbeResult> run(Prober prober, Action action) {
        return prober.run(
                new Prober.Target("c1", new ContainerSpec(JsonObject.EMPTY), "10.1.0.7"),
                action,
                Duration.ofSeconds(1));
    }
}
