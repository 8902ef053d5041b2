package io.nodekeeper.agent.culprit.diagnosis;

import static io.nodekeeper.agent.culprit.ProcessFixtures.DB_APP;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB_APP;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB_POD;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ProcessFixtures;
import io.nodekeeper.agent.culprit.history.ProcessHistory;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.config.SandboxConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each fault as a series of scans 5 s apart: the culprit, its pod and the remedy. */
class DiagnosisTest {
    private static final Instant START = Instant.parse("2026-11-21T18:00:00Z");
    private static final RuntimeCall<?> VERSION = new RuntimeCall.GetVersion();
    private static final RuntimeCall<?> WEB_STATS = new RuntimeCall.GetContainerStats(WEB_APP);
    private static final RuntimeCall<?> DB_STATS = new RuntimeCall.GetContainerStats(DB_APP);

    private final ProcessHistory sightings = new ProcessHistory();
    private final List<CallOutcome> answers = new ArrayList<>(List.of(ProcessFixtures.answered(VERSION, 1)));
    private int seconds;
    private List<ObservedProcess> seen = List.of();

    @Test
    void nothingIsNamedWhenNothingIsWrong() {
        look(ProcessFixtures.healthy());
        look(ProcessFixtures.healthyBut(
                ProcessFixtures.runc(400, "exec", WEB_APP, 1), ProcessFixtures.cni(500, 100, "ADD", 2, true)));

        assertThat(culprits()).isEmpty();
    }

