package io.nodekeeper.agent.culprit.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ProcessFixtures;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.repair.FakeMachine.Sent;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Whole repairs in virtual time: order, last checks, effects. */
class RepairTest {
    private static final String FREEZER = "/sys/fs/cgroup/freezer/kubepods/pod1/freezer.state";
    private static final ProcessInfo PLUGIN = ProcessFixtures.cni(500, 100, "ADD", 20, true);
    private static final ProcessInfo CHILD =
            ProcessFixtures.process(501, 500, 'S', ProcessRole.HELPER, "/usr/bin/curl http://ipam");
    private static final ProcessInfo SHIM = ProcessFixtures.shim(200, "s-w1", 'T');
    private static final ProcessRef GDB = new ProcessRef(900, 77, "gdb -p 200");

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-23T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("doctor");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final FakeMachine machine = new FakeMachine();

    RepairTest() {
        runtime.pod("w1", "app");
        machine.add(ProcessFixtures.healthy().toArray(ProcessInfo[]::new));
    }

    @Test
    void stoppedShimIsContinuedAndTheCauseIsGone() {
        machine.add(SHIM);
        machine.culprits.add(culprit("ShimStopped", SHIM.ref(), new Remedy.ContinueProcess(SHIM.ref())));
        machine.beforeScan = () ->
                machine.culprits.removeIf(known -> machine.state(SHIM.ref()).orElse('X') != 'T');

        Repair.Result result = repair(false);

        assertThat(machine.sent).containsExactly(new Sent(200, 18));
        assertThat(texts(result))
                .containsExactly("kill -CONT 200: worked: sent SIGCONT to pid 200 ("
                        + SHIM.ref().command() + "); ShimStopped is gone");
        assertThat(result.findings().culprits()).isEmpty();
    }

    @Test
    void hungPluginAndItsChildAreKilled() {
        machine.add(PLUGIN, CHILD);
        machine.culprits.add(culprit("CNIPluginHung", PLUGIN.ref(), kill(CHILD, PLUGIN)));

        repair(false);

        assertThat(machine.sent).containsExactly(new Sent(501, 9), new Sent(500, 9));
    }

    @Test
    void remedyWithoutEffectSaysWhyAndTheNextOneFollows() {
        machine.add(SHIM);
        machine.deaf.add(200);
        machine.culprits.add(culprit("ShimStopped", SHIM.ref(), new Remedy.ContinueProcess(SHIM.ref()), removal()));

        Repair.Result result = repair(true);

        assertThat(texts(result))
                .containsExactly(
                        "kill -CONT 200: had no effect: sent SIGCONT to pid 200 ("
                                + SHIM.ref().command()
                                + "), but pid 200 is still stopped (state T); ShimStopped is still there",
                        "remove sandbox s-w1 (crictl rmp -f s-w1): worked: the container runtime has removed it;"
                                + " ShimStopped is still there");
        assertThat(runtime.calls("RemovePodSandbox")).isEqualTo(1);
    }

    @Test
    void sandboxIsNotRemovedWithoutForce() {
        machine.add(SHIM);
        machine.deaf.add(200);
        machine.culprits.add(culprit("ShimStopped", SHIM.ref(), new Remedy.ContinueProcess(SHIM.ref()), removal()));

        repair(false);

        assertThat(runtime.calls()).isEmpty();
    }

    @Test
    void removalOfASandboxNeedsTheCulpritInTwoExaminations() {
        machine.culprits.add(culprit("ContainerCallHung", Optional.empty(), Confidence.LIKELY, removal()));
        RepairPlan plan = RepairPlan.of(machine.findings(), true);
        machine.beforeScan = machine.culprits::clear;

        Repair.Result result = run(plan);

        assertThat(result.attempts()).isEmpty();
        assertThat(result.changedSomething()).isFalse();
        assertThat(machine.examinations).isEqualTo(1);
        assertThat(runtime.calls()).isEmpty();
    }

    @Test
    void failedRemovalIsReported() {
        machine.culprits.add(culprit("ContainerCallHung", Optional.empty(), Confidence.LIKELY, removal()));
        runtime.hang("RemovePodSandbox");

        Repair.Result result = repair(true);

        assertThat(texts(result).getFirst())
                .startsWith("remove sandbox s-w1 (crictl rmp -f s-w1): had no effect: RemovePodSandbox");
        assertThat(runtime.calls("RemovePodSandbox")).isEqualTo(1);
    }

    @Test
    void sandboxThatTheRuntimeStillListsWasNotRemoved() {
        machine.culprits.add(culprit("ContainerCallHung", Optional.empty(), Confidence.LIKELY, removal()));
        runtime.fail(
                "ListPodSandbox",
                new RuntimeCallException("ListPodSandbox", RuntimeCallException.Code.OTHER, "database is locked"));

        assertThat(texts(repair(true)).getFirst()).contains("had no effect: ListPodSandbox: OTHER: database is locked");
    }

    @Test
    void processThatIsAnotherOneByNowIsNotSignalled() {
        machine.add(PLUGIN);
        machine.culprits.add(culprit("CNIPluginHung", PLUGIN.ref(), kill(PLUGIN)));
        // When the pid is reused after the last scan.
        machine.beforeAction =
                () -> machine.add(ProcessFixtures.process(500, 1, 'S', ProcessRole.CONTAINER, "/usr/sbin/mysqld"));

        Repair.Result result = repair(false);

        assertThat(machine.sent).isEmpty();
        assertThat(texts(result).getFirst())
                .startsWith("kill -KILL 500: worked: pid 500 (/usr/bin/python3 /opt/cni/bin/gate) is gone;");
    }

