package io.nodekeeper.agent.pods.probes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.turns.PodTurns;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class BoundedProberTest {
    private static final Action.Exec HANGS = new Action.Exec(List.of("hangs"));
    private static final Action.Exec FAILS = new Action.Exec(List.of("fails"));
    private static final Action.Exec FINE = new Action.Exec(List.of("fine"));
    private static final Action.Tcp REQUEST = new Action.Tcp("", "80");

    private final List<CompletableFuture<ProbeResult>> begun = new ArrayList<>();

    private final Prober prober = (target, action, timeout) -> {
        if (action.equals(FAILS)) {
            throw new ArithmeticException("integer overflow");
        }
        CompletableFuture<ProbeResult> result = action.equals(HANGS)
                ? new CompletableFuture<>()
                : CompletableFuture.completedFuture(ProbeResult.success("fine"));
        begun.add(result);
        return result;
    };

    private final BoundedProber probes = new BoundedProber(prober);

    @Test
    void shouldGiveThePlaceBackIfAnActionCannotBegin() {
        BoundedProber one = new BoundedProber(prober, new PodTurns(1, 0), new PodTurns(1, 0));

        CompletableFuture<ProbeResult> first = run(one, "web", FAILS);
        CompletableFuture<ProbeResult> second = run(one, "web", FINE);

        assertThat(first).isCompletedWithValue(ProbeResult.error("integer overflow"));
        assertThat(second).isCompletedWithValue(ProbeResult.success("fine"));
    }

    @Test
    void shouldProbeAPodAtOnceHoweverManyProbesOfOthersHang() {
        // given one pod with 128 probes that hang, and then a hundred more of them
        for (int pod = 0; pod < 101; pod++) {
            for (int probe = 0; probe < 128; probe++) {
                run(probes, "hanging-" + pod, HANGS);
            }
        }

        // when another pod is probed
        CompletableFuture<ProbeResult> result = run(probes, "web", FINE);

        // then it does not wait, and of the others each has one and all together 64 more
        assertThat(result).isCompletedWithValue(ProbeResult.success("fine"));
        assertThat(begun).hasSizeBetween(101 + 48, 101 + 64 + 1);
    }

    @Test
    void shouldProbeThePortsOfAPodWhileItsCommandsHang() {
        for (int probe = 0; probe < 128; probe++) {
            run(probes, "web", HANGS);
        }

        assertThat(run(probes, "web", REQUEST)).isCompletedWithValue(ProbeResult.success("fine"));
    }

    @Test
    void shouldForgetAProbeThatIsCancelledWhileItWaits() {
        PodTurns commands = new PodTurns(1, 0);
        BoundedProber one = new BoundedProber(prober, commands, new PodTurns(1, 0));
        CompletableFuture<ProbeResult> first = run(one, "web", HANGS);
        CompletableFuture<ProbeResult> waits = run(one, "web", HANGS);

        waits.cancel(true);
        first.cancel(true);

        assertThat(begun).hasSize(1);
        assertThat(begun.getFirst()).isCancelled();
        assertThat(run(one, "web", FINE)).isCompletedWithValue(ProbeResult.success("fine"));
    }

    private static CompletableFuture<ProbeResult> run(BoundedProber probes, String uid, Action action) {
        return probes.run(
                uid,
                new Prober.Target("c1", new ContainerSpec(JsonObject.EMPTY), "10.1.0.7"),
                action,
                Duration.ofSeconds(1));
    }
}
