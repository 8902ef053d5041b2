package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.WaitGraph;
import io.nodekeeper.agent.culprit.evidence.WaitGraph.Entity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.agent.culprit.scan.Wait;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Builds the graph of who waits for whom from the scans of the processes. Only lasting waits count. A process that is
 * held by a freezer or tracer, or is stopped, waits for nothing else. Of a tree of processes the lowest for which the
 * others wait is the root.
 */
final class HangGraph {
    /** Process trees are 3 to 10 deep; the bound ends the search in a table that is not a tree. */
    private static final int DEEPEST = 64;
    /** The process that adopts those whose parent has ended. */
    private static final int INIT = 1;

    private final DiagnosisInput facts;
    private final HangThresholds patience;
    private final Lasting lasting;
    private final ProcessIndex index;
    private final WaitGraph graph = new WaitGraph();
    private final Set<Integer> troubled = new HashSet<>();

    private HangGraph(DiagnosisInput facts, HangThresholds patience, Lasting lasting, ProcessIndex index) {
        this.facts = facts;
        this.patience = patience;
        this.lasting = lasting;
        this.index = index;
    }

    /** The graph of all processes. */
    static WaitGraph of(DiagnosisInput facts, HangThresholds patience, Lasting lasting, ProcessIndex index) {
        HangGraph builder = new HangGraph(facts, patience, lasting, index);
        facts.processes().forEach(builder::waits);
        // Who waits for one that hangs, hangs, too: at most one round for each level of waiting.
        builder.findTroubled();
        do {
            facts.processes().forEach(builder::ends);
        } while (builder.findTroubled());
        facts.processes().forEach(builder::children);
        facts.processes().stream().filter(ProcessIndex::isCommand).forEach(builder::below);
        return builder.graph;
    }

    /** Notes the processes that hang by what the graph has by now; whether there are more than before. */
    private boolean findTroubled() {
        int before = troubled.size();
        facts.processes().stream()
                .filter(process -> lasting.isStopped(process)
                        || isStuck(process, patience).isPresent()
                        || graph.waits(pid(process)))
                .forEach(process -> troubled.add(process.info().ref().pid()));
        return troubled.size() > before;
    }

    /** The thread in state D that has made no progress for long enough; none if the process is frozen. */
    static Optional<ObservedProcess.Stuck> isStuck(ObservedProcess process, HangThresholds patience) {
        return process.frozen()
                ? Optional.empty()
                : process.stuck().stream()
                        .filter(thread -> thread.looks() >= patience.stalledLooks()
                                && thread.lasted().compareTo(patience.stalled()) >= 0)
                        .findFirst();
    }

    /** The file system that a stuck thread waits for, if it can be determined. */
    static Optional<Stall.Mount> mount(Stall stall) {
        return stall.mounts().stream().findFirst().filter(any -> stall.onDisk());
    }

    static Entity.Pid pid(ObservedProcess process) {
        return new Entity.Pid(process.info().ref().pid());
    }

    private void waits(ObservedProcess process) {
        Optional<Wait> held = lasting.held(process);
        if (held.isPresent()) {
            add(process, held.get());
            return;
        }
        if (process.info().isHalted()) {
            return;
        }
        isStuck(process, patience)
                .flatMap(stuck -> mount(stuck.stall()))
                .ifPresent(mount -> graph.add(
                        pid(process),
                        new Entity.MountPoint(mount.point()),
                        true,
                        index.nameWithPod(process) + " waits for the file system at " + mount.point()));
        lasting.waits(process).forEach(wait -> add(process, wait));
    }

