package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.diagnosis.WaitGraph.Entity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.agent.culprit.scan.Wait;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Builds the graph of who waits for whom from the scans of the processes. Only lasting waits count. A process that is
 * held by a freezer or tracer, or is stopped, waits for nothing else.
 */
final class HangGraph {
    /** Process trees are 3 to 10 deep; the bound ends the search in a table that is not a tree. */
    private static final int DEEPEST = 64;
    /** The process that adopts those whose parent has ended. */
    private static final int INIT = 1;

    private final DiagnosisInput facts;
    private final HangThresholds patience;
    private final ProcessIndex index;
    private final WaitGraph graph = new WaitGraph();
    private final Set<Integer> troubled = new HashSet<>();

    private HangGraph(DiagnosisInput facts, HangThresholds patience, ProcessIndex index) {
        this.facts = facts;
        this.patience = patience;
        this.index = index;
    }

    /** The graph of all processes. */
    static WaitGraph of(DiagnosisInput facts, HangThresholds patience, ProcessIndex index) {
        HangGraph builder = new HangGraph(facts, patience, index);
        facts.processes().forEach(builder::waits);
        facts.processes().stream()
                .filter(process -> isStopped(process, patience)
                        || isStuck(process, patience).isPresent()
                        || builder.graph.waits(pid(process)))
                .forEach(process -> builder.troubled.add(process.info().ref().pid()));
        facts.processes().forEach(builder::pipes);
        facts.processes().stream().filter(HangGraph::isCommand).forEach(builder::below);
        return builder.graph;
    }

    /** Whether a process has been stopped for long enough. */
    static boolean isStopped(ObservedProcess process, HangThresholds patience) {
        return process.stopped()
                .filter(age -> age.compareTo(patience.stopped()) >= 0)
                .isPresent();
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

    /** Whether it is a short program of the runtime. */
    static boolean isCommand(ObservedProcess process) {
        ProcessRole role = process.info().role();
        return role == ProcessRole.CNI_PLUGIN || role == ProcessRole.OCI_RUNTIME;
    }

    static Entity.Pid pid(ObservedProcess process) {
        return new Entity.Pid(process.info().ref().pid());
    }

    private void waits(ObservedProcess process) {
        Optional<ObservedProcess.Waiting> held = process.held().filter(this::lasts);
        if (held.isPresent()) {
            add(process, held.get().on());
            return;
        }
        if (process.info().state() == 'T' || process.info().state() == 't') {
            return;
        }
        isStuck(process, patience)
                .flatMap(stuck -> mount(stuck.stall()))
                .ifPresent(mount -> graph.add(
                        pid(process),
                        new Entity.MountPoint(mount.point()),
                        true,
                        index.nameWithPod(process) + " waits for the file system at " + mount.point()));
        process.waits().stream().filter(this::lasts).forEach(waiting -> add(process, waiting.on()));
    }

    private boolean lasts(ObservedProcess.Waiting waiting) {
        return waiting.lasted().compareTo(patience.stopped()) >= 0;
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
                // Follows later, because members of the same process tree count only if they hang themselves.
            }
        }
    }

    /** The pipes that other processes keep open. */
    private void pipes(ObservedProcess process) {
        if (process.held().isPresent() || process.info().state() == 'T') {
            return;
        }
        for (ObservedProcess.Waiting waiting : process.waits()) {
            if (waiting.on() instanceof Wait.ForPipe(String name, boolean blocked, List<Integer> holders)
                    && lasts(waiting)) {
                Entity pipe = new Entity.Pipe(name);
                holders.stream()
                        .flatMap(holder -> index.of(holder).stream())
                        .filter(holder -> keepsOpen(holder, process))
                        .forEach(holder -> {
                            graph.add(
                                    pid(process),
                                    pipe,
                                    blocked,
                                    index.nameWithPod(process)
                                            + (blocked ? " is blocked on " : " has not seen the end of ")
                                            + name);
                            graph.add(
                                    pipe,
                                    pid(holder),
                                    true,
                                    ProcessIndex.name(holder.info()) + " holds the other end of " + name);
                        });
            }
        }
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
            return troubled.contains(info.ref().pid())
                    || index.tree(top(reader)).stream().noneMatch(holder::equals);
        }
        boolean adopted = reader.info().role() == ProcessRole.SHIM
                && info.parent() == reader.info().ref().pid();
        boolean left = isCommand(holder)
                || info.parent() == INIT && info.age().compareTo(reader.info().age()) < 0;
        return adopted && !isCommand(holder)
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
            if (member != command && troubled.contains(member.info().ref().pid())) {
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
                    || other.held()
                            .filter(this::lasts)
                            .filter(waiting -> waiting.on() instanceof Wait.Frozen)
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
