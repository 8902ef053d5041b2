package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.OpenFileIndex;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.ScanBudget;
import io.nodekeeper.agent.host.UnixDiag;
import io.nodekeeper.agent.host.UnixPeers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads for what processes wait, for one scan: tracers, freezers, file locks, mutexes in shared memory, pipes, sockets, children
 * and file systems with a server process. Reads no file but those of {@code /proc}, of the cgroups and of fusectl. Not
 * thread-safe.
 */
final class WaitFiles {
    /** The most threads that are examined per process: a runtime has 10 to 40. */
    private static final int THREADS = 128;
    /** The same for a container: its first threads usually do the work that others wait for. */
    private static final int CONTAINER_THREADS = 4;

    /**
     * Daemons to which programs keep connections open, or that only forward: the journal, the manager's notifications,
     * the system log, the name service cache and D-Bus. That a program is connected to one of them says nothing.
     */
    private static final List<String> ORDINARY =
            List.of("/run/systemd/", "/dev/log", "/run/dbus/", "/var/run/dbus/", "/run/nscd/", "/var/run/nscd/");

    /** Lists the machine's unix sockets. */
    @FunctionalInterface
    interface SocketTable {
        List<UnixDiag.Socket> sockets() throws IOException;
    }

    private final ProcFiles files;
    private final Map<Integer, ProcFiles.Stat> stats;
    private final FreezerFiles freezers;
    private final FileLocks locks;
    private final SharedMutexes mutexes;
    private final OpenEnds ends;
    private final SocketTable table;
    private final FuseServers servers;
    private final ScanBudget budget;
    /** Read when the first question is asked; at most as many as the list has. */
    private @Nullable UnixPeers peers;

    /**
     * The waits of one scan.
     *
     * @param stats all processes of the machine
     * @param arguments of the process with a pid, as they are known
     * @param index what processes have open, which outlives the scan
     */
    WaitFiles(
            ProcFiles files,
            Map<Integer, ProcFiles.Stat> stats,
            IntFunction<List<String>> arguments,
            SocketTable sockets,
            OpenFileIndex index,
            ScanBudget budget) {
        this.files = files;
        this.stats = stats;
        this.budget = budget;
        this.freezers = new FreezerFiles(files);
        this.locks = new FileLocks(files, stats.keySet(), budget);
        this.mutexes = new SharedMutexes(files, stats.keySet(), budget);
        this.ends = new OpenEnds(files, stats, index, budget);
        this.table = sockets;
        this.servers = new FuseServers(files, ends, arguments);
    }

    /** The tracer or freezer that holds a process. */
    Optional<Wait> held(ProcFiles.Stat stat) {
        return freezers.of(stat.pid()).<Wait>map(wait -> wait).or(() -> tracer(stat));
    }

