package io.nodekeeper.agent.stats;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What decides about pods that use too much. */
class PodUseTest {
    @Test
    void whatEndedContainersWroteCountsByTheirNames() {
        RunningPod pod = new RunningPod(
                "u1",
                "web",
                "default",
                "s1",
                Optional.empty(),
                StatsFixture.POD.containers(),
                List.of(new RunningPod.EndedContainer("i1", "init"), new RunningPod.EndedContainer("c0", "main")));

        PodUse use =
                Objects.requireNonNull(PodUse.of(snapshot(pod), Map.of(), false).get("u1"));

        assertThat(use.containers())
                .isEqualTo(Map.of(
                        "main",
                        new PodUse.ContainerUse(OptionalLong.of(100), 35, 12),
                        "init",
                        new PodUse.ContainerUse(OptionalLong.empty(), 800, 20)));
        // With 7 bytes in 4 other files.
        assertThat(use.disk()).isEqualTo(874);
        assertThat(use.layerInodes()).isEqualTo(13);
        assertThat(use.nodeInodes()).isEqualTo(7);
    }

    private static Snapshot snapshot(RunningPod pod) {
        Snapshot other = StatsFixture.snapshot();
        return new Snapshot(
                other.nodeName(),
                other.agentStartedAt(),
                other.kernel(),
                other.earlier(),
                other.nodeFs(),
                other.imageFs(),
                other.images(),
                other.pids(),
                List.of(pod),
                Map.of(
                        "c1", StatsFixture.at(Duration.ZERO, new DiskUse(30, 3)),
                        "c0", StatsFixture.at(Duration.ZERO, new DiskUse(5, 1)),
                        "i1", StatsFixture.at(Duration.ofMinutes(1), new DiskUse(800, 9))),
                Optional.of(StatsFixture.at(Duration.ZERO, Map.of("c1", new DiskUse(12, 1), "i1", new DiskUse(20, 2)))),
                other.others(),
                Map.of());
    }
}
