package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.CommandLines;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.api.KubeTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Finds what hangs. Pure: the same input always gives the same culprits. <p>It goes from cause to effect: first
 * processes that make no progress, which are proof by themselves, even if no call waits for them; then overdue calls.
 * A call about a pod that has a culprit becomes that culprit's evidence; a call that nothing explains is a culprit of
 * its own. So each cause is reported once.
 */
public final class Diagnosis {
    private final DiagnosisInput facts;
    private final HangThresholds patience;
    private final Map<Integer, ObservedProcess> byPid = new HashMap<>();
    private final List<Culprit> culprits = new ArrayList<>();

    private Diagnosis(DiagnosisInput facts, HangThresholds patience) {
        this.facts = facts;
        this.patience = patience;
        facts.processes().forEach(process -> byPid.put(process.info().ref().pid(), process));
    }

    /** What hangs, causes before effects; empty if nothing does. */
    public static List<Culprit> of(DiagnosisInput facts, HangThresholds patience) {
        Diagnosis diagnosis = new Diagnosis(facts, patience);
        diagnosis.stopped();
        diagnosis.stuck();
        diagnosis.commands();
        diagnosis.zombies();
        List<Culprit> all = new CallDiagnosis(facts, patience, diagnosis.culprits).culprits();
        return all.stream().sorted((a, b) -> a.layer().compareTo(b.layer())).toList();
    }

    private void stopped() {
        for (ObservedProcess process : facts.processes()) {
            Optional<Duration> lasted = process.stopped().filter(age -> age.compareTo(patience.stopped()) >= 0);
            if (lasted.isEmpty()) {
                continue;
            }
            ProcessInfo info = process.info();
            Instant since = facts.ago(lasted.get());
            Remedy remedy = new Remedy.ContinueProcess(info.ref());
            String stopped = " has been stopped (state T) since " + KubeTime.format(since);
            switch (info.role()) {
                case RUNTIME ->
                    add(
                            Culprit.of(
                                    Layer.RUNTIME,
                                    "RuntimeFrozen",
                                    "the container runtime " + name(info) + stopped + "; it answers no call",
                                    since,
                                    remedy),
                            process,
                            Subject.NODE);
                case SHIM -> {
                    Subject subject = subject(process);
                    add(
                            Culprit.of(
                                    Layer.SHIM,
                                    "ShimStopped",
                                    "the shim " + name(info) + " of " + subject.text() + stopped,
                                    since,
                                    remedy),
                            process,
                            subject);
                }
                case OCI_RUNTIME, CNI_PLUGIN -> {
                    // Detected by its age, like one that hangs in any other state.
                }
                case CONTAINER, HELPER -> {
                    // A container may stop its own processes; if that matters, its shim is reported.
                }
            }
        }
    }

    /** Threads in uninterruptible sleep; those that wait for the same file system are one culprit. */
    private void stuck() {
        Map<String, Culprit> byMount = new HashMap<>();
        for (ObservedProcess process : facts.processes()) {
            Optional<ObservedProcess.Stuck> stuck = process.stuck().stream()
                    .filter(thread -> thread.looks() >= patience.stalledLooks()
                            && thread.lasted().compareTo(patience.stalled()) >= 0)
                    .findFirst();
            if (stuck.isEmpty()) {
                continue;
            }
            Stall stall = stuck.get().stall();
            Optional<Stall.Mount> mount = stall.mounts().stream().findFirst().filter(any -> stall.onDisk());
            Culprit culprit =
                    unkillable(process, stall, mount, facts.ago(stuck.get().lasted()));
            String key =
                    mount.map(Stall.Mount::point).orElse(process.info().ref().identity());
            Culprit first = byMount.get(key);
            if (first == null) {
                byMount.put(key, culprit);
                culprits.add(culprit);
            } else {
                Culprit both = first.shownBy(culprit.evidence());
                byMount.put(key, both);
                culprits.set(culprits.indexOf(first), both);
            }
        }
    }

