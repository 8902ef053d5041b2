package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.diagnosis.DiagnosisInput;
import io.nodekeeper.agent.culprit.diagnosis.ObservedProcess;
import io.nodekeeper.agent.culprit.history.ProcessHistory;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A shim is unlisted only if two lists that were requested after it was seen lack its sandbox, 4 s apart. */
class UnlistedShimsTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T18:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final UnlistedShims shims = new UnlistedShims(runtime, loop);
    private final ProcessHistory history = new ProcessHistory();

    @Test
    void listedShimsCostNoCall() {
        for (int i = 0; i < 10; i++) {
            look(ProcessFixtures.healthy(), Set.of(ProcessFixtures.WEB, ProcessFixtures.DB));
        }

        assertThat(runtime.calls()).isEmpty();
        assertThat(shims.suspects()).isFalse();
    }

    @Test
    void twoListsFourSecondsApartAreNeeded() {
        runtime.sandbox(ProcessFixtures.DB, "d1", true);
        look(ProcessFixtures.healthy(), Set.of(ProcessFixtures.DB));
        assertThat(shims.suspects()).isTrue();
        assertThat(shims.confirmed()).isEqualTo(DiagnosisInput.Unlisted.NONE);
        time.advance(Duration.ofSeconds(3));
        look(ProcessFixtures.healthy(), Set.of(ProcessFixtures.DB));
        assertThat(runtime.calls("ListPodSandbox")).isEqualTo(1);
        assertThat(shims.confirmed()).isEqualTo(DiagnosisInput.Unlisted.NONE);

        time.advance(Duration.ofMillis(1_001));
        look(ProcessFixtures.healthy(), Set.of(ProcessFixtures.DB));

        assertThat(shims.confirmed())
                .isEqualTo(new DiagnosisInput.Unlisted(
                        Map.of(ProcessFixtures.WEB, Duration.ofMillis(4_003)), Optional.empty()));
    }

    @Test
    void emptyListsAreToldApart() {
        look(ProcessFixtures.healthy(), Set.of());
        time.advance(Duration.ofSeconds(5));
        look(ProcessFixtures.healthy(), Set.of());

        assertThat(shims.confirmed().everything()).contains(Duration.ofMillis(5_001));
        assertThat(shims.confirmed().sandboxes()).containsOnlyKeys(ProcessFixtures.WEB, ProcessFixtures.DB);
    }

    @Test
    void sandboxThatIsListedInBetweenStartsAgain() {
        look(ProcessFixtures.healthy(), Set.of(ProcessFixtures.DB));
        time.advance(Duration.ofSeconds(5));
        runtime.sandbox(ProcessFixtures.WEB, "w1", true);
        look(ProcessFixtures.healthy(), Set.of(ProcessFixtures.DB));
        time.advance(Duration.ofSeconds(5));
        runtime.remove(ProcessFixtures.WEB);
        look(ProcessFixtures.healthy(), Set.of(ProcessFixtures.DB));

        assertThat(shims.confirmed().sandboxes()).isEmpty();
    }

    @Test
    void listsThatAreNotAnsweredProveNothing() {
        runtime.hang("ListPodSandbox");
        for (int i = 0; i < 10; i++) {
            look(ProcessFixtures.healthy(), Set.of());
            time.advance(Duration.ofSeconds(5));
        }

        assertThat(shims.suspects()).isTrue();
        assertThat(shims.confirmed()).isEqualTo(DiagnosisInput.Unlisted.NONE);
    }

    private void look(List<ProcessInfo> processes, Set<String> known) {
        List<ObservedProcess> seen = history.look(processes, known, loop.nanoTime());
        shims.look(seen, known);
        time.advance(Duration.ofMillis(1));
    }
}
