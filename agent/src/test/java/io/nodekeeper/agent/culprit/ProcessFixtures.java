package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.DiagnosisInput;
import io.nodekeeper.agent.culprit.diagnosis.ObservedProcess;
import io.nodekeeper.agent.culprit.scan.CpuPeriods;
import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A node with the pods web (w1) and db (d1), and the processes that a runtime has for them, in any state. */
public final class ProcessFixtures {
    public static final String WEB = "5a".repeat(32);
    public static final String WEB_APP = "5b".repeat(32);
    public static final String DB = "6a".repeat(32);
    public static final String DB_APP = "6b".repeat(32);
    public static final PodIdentity WEB_POD = new PodIdentity("w1", "web", "shop");
    public static final ContainerIndex WORKLOAD = ContainerIndex.of(
            List.of(
                    new PodSandbox(WEB, "w1", "web", "shop", 0, true, 1),
                    new PodSandbox(DB, "d1", "db", "shop", 0, true, 1)),
            List.of(
                    new Container(WEB_APP, WEB, "app", "w1", ContainerState.RUNNING, 1),
                    new Container(DB_APP, DB, "postgres", "d1", ContainerState.RUNNING, 1)));

    private static final String SHIM = "/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id ";

    private ProcessFixtures() {}

    /** Runtime, two shims, two containers: nothing wrong. */
    public static List<ProcessInfo> healthy() {
        return new ArrayList<>(List.of(
                runtime('S'),
                shim(200, WEB, 'S'),
                shim(300, DB, 'S'),
                process(201, 200, 'S', ProcessRole.CONTAINER, "nginx"),
                process(301, 300, 'S', ProcessRole.CONTAINER, "postgres")));
    }

    /** The same, with another process in place of one of the same pid, or besides. */
    public static List<ProcessInfo> healthyBut(ProcessInfo... changed) {
        List<ProcessInfo> all = healthy();
        for (ProcessInfo process : changed) {
            all.removeIf(other -> other.ref().pid() == process.ref().pid());
            all.add(process);
        }
        return all;
    }

    /** The shims that {@code workload} lacks, as lists of the last minute show it. */
    public static DiagnosisInput.Unlisted unlisted(List<ObservedProcess> processes, ContainerIndex workload) {
        return new DiagnosisInput.Unlisted(
                processes.stream()
                        .filter(ObservedProcess::isPodShim)
                        .flatMap(shim -> shim.info().ids().stream())
                        .filter(id -> !workload.ids().contains(id))
                        .collect(Collectors.toMap(Function.identity(), id -> Duration.ofMinutes(1))),
                workload.ids().isEmpty() ? Optional.of(Duration.ofMinutes(1)) : Optional.empty());
    }

    public static ProcessInfo runtime(char state) {
        return process(100, 1, state, ProcessRole.RUNTIME, "/usr/bin/containerd");
    }

    public static ProcessInfo shim(int pid, String sandbox, char state) {
        return with(
                process(pid, 1, state, ProcessRole.SHIM, SHIM + sandbox + " -address /run/c.sock"), List.of(sandbox));
    }

    public static ProcessInfo runc(int pid, String verb, String id, int seconds) {
        ProcessInfo base =
                process(pid, 200, 'S', ProcessRole.OCI_RUNTIME, "/usr/sbin/runc --root /run --log l " + verb);
        return new ProcessInfo(
                base.ref(),
                200,
                'S',
                Duration.ofSeconds(seconds),
                ProcessRole.OCI_RUNTIME,
                true,
                verb,
                List.of(id),
                Optional.empty(),
                List.of(),
                Optional.empty());
    }

    /** A plugin for a sandbox that no list shows yet: it names the pod itself. */
    public static ProcessInfo cni(int pid, int parent, String verb, int seconds, boolean own) {
        return new ProcessInfo(
                new ProcessRef(pid, 9_000, "/usr/bin/python3 /opt/cni/bin/gate"),
                parent,
                'S',
                Duration.ofSeconds(seconds),
                ProcessRole.CNI_PLUGIN,
                own,
                verb,
                List.of("7a".repeat(32)),
                Optional.of(new PodIdentity("n1", "new", "shop")),
                List.of(),
                Optional.empty());
    }

    public static ProcessInfo with(ProcessInfo base, List<String> ids) {
        return changed(base, ids, base.stalls(), base.cpu());
    }

    /** The same, which throws where its ids are read: a stand-in for whatever a diagnosis cannot handle. */
    public static ProcessInfo broken(ProcessInfo base) {
        return with(base, new AbstractList<>() {
            @Override
            public String get(int index) {
                throw new IllegalStateException("broken");
            }

            @Override
            public int size() {
                throw new IllegalStateException("broken");
            }
        });
    }

    public static ProcessInfo stalled(ProcessInfo base, Stall stall) {
        return changed(base, base.ids(), List.of(stall), base.cpu());
    }

    public static ProcessInfo cpu(ProcessInfo base, long periods, long throttled) {
        return changed(base, base.ids(), base.stalls(), Optional.of(new CpuPeriods(periods, throttled)));
    }

    private static ProcessInfo changed(
            ProcessInfo base, List<String> ids, List<Stall> stalls, Optional<CpuPeriods> cpu) {
        return new ProcessInfo(
                base.ref(),
                base.parent(),
                base.state(),
                base.age(),
                base.role(),
                base.own(),
                base.verb(),
                ids,
                base.pod(),
                stalls,
                cpu,
                base.waits(),
                base.limits(),
                base.work(),
                base.commands(),
                base.examined());
    }

    public static ProcessInfo process(int pid, int parent, char state, ProcessRole role, String command) {
        return new ProcessInfo(
                new ProcessRef(pid, 1_000 + pid, command),
                parent,
                state,
                Duration.ofHours(1),
                role,
                true,
                "",
                List.of(),
                Optional.empty(),
                List.of(),
                Optional.empty());
    }

    public static Stall stall(String waitsIn, Stall.Mount... mounts) {
        return new Stall(201, 17, waitsIn, List.of(), Optional.empty(), Optional.empty(), List.of(mounts));
    }

    public static CallOutcome answered(RuntimeCall<?> call, int millis) {
        return CallOutcome.of(call, 0, Duration.ofMillis(millis));
    }
}