    private Culprit unkillable(ObservedProcess process, Stall stall, Optional<Stall.Mount> mount, Instant since) {
        ProcessInfo info = process.info();
        Subject subject = info.role() == ProcessRole.RUNTIME ? Subject.NODE : subject(process);
        String who = name(info) + (subject.isNode() ? "" : " of " + subject.text());
        String where = stall.waitsIn().isEmpty() ? "" : " in " + stall.waitsIn();
        String summary = mount.map(
                        on -> "the file system at " + on.point() + " (" + on.source() + ") does not respond: " + who
                                + " has waited for it, unkillable (state D), since " + KubeTime.format(since))
                .orElseGet(() -> stall.onDisk()
                        ? "a file system or disk does not respond: " + who + " has waited for it" + where
                                + ", unkillable (state D), since " + KubeTime.format(since)
                        : who + " has been unkillable (state D)" + where + " since " + KubeTime.format(since));
        Culprit culprit = Culprit.of(
                        stall.onDisk() ? Layer.DISK : Layer.PROCESS,
                        stall.onDisk() ? "DiskStalled" : "ProcessUninterruptible",
                        summary,
                        since,
                        new Remedy.Advice(advice(stall, mount)))
                .about(subject)
                .by(info.ref());
        return culprit.shownBy(evidence(process, stall));
    }

    private static String advice(Stall stall, Optional<Stall.Mount> mount) {
        if (mount.isEmpty()) {
            return "signals have no effect on this process: repair what it waits for (see dmesg), or reboot the node";
        }
        String point = mount.get().point();
        if (mount.get().type().startsWith("nfs")) {
            return "restore the file server " + mount.get().source() + ", or umount -f -l " + point;
        }
        return stall.onFrozen()
                ? "if it was frozen for a snapshot: fsfreeze -u " + point
                        + "; else repair the disk below it (see dmesg)"
                : "repair the disk below " + point + " (see dmesg); if it was frozen: fsfreeze -u " + point;
    }

    /** CNI plugins and OCI runtime commands that run for too long; of each process tree the oldest is reported. */
    private void commands() {
        for (ObservedProcess process : facts.processes()) {
            ProcessInfo info = process.info();
            boolean cni = info.role() == ProcessRole.CNI_PLUGIN;
            if (!cni && info.role() != ProcessRole.OCI_RUNTIME
                    || info.state() == 'Z'
                    || info.age().compareTo(patience.command()) < 0
                    || Optional.ofNullable(byPid.get(info.parent()))
                            .filter(parent -> parent.info().role() == info.role())
                            .isPresent()
                    || explained(process)) {
                continue;
            }
            Subject subject = subject(process);
            Instant since = facts.ago(info.age());
            String verb = info.verb().isEmpty() ? "" : " " + info.verb();
            String summary = cni
                    ? "the CNI plugin " + name(info) + verb + " for " + subject.text() + " has not ended since "
                            + KubeTime.format(since)
                    : "the OCI runtime's" + verb + " " + name(info) + " for " + subject.text() + " has not ended since "
                            + KubeTime.format(since);
            add(
                    Culprit.of(
                            cni ? Layer.CNI_PLUGIN : Layer.OCI_RUNTIME,
                            cni ? "CNIPluginHung" : "OCIRuntimeHung",
                            summary,
                            since,
                            new Remedy.KillProcesses(lasting(process))),
                    process,
                    subject);
        }
    }

    /** Ended container processes that a running shim does not reap. */
    private void zombies() {
        for (ObservedProcess process : facts.processes()) {
            ProcessInfo info = process.info();
            Optional<ObservedProcess> shim = Optional.ofNullable(byPid.get(info.parent()))
                    .filter(parent -> parent.info().role() == ProcessRole.SHIM);
            Optional<Duration> lasted = process.zombie().filter(age -> age.compareTo(patience.zombie()) >= 0);
            if (info.role() != ProcessRole.CONTAINER || shim.isEmpty() || lasted.isEmpty()) {
                continue;
            }
            Subject subject = subject(process);
            if (culprits.stream().anyMatch(known -> known.subject().samePod(subject))) {
                continue;
            }
            Instant since = facts.ago(lasted.get());
            add(
                    Culprit.of(
                            Layer.SHIM,
                            "ContainerNotReaped",
                            "a process of " + subject.text() + " has ended (pid "
                                    + info.ref().pid() + ", state Z), but its shim "
                                    + name(shim.get().info())
                                    + " has not reaped it since " + KubeTime.format(since),
                            since,
                            new Remedy.Advice("end the shim: kill -KILL "
                                    + shim.get().info().ref().pid() + "; its pod is lost then")),
                    shim.get(),
                    subject);
        }
    }

