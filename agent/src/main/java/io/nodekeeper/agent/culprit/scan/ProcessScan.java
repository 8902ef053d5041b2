package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.agent.culprit.scan.CommandLines.Program;
import io.nodekeeper.agent.culprit.scan.proc.HostNamespaces;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.ScanBudget;
import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One scan of all processes. Membership follows from the parents: the runtime listens on its socket, a shim names
 * that socket or one of its sandboxes, and their descendants belong to the runtime. Blocks; one instance serves one
 * thread.
 */
final class ProcessScan {
    /** The most processes outside of the runtime that are followed in one scan: a bound on its cost. */
    private static final int OUTSIDERS = 32;
    /** The most threads whose work is read in one scan: a bound on its cost. */
    private static final int THREADS = 4_096;
    /** Process trees are 3 to 10 deep; the bound ends the search in a table that is not a tree. */
    private static final int DEEPEST = 64;
    /** Ordinary CNI plugins and commands of runc end within a second. */
    private static final Duration UNUSUAL = Duration.ofSeconds(2);
    /** After this time a process no longer becomes a command of the runtime: such a one starts its program at once. */
    private static final Duration SETTLED = Duration.ofSeconds(10);

    private final ProcFiles files;
    private final StallFiles stalls;
    private final ScanMemory memory;
    private final WaitFiles.SocketTable sockets;
    private final String socket;
    private final Set<String> ids;
    private final boolean deep;
    private final boolean limits;
    private final boolean complete;
    private final Map<Integer, ProcFiles.Stat> stats = new HashMap<>();
    private final Map<Integer, ProcessRole> roles = new HashMap<>();
    private final Clock clock;
    private final HostNamespaces host;
    private final Programs programs;
    private WaitFiles waits;
    private int threadsLeft = THREADS;

    ProcessScan(
            ProcFiles files,
            ScanMemory memory,
            WaitFiles.SocketTable sockets,
            String socket,
            Set<String> ids,
            boolean deep,
            boolean limits,
            boolean complete,
            Clock clock) {
        this.files = files;
        this.stalls = new StallFiles(files);
        this.memory = memory;
        this.sockets = sockets;
        this.socket = socket;
        this.ids = ids;
        this.deep = deep;
        this.limits = limits;
        this.complete = complete;
        this.clock = clock;
        this.host = new HostNamespaces(files);
        this.programs = new Programs(files, memory, host);
        this.waits = searches();
    }

    /** The process whose memory or files are being read, as {@link ProcessRef#identity}: if the scan hangs, it hangs there. */
    String reading() {
        return programs.reading();
    }

    /** The runtime's processes. */
    List<ProcessInfo> run() throws IOException {
        long uptime = files.uptimeTicks();
        memory.openFiles().forgetOld(clock.nanoTime());
        List<ProcFiles.Stat> all = new ArrayList<>();
        List<Integer> pids = files.pids();
        memory.keep(new HashSet<>(pids));
        List<Integer> skipped = new ArrayList<>();
        for (int pid : pids) {
            if (!complete && memory.isElsewhere(pid)) {
                skipped.add(pid);
            } else {
                files.stat(pid).ifPresent(all::add);
            }
        }
        all.forEach(stat -> stats.put(stat.pid(), stat));
        owned(socket, all);
        Set<String> sockets = new HashSet<>();
        for (ProcFiles.Stat stat : all) {
            Program program = program(stat);
            // With a relay in front, the runtime's own socket is another one, which its shims name.
            program.shimId()
                    .filter(ids::contains)
                    .flatMap(id -> program.shimSocket())
                    .ifPresent(sockets::add);
        }
        sockets.remove(socket);
        sockets.forEach(path -> owned(path, all));
        sockets.add(socket);
        for (ProcFiles.Stat stat : all) {
            Program program = program(stat);
            if (program.shimSocket().filter(sockets::contains).isPresent()
                    || program.shimId().filter(ids::contains).isPresent()) {
                roles.put(stat.pid(), program.shimCommand() ? ProcessRole.OCI_RUNTIME : ProcessRole.SHIM);
            }
        }
        waits = searches();
        List<ProcessInfo> found = new ArrayList<>();
        for (ProcFiles.Stat stat : all) {
            info(stat, uptime).ifPresent(found::add);
        }
        if (complete) {
            Set<Integer> members = found.stream().map(info -> info.ref().pid()).collect(Collectors.toSet());
            memory.elsewhere(all.stream()
                    .filter(stat ->
                            !members.contains(stat.pid()) && age(stat, uptime).compareTo(SETTLED) >= 0)
                    .map(ProcFiles.Stat::pid)
                    .collect(Collectors.toSet()));
        } else if (found.stream().anyMatch(info -> isSearched(info, uptime))) {
            // One of these may hold what a command waits for.
            skipped.forEach(pid -> files.stat(pid).ifPresent(stat -> stats.put(pid, stat)));
        }
        // The time of the searches starts here: on a busy machine the first look at each program is slow.
        waits = searches();
        return withWaits(found, uptime);
    }

