package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.PathArguments;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.SystemCalls;
import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.agent.kernel.MountTable.Mount;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reads what the kernel reports about threads in uninterruptible sleep. It touches no file system but {@code /proc}:
 * paths are compared as text, because following them might hang like the thread. Immutable.
 */
record StallFiles(ProcFiles files) {
    /** The most threads to report per process; one is enough to identify the cause. */
    private static final int THREADS = 4;
    /** The kernel functions in which a thread waits after vfork, as Linux 4.19 to 6.18 name them. */
    private static final Set<String> FORKS = Set.of("wait_for_vfork_done", "kernel_clone", "_do_fork");

    private static final SystemCalls CALLS = SystemCalls.ofMachine();
    /** The most open files to examine per process: a bound on the cost of one scan. */
    private static final int OPEN = 64;

    /** How much is read of a thread. Each level may block where the one before does not. */
    enum Depth {
        /** The kernel function in which it waits. */
        STATE,
        /** Its system call and stack, too: the kernel keeps them locked while a program starts, as long as its file system hangs. */
        CALLS,
        /** The paths in its system calls, too, which are in the process's memory. */
        MEMORY
    }

    /**
     * The threads of a process that are in state D, at most a few, without those that called vfork and wait for their child:
     * these can be killed, and wait only as long as the child does.
     */
    List<Stall> of(int pid, Depth depth) {
        return files.threads(pid).stream()
                .filter(thread -> files.stat(pid, thread)
                        .filter(stat -> stat.state() == 'D')
                        .isPresent())
                .filter(thread -> !waitsForChild(pid, thread, depth))
                .limit(THREADS)
                .map(thread -> stall(pid, thread, depth))
                .toList();
    }

    private boolean waitsForChild(int pid, int thread, Depth depth) {
        Path directory = files.thread(pid, thread);
        // A thread can wait for a lock or for memory while it starts a process, too. Not all kernels show the function.
        return text(directory.resolve("wchan"))
                .filter(function -> !function.equals("0"))
                .map(FORKS::contains)
                .orElseGet(() ->
                        call(directory, depth).filter(CALLS::startsProcess).isPresent());
    }

    private Optional<String> call(Path thread, Depth depth) {
        return depth == Depth.STATE ? Optional.empty() : text(thread.resolve("syscall"));
    }

    private Stall stall(int pid, int thread, Depth depth) {
        Path directory = files.thread(pid, thread);
        Optional<String> call = call(directory, depth);
        Optional<String> path = call.filter(text -> depth == Depth.MEMORY)
                .flatMap(text -> PathArguments.of(files).of(pid, text));
        Optional<String> file = path.isPresent() ? Optional.empty() : call.flatMap(text -> file(pid, text));
        return new Stall(
                thread,
                switches(directory),
                text(directory.resolve("wchan"))
                        .filter(name -> !name.equals("0"))
                        .orElse(""),
                Optional.of(directory.resolve("stack"))
                        .filter(stack -> depth != Depth.STATE)
                        .flatMap(files::read)
                        .map(text -> text.lines()
                                .map(StallFiles::function)
                                .filter(name -> !name.isEmpty())
                                .limit(8)
                                .toList())
                        .orElse(List.of()),
                file,
                path,
                mounts(pid, file, path));
    }

    private long switches(Path thread) {
        return files.read(thread.resolve("status")).stream()
                .flatMap(String::lines)
                .filter(line -> line.contains("voluntary_ctxt_switches:"))
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
                .sum();
    }

    /** The file that is the first argument of a system call. */
    private Optional<String> file(int pid, String call) {
        return CALLS.descriptor(call)
                .flatMap(number -> files.link(files.process(pid).resolve("fd").resolve(Integer.toString(number))))
                .filter(path -> path.startsWith("/"));
    }

    /** The mounts of the process's open files, that of {@code file} or {@code path} first, or else its only volume. */
    private List<Stall.Mount> mounts(int pid, Optional<String> file, Optional<String> path) {
        MountTable own = files.mounts(pid);
        MountTable host = files.ownMounts();
        if (path.isPresent() && own.of(path.get()).filter(StallFiles::isNamed).isEmpty()) {
            // By its text it is on none that can be named, and the others of the process would be a guess.
            return List.of();
        }
        Set<String> paths = new LinkedHashSet<>();
        file.or(() -> path).ifPresent(paths::add);
        files.link(files.process(pid).resolve("cwd")).ifPresent(paths::add);
        for (int fd : open(pid)) {
            files.link(files.process(pid).resolve("fd").resolve(Integer.toString(fd)))
                    .filter(opened -> opened.startsWith("/"))
                    .ifPresent(paths::add);
        }
        Set<Stall.Mount> mounts = new LinkedHashSet<>();
        for (String used : paths) {
            own.of(used).filter(StallFiles::isNamed).ifPresent(mount -> mounts.add(onHost(mount, host)));
        }
        return mounts.isEmpty() ? onlyVolume(own, host) : List.copyOf(mounts);
    }

    /** Whether a process that uses this mount may wait for it. Every process uses that at {@code /}, so it says nothing. */
    private static boolean isNamed(Mount mount) {
        return onDevice(mount) && !mount.point().equals("/");
    }

    /** The only volume of a container: if no file of the process shows what it uses, one volume is the answer. */
    private static List<Stall.Mount> onlyVolume(MountTable own, MountTable host) {
        Set<String> devices = new LinkedHashSet<>();
        host.mounts().stream().filter(mount -> mount.point().equals("/")).forEach(mount -> devices.add(mount.device()));
        if (host.mounts().stream()
                .map(Mount::point)
                .toList()
                .equals(own.mounts().stream().map(Mount::point).toList())) {
            return List.of();
        }
        List<Stall.Mount> volumes = own.mounts().stream()
                .filter(mount -> onDevice(mount) && !devices.contains(mount.device()))
                .map(mount -> onHost(mount, host))
                .distinct()
                .toList();
        return volumes.size() == 1 ? volumes : List.of();
    }

    private List<Integer> open(int pid) {
        // The three standard ones are not among them.
        return files.openNumbers(pid, OPEN + 3).stream()
                .filter(fd -> fd > 2)
                .limit(OPEN)
                .toList();
    }

    /** The same file system where the host mounts all of it: inside a container it has another mount point. */
    private static Stall.Mount onHost(Mount inside, MountTable host) {
        return Stall.Mount.of(host.whole(inside.device()).orElse(inside));
    }

    /** Whether the file system is on a device or a server, so that it can stall. */
    static boolean onDevice(Mount mount) {
        return mount.source().startsWith("/dev/")
                || Stream.of("nfs", "cifs", "ceph", "fuse").anyMatch(mount.type()::startsWith);
    }

    /** {@code [<0>] name+0x1/0x2}. */
    private static String function(String line) {
        String name = line.substring(line.indexOf(']') + 1).strip();
        int plus = name.indexOf('+');
        return plus < 0 ? name : name.substring(0, plus);
    }

    private Optional<String> text(Path file) {
        return files.read(file).map(String::strip).filter(text -> !text.isEmpty());
    }
}
