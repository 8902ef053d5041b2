package io.nodekeeper.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The report for programs has what the one for people shows. */
class DoctorReportTest {
    private static final Instant NOW = Instant.parse("2026-11-21T18:00:30Z");

    private static ProcessInfo process(int pid, ProcessRole role) {
        return new ProcessInfo(
                new ProcessRef(pid, 99, "/usr/bin/x"),
                1,
                'S',
                Duration.ofHours(1),
                role,
                true,
                "",
                List.of(),
                Optional.empty(),
                List.of(),
                Optional.empty());
    }

    private static Findings findings(Optional<RuntimeStatus> status, List<ProcessInfo> processes, String processError) {
        return new Findings(
                "/run/c.sock",
                Optional.empty(),
                status,
                ContainerIndex.NONE,
                List.of(),
                processes,
                processError,
                List.of(),
                List.of());
    }

    @Test
    void programsGetTheTimeTheConditionsAndTheProcesses() {
        // given a runtime that is not ready, with one shim and two processes in containers
        RuntimeStatus status = new RuntimeStatus(
                List.of(
                        new RuntimeCondition(RuntimeCondition.RUNTIME_READY, true, "", ""),
                        new RuntimeCondition(
                                RuntimeCondition.NETWORK_READY, false, "NetworkPluginNotReady", "no plugin")),
                List.of(),
                Optional.empty());
        Findings findings = findings(
                Optional.of(status),
                List.of(
                        process(812, ProcessRole.RUNTIME),
                        process(901, ProcessRole.SHIM),
                        process(902, ProcessRole.CONTAINER),
                        process(903, ProcessRole.CONTAINER)),
                "");

        // when it is reported
        DoctorReport report = DoctorReport.of(findings);
        JsonObject json = report.json(NOW);

        // then programs read what people do
        assertThat(report.text(NOW))
                .contains(", as of 2026-11-21T18:00:30Z\n")
                .contains("RuntimeReady=true, NetworkReady=false (NetworkPluginNotReady: no plugin)\n")
                .contains("runtime pid 812, shims 1, in containers 2, OCI runtime commands 0, CNI plugins 0\n");
        assertThat(json.text("at")).isEqualTo("2026-11-21T18:00:30Z");
        assertThat(Json.write(json.array("conditions")))
                .isEqualTo("[{\"type\":\"RuntimeReady\",\"status\":true},{\"type\":\"NetworkReady\",\"status\":false,"
                        + "\"reason\":\"NetworkPluginNotReady\",\"message\":\"no plugin\"}]");
        assertThat(Json.write(json.object("processes")))
                .isEqualTo("{\"runtimePids\":[812],\"shims\":1,\"inContainers\":2,\"ociRuntimeCommands\":0,"
                        + "\"cniPlugins\":0}");
    }

    @Test
    void whatCouldNotBeSeenIsAbsent() {
        JsonObject json = DoctorReport.of(findings(Optional.empty(), List.of(), "permission denied"))
                .json(NOW);

        assertThat(json.has("conditions")).isFalse();
        assertThat(json.has("processes")).isFalse();
        assertThat(json.text("processError")).isEqualTo("permission denied");
    }
}
