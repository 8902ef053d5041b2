package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.evidence.WaitGraph;
import io.nodekeeper.agent.culprit.evidence.WaitGraph.Entity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.agent.culprit.scan.Wait;
import io.nodekeeper.api.KubeTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes a culprit of a root of the graph: its name, its evidence and its remedy. Pure. */
final class Causes {
    private final DiagnosisInput facts;
    private final HangThresholds patience;
    private final Lasting lasting;
    private final ProcessIndex index;

    Causes(DiagnosisInput facts, HangThresholds patience, Lasting lasting, ProcessIndex index) {
        this.facts = facts;
        this.patience = patience;
        this.lasting = lasting;
        this.index = index;
    }

    /**
     * The culprit at the end of a chain; empty if nothing shows that the root hangs.
     *
     * @param waiter the process at the start of the chain, or the one of a pod for which a call waits
     */
    Optional<Culprit> of(WaitGraph.Chain chain, ObservedProcess waiter) {
        Optional<Culprit> found = switch (chain.root()) {
            case Entity.Freezer freezer -> Optional.of(frozen(freezer, last(chain, waiter)));
            case Entity.Tracer tracer -> Optional.of(traced(tracer, last(chain, waiter)));
            case Entity.MountPoint point -> stuckBelow(point, last(chain, waiter), waiter);
            case Entity.FileLock lock -> Optional.of(lockWithoutHolder(lock, waiter));
            case Entity.Pid pid -> index.of(pid.pid()).flatMap(process -> process(process, chain, waiter));
            case Entity.Pipe pipe -> Optional.empty();
            case Entity.Socket socket -> Optional.empty();
            case Entity.Call call -> Optional.empty();
        };
        Confidence way = chain.confidence();
        return found.map(culprit -> {
            List<String> more = new ArrayList<>(chain.texts());
            if (chain.circular()) {
                more.add("these processes wait for each other in a circle");
            }
            return culprit.about(index.subject(waiter))
                    .shownBy(more)
                    .sure(culprit.confidence().compareTo(way) > 0 ? culprit.confidence() : way);
        });
    }

    private Optional<Culprit> process(ObservedProcess process, WaitGraph.Chain chain, ObservedProcess waiter) {
        if (lasting.isStopped(process)) {
            return Optional.of(stopped(process, waiter));
        }
        Optional<ObservedProcess.Stuck> stuck = HangGraph.isStuck(process, patience);
        if (stuck.isPresent()) {
            return Optional.of(StallCause.of(process, stuck.get(), index, facts));
        }
        Entity before =
                chain.steps().isEmpty() ? chain.root() : chain.steps().getLast().from();
        return switch (before) {
            case Entity.FileLock lock -> Optional.of(holder(process, lock, waiter));
            case Entity.Pipe pipe -> Optional.of(keepsOpen(process, pipe, chain, waiter));
            case Entity.MountPoint point -> Optional.of(server(process, point, waiter));
            case Entity.Socket socket -> Optional.of(daemon(process, socket, waiter));
            // A command that only lasts long is the last to be accused: see CommandCause.
            default -> Optional.empty();
        };
    }

    private Culprit stopped(ObservedProcess process, ObservedProcess waiter) {
        ProcessInfo info = process.info();
        Instant since = facts.ago(process.stopped().orElse(Duration.ZERO));
        Remedy remedy = new Remedy.ContinueProcess(info.ref());
        String stopped = " has been stopped (state T) since " + KubeTime.format(since);
        String name = ProcessIndex.name(info);
        Culprit culprit = switch (info.role()) {
            case RUNTIME ->
                Culprit.of(
                        Layer.RUNTIME,
                        "RuntimeFrozen",
                        "the container runtime " + name + stopped + "; it answers no call",
                        since,
                        remedy);
            case SHIM ->
                Culprit.of(
                        Layer.SHIM,
                        "ShimStopped",
                        "the shim " + name + " of " + index.subject(process).text() + stopped,
                        since,
                        remedy);
            default ->
                Culprit.of(
                        process == waiter ? layer(process) : Layer.PROCESS,
                        "ProcessStopped",
                        name + stopped + waits(process, waiter),
                        since,
                        remedy);
        };
        return culprit.by(info.ref()).shownBy(List.of(ProcessIndex.describe(info)));
    }