    private void add(ObservedProcess process, Wait wait) {
        String name = index.nameWithPod(process);
        switch (wait) {
            case Wait.Frozen(String cgroup, int version, boolean inherited) ->
                graph.add(
                        pid(process),
                        new Entity.Freezer(cgroup, version),
                        true,
                        name + " is frozen: the freezer of cgroup " + cgroup + " (version " + version + ") is on"
                                + (inherited ? ", above its own cgroup" : ""));
            case Wait.Traced(int tracer) ->
                graph.add(
                        pid(process),
                        new Entity.Tracer(tracer),
                        true,
                        name + " is held by its tracer " + index.name(tracer) + " (state t)");
            case Wait.ForLock(String file, String kind, List<Integer> holders) -> {
                Entity lock = new Entity.FileLock(file);
                graph.add(pid(process), lock, true, name + " waits for the lock (" + kind + ") on " + file);
                holders.forEach(holder -> graph.add(
                        lock, new Entity.Pid(holder), true, index.name(holder) + " holds the lock on " + file));
            }
            case Wait.ForServer(Stall.Mount mount, List<Integer> servers) -> {
                Entity point = new Entity.MountPoint(mount.point());
                graph.add(pid(process), point, true, name + " waits for the file system at " + mount.point());
                servers.forEach(server -> graph.add(
                        point,
                        new Entity.Pid(server),
                        true,
                        index.name(server) + " serves the file system at " + mount.point() + " (" + mount.type()
                                + ")"));
            }
            case Wait.ForPipe pipe -> {
                // These follow later, because members of the same process tree count only if they hang themselves.
            }
            case Wait.ForSocket socket -> {}
            case Wait.ForChild child -> {}
        }
    }

    /** The pipes and sockets whose other ends other processes hold. */
    private void ends(ObservedProcess process) {
        if (process.frozen() || process.held().isPresent() || process.info().state() == 'T') {
            return;
        }
        for (Wait wait : lasting.waits(process)) {
            switch (wait) {
                case Wait.ForPipe pipe -> pipe(process, pipe);
                case Wait.ForSocket socket -> socket(process, socket);
                default -> {
                    // Already in the graph, or a child.
                }
            }
        }
    }

    private void pipe(ObservedProcess process, Wait.ForPipe wait) {
        Entity pipe = new Entity.Pipe(wait.pipe());
        wait.holders().stream()
                .flatMap(holder -> index.of(holder).stream())
                .filter(holder -> keepsOpen(holder, process))
                .forEach(holder -> {
                    graph.add(
                            pid(process),
                            pipe,
                            wait.blocked(),
                            index.nameWithPod(process)
                                    + (wait.blocked() ? " is blocked on " : " has not seen the end of ")
                                    + wait.pipe());
                    graph.add(
                            pipe,
                            pid(holder),
                            true,
                            ProcessIndex.name(holder.info()) + " holds the other end of " + wait.pipe());
                });
    }

    /**
     * A client and its server. A connection that is only open counts as long as nothing shows that its client waits
     * for something else.
     */
    private void socket(ObservedProcess process, Wait.ForSocket wait) {
        Entity socket = new Entity.Socket(wait.socket(), wait.peer());
        if (!wait.blocked()
                && (waitsForChild(process) || graph.waits(pid(process)) && !graph.waits(pid(process), socket))) {
            return;
        }
        String at = wait.socket() + (wait.peer().isEmpty() ? "" : " to " + wait.peer());
        String waits =
                index.nameWithPod(process) + (wait.blocked() ? " is blocked on " : " has a connection open on ") + at;
        if (wait.holders().isEmpty()) {
            graph.add(pid(process), socket, wait.blocked(), waits + ", whose other end cannot be seen");
            return;
        }
        List<ObservedProcess> servers = wait.holders().stream()
                .flatMap(holder -> index.of(holder).stream())
                .filter(holder -> !isService(holder)
                        && (isTroubled(holder) || !index.tree(top(process)).contains(holder)))
                .toList();
        // Of the workers of one daemon those that hang; else the oldest, which started the others.
        boolean shown = servers.stream().anyMatch(this::isTroubled);
        servers.stream()
                .filter(holder -> !shown || isTroubled(holder))
                .sorted(Comparator.comparing(
                                (ObservedProcess holder) -> holder.info().age())
                        .reversed())
                .limit(shown ? Long.MAX_VALUE : 1)
                .forEach(holder -> {
                    graph.add(pid(process), socket, wait.blocked(), waits);
                    graph.add(
                            socket,
                            pid(holder),
                            true,
                            ProcessIndex.name(holder.info()) + " holds the other end of " + wait.socket()
                                    + progress(wait.progress()));
                });
    }

    private static String progress(Wait.Progress progress) {
        return switch (progress) {
            case NOT_ACCEPTED -> " and has not accepted the connection";
            case NOT_READ -> " and has not read what was sent";
            case READ -> ", has read what was sent and has not answered";
            case UNSEEN -> "";
        };
    }