    /**
     * What a process waits for. A tracer or freezer excludes all else: until it lets go, nothing else matters.
     *
     * @param command whether it is a short program of the runtime, or one that such a program started
     */
    List<Wait> of(ProcFiles.Stat stat, ProcessRole role, boolean command) {
        int pid = stat.pid();
        // Some five files, also when the budget is spent: else a frozen process would look silent.
        Optional<Wait> held = held(stat);
        if (held.isPresent()) {
            return List.of(held.get());
        }
        if (!budget.spend()) {
            return List.of();
        }
        Set<Wait> waits = new LinkedHashSet<>();
        Optional<ProcFiles.OpenFile> locked = Optional.empty();
        boolean inContainer = role == ProcessRole.CONTAINER;
        List<Integer> threads = files.threads(pid);
        int most = Math.min(inContainer ? CONTAINER_THREADS : THREADS, threads.size());
        for (int thread : threads.subList(0, most)) {
            String where = budget.spend()
                    ? files.read(files.thread(pid, thread).resolve("wchan")).orElse("")
                    : "";
            if (isLock(where)) {
                locked = locked.or(() -> file(pid, thread));
            } else if (where.contains("pipe_read") || where.contains("pipe_write")) {
                file(pid, thread)
                        .map(file -> new Wait.ForPipe(file.path(), true, ends.opposite(pid, file)))
                        .filter(wait -> !wait.holders().isEmpty())
                        .ifPresent(waits::add);
            } else if (where.contains("fuse") || where.equals("request_wait_answer")) {
                servers.of(pid, file(pid, thread)).ifPresent(waits::add);
            } else if (isSocket(where) && (command || role == ProcessRole.OUTSIDER)) {
                file(pid, thread)
                        .filter(file -> OpenFileIndex.isSocket(file.path()))
                        .flatMap(file -> socket(pid, file.path(), true))
                        .ifPresent(waits::add);
            } else if (SharedMutexes.isFutex(where)
                    && stat.state() == 'S'
                    && (command || role == ProcessRole.OUTSIDER)) {
                mutexes.of(pid, thread).ifPresent(waits::add);
            } else if (where.equals("do_wait") && command) {
                child(pid, thread).map(Wait.ForChild::new).ifPresent(waits::add);
            }
        }
        waits.addAll(locks.of(pid, locked));
        if (command) {
            // Programs in Go do not block in system calls: they have a connection open and poll it.
            Set<String> blocked = new LinkedHashSet<>();
            waits.forEach(wait -> {
                if (wait instanceof Wait.ForSocket socket) {
                    blocked.add(socket.socket());
                }
            });
            ends.sockets(pid).stream()
                    .filter(socket -> !blocked.contains(socket))
                    .flatMap(socket -> socket(pid, socket, false).stream())
                    .filter(open -> !open.peer().isEmpty() && ORDINARY.stream().noneMatch(open.peer()::startsWith))
                    .forEach(waits::add);
        }
        // The others start programs and read their output.
        if (!inContainer && role != ProcessRole.OUTSIDER) {
            waits.addAll(output(pid));
        }
        return List.copyOf(waits);
    }

    /** Whether the budget ended: then what is found from now on is not all. */
    boolean isCut() {
        return budget.isSpent();
    }

    /** Whether a process can read from a pipe into which {@code writer} can write. */
    boolean reads(int pid, int writer) {
        return ends.readable(pid).stream()
                .anyMatch(pipe -> ends.opposite(pid, pipe).contains(writer));
    }

    private List<Wait> output(int pid) {
        List<Wait> waits = new ArrayList<>();
        for (ProcFiles.OpenFile pipe : ends.readable(pid)) {
            List<Integer> writers = ends.opposite(pid, pipe);
            if (!writers.isEmpty()) {
                waits.add(new Wait.ForPipe(pipe.path(), false, writers));
            }
        }
        return waits;
    }

    private Optional<Wait> tracer(ProcFiles.Stat stat) {
        return stat.state() == 't'
                ? files.read(files.process(stat.pid()).resolve("status"))
                        .map(text -> ProcFiles.field(text, "TracerPid:"))
                        .filter(text -> text.matches("[1-9]\\d{0,8}"))
                        .map(text -> new Wait.Traced(Integer.parseInt(text)))
                : Optional.empty();
    }

    /**
     * The processes that a client waits for; empty for a server. The kernel lists the sockets of this agent's network
     * namespace only: those of a CNI plugin or a command of runc, which run in the runtime's own namespace, if the agent
     * runs in the host's, too.
     */
    private Optional<Wait.ForSocket> socket(int pid, String link, boolean blocked) {
        String inode = link.substring(link.indexOf('[') + 1, link.length() - 1);
        if (!inode.matches("\\d{1,18}")) {
            return Optional.empty();
        }
        long number = Long.parseLong(inode);
        return switch (blocked ? peers().ofBlocked(number) : peers().of(number)) {
            case UnixPeers.Other.None none -> Optional.empty();
            case UnixPeers.Other.Unseen unseen ->
                Optional.of(new Wait.ForSocket(link, "", blocked, Wait.Progress.UNSEEN, List.of()));
            case UnixPeers.Other.Server(UnixPeers.Peer peer) ->
                Optional.of(new Wait.ForSocket(
                        link,
                        peer.path(),
                        blocked,
                        !peer.accepted()
                                ? Wait.Progress.NOT_ACCEPTED
                                : peer.unread() ? Wait.Progress.NOT_READ : Wait.Progress.READ,
                        servers(pid, peer.inode())));
        };
    }

