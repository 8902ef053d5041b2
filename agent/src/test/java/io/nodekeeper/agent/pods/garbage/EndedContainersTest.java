package io.nodekeeper.agent.pods.garbage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The containers of pods that have ended. */
class EndedContainersTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeRuntime runtime = new FakeRuntime(time.loop("agent"));

    private final List<String> files = new ArrayList<>();

    @Test
    void shouldRemoveContainersThenTheirFilesAndWaitForNoOther() {
        runtime.hang("RemoveContainer:a");

        CompletableFuture<Void> removed =
                EndedContainers.remove(runtime, List.of(ended("a"), ended("b")), this::files, Duration.ofSeconds(30));

        assertThat(runtime.calls())
                .containsExactly(new RuntimeCall.RemoveContainer("a"), new RuntimeCall.RemoveContainer("b"));
        time.advance(Duration.ofSeconds(29));
        assertThat(removed).isNotDone();
        // Those of a container that is still there stay.
        assertThat(files).containsExactly("b");
        time.advance(Duration.ofSeconds(1));
        assertThat(removed).isCompleted();
        assertThat(files).containsExactly("b");
    }

    private CompletableFuture<?> files(EndedContainers.Ended container) {
        files.add(container.id());
        return CompletableFuture.completedFuture(null);
    }

    private static EndedContainers.Ended ended(String id) {
        return new EndedContainers.Ended(new Pod(JsonObject.EMPTY), "app", 0, id);
    }
}