    private void add(Culprit culprit, ObservedProcess process, Subject subject) {
        culprits.add(culprit.about(subject).by(process.info().ref()).shownBy(List.of(describe(process.info()))));
    }

    /** Whether a process waits for a thread that has already been reported: in its own tree, or in the same pod. */
    private boolean explained(ObservedProcess process) {
        List<Integer> pids = tree(process).stream().map(ProcessRef::pid).toList();
        Subject subject = subject(process);
        return culprits.stream()
                .anyMatch(known -> (known.layer() == Layer.DISK || known.layer() == Layer.PROCESS)
                        && (known.process()
                                        .map(ProcessRef::pid)
                                        .filter(pids::contains)
                                        .isPresent()
                                || known.subject().samePod(subject)));
    }

    private Subject subject(ObservedProcess process) {
        ProcessInfo info = process.info();
        Subject own = Subject.of(info.ids(), info.pod(), facts.workload());
        if (own.pod().isPresent()) {
            return own;
        }
        // The shim above a container's process identifies its pod.
        ObservedProcess above = byPid.get(info.parent());
        for (int depth = 0; above != null && depth < 64; depth++) {
            Subject there = Subject.of(above.info().ids(), above.info().pod(), facts.workload());
            if (there.pod().isPresent()) {
                return new Subject(there.pod(), there.sandboxId(), own.containerId());
            }
            above = byPid.get(above.info().parent());
        }
        return own;
    }

    /** A process and its descendants, the lowest first, so that no descendant keeps pipes open. */
    private List<ProcessRef> tree(ObservedProcess root) {
        List<ProcessRef> tree = new ArrayList<>();
        for (ObservedProcess process : facts.processes()) {
            if (process.info().parent() == root.info().ref().pid() && process != root) {
                tree.addAll(tree(process));
            }
        }
        tree.add(root.info().ref());
        return tree;
    }

    /** The same without short-lived processes, such as the sleeps of a waiting script. */
    private List<ProcessRef> lasting(ObservedProcess root) {
        return tree(root).stream()
                .filter(ref -> Optional.ofNullable(byPid.get(ref.pid()))
                        .filter(process -> process == root
                                || process.info()
                                                .age()
                                                .compareTo(patience.command().dividedBy(2))
                                        >= 0)
                        .isPresent())
                .toList();
    }

    private static List<String> evidence(ObservedProcess process, Stall stall) {
        List<String> lines = new ArrayList<>();
        lines.add(describe(process.info()));
        lines.add("thread " + stall.thread() + " is in uninterruptible sleep"
                + (stall.waitsIn().isEmpty() ? "" : " in " + stall.waitsIn())
                + " and has not run between the scans");
        stall.file().ifPresent(file -> lines.add("its system call uses " + file));
        stall.mounts()
                .forEach(mount ->
                        lines.add("it uses " + mount.point() + " (" + mount.source() + ", " + mount.type() + ")"));
        if (!stall.stack().isEmpty()) {
            lines.add("kernel stack: " + String.join(" < ", stall.stack()));
        }
        return lines;
    }

    private static String describe(ProcessInfo info) {
        return String.format(
                Locale.ROOT,
                "pid %d, state %c, parent %d, %d s old: %s",
                info.ref().pid(),
                info.state(),
                info.parent(),
                info.age().toSeconds(),
                info.ref().command());
    }

    /** The program's name without its directory, and the pid. */
    private static String name(ProcessInfo info) {
        return CommandLines.program(info.ref().command()) + " (pid "
                + info.ref().pid() + ")";
    }
}