    @Test
    void stoppedShimIsNamedAtTheSecondScanAndExplainsTheCallsOfItsPod() {
        look(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, WEB, 'T')));
        assertThat(culprits()).isEmpty();
        look(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, WEB, 'T')));
        late(WEB_STATS, 5);
        late(new RuntimeCall.StopSandbox(WEB), 30);

        Culprit culprit = only();
        assertThat(culprit.layer()).isEqualTo(Layer.SHIM);
        assertThat(culprit.reason()).isEqualTo("ShimStopped");
        assertThat(culprit.summary())
                .isEqualTo("the shim containerd-shim-runc-v2 (pid 200) of pod shop/web has been stopped (state T)"
                        + " since 2026-11-21T18:00:05Z");
        assertThat(culprit.pod()).contains(WEB_POD);
        assertThat(culprit.sandboxId()).contains(WEB);
        assertThat(culprit.method()).contains("ContainerStats");
        assertThat(culprit.remedy().text()).isEqualTo("kill -CONT 200");
        assertThat(culprit.evidence())
                .contains("StopPodSandbox of pod shop/web has been waiting since 2026-11-21T17:59:40Z");
    }

    @Test
    void processThatWasStoppedForAMomentIsNotNamed() {
        look(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, WEB, 'T')));
        look(ProcessFixtures.healthy());
        look(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, WEB, 'T')));

        assertThat(culprits()).isEmpty();
    }

    @Test
    void laterProcessWithTheSamePidIsAnother() {
        ProcessInfo first = ProcessFixtures.shim(200, WEB, 'T');
        ProcessInfo second = new ProcessInfo(
                new ProcessRef(200, 77_777, first.ref().command()),
                1,
                'T',
                Duration.ofSeconds(1),
                ProcessRole.SHIM,
                true,
                "",
                List.of(WEB),
                Optional.empty(),
                List.of(),
                Optional.empty());
        look(ProcessFixtures.healthyBut(first));
        look(ProcessFixtures.healthyBut(second));

        assertThat(culprits()).isEmpty();
    }

    @Test
    void frozenRuntimeExplainsEveryLateCall() {
        look(ProcessFixtures.healthyBut(ProcessFixtures.runtime('T')));
        look(ProcessFixtures.healthyBut(ProcessFixtures.runtime('T')));
        answers.clear();
        late(VERSION, 5);
        late(new RuntimeCall.ListSandboxes(Optional.empty()), 9);
        late(WEB_STATS, 9);

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("RuntimeFrozen");
        assertThat(culprit.summary())
                .isEqualTo("the container runtime containerd (pid 100) has been stopped (state T)"
                        + " since 2026-11-21T18:00:05Z; it answers no call");
        assertThat(culprit.remedy())
                .isEqualTo(
                        new Remedy.ContinueProcess(ProcessFixtures.runtime('T').ref()));
    }

    @Test
    void deadRuntimeIsNamedOnceTwoScansMissIt() {
        List<ProcessInfo> orphans = new ArrayList<>(ProcessFixtures.healthy());
        orphans.removeFirst();
        look(orphans);
        answers.clear();
        answers.add(new CallOutcome(VERSION, now(), Duration.ZERO, CallOutcome.Kind.UNREACHABLE, "connection refused"));
        assertThat(culprits()).isEmpty();
        look(orphans);
        answers.set(
                0,
                new CallOutcome(VERSION, 0, Duration.ofSeconds(5), CallOutcome.Kind.UNREACHABLE, "connection refused"));

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("RuntimeUnreachable");
        assertThat(culprit.summary())
                .startsWith("no process has listened on the container runtime's socket /run/c.sock since 2026-11-21T");
        assertThat(culprit.evidence()).containsExactly("connection refused");
        assertThat(culprit.remedy().text()).isEqualTo("start the container runtime, e.g. systemctl start containerd");
    }

    @Test
    void slowRuntimeWhoseQuotaIsUsedUpIsThrottled() {
        look(ProcessFixtures.healthyBut(ProcessFixtures.cpu(ProcessFixtures.runtime('S'), 1_000, 10)));
        look(ProcessFixtures.healthyBut(ProcessFixtures.cpu(ProcessFixtures.runtime('S'), 1_050, 55)));
        answers.set(0, ProcessFixtures.answered(VERSION, 450));

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("RuntimeThrottled");
        assertThat(culprit.evidence())
                .containsExactly(
                        "90 % of its cgroup's periods since the last look were cut short (cpu.stat)",
                        "Version took 450ms");
    }

    @Test
    void quotaThatDelaysNoCallIsNoFault() {
        look(ProcessFixtures.healthyBut(ProcessFixtures.cpu(ProcessFixtures.runtime('S'), 1_000, 10)));
        look(ProcessFixtures.healthyBut(ProcessFixtures.cpu(ProcessFixtures.runtime('S'), 1_050, 55)));

        assertThat(culprits()).isEmpty();
    }

    @Test
    void silentRuntimeThatRunsIsHung() {
        look(ProcessFixtures.healthy());
        answers.clear();
        late(VERSION, 5);
        late(WEB_STATS, 5);

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("RuntimeHung");
        assertThat(culprit.process()).contains(ProcessFixtures.runtime('S').ref());
        assertThat(culprit.remedy().text())
                .isEqualTo("restart the container runtime, e.g. systemctl restart containerd");
    }

    @Test
    void gatedRuncIsNamedByItsAgeWithItsWholeTree() {
        looks(ProcessFixtures.healthyBut(
                ProcessFixtures.runc(400, "exec", WEB_APP, 8),
                ProcessFixtures.process(401, 400, 'S', ProcessRole.CONTAINER, "sleep 0.2")));

        Culprit culprit = only();
        assertThat(culprit.layer()).isEqualTo(Layer.OCI_RUNTIME);
        assertThat(culprit.reason()).isEqualTo("OCIRuntimeHung");
        assertThat(culprit.summary())
                .isEqualTo("the OCI runtime's exec runc (pid 400) for pod shop/web has not ended since"
                        + " 2026-11-21T18:00:02Z");
        assertThat(culprit.containerId()).contains(WEB_APP);
        assertThat(culprit.remedy().text()).isEqualTo("kill -KILL 401 400");
    }

    @Test
    void hungCniAddIsNamedWithThePodItNamesAndExplainsRunPodSandbox() {
        looks(ProcessFixtures.healthyBut(ProcessFixtures.cni(500, 100, "ADD", 9, true)));
        late(new RuntimeCall.RunSandbox(new SandboxConfig("n1", "new", "shop", 0, "/logs")), 11);

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("CNIPluginHung");
        assertThat(culprit.summary())
                .isEqualTo("the CNI plugin gate (pid 500) ADD for pod shop/new has not ended since"
                        + " 2026-11-21T18:00:01Z");
        assertThat(culprit.method()).contains("RunPodSandbox");
        assertThat(culprit.remedy().text()).isEqualTo("kill -KILL 500");
    }

    @Test
    void hungCniDelOfAKnownSandboxIsNamedWithItsPod() {
        looks(ProcessFixtures.healthyBut(
                ProcessFixtures.with(ProcessFixtures.cni(500, 100, "DEL", 60, true), List.of(WEB))));

        assertThat(only().summary())
                .isEqualTo(
                        "the CNI plugin gate (pid 500) DEL for pod shop/web has not ended since 2026-11-21T17:59:10Z");
    }

    @Test
    void pluginThatCallsAnotherIsNamedOnce() {
        looks(ProcessFixtures.healthyBut(
                ProcessFixtures.cni(500, 100, "ADD", 9, true), ProcessFixtures.cni(501, 500, "ADD", 9, true)));

        assertThat(only().remedy().text()).isEqualTo("kill -KILL 501 500");
    }

    @Test
    void orphanedPluginStillBelongsToItsRuntimeAndAForeignOneDoesNot() {
        look(ProcessFixtures.healthyBut(ProcessFixtures.cni(500, 100, "ADD", 3, true)));
        look(ProcessFixtures.healthyBut(
                ProcessFixtures.cni(500, 1, "ADD", 8, false), ProcessFixtures.cni(600, 1, "ADD", 8, false)));

        assertThat(only().process().map(ProcessRef::pid)).contains(500);
    }

    @Test
    void frozenDiskIsNamedWithItsMountAndRemedyOnceForAllWaitingProcesses() {
        Stall stall = ProcessFixtures.stall("percpu_rwsem_wait", new Stall.Mount("/mnt/data", "/dev/loop0", "ext4"));
        for (int i = 0; i < 3; i++) {
            look(ProcessFixtures.healthyBut(
                    ProcessFixtures.stalled(
                            ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "/bin/writer"), stall),
                    ProcessFixtures.stalled(
                            ProcessFixtures.process(301, 300, 'D', ProcessRole.CONTAINER, "/bin/other"), stall)));
        }
        late(new RuntimeCall.StopSandbox(WEB), 30);

        Culprit culprit = only();
        assertThat(culprit.layer()).isEqualTo(Layer.DISK);
        assertThat(culprit.reason()).isEqualTo("DiskStalled");
        assertThat(culprit.summary())
                .isEqualTo(
                        "the file system at /mnt/data (/dev/loop0) does not respond: writer (pid 201) of pod shop/web"
                                + " has waited for it, unkillable (state D), since 2026-11-21T18:00:05Z");
        assertThat(culprit.pod()).contains(WEB_POD);
        assertThat(culprit.evidence()).anyMatch(line -> line.contains("/bin/other"));
        assertThat(culprit.remedy().text())
                .isEqualTo("if it was frozen for a snapshot: fsfreeze -u /mnt/data; else repair the disk below it"
                        + " (see dmesg)");
    }

    @Test
    void commandWhoseChildMayWaitForADiskIsNotAccusedBeforeThatIsDecided() {
        Stall stall = ProcessFixtures.stall("percpu_rwsem_wait", new Stall.Mount("/mnt/data", "/dev/loop0", "ext4"));
        List<List<String>> reasons = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            look(ProcessFixtures.healthyBut(
                    ProcessFixtures.cni(500, 1, "ADD", 20 + 5 * i, false),
                    ProcessFixtures.stalled(
                            ProcessFixtures.process(501, 500, 'D', ProcessRole.HELPER, "/bin/writer"), stall)));
            reasons.add(culprits().stream().map(Culprit::reason).toList());
        }

        assertThat(reasons).containsExactly(List.of(), List.of(), List.of("DiskStalled"), List.of("DiskStalled"));
    }

    @Test
    void runtimeThatWaitsForAFrozenDiskIsADiskFault() {
        Stall stall = ProcessFixtures.stall("percpu_rwsem_wait", new Stall.Mount("/var/lib", "/dev/loop0", "ext4"));
        for (int i = 0; i < 3; i++) {
            look(ProcessFixtures.healthyBut(ProcessFixtures.stalled(ProcessFixtures.runtime('S'), stall)));
        }
        answers.clear();
        late(VERSION, 9);
        late(new RuntimeCall.RunSandbox(new SandboxConfig("n1", "new", "shop", 0, "/logs")), 20);

        assertThat(only().reason()).isEqualTo("DiskStalled");
    }

    @Test
    void unkillableProcessWithoutADiskIsNamedAsSuch() {
        for (int i = 0; i < 3; i++) {
            look(ProcessFixtures.healthyBut(ProcessFixtures.stalled(
                    ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "/bin/driver"),
                    ProcessFixtures.stall("usb_kill_urb"))));
        }

        Culprit culprit = only();
        assertThat(culprit.layer()).isEqualTo(Layer.PROCESS);
        assertThat(culprit.reason()).isEqualTo("ProcessUninterruptible");
        assertThat(culprit.summary())
                .isEqualTo("driver (pid 201) of pod shop/web has been unkillable (state D) in usb_kill_urb"
                        + " since 2026-11-21T18:00:05Z");
    }

    @Test
    void busyDiskIsNoFault() {
        for (int i = 0; i < 5; i++) {
            Stall stall =
                    new Stall(201, 1_000 + i, "io_schedule", List.of(), Optional.empty(), Optional.empty(), List.of());
            look(ProcessFixtures.healthyBut(ProcessFixtures.stalled(
                    ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "dd"), stall)));
        }

        assertThat(culprits()).isEmpty();
    }

    @Test
    void runcThatWaitsForAnUnkillableProcessOfItsPodIsNotToBlame() {
        for (int i = 0; i < 3; i++) {
            look(ProcessFixtures.healthyBut(
                    ProcessFixtures.stalled(
                            ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "/bin/driver"),
                            ProcessFixtures.stall("usb_kill_urb")),
                    ProcessFixtures.runc(400, "delete", WEB_APP, 20)));
        }

        assertThat(only().reason()).isEqualTo("ProcessUninterruptible");
    }

    @Test
    void endedProcessThatItsShimDoesNotReapIsNamed() {
        for (int i = 0; i < 8; i++) {
            look(ProcessFixtures.healthyBut(ProcessFixtures.process(201, 200, 'Z', ProcessRole.CONTAINER, "[nginx]")));
        }

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("ContainerNotReaped");
        assertThat(culprit.pod()).contains(WEB_POD);
        assertThat(culprit.process().map(ProcessRef::pid)).contains(200);
    }

    @Test
    void containerThatAloneIsNotAnsweredIsNamed() {
        look(ProcessFixtures.healthy());
        answers.add(ProcessFixtures.answered(DB_STATS, 4));
        late(new RuntimeCall.GetContainer(WEB_APP), 5);

        Culprit culprit = only();
        assertThat(culprit.layer()).isEqualTo(Layer.CONTAINER);
        assertThat(culprit.reason()).isEqualTo("ContainerCallHung");
        assertThat(culprit.summary())
                .isEqualTo("the container runtime has not answered ContainerStatus for container app of pod shop/web"
                        + " since 2026-11-21T18:00:00Z; it answers for 1 other");
        assertThat(culprit.evidence()).contains("1 other answered in the meantime, the slowest in 4ms");
        assertThat(culprit.remedy()).isEqualTo(new Remedy.RemoveSandbox(WEB));
    }

    @Test
    void runtimeThatAnswersForNoPodIsItselfTheCulprit() {
        look(ProcessFixtures.healthy());
        late(WEB_STATS, 5);
        late(DB_STATS, 5);

        assertThat(only().reason()).isEqualTo("RuntimeHung");
    }

    @Test
    void callOfTheWholeNodeThatAloneHangsIsNamed() {
        look(ProcessFixtures.healthy());
        late(new RuntimeCall.ListImages(), 8);

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("RuntimeCallHung");
        assertThat(culprit.method()).contains("ListImages");
    }

    @Test
    void lateStartOfASandboxGetsMorePatience() {
        look(ProcessFixtures.healthy());
        late(new RuntimeCall.RunSandbox(new SandboxConfig("n1", "new", "shop", 0, "/logs")), 9);

        assertThat(culprits()).isEmpty();
    }

    @Test
    void severalCausesAtOnceAreEachNamedOnceCausesFirst() {
        for (int i = 0; i < 3; i++) {
            look(ProcessFixtures.healthyBut(
                    ProcessFixtures.shim(300, ProcessFixtures.DB, 'T'),
                    ProcessFixtures.cni(500, 100, "ADD", 9, true),
                    ProcessFixtures.stalled(
                            ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "/bin/driver"),
                            ProcessFixtures.stall("usb_kill_urb"))));
        }
        late(DB_STATS, 9);
        late(WEB_STATS, 9);

        assertThat(culprits().stream().map(Culprit::reason))
                .containsExactly("ProcessUninterruptible", "ShimStopped", "CNIPluginHung");
    }

    /** A command is accused by its age from the second scan on. */
    private void looks(List<ProcessInfo> processes) {
        look(processes);
        look(processes);
    }

    private void look(List<ProcessInfo> processes) {
        seconds += 5;
        seen = sightings.look(processes, Set.of(WEB, WEB_APP, ProcessFixtures.DB, DB_APP), now());
    }

    private void late(RuntimeCall<?> call, int forSeconds) {
        long waited = Duration.ofSeconds(forSeconds).toNanos();
        answers.add(new CallOutcome(call, now() - waited, Duration.ofNanos(waited), CallOutcome.Kind.LATE, ""));
    }

    private long now() {
        return Duration.ofSeconds(seconds).toNanos();
    }

    private List<Culprit> culprits() {
        return Diagnosis.of(
                new DiagnosisInput(
                        seen,
                        answers,
                        ProcessFixtures.WORKLOAD,
                        sightings.restarts(),
                        ProcessFixtures.unlisted(seen, ProcessFixtures.WORKLOAD),
                        "/run/c.sock",
                        now(),
                        START.plusSeconds(seconds)),
                HangThresholds.AGENT);
    }

    private Culprit only() {
        List<Culprit> culprits = culprits();
        assertThat(culprits).hasSize(1);
        return culprits.getFirst();
    }
}