    /** Notes the process that listens on {@code path}. */
    private void owned(String path, List<ProcFiles.Stat> all) {
        memory.owners().of(path, all).ifPresent(pid -> {
            roles.put(pid, ProcessRole.RUNTIME);
            host.add(pid);
        });
    }

    /** Searches among the processes that are known by now, with a budget of their own. */
    private WaitFiles searches() {
        return new WaitFiles(files, stats, programs::arguments, sockets, memory.openFiles(), new ScanBudget(clock));
    }

    /** The processes with what they wait for, and those outside for which they wait. */
    private List<ProcessInfo> withWaits(List<ProcessInfo> found, long uptime) {
        Map<Integer, ProcessInfo> known = new LinkedHashMap<>();
        // The searches have a budget: first those that should have ended, last the containers, of which there are many.
        found.stream()
                .sorted(Comparator.comparingInt(info -> urgency(info.role())))
                .forEach(info -> known.put(info.ref().pid(), info));
        ArrayDeque<ProcessInfo> open = new ArrayDeque<>(known.values());
        int outsiders = 0;
        while (!open.isEmpty()) {
            ProcessInfo info = open.poll();
            ProcFiles.Stat stat = stats.get(info.ref().pid());
            if (stat == null) {
                continue;
            }
            boolean command = info.role() != ProcessRole.CONTAINER && isOfCommand(stat);
            List<Wait> waiting = List.of();
            boolean searched = isSearched(info, uptime);
            if (searched && !programs.isOpaque(stat)) {
                waiting = programs.read(stat, () -> waits.of(stat, info.role(), command)).stream()
                        .flatMap(wait -> relevant(wait, known).stream())
                        .toList();
            } else if (searched || info.role() == ProcessRole.RUNTIME) {
                // A frozen runtime shows state S, and once a call is late it is too late to begin looking.
                waiting = waits.held(stat).stream().toList();
            }
            known.put(stat.pid(), info.waitingFor(waiting).examined(searched && !waits.isCut()));
            for (Wait wait : waiting) {
                for (int pid : wait.holders()) {
                    if (!known.containsKey(pid) && stats.containsKey(pid) && outsiders < OUTSIDERS) {
                        outsiders++;
                        ProcessInfo outsider = outsider(stats.get(pid), uptime);
                        known.put(pid, outsider);
                        open.addFirst(outsider);
                    }
                }
            }
        }
        return List.copyOf(known.values());
    }

    /** Whether it is searched for what a process waits. */
    private boolean isSearched(ProcessInfo info, long uptime) {
        ProcFiles.Stat stat = stats.get(info.ref().pid());
        return deep
                || info.state() == 'D'
                || info.state() == 't'
                || stat != null
                        && info.role() != ProcessRole.CONTAINER
                        && isOfCommand(stat)
                        && isUnusual(stat, uptime)
                        && !memory.isStranger(stat);
    }

    private static int urgency(ProcessRole role) {
        return switch (role) {
            case CNI_PLUGIN, OCI_RUNTIME, HELPER, OUTSIDER -> 0;
            case RUNTIME -> 1;
            case SHIM -> 2;
            case CONTAINER -> 3;
        };
    }

    /**
     * A wait without those holders that are expected: the output of a container goes to its shim through pipes, and a
     * shim's messages go to the runtime.
     */
    private Optional<Wait> relevant(Wait wait, Map<Integer, ProcessInfo> known) {
        if (wait instanceof Wait.ForSocket socket) {
            return served(socket, known);
        }
        if (wait instanceof Wait.ForChild(int child) && isInContainer(child)) {
            // runc waits for what it starts in a container.
            return Optional.empty();
        }
        if (!(wait instanceof Wait.ForPipe(String pipe, boolean blocked, List<Integer> holders)) || blocked) {
            return Optional.of(wait);
        }
        List<Integer> others = holders.stream()
                .filter(pid -> Optional.ofNullable(known.get(pid))
                        .filter(holder -> holder.role() == ProcessRole.RUNTIME
                                || holder.role() == ProcessRole.SHIM
                                || holder.role() == ProcessRole.CONTAINER && isInContainer(pid))
                        .isEmpty())
                .toList();
        return others.isEmpty() ? Optional.empty() : Optional.of(new Wait.ForPipe(pipe, false, others));
    }

