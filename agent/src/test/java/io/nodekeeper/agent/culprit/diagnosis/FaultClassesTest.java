package io.nodekeeper.agent.culprit.diagnosis;

import static io.nodekeeper.agent.culprit.ProcessFixtures.DB;
import static io.nodekeeper.agent.culprit.ProcessFixtures.DB_APP;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB_APP;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB_POD;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ProcessFixtures;
import io.nodekeeper.agent.culprit.scan.Limit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.agent.culprit.scan.Wait;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The classes of fault in docs/diagnosis.md that are found by facts of the kernel or by errors: one scenario each. */
class FaultClassesTest {
    private static final Instant START = Instant.parse("2026-11-21T18:00:00Z");
    private static final Stall.Mount FUSE = new Stall.Mount("/mnt/remote", "sshfs", "fuse.sshfs");
    private static final RuntimeCall<?> WEB_STATS = new RuntimeCall.GetContainerStats(WEB_APP);

    private final ProcessHistory sightings = new ProcessHistory();
    private final List<CallOutcome> answers =
            new ArrayList<>(List.of(ProcessFixtures.answered(new RuntimeCall.GetVersion(), 1)));
    private ContainerIndex workload = ProcessFixtures.WORKLOAD;
    private int seconds;
    private List<ObservedProcess> seen = List.of();

    @Test
    void shimInAFrozenCgroupIsToldAsFrozenAndNotAsADisk() {
        ProcessInfo shim = ProcessFixtures.stalled(
                        ProcessFixtures.shim(200, WEB, 'D'), ProcessFixtures.stall("futex_do_wait", FUSE))
                .waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/freezer/x", 1, true)));
        looks(ProcessFixtures.healthyBut(shim));
        late(WEB_STATS, 5);

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("CgroupFrozen");
        assertThat(culprit.confidence()).isEqualTo(Confidence.CERTAIN);
        assertThat(culprit.summary())
                .isEqualTo("the shim containerd-shim-runc-v2 (pid 200) of pod shop/web has been frozen by the freezer"
                        + " of cgroup /sys/fs/cgroup/freezer/x since 2026-11-21T18:00:05Z");
        assertThat(culprit.pod()).contains(WEB_POD);
        assertThat(culprit.remedy())
                .isEqualTo(new Remedy.ThawCgroup("/sys/fs/cgroup/freezer/x/freezer.state", "THAWED"));
        assertThat(culprit.method()).contains("ContainerStats");
    }

    @Test
    void runtimeInAFrozenCgroupOfVersion2ExplainsEveryCall() {
        ProcessInfo runtime = ProcessFixtures.runtime('S')
                .waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/system.slice", 2, true)));
        looks(ProcessFixtures.healthyBut(runtime));
        answers.clear();
        late(new RuntimeCall.GetVersion(), 9);
        late(WEB_STATS, 9);

        assertThat(only().reason()).isEqualTo("CgroupFrozen");
        assertThat(only().layer()).isEqualTo(Layer.RUNTIME);
        assertThat(only().remedy()).isEqualTo(new Remedy.ThawCgroup("/sys/fs/cgroup/system.slice/cgroup.freeze", "0"));
    }

    @Test
    void containerThatWasPausedIsNoFault() {
        ProcessInfo paused = ProcessFixtures.stalled(
                        ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "nginx"),
                        ProcessFixtures.stall("futex_do_wait"))
                .waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/freezer/pod", 1, false)));
        looks(ProcessFixtures.healthyBut(paused));

        assertThat(culprits()).isEmpty();