    private List<Integer> servers(int pid, long inode) {
        List<Integer> holders = ends.holders("socket:[" + inode + "]").stream()
                .filter(holder -> holder != pid)
                .toList();
        // With socket activation, init also holds the listening socket but does not answer.
        return holders.stream()
                .filter(holder -> holder != 1 || holders.size() == 1)
                .toList();
    }

    private UnixPeers peers() {
        if (peers == null) {
            try {
                peers = new UnixPeers(table.sockets());
            } catch (IOException e) {
                // Without the list each socket is unseen, which the evidence says.
                peers = new UnixPeers(List.of());
            }
        }
        return peers;
    }

    /**
     * The child for whose end a thread waits: the one that its system call names, or its process's only one. It is
     * not known if the call is for any of several children.
     */
    private Optional<Integer> child(int pid, int thread) {
        List<Integer> children = stats.values().stream()
                .filter(stat -> stat.parent() == pid && stat.state() != 'Z')
                .map(ProcFiles.Stat::pid)
                .toList();
        return named(pid, thread)
                .filter(children::contains)
                .or(() -> children.size() == 1 ? Optional.of(children.getFirst()) : Optional.empty());
    }

    /**
     * The pid in the arguments of wait4(pid, ...) or waitid(type, id, ...), whose numbers on x86-64 and aarch64 differ
     * from each other's and from those of all other calls that wait for a child.
     */
    private Optional<Integer> named(int pid, int thread) {
        String[] words = files.read(files.thread(pid, thread).resolve("syscall"))
                .orElse("")
                .strip()
                .split(" ");
        return words.length < 3
                ? Optional.empty()
                : switch (words[0]) {
                    case "61", "260" -> number(words[1]);
                    case "247", "95" ->
                        switch (words[1]) {
                            case "0x1" -> number(words[2]);
                            // P_PIDFD: the id is that of an open file.
                            case "0x3" ->
                                number(words[2])
                                        .flatMap(fd -> files.read(files.process(pid)
                                                .resolve("fdinfo")
                                                .resolve(Integer.toString(fd))))
                                        .map(text -> ProcFiles.field(text, "Pid:"))
                                        .filter(text -> text.matches("\\d{1,9}"))
                                        .map(Integer::parseInt);
                            default -> Optional.empty();
                        };
                    default -> Optional.empty();
                };
    }

    private static Optional<Integer> number(String hexadecimal) {
        return hexadecimal.matches("0x[0-9a-f]{1,7}")
                ? Optional.of(Integer.parseInt(hexadecimal.substring(2), 16))
                : Optional.empty();
    }

    /** The file of a thread's system call. Format: its number, then its arguments in hexadecimal; the first is the file. */
    private Optional<ProcFiles.OpenFile> file(int pid, int thread) {
        return files.read(files.thread(pid, thread).resolve("syscall"))
                .map(text -> text.strip().split(" "))
                .filter(words -> words.length > 2 && words[1].matches("0x[0-9a-f]{1,5}"))
                .flatMap(words -> files.openFile(pid, Integer.parseInt(words[1].substring(2), 16)));
    }

    /** Kernel functions in which threads wait for the other end of a socket, as Linux 4.19 to 6.18 name them. */
    private static boolean isSocket(String where) {
        return where.startsWith("unix_")
                || where.contains("skb_wait")
                || where.startsWith("sk_wait")
                || where.startsWith("sk_stream_wait")
                || where.equals("sock_alloc_send_pskb");
    }

    private static boolean isLock(String where) {
        return where.contains("lock_inode_wait") || where.equals("fcntl_setlk") || where.equals("do_lock_file_wait");
    }
}
