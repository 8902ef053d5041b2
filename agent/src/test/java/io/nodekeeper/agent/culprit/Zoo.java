package io.nodekeeper.agent.culprit;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A node with the pods web (w1) and db (d1), and the processes that a runtime has for them, in any state. */
final class Zoo {
    static final String WEB = "5a".repeat(32);
    static final String WEB_APP = "5b".repeat(32);
    static final String DB = "6a".repeat(32);
    static final String DB_APP = "6b".repeat(32);
    static final PodIdentity WEB_POD = new PodIdentity("w1", "web", "shop");
    static final Workload WORKLOAD = Workload.of(
            List.of(
                    new PodSandbox(WEB, "w1", "web", "shop", 0, true, 1),
                    new PodSandbox(DB, "d1", "db", "shop", 0, true, 1)),
            List.of(
                    new Container(WEB_APP, WEB, "app", "w1", ContainerState.RUNNING, 1),
                    new Container(DB_APP, DB, "postgres", "d1", ContainerState.RUNNING, 1)));

    private static final String SHIM = "/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id ";

    private Zoo() {}

    /** Runtime, two shims, two containers: nothing wrong. */
    static List<ProcessInfo> healthy() {
        return new ArrayList<>(List.of(
                runtime('S'),
                shim(200, WEB, 'S'),
                shim(300, DB, 'S'),
                process(201, 200, 'S', Role.CONTAINER, "nginx"),
                process(301, 300, 'S', Role.CONTAINER, "postgres")));
    }

    /** The same, with another process in place of one of the same pid, or besides. */
    static List<ProcessInfo> healthyBut(ProcessInfo... changed) {
        List<ProcessInfo> all = healthy();
        for (ProcessInfo process : changed) {
            all.removeIf(other -> other.ref().pid() == process.ref().pid());
            all.add(process);
        }
        return all;
    }

    static ProcessInfo runtime(char state) {
        return process(100, 1, state, Role.RUNTIME, "/usr/bin/containerd");
    }

    static ProcessInfo shim(int pid, String sandbox, char state) {
        return with(process(pid, 1, state, Role.SHIM, SHIM + sandbox + " -address /run/c.sock"), List.of(sandbox));
    }

    static ProcessInfo runc(int pid, String verb, String id, int seconds) {
        ProcessInfo base = process(pid, 200, 'S', Role.OCI_RUNTIME, "/usr/sbin/runc --root /run --log l " + verb);
        return new ProcessInfo(
                base.ref(),
                200,
                'S',
                Duration.ofSeconds(seconds),
                Role.OCI_RUNTIME,
                true,
                verb,
                List.of(id),
                Optional.empty(),
                List.of(),
                Optional.empty());
    }

    /** A plugin for a sandbox that no list shows yet: it names the pod itself. */
    static ProcessInfo cni(int pid, int parent, String verb, int seconds, boolean own) {
        return new ProcessInfo(
                new ProcessRef(pid, 9_000, "/usr/bin/python3 /opt/cni/bin/gate"),
                parent,
                'S',
                Duration.ofSeconds(seconds),
                Role.CNI_PLUGIN,
                own,
                verb,
                List.of("7a".repeat(32)),
                Optional.of(new PodIdentity("n1", "new", "shop")),
                List.of(),
                Optional.empty());
    }

    static ProcessInfo with(ProcessInfo base, List<String> ids) {
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
                base.stalls(),
                base.cpu());
    }

    static ProcessInfo stalled(ProcessInfo base, Stall stall) {
        return new ProcessInfo(
                base.ref(),
                base.parent(),
                base.state(),
                base.age(),
                base.role(),
                base.own(),
                base.verb(),
                base.ids(),
                base.pod(),
                List.of(stall),
                base.cpu());
    }

    static ProcessInfo cpu(ProcessInfo base, long periods, long throttled) {
        return new ProcessInfo(
                base.ref(),
                base.parent(),
                base.state(),
                base.age(),
                base.role(),
                base.own(),
                base.verb(),
                base.ids(),
                base.pod(),
                base.stalls(),
                Optional.of(new CpuPeriods(periods, throttled)));
    }

    static ProcessInfo process(int pid, int parent, char state, Role role, String command) {
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

    static Stall stall(String waitsIn, Stall.Mount... mounts) {
        return new Stall(201, 17, waitsIn, List.of(), Optional.empty(), List.of(mounts));
    }

    static Answer answered(RuntimeCall<?> call, int millis) {
        return Answer.of(call, 0, Duration.ofMillis(millis));
    }
}