    private boolean waitsForChild(ObservedProcess process) {
        return lasting.waits(process).stream()
                .anyMatch(wait -> wait instanceof Wait.ForChild(int child)
                        && index.of(child).filter(this::isLong).isPresent());
    }

    /** The children for whose end, or for whose output, a program waits. */
    private void children(ObservedProcess process) {
        if (process.frozen() || process.held().isPresent() || process.info().state() == 'T') {
            return;
        }
        for (Wait wait : lasting.waits(process)) {
            boolean output = wait instanceof Wait.ForPipe pipe && pipe.blocked() && !isService(process);
            if (output || wait instanceof Wait.ForChild) {
                wait.holders().stream()
                        .flatMap(holder -> index.of(holder).stream())
                        .filter(child ->
                                child.info().parent() == process.info().ref().pid()
                                        && child.info().role() != ProcessRole.CONTAINER
                                        && isLong(child))
                        .forEach(child -> graph.add(
                                pid(process),
                                pid(child),
                                true,
                                index.nameWithPod(process) + " waits for "
                                        + (output ? "the output" : "the end") + " of its child "
                                        + ProcessIndex.name(child.info())));
            }
        }
    }

    /** Whether a child lasts about as long as the command: else the command goes on, with one child after another. */
    private boolean isLong(ObservedProcess child) {
        return child.info().state() != 'Z'
                && child.info().age().compareTo(patience.command().dividedBy(2)) >= 0;
    }

    private boolean isTroubled(ObservedProcess process) {
        return troubled.contains(process.info().ref().pid());
    }

    /**
     * Whether {@code holder} should have closed its end. Members of one command write to each other while they run, so
     * only one that hangs counts. The runtime and shims always read from something: the programs that they started, their
     * supervisor, a log. So for them only a program counts that one of those programs left behind: a command of the
     * runtime, or one that started after the reader and has lost its parent.
     */
    private boolean keepsOpen(ObservedProcess holder, ObservedProcess reader) {
        ProcessInfo info = holder.info();
        if (isService(holder) || info.state() == 'Z' || info.age().compareTo(patience.command()) < 0) {
            return false;
        }
        if (!isService(reader)) {
            return isTroubled(holder) || index.tree(top(reader)).stream().noneMatch(holder::equals);
        }
        boolean adopted = reader.info().role() == ProcessRole.SHIM
                && info.parent() == reader.info().ref().pid();
        boolean left = ProcessIndex.isCommand(holder)
                || info.parent() == INIT && info.age().compareTo(reader.info().age()) < 0;
        return adopted && !ProcessIndex.isCommand(holder)
                || left && index.tree(reader).stream().noneMatch(holder::equals);
    }

    /** The oldest process of the command to which a process belongs; the process itself if it belongs to none. */
    private ObservedProcess top(ObservedProcess process) {
        ObservedProcess top = process;
        for (int depth = 0; depth < DEEPEST; depth++) {
            Optional<ObservedProcess> above = index.parent(top).filter(parent -> !isService(parent));
            if (above.isEmpty()) {
                break;
            }
            top = above.get();
        }
        return top;
    }

    /** A command waits for its descendants that hang; and for processes of its pod that signals cannot end. */
    private void below(ObservedProcess command) {
        for (ObservedProcess member : index.tree(command)) {
            if (member != command && isTroubled(member)) {
                graph.add(
                        pid(command),
                        pid(member),
                        true,
                        index.name(member.info().ref().pid()) + " is a child of " + index.nameWithPod(command));
            }
        }
        Subject subject = index.subject(command);
        for (ObservedProcess other : facts.processes()) {
            boolean unkillable = isStuck(other, patience).isPresent()
                    || lasting.held(other)
                            .filter(wait -> wait instanceof Wait.Frozen)
                            .isPresent();
            if (unkillable && other != command && index.subject(other).samePod(subject)) {
                graph.add(
                        pid(command),
                        pid(other),
                        false,
                        index.nameWithPod(command) + " probably waits for "
                                + index.name(other.info().ref().pid()) + " of the same pod");
            }
        }
    }

    /** Whether it is a process that lasts: the runtime or a shim. */
    private static boolean isService(ObservedProcess process) {
        ProcessRole role = process.info().role();
        return role == ProcessRole.RUNTIME || role == ProcessRole.SHIM;
    }
}