    private Culprit frozen(Entity.Freezer freezer, ObservedProcess process) {
        Instant since = heldSince(process);
        String file = freezer.cgroup() + (freezer.version() == 2 ? "/cgroup.freeze" : "/freezer.state");
        return Culprit.of(
                        layer(process),
                        "CgroupFrozen",
                        role(process) + index.nameWithPod(process) + " has been frozen by the freezer of cgroup "
                                + freezer.cgroup() + " since " + KubeTime.format(since),
                        since,
                        new Remedy.ThawCgroup(file, freezer.version() == 2 ? "0" : "THAWED"))
                .by(process.info().ref());
    }

    private Culprit traced(Entity.Tracer tracer, ObservedProcess process) {
        Instant since = heldSince(process);
        String name = index.name(tracer.pid());
        Culprit culprit = Culprit.of(
                layer(process),
                "ProcessTraced",
                role(process) + index.nameWithPod(process) + " has been held by the tracer " + name
                        + " (state t) since " + KubeTime.format(since),
                since,
                index.of(tracer.pid())
                        .<Remedy>map(known -> new Remedy.EndProcess(
                                known.info().ref(), false, "the session of the tracer; what it traces continues"))
                        .orElseGet(() -> new Remedy.Advice("let the tracer detach: quit " + name)));
        return index.of(tracer.pid())
                .map(known -> culprit.by(known.info().ref()).shownBy(List.of(ProcessIndex.describe(known.info()))))
                .orElse(culprit);
    }

    private Culprit holder(ObservedProcess holder, Entity.FileLock lock, ObservedProcess waiter) {
        ProcessInfo info = holder.info();
        Instant since = waitingSince(waiter);
        return Culprit.of(
                        Layer.PROCESS,
                        "LockHeld",
                        ProcessIndex.name(info) + " holds the lock on " + lock.file() + " for which "
                                + index.nameWithPod(waiter) + " has been waiting since " + KubeTime.format(since),
                        since,
                        new Remedy.EndProcess(
                                info.ref(), false, "what " + ProcessIndex.name(info) + " was doing under the lock"))
                .by(info.ref())
                .shownBy(List.of(ProcessIndex.describe(info)));
    }

    private Culprit lockWithoutHolder(Entity.FileLock lock, ObservedProcess waiter) {
        Instant since = waitingSince(waiter);
        return Culprit.of(
                        Layer.PROCESS,
                        "LockHeld",
                        "a process that cannot be seen holds the lock on " + lock.file() + " for which "
                                + index.nameWithPod(waiter) + " has been waiting since " + KubeTime.format(since),
                        since,
                        new Remedy.Advice("find the holder, also on other hosts that mount it: fuser -v " + lock.file()
                                + ", lslocks"))
                .by(waiter.info().ref())
                .sure(Confidence.LIKELY);
    }

    private Culprit keepsOpen(ObservedProcess holder, Entity.Pipe pipe, WaitGraph.Chain chain, ObservedProcess waiter) {
        ProcessInfo info = holder.info();
        Instant since = facts.ago(info.age());
        boolean command = ProcessIndex.isCommand(holder) || info.role() == ProcessRole.HELPER;
        String reader = chain.steps().get(chain.steps().size() - 2).from() instanceof Entity.Pid(int pid)
                ? index.name(pid)
                : index.nameWithPod(waiter);
        String name = ProcessIndex.name(info);
        return Culprit.of(
                        Layer.PROCESS,
                        "PipeHeldOpen",
                        name + (info.verb().isEmpty() ? "" : ", left by a CNI plugin's " + info.verb() + ",")
                                + podOf(holder) + " keeps " + pipe.name() + " open, whose end " + reader
                                + " waits for; it was started " + KubeTime.format(since),
                        since,
                        command
                                ? new Remedy.KillProcesses(List.of(info.ref()))
                                : new Remedy.EndProcess(info.ref(), false, "what " + name + " was doing"))
                .by(info.ref())
                .shownBy(List.of(ProcessIndex.describe(info)));
    }

    private Culprit server(ObservedProcess server, Entity.MountPoint point, ObservedProcess waiter) {
        ProcessInfo info = server.info();
        Instant since = waitingSince(waiter);
        return Culprit.of(
                        Layer.DISK,
                        "FileServerHung",
                        "the file system at " + point.point() + " does not respond: its server "
                                + ProcessIndex.name(info) + " has not answered " + index.nameWithPod(waiter)
                                + " since " + KubeTime.format(since),
                        since,
                        new Remedy.EndProcess(
                                info.ref(),
                                true,
                                "the file system at " + point.point() + " until its server is started again"),
                        new Remedy.Advice(
                                "start the server of " + point.point() + " again, or umount -f " + point.point()))
                .by(info.ref())
                .shownBy(List.of(ProcessIndex.describe(info)))
                .sure(Confidence.LIKELY);
    }