    /** A client of the runtime or of a shim says nothing about these: calls to them have deadlines of their own. */
    private static Optional<Wait> served(Wait.ForSocket wait, Map<Integer, ProcessInfo> known) {
        List<Integer> others = wait.holders().stream()
                .filter(pid -> Optional.ofNullable(known.get(pid))
                        .filter(holder -> holder.role() == ProcessRole.RUNTIME || holder.role() == ProcessRole.SHIM)
                        .isEmpty())
                .toList();
        return others.isEmpty() && !wait.holders().isEmpty()
                ? Optional.empty()
                : Optional.of(new Wait.ForSocket(wait.socket(), wait.peer(), wait.blocked(), wait.progress(), others));
    }

    /** Whether it is a CNI plugin or a command of an OCI runtime, or was started by one. */
    private boolean isOfCommand(ProcFiles.Stat stat) {
        ProcFiles.Stat at = stat;
        for (int depth = 0; at != null && depth < DEEPEST; depth++) {
            ProcessRole known = roles.get(at.pid());
            if (known != null) {
                return known == ProcessRole.OCI_RUNTIME;
            }
            Program program = program(at);
            if (program.isCni() || program.ociRuntime()) {
                return true;
            }
            at = stats.get(at.parent());
        }
        return false;
    }

    private static boolean isUnusual(ProcFiles.Stat stat, long uptime) {
        return age(stat, uptime).compareTo(UNUSUAL) >= 0;
    }

    private boolean isInContainer(int pid) {
        return !new CgroupFiles(files).ids(pid).isEmpty();
    }

    private ProcessInfo outsider(ProcFiles.Stat stat, long uptime) {
        boolean stuck = stat.state() == 'D';
        return new ProcessInfo(
                ref(stat),
                stat.parent(),
                stat.state(),
                age(stat, uptime),
                ProcessRole.OUTSIDER,
                true,
                "",
                new CgroupFiles(files).ids(stat.pid()),
                Optional.empty(),
                stuck ? stalls(stat) : List.of(),
                Optional.empty());
    }

    private List<Stall> stalls(ProcFiles.Stat stat) {
        StallFiles.Depth depth = programs.isOpaque(stat)
                ? StallFiles.Depth.STATE
                : programs.isUnreadable(stat) ? StallFiles.Depth.CALLS : StallFiles.Depth.MEMORY;
        return programs.read(stat, () -> stalls.of(stat.pid(), depth));
    }

    private ProcessRef ref(ProcFiles.Stat stat) {
        return new ProcessRef(stat.pid(), stat.startTicks(), program(stat).line());
    }

    private static Duration age(ProcFiles.Stat stat, long uptime) {
        return Duration.ofMillis(Math.max(0, uptime - stat.startTicks()) * 10);
    }

    /**
     * Whether a CNI plugin whose parent has ended still writes to this runtime, which shows to whom it belongs. Those of other
     * runtimes on the machine look the same.
     */
    private boolean writesToRuntime(ProcFiles.Stat stat, ProcessRole role, long uptime) {
        if (role != ProcessRole.CNI_PLUGIN || !isUnusual(stat, uptime) || !deep && memory.isStranger(stat)) {
            return false;
        }
        boolean writes = roles.entrySet().stream()
                .anyMatch(known -> known.getValue() == ProcessRole.RUNTIME && waits.reads(known.getKey(), stat.pid()));
        if (!waits.isCut()) {
            memory.belongs(stat, writes);
        }
        return writes;
    }

    private Optional<ProcessInfo> info(ProcFiles.Stat stat, long uptime) {
        Optional<ProcessRole> above = above(stat);
        Program program = program(stat);
        Optional<ProcessRole> role = Optional.ofNullable(roles.get(stat.pid())).or(() -> role(stat, program, above));
        if (role.isEmpty()) {
            return Optional.empty();
        }
        boolean own = roles.containsKey(stat.pid()) || above.isPresent() || writesToRuntime(stat, role.get(), uptime);
        boolean late = isProgram(role.get()) && isUnusual(stat, uptime);
        boolean threads =
                stat.state() == 'D' || stat.state() == 'Z' || role.get() == ProcessRole.RUNTIME || deep || late;
        List<Stall> stuck = threads ? stalls(stat) : List.of();
        boolean limited = limits && (role.get() == ProcessRole.RUNTIME || deep && role.get() == ProcessRole.SHIM);
        return Optional.of(new ProcessInfo(
                ref(stat),
                stat.parent(),
                stat.state(),
                age(stat, uptime),
                role.get(),
                own,
                verb(role.get(), program),
                ids(role.get(), stat, program, !stuck.isEmpty()),
                pod(role.get(), stat, program),
                stuck,
                role.get() == ProcessRole.RUNTIME ? new CgroupFiles(files).cpu(stat.pid()) : Optional.empty(),
                List.of(),
                limited ? new LimitFiles(files).of(stat.pid()) : List.of(),
                work(stat.pid(), role.get(), late),
                deep && role.get() == ProcessRole.RUNTIME ? OpenCommands.of(stat.pid(), files, clock) : Map.of(),
                false));
    }