    @Test
    void processThatRunsAnotherProgramByNowIsNotSignalled() {
        machine.add(PLUGIN);
        machine.culprits.add(culprit("CNIPluginHung", PLUGIN.ref(), kill(PLUGIN)));
        machine.beforeAction = () -> machine.add(rename(PLUGIN, "/usr/sbin/nginx"));

        Repair.Result result = repair(false);

        assertThat(machine.sent).isEmpty();
        assertThat(texts(result).getFirst()).contains("runs another program now and got no signal");
    }

    @Test
    void processThatFallsIntoStateDAfterTheScanIsNotKilled() {
        machine.add(PLUGIN);
        machine.culprits.add(culprit("CNIPluginHung", PLUGIN.ref(), kill(PLUGIN)));
        machine.beforeAction = () -> machine.state(500, 'D');

        assertThat(texts(repair(false)).getFirst())
                .contains("had no effect: pid 500 (/usr/bin/python3 /opt/cni/bin/gate) is in uninterruptible sleep");
        assertThat(machine.sent).isEmpty();
    }

    @Test
    void culpritThatTheLastScanDoesNotFindIsLeftAloneForTheWholeRun() {
        machine.add(PLUGIN);
        List<Culprit> found = List.of(culprit("CNIPluginHung", PLUGIN.ref(), kill(PLUGIN), removal()));
        machine.culprits = found;
        RepairPlan plan = RepairPlan.of(machine.findings(), true);
        // When only the scans immediately before an action do not find it.
        machine.beforeScan =
                () -> machine.culprits = machine.rescans == 1 && machine.examinations == 0 ? List.of() : found;

        Repair.Result result = run(plan);

        assertThat(result.attempts().getFirst().outcome()).isEqualTo(Attempt.Outcome.NOT_APPLIED);
        assertThat(result.attempts()).hasSize(1);
        assertThat(machine.sent).isEmpty();
        assertThat(runtime.calls()).isEmpty();
    }

    @Test
    void frozenCgroupIsThawed() {
        machine.files.put(FREEZER, "FROZEN\n");
        machine.culprits.add(culprit("CgroupFrozen", SHIM.ref(), new Remedy.ThawCgroup(FREEZER, "THAWED")));

        Repair.Result result = repair(false);

        assertThat(machine.files.get(FREEZER)).isEqualTo("THAWED");
        assertThat(result.attempts().getFirst().outcome()).isEqualTo(Attempt.Outcome.WORKED);
    }

    @Test
    void tracerIsEndedOnlyWithForceAndByItsOwnSignal() {
        Culprit traced = culprit("ShimTraced", GDB, new Remedy.EndProcess(GDB, false, "the debugging session"));
        machine.add(new ProcessInfo(
                GDB,
                1,
                'S',
                Duration.ofHours(1),
                ProcessRole.HELPER,
                false,
                "",
                List.of(),
                Optional.empty(),
                List.of(),
                Optional.empty()));
        machine.culprits.add(traced);

        repair(false);
        assertThat(machine.sent).isEmpty();

        repair(true);
        assertThat(machine.sent).containsExactly(new Sent(900, 15));
    }

    @Test
    void runtimeIsExaminedAgainOnlyAfterItHadTimeToRecover() {
        machine.add(PLUGIN);
        machine.culprits.add(culprit("CNIPluginHung", PLUGIN.ref(), kill(PLUGIN)));
        RepairPlan plan = RepairPlan.of(machine.findings(), false);
        CompletableFuture<Repair.Result> result = start(plan);

        time.advance(Duration.ofMillis(1_900));
        assertThat(machine.sent).hasSize(1);
        assertThat(machine.examinations).isZero();
        time.advance(Duration.ofMillis(200));

        assertThat(machine.examinations).isEqualTo(1);
        assertThat(result).isCompleted();
    }

    private static ProcessInfo rename(ProcessInfo info, String command) {
        return new ProcessInfo(
                new ProcessRef(info.ref().pid(), info.ref().startTicks(), command),
                info.parent(),
                info.state(),
                info.age(),
                info.role(),
                info.own(),
                info.verb(),
                info.ids(),
                info.pod(),
                info.stalls(),
                info.cpu());
    }

    private Repair.Result repair(boolean force) {
        return run(RepairPlan.of(machine.findings(), force));
    }

    private Repair.Result run(RepairPlan plan) {
        CompletableFuture<Repair.Result> result = start(plan);
        time.advance(Duration.ofMinutes(5));
        assertThat(result).isCompleted();
        return result.join();
    }

    private CompletableFuture<Repair.Result> start(RepairPlan plan) {
        Remedies remedies = new Remedies(runtime, machine, machine::run, loop);
        return new Repair(plan, machine, remedies, loop, Duration.ofSeconds(2), said -> {}).run(machine.findings());
    }

    private static List<String> texts(Repair.Result result) {
        return result.attempts().stream().map(Attempt::text).toList();
    }

    private static Remedy kill(ProcessInfo... processes) {
        return new Remedy.KillProcesses(
                List.of(processes).stream().map(ProcessInfo::ref).toList());
    }

    private static Remedy removal() {
        return new Remedy.RemoveSandbox("s-w1");
    }

    private static Culprit culprit(String reason, ProcessRef root, Remedy... remedies) {
        return culprit(reason, Optional.of(root), Confidence.CERTAIN, remedies);
    }

    static Culprit culprit(String reason, Optional<ProcessRef> root, Confidence confidence, Remedy... remedies) {
        return new Culprit(
                Layer.SHIM,
                reason,
                reason + " of pod default/pod-w1",
                Instant.EPOCH,
                Optional.empty(),
                Optional.of("s-w1"),
                Optional.empty(),
                root,
                Optional.empty(),
                List.of(),
                List.of(remedies),
                confidence);
    }
}
