package io.nodekeeper.agent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PlegConfig;
import io.nodekeeper.agent.pleg.PlegMetrics;
import io.nodekeeper.agent.stats.RunningPod;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** What statistics learn about the runtime. */
class StatisticsSourceTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final Pleg pleg = new Pleg(runtime, loop, PlegConfig.PARALLEL, PlegMetrics.NONE);
    private final StatisticsSource source = new StatisticsSource(Fact::unknown, runtime, pleg);

    @Test
    void shouldTellContainersThatHaveEndedApartFromThoseThatRun() {
        runtime.pod("u1", "app");
        runtime.container("u1-init", "u1", "init", ContainerState.EXITED);
        runtime.pod("u2", "app");
        runtime.sandbox("s-u3", "u3", false);
        runtime.container("u3-app", "u3", "app", ContainerState.EXITED);
        pleg.start();
        time.advance(Duration.ofSeconds(5));

        assertThat(source.pods()).extracting(RunningPod::uid).containsExactlyInAnyOrder("u1", "u2");
        RunningPod first = source.pods().stream()
                .filter(pod -> pod.uid().equals("u1"))
                .findFirst()
                .orElseThrow();
        assertThat(first.containers())
                .extracting(RunningPod.RunningContainer::id)
                .containsExactly("u1-app");
        assertThat(first.ended()).containsExactly(new RunningPod.EndedContainer("u1-init", "init"));
    }
}
