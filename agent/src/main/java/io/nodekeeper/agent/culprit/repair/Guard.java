package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides which part of a remedy may be applied, from one scan of the processes. It does not trust the diagnosis: it
 * permits signals only to the culprit's own process and the processes below it, and never to the container runtime
 * (except SIGCONT), to ended processes, or to processes in uninterruptible sleep. Pure.
 */
final class Guard {
    /** The deepest tree of processes that is followed: real ones have fewer than ten levels. */
    private static final int DEEPEST = 64;
    /** The roles of processes that the runtime starts again when it needs them. */
    private static final Set<ProcessRole> COMMANDS =
            Set.of(ProcessRole.OCI_RUNTIME, ProcessRole.CNI_PLUGIN, ProcessRole.HELPER);
    /** The commands of an OCI runtime that work on a container which does not run yet. */
    private static final Set<String> STARTING = Set.of("create", "run", "restore");
    /** The lowest pid of an ordinary process: 1 is init, 2 the parent of all kernel threads. */
    private static final int FIRST_PID = 3;

    /** Where the kernel's cgroup files are. */
    private static final String CGROUPS = "/sys/fs/cgroup/";

    private final Map<Integer, ProcessInfo> table = new HashMap<>();
    private final String processError;

    /** A guard that decides by the processes in {@code findings}. */
    Guard(Findings findings) {
        findings.processes().forEach(info -> table.put(info.ref().pid(), info));
        processError = findings.processError();
    }

    /**
     * The permitted part of a remedy.
     *
     * @param remedy the remedy without the processes that it must not signal; empty if nothing is left of it
     * @param refused one reason for each part that is left out
     * @param costsPod whether it ends something of a running pod
     */
    record Permit(Optional<Remedy> remedy, List<String> refused, boolean costsPod) {
        static Permit of(Remedy remedy, boolean costsPod) {
            return new Permit(Optional.of(remedy), List.of(), costsPod);
        }

        static Permit refused(String why) {
            return new Permit(Optional.empty(), List.of(why), false);
        }

        String why() {
            return String.join("; ", refused);
        }
    }

    /** Which part of a culprit's remedy may be applied; {@code force} also permits what ends a running pod's processes. */
    Permit permit(Culprit culprit, Remedy remedy, boolean force) {
        if (!processError.isEmpty()) {
            return Permit.refused("the processes could not be seen");
        }
        if (!force && (remedy.needsForce() || culprit.confidence() == Confidence.UNKNOWN)) {
            return Permit.refused(
                    remedy.needsForce() ? "it costs " + remedy.loses() : "the cause is not known for sure");
        }
        return switch (remedy) {
            case Remedy.ContinueProcess(ProcessRef process) ->
                one(remedy, continuing(culprit, process, force), isOfPod(process));
            case Remedy.EndProcess end -> one(remedy, ending(culprit, end.process()), isOfPod(end.process()));
            case Remedy.KillProcesses(List<ProcessRef> processes) -> killing(culprit, processes, force);
            case Remedy.ThawCgroup thaw -> one(remedy, thawing(thaw), false);
            case Remedy.RemoveSandbox(String id) ->
                one(
                        remedy,
                        culprit.sandboxId().equals(Optional.of(id))
                                ? Optional.empty()
                                : Optional.of("sandbox " + id + " is not the one that " + culprit.reason() + " names"),
                        true);
            case Remedy.Advice advice -> Permit.refused("left to you");
        };
    }

    private static Permit one(Remedy remedy, Optional<String> refusal, boolean costsPod) {
        return refusal.map(Permit::refused).orElseGet(() -> Permit.of(remedy, costsPod));
    }

    private Permit killing(Culprit culprit, List<ProcessRef> processes, boolean force) {
        List<ProcessRef> permitted = new ArrayList<>();
        List<String> refused = new ArrayList<>();
        for (ProcessRef process : processes) {
            killing(culprit, process, force).ifPresentOrElse(refused::add, () -> permitted.add(process));
        }
        if (permitted.isEmpty()) {
            return new Permit(Optional.empty(), refused, false);
        }
        boolean costsPod = permitted.stream().anyMatch(process -> isOfPod(process) && !isStarting(process.pid()));
        return new Permit(Optional.of(new Remedy.KillProcesses(permitted)), refused, costsPod);
    }

