package io.nodekeeper.agent.culprit.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ProcessFixtures;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which remedies a plan applies, for the processes of one scan. */
class RepairPlanTest {
    private static final ProcessInfo PLUGIN = ProcessFixtures.cni(500, 100, "ADD", 20, true);
    private static final ProcessInfo SHIM = ProcessFixtures.shim(200, "s1", 'S');
    private static final ProcessInfo CONTAINER = ProcessFixtures.process(201, 200, 'S', ProcessRole.CONTAINER, "nginx");

    private final FakeMachine machine = new FakeMachine();

    RepairPlanTest() {
        machine.add(ProcessFixtures.runtime('S'), SHIM, CONTAINER, PLUGIN);
    }

    @Test
    void commandOfTheRuntimeIsKilledWithoutForce() {
        assertThat(plan(false, culprit(PLUGIN, kill(PLUGIN)))).containsExactly("APPLY kill -KILL 500");
    }

    @Test
    void zombieIsNeverKilled() {
        machine.state(500, 'Z');

        assertThat(plan(true, culprit(PLUGIN, kill(PLUGIN))))
                .containsExactly(
                        "REFUSED kill -KILL 500: pid 500 (" + PLUGIN.ref().command()
                                + ") has ended already (state Z); only its parent can remove its entry");
    }

    @Test
    void processInStateDIsNeverKilled() {
        machine.state(500, 'D');

        assertThat(plan(true, culprit(PLUGIN, kill(PLUGIN))))
                .containsExactly(
                        "REFUSED kill -KILL 500: pid 500 (" + PLUGIN.ref().command()
                                + ") is in uninterruptible sleep (state D), in which signals have no effect");
    }

    @Test
    void runtimeIsNeverKilledAndOnlyContinuedIfItIsStopped() {
        ProcessInfo runtime = ProcessFixtures.runtime('S');

        assertThat(plan(true, culprit(runtime, kill(runtime))))
                .containsExactly("REFUSED kill -KILL 100: pid 100 (/usr/bin/containerd) is the container runtime");
        assertThat(plan(true, culprit(runtime, new Remedy.ContinueProcess(runtime.ref()))))
                .containsExactly(
                        "REFUSED kill -CONT 100: pid 100 (/usr/bin/containerd) is not stopped: its state is S");
        machine.state(100, 'T');
        assertThat(plan(false, culprit(runtime, new Remedy.ContinueProcess(runtime.ref()))))
                .containsExactly("APPLY kill -CONT 100");
    }

    @Test
    void bystanderIsNeverSignalledEvenIfARemedyNamesIt() {
        ProcessInfo other = ProcessFixtures.cni(600, 100, "DEL", 20, true);
        machine.add(other);

        assertThat(plan(true, culprit(PLUGIN, kill(PLUGIN, other))))
                .containsExactly(
                        "APPLY kill -KILL 500: pid 600 (" + other.ref().command() + ") is not part of what hangs");
        assertThat(plan(true, culprit(PLUGIN, new Remedy.EndProcess(other.ref(), true, "x"))))
                .containsExactly("REFUSED kill -KILL 600 (" + other.ref().command() + "): pid 600 ("
                        + other.ref().command() + ") is not the process that Hung names");
    }

    @Test
    void laterProcessWithTheSamePidIsNotKilled() {
        ProcessRef before = new ProcessRef(500, 1, PLUGIN.ref().command());

        assertThat(plan(true, culprit(Optional.of(before), "s1", new Remedy.KillProcesses(List.of(before)))))
                .containsExactly("REFUSED kill -KILL 500: pid 500 is another process now");
    }

    @Test
    void shimAndItsContainersNeedForce() {
        Culprit culprit = culprit(SHIM, kill(CONTAINER, SHIM));

        assertThat(plan(false, culprit))
                .containsExactly("NEEDS_FORCE kill -KILL 201 200: pid 201 (nginx) is a process of a running container;"
                        + " pid 200 (" + SHIM.ref().command() + ") is the shim of a pod");
        assertThat(plan(true, culprit)).containsExactly("APPLY kill -KILL 201 200");
    }

    @Test
    void processOfAContainerThatIsOnlyBeingCreatedNeedsNoForce() {
        ProcessInfo create = ProcessFixtures.runc(400, "create", "c1", 20);
        ProcessInfo init = ProcessFixtures.process(401, 400, 'S', ProcessRole.CONTAINER, "runc init");
        machine.add(create, init);

        assertThat(plan(false, culprit(create, kill(init, create)))).containsExactly("APPLY kill -KILL 401 400");
    }

    @Test
    void processThatAnExecRunsInAContainerIsKilledOnlyWithForceAndAfterTheCommand() {
        ProcessInfo exec = ProcessFixtures.runc(400, "exec", "c1", 20);
        ProcessInfo program = ProcessFixtures.process(401, 400, 'S', ProcessRole.CONTAINER, "sh -c probe");
        machine.add(exec, program);
        Culprit culprit = culprit(exec, kill(program, exec));

        assertThat(plan(false, culprit))
                .containsExactly(
                        "APPLY kill -KILL 400",
                        "NEEDS_FORCE kill -KILL 401: pid 401 (sh -c probe) is a process of a running container");
        assertThat(plan(true, culprit)).containsExactly("APPLY kill -KILL 400", "APPLY kill -KILL 401");
    }

