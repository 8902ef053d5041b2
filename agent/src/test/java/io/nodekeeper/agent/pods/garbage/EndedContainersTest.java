package io.nodekeeper.agent.pods.garbage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Which containers go with a pod that has ended. */
class EndedContainersTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeRuntime runtime = new FakeRuntime(time.loop("agent"));

    private static Container container(String id, String pod, ContainerState state) {
        return new Container(id, "s", "app", pod, state, 1);
    }

    @Test
    void shouldRemoveEndedContainersOfThesePodsAndWaitForNoOther() {
        runtime.hang("RemoveContainer:a");

        CompletableFuture<Void> removed = EndedContainers.remove(
                runtime,
                List.of(
                        container("a", "ended", ContainerState.EXITED),
                        container("b", "ended", ContainerState.EXITED),
                        container("c", "ended", ContainerState.RUNNING),
                        container("d", "runs", ContainerState.EXITED)),
                Set.of("ended"),
                Duration.ofSeconds(30));

        assertThat(runtime.calls())
                .containsExactly(new RuntimeCall.RemoveContainer("a"), new RuntimeCall.RemoveContainer("b"));
        time.advance(Duration.ofSeconds(29));
        assertThat(removed).isNotDone();
        time.advance(Duration.ofSeconds(1));
        assertThat(removed).isCompleted();
    }
}