    /** A daemon that does not answer, although nothing shows why. */
    private Culprit daemon(ObservedProcess daemon, Entity.Socket socket, ObservedProcess waiter) {
        ProcessInfo info = daemon.info();
        Instant since = waitingSince(waiter);
        String name = ProcessIndex.name(info);
        return Culprit.of(
                        Layer.PROCESS,
                        "DaemonHung",
                        "the daemon " + name + (socket.peer().isEmpty() ? "" : " at socket " + socket.peer())
                                + " has not answered " + index.nameWithPod(waiter) + " since "
                                + KubeTime.format(since),
                        since,
                        // Others may use it, and its owner knows how to end it: so no signal.
                        new Remedy.Advice("look in the log of " + name + " why it does not answer; if it stays, restart"
                                + " its service (systemctl status " + info.ref().pid() + " names it)"))
                .by(info.ref())
                .shownBy(List.of(ProcessIndex.describe(info)))
                .sure(Confidence.LIKELY);
    }

    /**
     * A file system at the end of the chain: a disk, or a FUSE file system whose server was not found. That it has none
     * cannot be the reason: the kernel ends all its requests, with an error, when the last process closes the connection.
     */
    private Optional<Culprit> stuckBelow(Entity.MountPoint point, ObservedProcess process, ObservedProcess waiter) {
        Optional<ObservedProcess.Stuck> stuck = HangGraph.isStuck(process, patience);
        boolean fuse = process.waits().stream()
                .anyMatch(waiting -> waiting.on() instanceof Wait.ForServer(Stall.Mount mount, List<Integer> servers)
                        && mount.point().equals(point.point()));
        if (stuck.isPresent() && !fuse) {
            return Optional.of(StallCause.of(process, stuck.get(), index, facts));
        }
        Instant since = waitingSince(waiter);
        return Optional.of(Culprit.of(
                        Layer.DISK,
                        "FileServerHung",
                        "the file system at " + point.point() + " (FUSE) does not respond: its server, which cannot be"
                                + " seen, has not answered " + index.nameWithPod(process) + " since "
                                + KubeTime.format(since),
                        since,
                        new Remedy.Advice("find the process that serves " + point.point()
                                + ", perhaps in another container, and start it again; or umount -f " + point.point()))
                .by(process.info().ref())
                .sure(Confidence.LIKELY));
    }

    /** The process next to the root; the start if there is none. */
    private ObservedProcess last(WaitGraph.Chain chain, ObservedProcess start) {
        for (WaitGraph.Edge step : chain.steps().reversed()) {
            if (step.from() instanceof Entity.Pid(int pid) && index.of(pid).isPresent()) {
                return index.of(pid).get();
            }
        }
        return start;
    }

    private Instant heldSince(ObservedProcess process) {
        return facts.ago(process.held().map(ObservedProcess.Waiting::lasted).orElse(Duration.ZERO));
    }

    private Instant waitingSince(ObservedProcess process) {
        Duration longest = process.waits().stream()
                .map(ObservedProcess.Waiting::lasted)
                .max(Duration::compareTo)
                .orElse(ProcessIndex.isCommand(process) ? process.info().age() : Duration.ZERO);
        return facts.ago(longest);
    }

    private String waits(ObservedProcess process, ObservedProcess waiter) {
        return process == waiter
                ? podOf(process)
                : "; " + (waiter.info().role() == ProcessRole.RUNTIME ? "the container runtime " : "")
                        + index.nameWithPod(waiter) + " waits for it";
    }

    private String podOf(ObservedProcess process) {
        Subject subject = index.subject(process);
        return subject.isNode() ? "" : " of " + subject.text();
    }

    private static String role(ObservedProcess process) {
        return switch (process.info().role()) {
            case RUNTIME -> "the container runtime ";
            case SHIM -> "the shim ";
            case CNI_PLUGIN -> "the CNI plugin ";
            case OCI_RUNTIME -> "the OCI runtime's command ";
            case CONTAINER, HELPER, OUTSIDER -> "";
        };
    }

    private static Layer layer(ObservedProcess process) {
        return switch (process.info().role()) {
            case RUNTIME -> Layer.RUNTIME;
            case SHIM -> Layer.SHIM;
            case CNI_PLUGIN -> Layer.CNI_PLUGIN;
            case OCI_RUNTIME -> Layer.OCI_RUNTIME;
            case CONTAINER, HELPER, OUTSIDER -> Layer.PROCESS;
        };
    }
}