    @Test
    void nothingIsAppliedBehindAnOperatorsAction() {
        Culprit culprit = culprit(SHIM, new Remedy.Advice("free space on /var"), new Remedy.RemoveSandbox("s1"));

        assertThat(plan(true, culprit))
                .containsExactly(
                        "OPERATOR free space on /var",
                        "OPERATOR remove sandbox s1 (crictl rmp -f s1): only after the milder remedy: free space on /var");
    }

    @Test
    void nothingIsAppliedBehindARemedyThatIsRefused() {
        machine.state(500, 'D');

        assertThat(plan(true, culprit(PLUGIN, kill(PLUGIN), new Remedy.RemoveSandbox("s1")))
                        .get(1))
                .isEqualTo(
                        "REFUSED remove sandbox s1 (crictl rmp -f s1): only after the milder remedy: kill -KILL 500");
    }

    @Test
    void unknownCauseGetsNoRemedyWithoutForce() {
        Culprit culprit = RepairTest.culprit("Hung", Optional.of(PLUGIN.ref()), Confidence.UNKNOWN, kill(PLUGIN));

        assertThat(plan(false, culprit)).containsExactly("NEEDS_FORCE kill -KILL 500: the cause is not known for sure");
        assertThat(plan(true, culprit)).containsExactly("APPLY kill -KILL 500");
    }

    @Test
    void onlyTheSandboxOfTheCulpritIsRemoved() {
        assertThat(plan(true, culprit(Optional.empty(), "s1", new Remedy.RemoveSandbox("s2"))))
                .containsExactly(
                        "REFUSED remove sandbox s2 (crictl rmp -f s2): sandbox s2 is not the one that Hung names");
    }

    @Test
    void noPodIsHitIfTwoWouldBe() {
        String refused =
                ": such remedies would hit 2 pods, which is more than one hung pod;" + " restart the container runtime";

        assertThat(plan(
                        true,
                        culprit(Optional.empty(), "s1", new Remedy.RemoveSandbox("s1")),
                        culprit(Optional.empty(), "s2", new Remedy.RemoveSandbox("s2")),
                        culprit(PLUGIN, kill(PLUGIN))))
                .containsExactly(
                        "REFUSED remove sandbox s1 (crictl rmp -f s1)" + refused,
                        "REFUSED remove sandbox s2 (crictl rmp -f s2)" + refused,
                        "APPLY kill -KILL 500");
        assertThat(plan(
                        true,
                        culprit(Optional.of(SHIM.ref()), "s1", new Remedy.EndProcess(SHIM.ref(), true, "the pod")),
                        culprit(Optional.empty(), "s2", new Remedy.RemoveSandbox("s2"))))
                .allMatch(step -> step.startsWith("REFUSED"));
    }

    @Test
    void onlyFreezersAreWritten() {
        for (String file :
                List.of("/etc/passwd", "/sys/fs/cgroup/memory/memory.max", "/sys/fs/cgroup/../../etc/cgroup.freeze")) {
            assertThat(plan(true, culprit(SHIM, new Remedy.ThawCgroup(file, "0"))))
                    .containsExactly("REFUSED echo 0 > " + file + ": " + file + " is not a freezer's control file");
        }
    }

    @Test
    void nothingIsAppliedIfTheProcessesCannotBeSeen() {
        machine.processError = "no /proc";

        assertThat(plan(true, culprit(Optional.empty(), "s1", new Remedy.RemoveSandbox("s1"))))
                .containsExactly("REFUSED remove sandbox s1 (crictl rmp -f s1): the processes could not be seen");
    }

    private List<String> plan(boolean force, Culprit... culprits) {
        machine.culprits = List.of(culprits);
        return RepairPlan.of(machine.findings(), force).steps().stream()
                .map(step -> step.decision() + " " + step.remedy().text()
                        + (step.why().isEmpty() ? "" : ": " + step.why()))
                .toList();
    }

    private static Remedy kill(ProcessInfo... processes) {
        return new Remedy.KillProcesses(
                List.of(processes).stream().map(ProcessInfo::ref).toList());
    }

    private static Culprit culprit(ProcessInfo root, Remedy... remedies) {
        return culprit(Optional.of(root.ref()), "s1", remedies);
    }

    private static Culprit culprit(Optional<ProcessRef> root, String sandbox, Remedy... remedies) {
        return new Culprit(
                Layer.SHIM,
                "Hung",
                "something hangs",
                Instant.EPOCH,
                Optional.empty(),
                Optional.of(sandbox),
                Optional.empty(),
                root,
                Optional.empty(),
                List.of(),
                List.of(remedies),
                Confidence.CERTAIN);
    }
}
