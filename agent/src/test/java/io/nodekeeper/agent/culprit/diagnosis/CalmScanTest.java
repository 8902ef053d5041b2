package io.nodekeeper.agent.culprit.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ProcessFixtures;
import io.nodekeeper.agent.culprit.history.ProcessHistory;
import io.nodekeeper.agent.culprit.scan.Limit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Wait;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A scan that shows nothing is not diagnosed; one fact that a diagnosis looks at is enough that it is. */
class CalmScanTest {
    private static final RuntimeCall<?> STATS = new RuntimeCall.GetContainerStats(ProcessFixtures.WEB_APP);
    private static final long NOW = Duration.ofMinutes(10).toNanos();

    @Test
    void healthyNodeIsCalm() {
        assertThat(facts(ProcessFixtures.healthy(), answered(1), 0, Map.of()).isCalm())
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"REFUSED", "LATE", "UNREACHABLE"})
    void callWithoutAGoodAnswerIsDiagnosedHoweverShortItTook(CallOutcome.Kind kind) {
        CallOutcome outcome = new CallOutcome(STATS, NOW, Duration.ofMillis(2), kind, "no space left on device");

        assertThat(facts(ProcessFixtures.healthy(), outcome, 0, Map.of()).isCalm())
                .isFalse();
    }

    @Test
    void quickRefusalIsACulpritForTheDoctor() {
        CallOutcome refused =
                new CallOutcome(STATS, NOW, Duration.ofMillis(2), CallOutcome.Kind.REFUSED, "no space left on device");

        assertThat(Diagnosis.of(facts(ProcessFixtures.healthy(), refused, 0, Map.of()), HangThresholds.DOCTOR))
                .extracting(Culprit::reason)
                .containsExactly("DiskFull");
    }

    @Test
    void slowAnswerRestartsAndUnlistedShimsAreDiagnosed() {
        assertThat(facts(ProcessFixtures.healthy(), answered(100), 0, Map.of()).isCalm())
                .isFalse();
        assertThat(facts(ProcessFixtures.healthy(), answered(1), 1, Map.of()).isCalm())
                .isFalse();
        assertThat(facts(ProcessFixtures.healthy(), answered(1), 0, Map.of(ProcessFixtures.WEB, Duration.ZERO))
                        .isCalm())
                .isFalse();
    }

    @ParameterizedTest
    @MethodSource
    void processThatMayBeACauseIsDiagnosed(ProcessInfo process) {
        assertThat(facts(ProcessFixtures.healthyBut(process), answered(1), 0, Map.of())
                        .isCalm())
                .isFalse();
    }

    static List<ProcessInfo> processThatMayBeACauseIsDiagnosed() {
        ProcessInfo container = ProcessFixtures.process(201, 200, 'S', ProcessRole.CONTAINER, "nginx");
        return List.of(
                ProcessFixtures.runtime('T'),
                ProcessFixtures.shim(200, ProcessFixtures.WEB, 't'),
                ProcessFixtures.process(201, 200, 'Z', ProcessRole.CONTAINER, "nginx"),
                ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "nginx"),
                ProcessFixtures.stalled(container, ProcessFixtures.stall("io_schedule")),
                ProcessFixtures.runc(400, "exec", ProcessFixtures.WEB_APP, 0),
                ProcessFixtures.cni(500, 100, "ADD", 0, true),
                ProcessFixtures.process(600, 400, 'S', ProcessRole.HELPER, "hook"),
                ProcessFixtures.process(900, 1, 'S', ProcessRole.OUTSIDER, "gdb"),
                ProcessFixtures.runtime('S').waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/x", 2, false))),
                ProcessFixtures.runtime('S').at(List.of(new Limit(Limit.Kind.OPEN_FILES, "", 64, 64))));
    }

    private static CallOutcome answered(int millis) {
        return CallOutcome.of(STATS, NOW, Duration.ofMillis(millis));
    }

    private static DiagnosisInput facts(
            List<ProcessInfo> processes, CallOutcome answer, int restarts, Map<String, Duration> unlisted) {
        ProcessHistory history = new ProcessHistory();
        return new DiagnosisInput(
                history.look(processes, Set.of(ProcessFixtures.WEB, ProcessFixtures.DB), NOW),
                List.of(answer),
                ProcessFixtures.WORKLOAD,
                restarts,
                new DiagnosisInput.Unlisted(unlisted, Optional.empty()),
                "/run/c.sock",
                NOW,
                Instant.parse("2026-11-21T18:00:00Z"));
    }
}