        late(new RuntimeCall.StopSandbox(WEB), 20);
        assertThat(only().reason()).isEqualTo("CgroupFrozen");
        assertThat(only().confidence()).isEqualTo(Confidence.LIKELY);
    }

    @Test
    void tracerOfAShimIsNamed() {
        ProcessInfo shim = ProcessFixtures.shim(200, WEB, 't').waitingFor(List.of(new Wait.Traced(900)));
        looks(ProcessFixtures.healthyBut(shim, outsider("/usr/bin/gdb -p 200")));

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("ProcessTraced");
        assertThat(culprit.confidence()).isEqualTo(Confidence.CERTAIN);
        assertThat(culprit.summary())
                .isEqualTo("the shim containerd-shim-runc-v2 (pid 200) of pod shop/web has been held by the tracer"
                        + " gdb (pid 900) (state t) since 2026-11-21T18:00:05Z");
        assertThat(culprit.process().map(ProcessRef::pid)).contains(900);
        assertThat(culprit.remedy().needsForce()).isTrue();
    }

    @Test
    void holderOfALockOutsideOfTheRuntimeIsTheCulpritAndThePluginIsNot() {
        ProcessInfo child = ProcessFixtures.process(501, 500, 'S', ProcessRole.HELPER, "flock /run/cni.lock true")
                .waitingFor(List.of(new Wait.ForLock("/run/cni.lock", "FLOCK", List.of(900))));
        looks(ProcessFixtures.healthyBut(
                ProcessFixtures.cni(500, 100, "ADD", 12, true), child, outsider("/usr/bin/backup")));

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("LockHeld");
        assertThat(culprit.process().map(ProcessRef::pid)).contains(900);
        assertThat(culprit.confidence()).isEqualTo(Confidence.CERTAIN);
        assertThat(culprit.summary()).startsWith("backup (pid 900) holds the lock on /run/cni.lock for which gate");
        assertThat(culprit.evidence())
                .contains(
                        "flock (pid 501) is a child of gate (pid 500) of pod shop/new",
                        "backup (pid 900) holds the lock on /run/cni.lock");
    }

    @Test
    void programThatAnEndedPluginLeftBehindKeepsItsOutputOpen() {
        ProcessInfo runtime =
                ProcessFixtures.runtime('S').waitingFor(List.of(new Wait.ForPipe("pipe:[7]", false, List.of(501))));
        looks(ProcessFixtures.healthyBut(runtime, ProcessFixtures.cni(501, 1, "ADD", 12, true)));

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("PipeHeldOpen");
        assertThat(culprit.process().map(ProcessRef::pid)).contains(501);
        assertThat(culprit.confidence()).isEqualTo(Confidence.LIKELY);
        assertThat(culprit.remedy()).isInstanceOf(Remedy.KillProcesses.class);
    }

    @Test
    void supervisorThatHoldsTheInputOfTheRuntimeIsNoFault() {
        ProcessInfo runtime =
                ProcessFixtures.runtime('S').waitingFor(List.of(new Wait.ForPipe("pipe:[7]", true, List.of(900))));
        looks(ProcessFixtures.healthyBut(
                runtime, ProcessFixtures.process(900, 50, 'S', ProcessRole.OUTSIDER, "/usr/bin/supervise containerd")));

        assertThat(culprits()).isEmpty();
    }

    @Test
    void helperThatStillWorksForTheRuntimeIsNoFault() {
        ProcessInfo runtime =
                ProcessFixtures.runtime('S').waitingFor(List.of(new Wait.ForPipe("pipe:[7]", false, List.of(502))));
        looks(ProcessFixtures.healthyBut(
                runtime, ProcessFixtures.process(502, 100, 'R', ProcessRole.HELPER, "unpigz -d -c")));

        assertThat(culprits()).isEmpty();
    }

    @Test
    void stoppedServerOfAFileSystemIsTheCulprit() {
        looks(ProcessFixtures.healthyBut(
                waitingRunc(new Wait.ForServer(FUSE, List.of(900))),
                ProcessFixtures.process(900, 1, 'T', ProcessRole.OUTSIDER, "/usr/bin/sshfs")));

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("ProcessStopped");
        assertThat(culprit.process().map(ProcessRef::pid)).contains(900);
        assertThat(culprit.remedy().text()).isEqualTo("kill -CONT 900");
        assertThat(culprit.summary()).endsWith("runc (pid 400) of pod shop/web waits for it");
    }

    @Test
    void silentServerOfAFileSystemIsLikely() {
        looks(ProcessFixtures.healthyBut(
                waitingRunc(new Wait.ForServer(FUSE, List.of(900))), outsider("/usr/bin/sshfs")));

        assertThat(only().reason()).isEqualTo("FileServerHung");
        assertThat(only().confidence()).isEqualTo(Confidence.LIKELY);
        assertThat(only().process().map(ProcessRef::pid)).contains(900);
    }

    @Test
    void fileSystemWithoutAServerIsNamedByItsMount() {
        looks(ProcessFixtures.healthyBut(waitingRunc(new Wait.ForServer(FUSE, List.of()))));

        assertThat(only().reason()).isEqualTo("FileServerGone");
        assertThat(only().summary()).startsWith("the file system at /mnt/remote (FUSE) has no server");
    }

    @Test
    void stoppedPluginIsContinuedAndNotKilled() {
        ProcessInfo base = ProcessFixtures.cni(500, 100, "ADD", 12, true);
        ProcessInfo stopped = new ProcessInfo(
                base.ref(),
                base.parent(),
                'T',
                base.age(),
                base.role(),
                true,
                base.verb(),
                base.ids(),
                base.pod(),
                List.of(),
                Optional.empty());
        looks(ProcessFixtures.healthyBut(stopped));

        assertThat(only().reason()).isEqualTo("ProcessStopped");
        assertThat(only().layer()).isEqualTo(Layer.CNI_PLUGIN);
        assertThat(only().remedy()).isEqualTo(new Remedy.ContinueProcess(base.ref()));
    }

    @Test
    void processesThatWaitForEachOtherAreToldOnceAndTheSearchEnds() {
        ProcessInfo one = waitingRunc(new Wait.ForLock("/a", "POSIX", List.of(900)));
        ProcessInfo two = outsider("/usr/bin/other").waitingFor(List.of(new Wait.ForLock("/b", "POSIX", List.of(400))));
        looks(ProcessFixtures.healthyBut(one, two));

        assertThat(only().evidence()).contains("these processes wait for each other in a circle");
    }

    @Test
    void runtimeWithoutFreeOpenFilesIsNamed() {
        assertThat(atLimit(new Limit(Limit.Kind.OPEN_FILES, "", 64, 64)).summary())
                .isEqualTo("containerd (pid 100) has reached its limit of 64 open files");
        assertThat(only().reason()).isEqualTo("OpenFilesExhausted");
    }

    @Test
    void cgroupAtItsLimitOfProcessesIsNamed() {
        assertThat(atLimit(new Limit(Limit.Kind.PROCESSES, "/sys/fs/cgroup/pids/rt", 30, 30))
                        .summary())
                .isEqualTo("cgroup /sys/fs/cgroup/pids/rt, in which containerd (pid 100) runs, has reached its limit of"
                        + " 30 processes and threads (pids.max)");
        assertThat(only().reason()).isEqualTo("ProcessLimitReached");
    }

    @Test
    void cgroupAtMemoryHighIsNamed() {
        assertThat(atLimit(new Limit(Limit.Kind.MEMORY_HIGH, "/sys/fs/cgroup/rt", 100, 100))
                        .reason())
                .isEqualTo("MemoryThrottled");
    }

    @Test
    void fullDiskIsNamedOnceByItsMountAndTheRuntimesErrors() {
        refused(new RuntimeCall.ListImages(), "ListImages: OTHER: write meta.db: no space left on device");
        Culprit culprit = atLimit(new Limit(Limit.Kind.DISK_SPACE, "/var/lib/containerd", 999, 1_000));

        assertThat(culprit.reason()).isEqualTo("DiskFull");
        assertThat(culprit.summary()).contains("/var/lib/containerd");
        assertThat(culprit.evidence()).anyMatch(line -> line.contains("no space left on device"));
    }

    @Test
    void diskWithoutInodesIsNamed() {
        assertThat(atLimit(new Limit(Limit.Kind.INODES, "/var/lib/containerd", 1_000, 1_000))
                        .reason())
                .isEqualTo("InodesExhausted");
    }

    @Test
    void everyErrorOfTheTableIsToldAsWhatItMeans() {
        looks(ProcessFixtures.healthy());
        for (RefusalCause cause : RefusalCause.values()) {
            for (String text : cause.texts()) {
                answers.clear();
                refused(new RuntimeCall.GetStatus(), "Status: OTHER: failed to do it: " + text);

                assertThat(only().reason()).as(text).isEqualTo(cause.reason());
                assertThat(only().summary()).contains(cause.meaning()).contains(text);
            }
        }
    }

    @Test
    void unknownErrorOfACallAboutTheNodeIsToldAsItIs() {
        looks(ProcessFixtures.healthy());
        refused(new RuntimeCall.GetStatus(), "Status: OTHER: the moon is full");

        assertThat(only().reason()).isEqualTo("RuntimeCallFails");
        assertThat(only().summary()).endsWith(": Status: OTHER: the moon is full");
    }

    @Test
    void ordinaryRefusalsAreNoFault() {
        looks(ProcessFixtures.healthy());
        refused(WEB_STATS, "ContainerStats: NOT_FOUND: container \"x\" not found");
        refused(new RuntimeCall.GetSandbox(WEB), "PodSandboxStatus: OTHER: invalid argument");
        refused(new RuntimeCall.ListImages(), "ListImages: UNIMPLEMENTED: unknown method");

        assertThat(culprits()).isEmpty();
    }

    @Test
    void runtimeThatRestartsAgainAndAgainIsNamedAndAnUpgradeIsNot() {
        for (int start = 0; start < 4; start++) {
            look(ProcessFixtures.healthyBut(new ProcessInfo(
                    new ProcessRef(100, 5_000 + start, "/usr/bin/containerd"),
                    1,
                    'S',
                    Duration.ofSeconds(1),
                    ProcessRole.RUNTIME,
                    true,
                    "",
                    List.of(),
                    Optional.empty(),
                    List.of(),
                    Optional.empty())));
            if (start < 3) {
                assertThat(culprits()).isEmpty();
            }
        }

        assertThat(only().reason()).isEqualTo("RuntimeRestarting");
        assertThat(only().evidence()).contains("its process was replaced 3 times in ten minutes");
    }

    @Test
    void shimWhoseSandboxIsNotListedIsAnOrphan() {
        looks(ProcessFixtures.healthyBut(ProcessFixtures.shim(700, "7a".repeat(32), 'S')));

        assertThat(only().reason()).isEqualTo("ShimOrphaned");
        assertThat(only().process().map(ProcessRef::pid)).contains(700);
    }

    @Test
    void shimOfASandboxThatIsBeingCreatedIsNoOrphan() {
        ProcessInfo base = ProcessFixtures.shim(700, "7a".repeat(32), 'S');
        ProcessInfo young = new ProcessInfo(
                base.ref(),
                base.parent(),
                'S',
                Duration.ofMinutes(4),
                ProcessRole.SHIM,
                true,
                "",
                base.ids(),
                Optional.empty(),
                List.of(),
                Optional.empty());
        looks(ProcessFixtures.healthyBut(young));
        assertThat(culprits()).isEmpty();

        looks(ProcessFixtures.healthyBut(base, ProcessFixtures.runc(400, "create", "7a".repeat(32), 2)));
        assertThat(culprits()).isEmpty();
    }

    @Test
    void runtimeThatStaysAfterSomeRestartsIsWellAgain() {
        runtimeThatRestartsAgainAndAgainIsNamedAndAnUpgradeIsNot();
        List<ProcessInfo> last = seen.stream().map(ObservedProcess::info).toList();
        for (int look = 0; look < 6; look++) {
            look(last);
        }

        assertThat(culprits()).isEmpty();
    }

    @Test
    void mountThatAStuckThreadOnlyMayUseIsLikely() {
        Stall.Mount mount = new Stall.Mount("/mnt/data", "/dev/loop0", "ext4");
        Stall guessed = ProcessFixtures.stall("percpu_rwsem_wait", mount);
        looks(ProcessFixtures.healthyBut(ProcessFixtures.stalled(
                ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "/bin/writer"), guessed)));
        assertThat(only().confidence()).isEqualTo(Confidence.LIKELY);

        Stall known = new Stall(201, 17, "percpu_rwsem_wait", List.of(), Optional.of("/mnt/data/f"), List.of(mount));
        looks(ProcessFixtures.healthyBut(ProcessFixtures.stalled(
                ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "/bin/writer"), known)));
        assertThat(only().confidence()).isEqualTo(Confidence.CERTAIN);
    }

    @Test
    void runtimeThatListsNothingWhileShimsRunIsAnotherOne() {
        workload = ContainerIndex.NONE;
        looks(ProcessFixtures.healthy());

        assertThat(only().reason()).isEqualTo("RuntimeMismatch");
        assertThat(only().summary()).contains("/run/c.sock lists no sandbox, but 2 shims");
    }

    @Test
    void callThatNothingExplainsSaysWhatWasExaminedAndWhatIsNext() {
        looks(ProcessFixtures.healthy());
        late(WEB_STATS, 15);

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("ContainerCallHung");
        assertThat(culprit.confidence()).isEqualTo(Confidence.UNKNOWN);
        assertThat(culprit.evidence())
                .anyMatch(line -> line.startsWith("examined: containerd (pid 100) in state S,"
                        + " containerd-shim-runc-v2 (pid 200) in state S, nginx (pid 201) in state S; none"))
                .anyMatch(line -> line.startsWith("next: kill -USR1 100 "));
    }

    @Test
    void answerFromBeforeTheHangIsNoProofThatOthersAreAnswered() {
        looks(ProcessFixtures.healthy());
        answers.add(CallOutcome.of(new RuntimeCall.GetContainerStats(DB_APP), -1_000, Duration.ofNanos(1)));
        late(WEB_STATS, 15);

        assertThat(only().summary()).endsWith("; no answer for another container is known");
    }

    @Test
    void runtimeThatAnsweredAfterwardsHasNotAnsweredNothing() {
        looks(ProcessFixtures.healthy());
        answers.clear();
        late(new RuntimeCall.GetVersion(), 10);
        long recently = now() - Duration.ofSeconds(1).toNanos();
        answers.add(CallOutcome.of(new RuntimeCall.GetStatus(), recently, Duration.ofMillis(2)));

        assertThat(only().reason()).isEqualTo("RuntimeCallHung");
        assertThat(only().summary()).doesNotContain("answered nothing");
    }

    private Culprit atLimit(Limit limit) {
        looks(ProcessFixtures.healthyBut(ProcessFixtures.runtime('S').at(List.of(limit))));
        return only();
    }

    private static ProcessInfo waitingRunc(Wait wait) {
        return ProcessFixtures.runc(400, "create", WEB_APP, 12).waitingFor(List.of(wait));
    }

    private static ProcessInfo outsider(String command) {
        return ProcessFixtures.process(900, 1, 'S', ProcessRole.OUTSIDER, command);
    }

    private void looks(List<ProcessInfo> processes) {
        for (int i = 0; i < 3; i++) {
            look(processes);
        }
    }

    private void look(List<ProcessInfo> processes) {
        seconds += 5;
        seen = sightings.look(processes, Set.of(WEB, WEB_APP, DB, DB_APP), now());
    }

    private void late(RuntimeCall<?> call, int forSeconds) {
        long waited = Duration.ofSeconds(forSeconds).toNanos();
        answers.add(new CallOutcome(call, now() - waited, Duration.ofNanos(waited), CallOutcome.Kind.LATE, ""));
    }

    private void refused(RuntimeCall<?> call, String error) {
        long lasted = Duration.ofSeconds(5).toNanos();
        answers.add(new CallOutcome(call, now() - lasted, Duration.ofNanos(lasted), CallOutcome.Kind.REFUSED, error));
    }

    private long now() {
        return Duration.ofSeconds(seconds).toNanos();
    }

    private List<Culprit> culprits() {
        return Diagnosis.of(
                new DiagnosisInput(
                        seen,
                        answers,
                        workload,
                        sightings.restarts(),
                        true,
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