    private Optional<String> killing(Culprit culprit, ProcessRef process, boolean force) {
        ProcessInfo info = table.get(process.pid());
        if (info == null) {
            return Optional.of(name(process) + " is gone");
        }
        Optional<String> refusal = endable(process);
        if (refusal.isPresent()) {
            return refusal;
        }
        ProcessRole role = info.role();
        if (!isBelowRoot(culprit, process.pid())) {
            return Optional.of(name(process) + " is not part of what hangs");
        }
        if (!force && !COMMANDS.contains(role) && !isStarting(process.pid())) {
            return Optional.of(name(process)
                    + switch (role) {
                        case SHIM -> " is the shim of a pod";
                        case CONTAINER -> " is a process of a running container";
                        default -> " is no command of the container runtime";
                    });
        }
        return Optional.empty();
    }

    private Optional<String> ending(Culprit culprit, ProcessRef process) {
        if (!culprit.process().equals(Optional.of(process))) {
            return Optional.of(name(process) + " is not the process that " + culprit.reason() + " names");
        }
        return endable(process);
    }

    /** Why a process cannot or must not be ended, whatever the culprit is; the scan may not show it. */
    private Optional<String> endable(ProcessRef process) {
        ProcessInfo info = table.get(process.pid());
        if (process.pid() < FIRST_PID) {
            return Optional.of(name(process) + " belongs to the operating system");
        }
        if (info == null) {
            return Optional.empty();
        }
        if (!info.ref().equals(process)) {
            return Optional.of("pid " + process.pid() + " is another process now");
        }
        if (info.role() == ProcessRole.RUNTIME) {
            return Optional.of(name(process) + " is the container runtime");
        }
        return switch (info.state()) {
            case 'Z', 'X' ->
                Optional.of(name(process) + " has ended already (state Z); only its parent can remove its entry");
            case 'D' ->
                Optional.of(name(process) + " is in uninterruptible sleep (state D), in which signals have no effect");
            default -> Optional.empty();
        };
    }

    private Optional<String> continuing(Culprit culprit, ProcessRef process, boolean force) {
        ProcessInfo info = table.get(process.pid());
        if (info == null || !info.ref().equals(process)) {
            return Optional.of(name(process) + " is gone");
        }
        if (!culprit.process().equals(Optional.of(process))) {
            return Optional.of(name(process) + " is not the process that " + culprit.reason() + " names");
        }
        if (info.state() != 'T') {
            return Optional.of(name(process) + " is not stopped: its state is " + info.state());
        }
        // A container may stop its own processes.
        return info.role() == ProcessRole.CONTAINER && !force
                ? Optional.of(name(process) + " is a process of a running container")
                : Optional.empty();
    }

    private static Optional<String> thawing(Remedy.ThawCgroup thaw) {
        boolean freezer = thaw.file().endsWith("/cgroup.freeze") || thaw.file().endsWith("/freezer.state");
        return freezer && thaw.file().startsWith(CGROUPS) && !thaw.file().contains("/../")
                ? Optional.empty()
                : Optional.of(thaw.file() + " is not a freezer's control file");
    }

    /** Whether the process is a shim, or a process below one that is no command of the runtime. */
    private boolean isOfPod(ProcessRef process) {
        ProcessInfo info = table.get(process.pid());
        return info != null && (info.role() == ProcessRole.SHIM || info.role() == ProcessRole.CONTAINER);
    }

    /** Whether the process belongs to a container that an OCI runtime command is only creating. */
    private boolean isStarting(int pid) {
        return above(pid).stream()
                .anyMatch(info -> info.role() == ProcessRole.OCI_RUNTIME && STARTING.contains(info.verb()));
    }

    private boolean isBelowRoot(Culprit culprit, int pid) {
        return above(pid).stream().anyMatch(info -> culprit.process().equals(Optional.of(info.ref())));
    }

    /** The process and its ancestors, as far as the scan shows them. */
    private List<ProcessInfo> above(int pid) {
        List<ProcessInfo> chain = new ArrayList<>();
        ProcessInfo at = table.get(pid);
        while (at != null && chain.size() < DEEPEST) {
            chain.add(at);
            at = table.get(at.parent());
        }
        return chain;
    }

    private static String name(ProcessRef process) {
        return "pid " + process.pid() + " (" + process.command() + ")";
    }
}
