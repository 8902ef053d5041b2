package io.nodekeeper.agent.culprit.diagnosis;

import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB_APP;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB_POD;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ProcessFixtures;
import io.nodekeeper.agent.culprit.history.ProcessHistory;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The chain of Docker: dockerd, its containerd, and a shim for each container. */
class DockerDiagnosisTest {
    private static final Instant START = Instant.parse("2026-11-21T18:00:00Z");
    private static final RuntimeCall<?> VERSION = new RuntimeCall.GetVersion();
    private static final ProcessInfo CONTAINERD = ProcessFixtures.runtime('S');

    private final ProcessHistory sightings = new ProcessHistory();

    private static ProcessInfo process(int pid, char state, ProcessRole role, String command, List<String> ids) {
        return new ProcessInfo(
                new ProcessRef(pid, 5_000, command),
                1,
                state,
                Duration.ofHours(1),
                role,
                true,
                "",
                ids,
                Optional.empty(),
                List.of(),
                Optional.empty());
    }

    private static ProcessInfo dockerd(char state) {
        return process(700, state, ProcessRole.RUNTIME, "/usr/sbin/dockerd -H fd://", List.of());
    }

    private static ProcessInfo shim(char state) {
        return process(
                200,
                state,
                ProcessRole.SHIM,
                "/usr/bin/containerd-shim-runc-v2 -namespace moby -id " + WEB_APP
                        + " -address /run/containerd/containerd.sock",
                List.of(WEB_APP));
    }

    private static CallOutcome outcome(RuntimeCall<?> call, CallOutcome.Kind kind, String error) {
        return new CallOutcome(call, 0, Duration.ofSeconds(10), kind, error);
    }

    /** What hangs after two scans, 5 s apart, that show the same. */
    private List<Culprit> culprits(List<ProcessInfo> processes, CallOutcome... answers) {
        Set<String> ids = ProcessFixtures.WORKLOAD.ids();
        sightings.look(processes, ids, Duration.ofSeconds(5).toNanos());
        List<ObservedProcess> seen =
                sightings.look(processes, ids, Duration.ofSeconds(10).toNanos());
        return Diagnosis.of(
                new DiagnosisInput(
                        seen,
                        List.of(answers),
                        ProcessFixtures.WORKLOAD,
                        sightings.restarts(),
                        ProcessFixtures.unlisted(seen, ProcessFixtures.WORKLOAD),
                        "/run/docker.sock",
                        Duration.ofSeconds(10).toNanos(),
                        START.plusSeconds(10)),
                HangThresholds.AGENT);
    }

    @Test
    void aHealthyNodeWithContainersThatAreNotOfKubernetesHasNoCulprit() {
        ProcessInfo other = process(
                900,
                'S',
                ProcessRole.SHIM,
                "/usr/bin/containerd-shim-runc-v2 -namespace moby -id " + "9a".repeat(32)
                        + " -address /run/containerd/containerd.sock",
                List.of("9a".repeat(32)));

        assertThat(culprits(List.of(CONTAINERD, dockerd('S'), shim('S'), other), ProcessFixtures.answered(VERSION, 1)))
                .isEmpty();
    }

    @Test
    void aStoppedShimOfOneContainerIsNamedWithThePodOfItsContainer() {
        List<Culprit> culprits = culprits(
                List.of(CONTAINERD, dockerd('S'), shim('T')),
                ProcessFixtures.answered(VERSION, 1),
                outcome(new RuntimeCall.GetContainer(WEB_APP), CallOutcome.Kind.LATE, ""));

        assertThat(culprits).hasSize(1);
        assertThat(culprits.getFirst().reason()).isEqualTo("ShimStopped");
        assertThat(culprits.getFirst().pod()).contains(WEB_POD);
        assertThat(culprits.getFirst().remedy().text()).isEqualTo("kill -CONT 200");
    }

    @Test
    void aStoppedDockerdIsNamedAndNotTheContainerdBehindIt() {
        List<Culprit> culprits =
                culprits(List.of(CONTAINERD, dockerd('T'), shim('S')), outcome(VERSION, CallOutcome.Kind.LATE, ""));

        assertThat(culprits).hasSize(1);
        assertThat(culprits.getFirst().summary()).contains("dockerd (pid 700) has been stopped");
        assertThat(culprits.getFirst().remedy().text()).isEqualTo("kill -CONT 700");
    }

    @Test
    void aStoppedContainerdIsNamedWhenDockersStatusIsLate() {
        List<Culprit> culprits = culprits(
                List.of(ProcessFixtures.runtime('T'), dockerd('S'), shim('S')),
                ProcessFixtures.answered(VERSION, 1),
                outcome(new RuntimeCall.GetStatus(), CallOutcome.Kind.LATE, ""));

        assertThat(culprits).hasSize(1);
        assertThat(culprits.getFirst().summary()).contains("containerd (pid 100) has been stopped");
    }

    @Test
    void aDeadDockerdIsMissedAlthoughItsContainerdRuns() {
        List<Culprit> culprits = culprits(
                List.of(CONTAINERD, shim('S')), outcome(VERSION, CallOutcome.Kind.UNREACHABLE, "Connection refused"));

        assertThat(culprits).hasSize(1);
        assertThat(culprits.getFirst().summary())
                .startsWith("no process has listened on the container runtime's socket /run/docker.sock since");
        assertThat(culprits.getFirst().remedy().text())
                .isEqualTo("start the container runtime, e.g. systemctl start docker");
    }
}