    /** Whether it is a command of the runtime or a program that one started. */
    private static boolean isProgram(ProcessRole role) {
        return switch (role) {
            case CNI_PLUGIN, OCI_RUNTIME, HELPER -> true;
            case RUNTIME, SHIM, CONTAINER, OUTSIDER -> false;
        };
    }

    /** What a process got from the processors, once something is late: a runtime with 100 pods has some 160 threads. */
    private Optional<Work> work(int pid, ProcessRole role, boolean late) {
        boolean wanted = late || deep && role != ProcessRole.CONTAINER && role != ProcessRole.OUTSIDER;
        if (!wanted || threadsLeft <= 0) {
            return Optional.empty();
        }
        List<Integer> threads = files.threads(pid);
        threadsLeft -= threads.size();
        return files.work(pid, threads);
    }

    /** The role of the nearest ancestor that has one; empty for processes that are not below the runtime or a shim. */
    private Optional<ProcessRole> above(ProcFiles.Stat stat) {
        ProcFiles.Stat at = stats.get(stat.parent());
        for (int depth = 0; at != null && depth < DEEPEST; depth++) {
            ProcessRole known = roles.get(at.pid());
            if (known != null) {
                return Optional.of(known);
            }
            at = stats.get(at.parent());
        }
        return Optional.empty();
    }

    private Optional<ProcessRole> role(ProcFiles.Stat stat, Program program, Optional<ProcessRole> above) {
        if (above.isEmpty()) {
            // Its parent has ended.
            if (program.isCni()) {
                return Optional.of(ProcessRole.CNI_PLUGIN);
            }
            return program.ociRuntime()
                            && CommandLines.ids(program.arguments()).stream().anyMatch(ids::contains)
                    ? Optional.of(ProcessRole.OCI_RUNTIME)
                    : Optional.empty();
        }
        if (program.ociRuntime()) {
            return Optional.of(ProcessRole.OCI_RUNTIME);
        }
        if (above.get() != ProcessRole.SHIM && program.isCni()) {
            return Optional.of(ProcessRole.CNI_PLUGIN);
        }
        return Optional.of(
                above.get() == ProcessRole.SHIM && !helpsCommand(stat, program)
                        ? ProcessRole.CONTAINER
                        : ProcessRole.HELPER);
    }

    /**
     * Whether a command of an OCI runtime started it to help: hooks and the like. Only {@code runc init} and what it
     * becomes are of the container.
     */
    private boolean helpsCommand(ProcFiles.Stat stat, Program program) {
        boolean init =
                !program.arguments().isEmpty() && program.arguments().getLast().equals("init");
        return !init && isOfCommand(stat) && !isInContainer(stat.pid());
    }

    private static String verb(ProcessRole role, Program program) {
        return switch (role) {
            case CNI_PLUGIN -> program.cni().getOrDefault("CNI_COMMAND", "");
            case OCI_RUNTIME ->
                program.shimId().isPresent() ? program.arguments().getLast() : CommandLines.verb(program.arguments());
            default -> "";
        };
    }

    private List<String> ids(ProcessRole role, ProcFiles.Stat stat, Program program, boolean stuck) {
        return switch (role) {
            case SHIM -> program.shimId().stream().toList();
            case CNI_PLUGIN ->
                Optional.ofNullable(program.cni().get("CNI_CONTAINERID")).stream()
                        .toList();
            case OCI_RUNTIME -> program.shimId().map(List::of).orElseGet(() -> CommandLines.ids(program.arguments()));
            // Examined only if the process may become a culprit.
            case CONTAINER, HELPER ->
                stuck || stat.state() != 'S' && stat.state() != 'R'
                        ? new CgroupFiles(files).ids(stat.pid())
                        : List.of();
            case RUNTIME, OUTSIDER -> List.of();
        };
    }

    /** The pod that containerd passes to a CNI plugin, or that it has recorded for a sandbox which no list shows yet. */
    private Optional<PodIdentity> pod(ProcessRole role, ProcFiles.Stat stat, Program program) {
        if (role == ProcessRole.CNI_PLUGIN) {
            return PodIdentity.ofCniArguments(program.cni().getOrDefault("CNI_ARGS", ""));
        }
        if (role != ProcessRole.OCI_RUNTIME
                || programs.isUnreadable(stat)
                || CommandLines.ids(program.arguments()).stream().anyMatch(ids::contains)) {
            return Optional.empty();
        }
        return CommandLines.bundle(program.arguments())
                .flatMap(bundle -> programs.read(stat, () -> files.regular(bundle + "/config.json")))
                .flatMap(PodIdentity::ofBundle);
    }

    private Program program(ProcFiles.Stat stat) {
        return programs.of(stat);
    }
}
