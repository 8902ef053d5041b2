package io.nodekeeper.agent.culprit.diagnosis;

import static io.nodekeeper.agent.culprit.ProcessFixtures.DB;
import static io.nodekeeper.agent.culprit.ProcessFixtures.DB_APP;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB_APP;
import static io.nodekeeper.agent.culprit.ProcessFixtures.WEB_POD;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ProcessFixtures;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.history.ProcessHistory;
import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.agent.culprit.scan.Limit;
import io.nodekeeper.agent.culprit.scan.PodIdentity;
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
import java.util.Map;
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
    void firstStatementAfterAStartAboutAnOrphanHasThePipeAsEvidence() {
        // In the order of a scan: commands first.
        ProcessInfo runtime =
                ProcessFixtures.runtime('S').waitingFor(List.of(new Wait.ForPipe("pipe:[7]", false, List.of(501))));
        List<ProcessInfo> processes = new ArrayList<>(List.of(ProcessFixtures.cni(501, 1, "ADD", 32, true)));
        processes.addAll(ProcessFixtures.healthyBut(runtime));

        look(processes);
        assertThat(culprits()).isEmpty();
        seconds += 2;
        seen = sightings.look(processes, Set.of(), now());

        assertThat(only().process().map(ProcessRef::pid)).contains(501);
        assertThat(only().remedy())
                .isEqualTo(new Remedy.KillProcesses(List.of(processes.getFirst().ref())));
        assertThat(only().evidence()).contains("gate (pid 501) holds the other end of pipe:[7]");
    }

    @Test
    void orphanIsNotAccusedBeforeTheRuntimeThatMayReadItsOutputWasExamined() {
        ProcessInfo orphan = ProcessFixtures.cni(501, 1, "ADD", 12, true);
        ProcessInfo cutShort = ProcessFixtures.runtime('S').examined(false);

        look(ProcessFixtures.healthyBut(orphan, cutShort));
        look(ProcessFixtures.healthyBut(orphan, cutShort));
        assertThat(culprits()).isEmpty();
        look(ProcessFixtures.healthyBut(orphan));
        assertThat(culprits()).isEmpty();
        look(ProcessFixtures.healthyBut(orphan));

        assertThat(only().reason()).isEqualTo("CNIPluginHung");
    }

    @Test
    void orphanWhosePipeIsKnownIsAccusedAlthoughTheOtherSearchesWereCutShort() {
        ProcessInfo cutShort = ProcessFixtures.runtime('S')
                .waitingFor(List.of(new Wait.ForPipe("pipe:[7]", false, List.of(501))))
                .examined(false);
        List<ProcessInfo> processes = new ArrayList<>(List.of(ProcessFixtures.cni(501, 1, "ADD", 32, true)));
        processes.addAll(ProcessFixtures.healthyBut(cutShort));
        looks(processes);

        assertThat(only().reason()).isEqualTo("CNIPluginHung");
        assertThat(only().evidence()).contains("gate (pid 501) holds the other end of pipe:[7]");
    }

    @Test
    void orphanIsNotExplainedIfTheSearchesAreAlwaysCutShort() {
        ProcessInfo cutShort = ProcessFixtures.runtime('S').examined(false);
        looks(ProcessFixtures.healthyBut(ProcessFixtures.cni(501, 1, "ADD", 20, true), cutShort));

        assertThat(only().reason()).isEqualTo("CommandUnexplained");
        assertThat(only().confidence()).isEqualTo(Confidence.UNKNOWN);
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

    /** A search may miss a server, and one in another pid namespace is never found. That something waits shows it lives. */
    @Test
    void fileSystemWhoseServerIsNotFoundIsNamedByItsMountAndNotAsOneWithoutAServer() {
        looks(ProcessFixtures.healthyBut(waitingRunc(new Wait.ForServer(FUSE, List.of()))));

        assertThat(only().reason()).isEqualTo("FileServerHung");
        assertThat(only().confidence()).isEqualTo(Confidence.LIKELY);
        assertThat(only().summary())
                .startsWith(
                        "the file system at /mnt/remote (FUSE) does not respond: its server, which cannot be seen,");
    }

    @Test
    void commandIsNotAccusedByItsAgeBeforeTwoScansShowThatItWaitsForNothing() {
        List<ProcessInfo> waiting = ProcessFixtures.healthyBut(
                waitingRunc(new Wait.ForServer(FUSE, List.of(900))),
                ProcessFixtures.process(900, 1, 'T', ProcessRole.OUTSIDER, "/usr/bin/sshfs"));
        look(waiting);
        assertThat(culprits()).isEmpty();

        look(waiting);
        assertThat(only().reason()).isEqualTo("ProcessStopped");
    }

    @Test
    void commandThatNoScanExaminedToTheEndIsNotAccused() {
        looks(ProcessFixtures.healthyBut(
                ProcessFixtures.runc(400, "create", WEB_APP, 15).examined(false)));
        assertThat(culprits()).isEmpty();

        looks(ProcessFixtures.healthyBut(
                ProcessFixtures.runc(400, "create", WEB_APP, 16).examined(false)));
        assertThat(only().reason()).isEqualTo("CommandUnexplained");
        assertThat(only().confidence()).isEqualTo(Confidence.UNKNOWN);
        assertThat(only().remedies()).allMatch(remedy -> remedy instanceof Remedy.Advice);

        look(ProcessFixtures.healthyBut(ProcessFixtures.runc(400, "create", WEB_APP, 18)));
        look(ProcessFixtures.healthyBut(ProcessFixtures.runc(400, "create", WEB_APP, 20)));
        assertThat(only().reason()).isEqualTo("OCIRuntimeHung");
    }

    @Test
    void commandThatWaitsForASlowDiskIsNotAccusedByItsAge() {
        ProcessInfo runc = ProcessFixtures.runc(400, "create", WEB_APP, 15);
        for (int switches = 1; switches <= 4; switches++) {
            look(ProcessFixtures.healthyBut(ProcessFixtures.stalled(
                    runc,
                    new Stall(
                            400, switches, "io_schedule", List.of(), Optional.empty(), Optional.empty(), List.of()))));
        }
        assertThat(culprits()).isEmpty();

        looks(ProcessFixtures.healthyBut(aged(runc, 40)));
        assertThat(only().reason()).isEqualTo("OCIRuntimeHung");
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
    void daemonThatDoesNotAnswerAtItsSocketIsNamedAndItsClientIsNot() {
        ProcessInfo client = helper(501, 500).waitingFor(List.of(request(Wait.Progress.READ, 900)));
        looks(ProcessFixtures.healthyBut(plugin(), client, outsider("/usr/bin/addressd")));

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("DaemonHung");
        assertThat(culprit.confidence()).isEqualTo(Confidence.LIKELY);
        assertThat(culprit.process().map(ProcessRef::pid)).contains(900);
        assertThat(culprit.pod().map(PodIdentity::name)).contains("new");
        assertThat(culprit.summary())
                .startsWith("the daemon addressd (pid 900) at socket /run/a.sock has not answered gate (pid 500)");
        assertThat(culprit.remedies()).allMatch(remedy -> remedy instanceof Remedy.Advice);
        assertThat(culprit.evidence())
                .contains("addressd (pid 900) holds the other end of socket:[7], has read what was sent and has not"
                        + " answered");
    }

    @Test
    void connectionThatIsOnlyOpenCountsUnlessItsProgramWaitsForAChild() {
        Wait open = new Wait.ForSocket("socket:[7]", "/run/a.sock", false, Wait.Progress.READ, List.of(900));
        looks(ProcessFixtures.healthyBut(plugin().waitingFor(List.of(open)), outsider("/usr/bin/addressd")));
        assertThat(only().reason()).isEqualTo("DaemonHung");

        looks(ProcessFixtures.healthyBut(
                plugin().waitingFor(List.of(open, new Wait.ForChild(501))),
                helper(501, 500),
                outsider("/usr/bin/addressd")));
        assertThat(only().process().map(ProcessRef::pid)).contains(501);
    }

    @Test
    void ofTheWorkersOfOneDaemonTheOldestIsNamedOrThoseThatHang() {
        ProcessInfo client = plugin().waitingFor(List.of(request(Wait.Progress.NOT_ACCEPTED, 900, 901)));
        ProcessInfo master = outsider("/usr/bin/addressd");
        ProcessInfo worker = cause(901, 'S', 60);
        looks(ProcessFixtures.healthyBut(client, master, worker));
        assertThat(only().process().map(ProcessRef::pid)).contains(900);

        looks(ProcessFixtures.healthyBut(client, master, cause(901, 'T', 60)));
        assertThat(only().process().map(ProcessRef::pid)).contains(901);
    }

    @Test
    void runtimeAndShimsAreNoCulpritsBecauseAClientWaitsForThem() {
        looks(ProcessFixtures.healthyBut(plugin().waitingFor(List.of(request(Wait.Progress.READ, 100, 200)))));

        assertThat(only().reason()).isEqualTo("CNIPluginHung");
        assertThat(only().process().map(ProcessRef::pid)).contains(500);
    }

    @Test
    void otherEndThatCannotBeSeenIsSaidInTheEvidence() {
        looks(ProcessFixtures.healthyBut(plugin().waitingFor(List.of(request(Wait.Progress.UNSEEN)))));

        assertThat(only().reason()).isEqualTo("CNIPluginHung");
        assertThat(only().evidence())
                .contains("gate (pid 500) of pod shop/new is blocked on socket:[7] to /run/a.sock, whose other end"
                        + " cannot be seen");
    }

    @Test
    void commandThatIsNotLateAccusesNoDaemon() {
        ProcessInfo young =
                ProcessFixtures.cni(500, 100, "ADD", 7, true).waitingFor(List.of(request(Wait.Progress.NOT_READ, 900)));
        looks(ProcessFixtures.healthyBut(young, outsider("/usr/bin/addressd")));

        assertThat(culprits()).isEmpty();
    }

    @Test
    void childForWhichAPluginWaitsIsNamedAndEndedInItsPlace() {
        ProcessInfo child = helper(501, 500).waitingFor(List.of(new Wait.ForChild(502)));
        looks(ProcessFixtures.healthyBut(
                plugin().waitingFor(List.of(new Wait.ForChild(501))), child, aged(helper(502, 501), 0)));

        Culprit culprit = only();
        assertThat(culprit.reason()).isEqualTo("CNIPluginHung");
        assertThat(culprit.layer()).isEqualTo(Layer.CNI_PLUGIN);
        assertThat(culprit.process().map(ProcessRef::pid)).contains(501);
        assertThat(culprit.confidence()).isEqualTo(Confidence.LIKELY);
        assertThat(culprit.summary())
                .startsWith("helper-501 (pid 501), which was started for the CNI plugin gate (pid 500) ADD for pod"
                        + " shop/new, has not ended since ");
        assertThat(culprit.remedies()).containsExactly(new Remedy.KillProcesses(List.of(child.ref())));
        assertThat(culprit.evidence())
                .contains("gate (pid 500) of pod shop/new waits for the end of its child helper-501 (pid 501)");
    }

    @Test
    void childWhoseOutputAPluginReadsIsNamedInItsPlace() {
        looks(ProcessFixtures.healthyBut(
                plugin().waitingFor(List.of(new Wait.ForPipe("pipe:[7]", true, List.of(501)))), helper(501, 500)));

        assertThat(only().process().map(ProcessRef::pid)).contains(501);
        assertThat(only().evidence())
                .contains("gate (pid 500) of pod shop/new waits for the output of its child helper-501 (pid 501)");
    }

    @Test
    void childForWhichNobodyVerifiablyWaitsIsNotNamed() {
        looks(ProcessFixtures.healthyBut(plugin(), helper(501, 500)));

        assertThat(only().process().map(ProcessRef::pid)).contains(500);
    }

    /** How a program stands still for which another waits. */
    private enum Still {
        SILENT,
        STOPPED,
        FROZEN,
        TRACED,
        WAITS_FOR_A_LOCK
    }

    /**
     * All combinations: a plugin, or a child of it one to three levels below, waits in each possible way for a process
     * outside that stands still in each possible way, seen for the first time 1 s before the plugin is late.
     */
    @Test
    void ofATreeOfProgramsTheDeepestCauseIsNamedHoweverTheyWait() {
        int combinations = 0;
        for (int depth = 0; depth <= 3; depth++) {
            for (Wait wait : List.<Wait>of(
                    new Wait.ForLock("/run/x", "FLOCK", List.of(900)),
                    new Wait.ForPipe("/run/x", true, List.of(900)),
                    request(Wait.Progress.NOT_ACCEPTED, 900),
                    new Wait.ForServer(FUSE, List.of(900)))) {
                for (Still still : Still.values()) {
                    List<ProcessInfo> processes = ProcessFixtures.healthyBut(outside(still), cause(901, 'S', 60));
                    for (int level = 0; level <= depth; level++) {
                        ProcessInfo program = level == 0 ? plugin() : helper(500 + level, 499 + level);
                        processes.add(
                                program.waitingFor(List.of(level == depth ? wait : new Wait.ForChild(501 + level))));
                    }
                    String name = "depth " + depth + ", " + wait + ", " + still;
                    seen = sightings.look(List.of(), Set.of(), now());
                    seconds += 5;
                    seen = sightings.look(processes, Set.of(), now());
                    seconds += 1;
                    seen = sightings.look(processes, Set.of(), now());

                    assertThat(culprits())
                            .as(name)
                            .extracting(culprit -> culprit.reason() + " "
                                    + culprit.process().map(ProcessRef::pid).orElse(0))
                            .containsExactly(expected(still, wait));
                    combinations++;
                }
            }
        }
        assertThat(combinations).isEqualTo(80);
    }

    private static String expected(Still still, Wait wait) {
        return switch (still) {
            case SILENT ->
                switch (wait) {
                    case Wait.ForLock lock -> "LockHeld 900";
                    case Wait.ForPipe pipe -> "PipeHeldOpen 900";
                    case Wait.ForSocket socket -> "DaemonHung 900";
                    default -> "FileServerHung 900";
                };
            case STOPPED -> "ProcessStopped 900";
            case FROZEN -> "CgroupFrozen 900";
            case TRACED -> "ProcessTraced 901";
            case WAITS_FOR_A_LOCK -> "LockHeld 901";
        };
    }

    private static ProcessInfo outside(Still still) {
        ProcessInfo sleeping = cause(900, 'S', 3_600);
        return switch (still) {
            case SILENT -> sleeping;
            case STOPPED -> cause(900, 'T', 3_600);
            case FROZEN -> sleeping.waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/x", 2, false)));
            case TRACED -> cause(900, 't', 3_600).waitingFor(List.of(new Wait.Traced(901)));
            case WAITS_FOR_A_LOCK ->
                sleeping.waitingFor(List.of(new Wait.ForLock("/run/other", "POSIX", List.of(901))));
        };
    }

    @Test
    void lateCommandThatIsFrozenIsNeverToldAsHung() {
        look(ProcessFixtures.healthyBut(plugin().waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/x", 2, false)))));

        assertThat(only().reason()).isEqualTo("CgroupFrozen");
        assertThat(only().confidence()).isEqualTo(Confidence.CERTAIN);
    }

    @Test
    void theFreezerOfVersion1ShowsStateDWhichIsNoWaitForADisk() {
        look(ProcessFixtures.healthyBut(ProcessFixtures.stalled(plugin(), ProcessFixtures.stall("hrtimer_nanosleep"))
                .waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/freezer/x", 1, false)))));

        assertThat(only().reason()).isEqualTo("CgroupFrozen");
        assertThat(only().confidence()).isEqualTo(Confidence.CERTAIN);
    }

    @Test
    void frozenRuntimeIsNeverToldAsHungThoughItWasSeenFrozenOnlyOnce() {
        look(ProcessFixtures.healthyBut(
                ProcessFixtures.runtime('S').waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/x", 2, false)))));
        answers.clear();
        late(new RuntimeCall.GetVersion(), 4);

        assertThat(only().reason()).isEqualTo("CgroupFrozen");
        assertThat(only().layer()).isEqualTo(Layer.RUNTIME);
    }

    @Test
    void runtimeThatIsFrozenForAMomentIsNoFault() {
        look(ProcessFixtures.healthyBut(
                ProcessFixtures.runtime('S').waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/x", 2, false)))));

        assertThat(culprits()).isEmpty();
    }

    private static ProcessInfo plugin() {
        return ProcessFixtures.cni(500, 100, "ADD", 9, true);
    }

    private static ProcessInfo helper(int pid, int parent) {
        return aged(ProcessFixtures.process(pid, parent, 'S', ProcessRole.HELPER, "/usr/bin/helper-" + pid), 9);
    }

    private static ProcessInfo cause(int pid, char state, int seconds) {
        return aged(ProcessFixtures.process(pid, 1, state, ProcessRole.OUTSIDER, "/usr/bin/cause"), seconds);
    }

    private static Wait.ForSocket request(Wait.Progress progress, Integer... holders) {
        return new Wait.ForSocket("socket:[7]", "/run/a.sock", true, progress, List.of(holders));
    }

    private static ProcessInfo aged(ProcessInfo base, int seconds) {
        return new ProcessInfo(
                base.ref(),
                base.parent(),
                base.state(),
                Duration.ofSeconds(seconds),
                base.role(),
                base.own(),
                base.verb(),
                base.ids(),
                base.pod(),
                base.stalls(),
                base.cpu());
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

    /** The text is what came from the socket, so no word of it counts. */
    @Test
    void answerThatCannotBeReadIsGarbageWhateverItsTextSays() {
        looks(ProcessFixtures.healthy());
        for (String text : List.of(
                "error in frame handler: FRAME_SIZE_ERROR: 7237408",
                "HTTP status code 403 invalid content-type: text/html DATA permission denied, no space left on device",
                "Protocol error",
                "an answer about \"s1\" was expected, got one about \"\"")) {
            answers.clear();
            refused(new RuntimeCall.GetVersion(), "Version: UNREADABLE: " + text);

            assertThat(only().reason()).as(text).isEqualTo("GarbageAnswer");
            assertThat(only().summary()).as(text).endsWith("; containerd (pid 100) listens at its socket");
            assertThat(only().process().map(ProcessRef::pid)).as(text).contains(100);
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

        Stall known = new Stall(
                201, 17, "percpu_rwsem_wait", List.of(), Optional.of("/mnt/data/f"), Optional.empty(), List.of(mount));
        looks(ProcessFixtures.healthyBut(ProcessFixtures.stalled(
                ProcessFixtures.process(201, 200, 'D', ProcessRole.CONTAINER, "/bin/writer"), known)));
        assertThat(only().confidence()).isEqualTo(Confidence.CERTAIN);
    }

    @Test
    void busyRuntimeThatAnswersLateIsBusyAndNotHung() {
        silentWhile(new Work(Duration.ofSeconds(4), Duration.ofSeconds(1)));

        assertThat(only().reason()).isEqualTo("RuntimeBusy");
        assertThat(only().layer()).isEqualTo(Layer.RUNTIME);
        assertThat(only().confidence()).isEqualTo(Confidence.LIKELY);
        assertThat(only().evidence())
                .contains(
                        "in 5.0 s containerd (pid 100) ran for 4.0 s and waited 1.0 s for a processor, summed over its"
                                + " threads (schedstat)",
                        "Version has been waiting since 2026-11-21T18:00:10Z");
    }

    @Test
    void runtimeThatWaitsForAProcessorShowsThatTheNodeIsOverloaded() {
        silentWhile(new Work(Duration.ofSeconds(1), Duration.ofSeconds(9)));

        assertThat(only().reason()).isEqualTo("NodeOverloaded");
        assertThat(only().process().map(ProcessRef::pid)).contains(100);
    }

    @Test
    void callBehindManyCommandsOfItsPodIsDueToTheirQueue() {
        looks(commands(65, 1));
        answers.clear();
        late(WEB_STATS, 60);

        assertThat(only().reason()).isEqualTo("CommandsQueued");
        assertThat(only().confidence()).isEqualTo(Confidence.LIKELY);
        assertThat(only().summary())
                .isEqualTo("many commands at once wait for their start in pod shop/web: the runtime begins one after"
                        + " another, and calls for the pod wait behind them");
        assertThat(only().evidence())
                .contains(
                        "64 commands wait for their start in pod shop/web (FIFOs of the runtime), the newest began 1.0 s"
                                + " ago");

        answers.clear();
        late(WEB_STATS, 180);
        assertThat(only().confidence()).isEqualTo(Confidence.UNKNOWN);
    }

    @Test
    void fewCommandsExplainNoLateCall() {
        // One of five has begun.
        looks(commands(5, 1));
        answers.clear();
        late(WEB_STATS, 15);

        assertThat(only().reason()).isEqualTo("ContainerCallHung");
    }

    @Test
    void commandsOfWhichNoneBeginsExplainNoLateCall() {
        looks(commands(65, 30));
        answers.clear();
        late(WEB_STATS, 15);

        assertThat(only().reason()).isEqualTo("ContainerCallHung");
    }

    /** Commands are open in the web container, of which one began so many seconds ago. */
    private static List<ProcessInfo> commands(int open, int begun) {
        ProcessInfo runtime = ProcessFixtures.runtime('S').commanding(Map.of(ProcessFixtures.WEB_APP, open));
        ProcessInfo command = aged(ProcessFixtures.process(700, 200, 'S', ProcessRole.CONTAINER, "sleep 0.2"), begun);
        ProcessInfo pause = ProcessFixtures.process(699, 200, 'S', ProcessRole.CONTAINER, "/pause");
        return ProcessFixtures.healthyBut(runtime, pause, command);
    }

    @Test
    void runtimeWithoutWorkIsHung() {
        silentWhile(new Work(Duration.ofMillis(60), Duration.ofMillis(20)));

        assertThat(only().reason()).isEqualTo("RuntimeHung");
    }

    /** Version has not been answered for 5 s, in which the runtime's threads had this work. */
    private void silentWhile(Work work) {
        look(ProcessFixtures.healthyBut(ProcessFixtures.runtime('S').worked(Work.NONE)));
        look(ProcessFixtures.healthyBut(ProcessFixtures.runtime('S').worked(Work.NONE)));
        look(ProcessFixtures.healthyBut(ProcessFixtures.runtime('S').worked(work)));
        answers.clear();
        late(new RuntimeCall.GetVersion(), 5);
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
                        ProcessFixtures.unlisted(seen, workload),
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
