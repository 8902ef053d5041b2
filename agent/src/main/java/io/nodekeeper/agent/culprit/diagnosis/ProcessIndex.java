package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.CommandLines;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The processes of the last scan by pid: their trees, their pods, and how messages name them. Immutable. */
final class ProcessIndex {
    /** Process trees are 3 to 10 deep; the bound ends the search in a table that is not a tree. */
    private static final int DEEPEST = 64;

    private final DiagnosisInput facts;
    private final Map<Integer, ObservedProcess> byPid = new HashMap<>();

    ProcessIndex(DiagnosisInput facts) {
        this.facts = facts;
        facts.processes().forEach(process -> byPid.put(process.info().ref().pid(), process));
    }

    /** Whether it is a short program of the runtime. */
    static boolean isCommand(ObservedProcess process) {
        ProcessRole role = process.info().role();
        return role == ProcessRole.CNI_PLUGIN || role == ProcessRole.OCI_RUNTIME;
    }

    /** The process with that pid. */
    Optional<ObservedProcess> of(int pid) {
        return Optional.ofNullable(byPid.get(pid));
    }

    /** The parent, if it was seen. */
    Optional<ObservedProcess> parent(ObservedProcess process) {
        return of(process.info().parent());
    }

    /** The first process with that role. */
    Optional<ObservedProcess> first(ProcessRole role) {
        return facts.processes().stream()
                .filter(process -> process.info().role() == role)
                .findFirst();
    }

    /** The process that answers at the runtime's socket; on Docker Engine dockerd, and not the containerd behind it. */
    Optional<ObservedProcess> server() {
        return facts.processes().stream()
                .filter(process -> process.info().role() == ProcessRole.RUNTIME)
                .filter(process -> !facts.isDocker() || !program(process.info()).equals("containerd"))
                .findFirst();
    }

    /** What the process is about; the node for the runtime. */
    Subject subject(ObservedProcess process) {
        ProcessInfo info = process.info();
        if (info.role() == ProcessRole.RUNTIME) {
            return Subject.NODE;
        }
        Subject own = Subject.of(info.ids(), info.pod(), facts.workload());
        if (own.pod().isPresent()) {
            return own;
        }
        // The shim above a container's process identifies its pod.
        Optional<ObservedProcess> above = parent(process);
        for (int depth = 0; above.isPresent() && depth < DEEPEST; depth++) {
            ProcessInfo known = above.get().info();
            Subject there = Subject.of(known.ids(), known.pod(), facts.workload());
            if (there.pod().isPresent()) {
                return new Subject(there.pod(), there.sandboxId(), own.containerId());
            }
            above = parent(above.get());
        }
        return own;
    }

    /** The children. */
    List<ObservedProcess> children(ObservedProcess process) {
        return facts.processes().stream()
                .filter(child -> child.info().parent() == process.info().ref().pid() && child != process)
                .toList();
    }

    /** A process and its descendants, the lowest first, so that no descendant keeps pipes open. */
    List<ObservedProcess> tree(ObservedProcess root) {
        return tree(root, 0);
    }

    private List<ObservedProcess> tree(ObservedProcess root, int depth) {
        List<ObservedProcess> tree = new ArrayList<>();
        if (depth < DEEPEST) {
            children(root).forEach(child -> tree.addAll(tree(child, depth + 1)));
        }
        tree.add(root);
        return tree;
    }

    /** The same without processes younger than {@code age}, such as the sleeps of a waiting script, and ended ones. */
    List<ProcessRef> lasting(ObservedProcess root, Duration age) {
        return tree(root).stream()
                .filter(process -> process == root
                        || process.info().state() != 'Z' && process.info().age().compareTo(age) >= 0)
                .map(process -> process.info().ref())
                .toList();
    }

    /** Program and pid of a process, and its pod. */
    String nameWithPod(ObservedProcess process) {
        Subject subject = subject(process);
        return name(process.info()) + (subject.isNode() ? "" : " of " + subject.text());
    }

    /** Program and pid of the process with that pid. */
    String name(int pid) {
        return of(pid).map(process -> name(process.info())).orElse("pid " + pid);
    }

    /** The program's name without its directory, and the pid. */
    static String name(ProcessInfo info) {
        return program(info) + " (pid " + info.ref().pid() + ")";
    }

    /** The program's name without its directory. */
    static String program(ProcessInfo info) {
        return CommandLines.program(info.ref().command());
    }

    /** A process as a line of evidence. */
    static String describe(ProcessInfo info) {
        return String.format(
                Locale.ROOT,
                "pid %d, state %c, parent %d, %d s old: %s",
                info.ref().pid(),
                info.state(),
                info.parent(),
                info.age().toSeconds(),
                info.ref().command());
    }
}
