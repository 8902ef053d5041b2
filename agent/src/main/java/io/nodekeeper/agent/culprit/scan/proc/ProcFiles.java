package io.nodekeeper.agent.culprit.scan.proc;

import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.kernel.MountTable;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads files of {@code /proc}. Files may disappear at any time because processes end. Reading the memory of a stuck
 * process (its arguments and environment) may block. Thread-safe.
 *
 * @param root {@code /}, or a copy of the files for tests
 */
public record ProcFiles(Path root) {
    private static final Logger log = LoggerFactory.getLogger(ProcFiles.class);

    /** The most digits of a number of ns that fits a long. */
    private static final int NANOS = 18;
    /** The fields of a line of {@code stat} from the parent's pid to the start time. */
    private static final int TO_START = 18;

    /** The longest file that is read, in bytes: environments are rarely longer. */
    private static final int LONGEST = 1 << 18;
    /** Bytes of a command line, and arguments in them. The commands of runtimes have some hundred bytes. */
    private static final int LINE = 1 << 15;

    private static final int ARGUMENTS = 1_000;

    /** The most open files of one process that are examined: those of a busy runtime with hundreds of pods. */
    private static final int OPEN_FILES = 4_096;

    /**
     * An open file of a process. Immutable.
     *
     * @param path the target of its link: a path, or {@code pipe:[INODE]} and the like
     * @param inode as text; empty if the kernel does not report it
     * @param access 0 for reading, 1 for writing, 2 for both, as in open(2)
     * @param fuseConnection the number of the FUSE connection that it serves; empty for other files
     */
    public record OpenFile(String path, String inode, int access, String fuseConnection) {}

    /** A line of {@code stat}: the cheap facts about a process or thread. */
    public record Stat(int pid, String name, char state, int parent, long startTicks) {}

    /**
     * Where a process is in one hierarchy of cgroups, below its root. Immutable.
     *
     * @param controllers those of version 1 that are mounted together; empty for version 2
     * @param path below the mount of the hierarchy; starts with {@code /}
     */
    public record Cgroup(List<String> controllers, String path) {
        /** Whether it is in the hierarchy of version 2. */
        public boolean isUnified() {
            return controllers.isEmpty();
        }
    }

    /** The pids of all processes. */
    public List<Integer> pids() throws IOException {
        return numbers(root.resolve("proc"));
    }

    /** The ids of a process's threads; empty if it has ended. */
    public List<Integer> threads(int pid) {
        try {
            return numbers(process(pid).resolve("task"));
        } catch (IOException e) {
            // It has ended.
            return List.of();
        }
    }

    /** The mounts that a process sees; empty if it has ended. Their paths are text: following them might hang. */
    public MountTable mounts(int pid) {
        return mounts(process(pid).resolve("mountinfo"));
    }

    /** The mounts that this agent sees. */
    public MountTable ownMounts() {
        return mounts(root.resolve("proc/self/mountinfo"));
    }

    private MountTable mounts(Path file) {
        return MountTable.parse(
                read(file, KernelFile.LIMIT).stream().flatMap(String::lines).toList());
    }

    /** A process's state. */
    public Optional<Stat> stat(int pid) {
        return read(process(pid).resolve("stat")).flatMap(ProcFiles::parse);
    }

    /** A thread's state. */
    public Optional<Stat> stat(int pid, int thread) {
        return read(thread(pid, thread).resolve("stat")).flatMap(ProcFiles::parse);
    }

    /** What these threads of a process got from the processors; empty if the kernel does not report it. */
    public Optional<Work> work(int pid, List<Integer> threads) {
        return threads.stream()
                .flatMap(thread -> read(thread(pid, thread).resolve("schedstat")).stream())
                .flatMap(text -> work(text).stream())
                .reduce(Work::plus);
    }

    /** Two numbers of ns at the beginning of a line. */
    private static Optional<Work> work(String line) {
        int first = digits(line, 0);
        int second = first < line.length() && line.charAt(first) == ' ' ? digits(line, first + 1) : first;
        return first == 0 || second <= first + 1 || first > NANOS || second - first - 1 > NANOS
                ? Optional.empty()
                : Optional.of(new Work(
                        Duration.ofNanos(Long.parseLong(line, 0, first, 10)),
                        Duration.ofNanos(Long.parseLong(line, first + 1, second, 10))));
    }

    /** The end of the digits that begin at {@code from}. */
    private static int digits(String text, int from) {
        int end = from;
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        return end;
    }

    /**
     * The arguments, at most {@value #ARGUMENTS} in the first {@value #LINE} bytes: a process chooses them. Empty for kernel threads and
     * processes that have ended.
     */
    public List<String> arguments(int pid) {
        return read(process(pid).resolve("cmdline"), LINE)
                .filter(text -> !text.isEmpty())
                .map(text -> Arrays.stream(text.split("\0")).limit(ARGUMENTS).toList())
                .orElse(List.of());
    }

    /** The environment; empty if it has ended or this user may not read it. */
    public List<String> environment(int pid) {
        return read(process(pid).resolve("environ"))
                .map(text -> List.of(text.split("\0")))
                .orElse(List.of());
    }

    /** Its cgroups; without those that are the root, or outside of the hierarchy that this agent sees. */
    public List<Cgroup> cgroups(int pid) {
        return read(process(pid).resolve("cgroup")).stream()
                .flatMap(String::lines)
                .map(line -> line.split(":", 3))
                .filter(part -> part.length == 3 && !part[2].equals("/") && !part[2].contains("..") && isPath(part[2]))
                .map(part -> new Cgroup(part[1].isEmpty() ? List.of() : List.of(part[1].split(",")), part[2]))
                .toList();
    }

    /** The time since boot, in ticks of 1/100 s as {@code stat} counts. */
    public long uptimeTicks() throws IOException {
        Path file = root.resolve("proc/uptime");
        String text = read(file).orElseThrow(() -> new IOException("cannot read " + file));
        return (long) (Double.parseDouble(text.split(" ")[0]) * 100);
    }

    /** A file of a process. */
    public Path process(int pid) {
        return root.resolve("proc").resolve(Integer.toString(pid));
    }

    /** A file of a thread. */
    public Path thread(int pid, int thread) {
        return process(pid).resolve("task").resolve(Integer.toString(thread));
    }

    /** The target of a symbolic link, as text; does not follow it. */
    public Optional<String> link(Path path) {
        try {
            return Optional.of(Files.readSymbolicLink(path).toString());
        } catch (IOException | UnsupportedOperationException e) {
            // Ended, or this user may not read it.
            return Optional.empty();
        }
    }

    /** The links of a process's open files, at most {@value #OPEN_FILES}; empty if this user may not read them. */
    public List<Path> openFiles(int pid) {
        Path directory = process(pid).resolve("fd");
        return openNumbers(pid, OPEN_FILES).stream()
                .map(fd -> directory.resolve(Integer.toString(fd)))
                .toList();
    }

    /** The numbers of a process's open files, at most {@code most}: it may have opened millions, which would exhaust the memory of a reader of all. */
    public List<Integer> openNumbers(int pid, int most) {
        List<Integer> numbers = new ArrayList<>();
        each(pid, name -> {
            numbers.add(Integer.parseInt(name));
            return numbers.size() < most;
        });
        return numbers;
    }

    /** How many files a process has open; a number of {@code most} may be more. */
    public long openCount(int pid, long most) {
        long[] count = {0};
        each(pid, name -> ++count[0] < most);
        return count[0];
    }

    /** Passes the numbers of a process's open files to {@code more} while it wants more; none if this user may not read them. */
    private void each(int pid, Predicate<String> more) {
        try (DirectoryStream<Path> open = Files.newDirectoryStream(process(pid).resolve("fd"))) {
            for (Path file : open) {
                String name = file.getFileName().toString();
                if (isNumber(name) && !more.test(name)) {
                    return;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            log.debug("the open files of process {} are not read further: {}", pid, e.getMessage());
        }
    }

    /** One of a process's open files. */
    public Optional<OpenFile> openFile(int pid, int fd) {
        String name = Integer.toString(fd);
        return link(process(pid).resolve("fd").resolve(name)).map(path -> {
            String info = read(process(pid).resolve("fdinfo").resolve(name)).orElse("");
            String flags = field(info, "flags:");
            return new OpenFile(
                    path,
                    field(info, "ino:"),
                    flags.isEmpty() ? 0 : flags.charAt(flags.length() - 1) & 3,
                    field(info, "fuse_connection:"));
        });
    }

    /** The value of the first line that starts with {@code name}; empty if there is none. */
    public static String field(String text, String name) {
        return text.lines()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip())
                .findFirst()
                .orElse("");
    }

    /** The numbered entries of a directory. */
    public static List<Integer> numbers(Path directory) throws IOException {
        // Hundreds of names every few seconds: creating a path and a stream for each would be wasteful.
        String[] names = directory.toFile().list();
        if (names == null) {
            throw new IOException("cannot read " + directory);
        }
        List<Integer> numbers = new ArrayList<>(names.length);
        for (String name : names) {
            if (isNumber(name)) {
                numbers.add(Integer.parseInt(name));
            }
        }
        return numbers;
    }

    private static boolean isNumber(String name) {
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) < '0' || name.charAt(i) > '9') {
                return false;
            }
        }
        return !name.isEmpty() && name.length() < 10;
    }

    /** A file's text; empty if it is gone or this user may not read it. */
    public Optional<String> read(Path file) {
        return read(file, LONGEST);
    }

    /**
     * The text of a file of the machine whose path a process names; empty if it is no regular file: opening a named pipe would
     * block for ever. A link in place of the file is not followed. Blocks as long as its file system hangs.
     */
    public Optional<String> regular(String path) {
        if (!path.startsWith("/") || !isPath(path)) {
            return Optional.empty();
        }
        Path file = root.resolve(path.substring(1));
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) ? read(file) : Optional.empty();
    }

    /** Whether a text can be a path: not with characters that the locale of this agent does not have. */
    public static boolean isPath(String text) {
        return path(text).isPresent();
    }

    private static Optional<Path> path(String text) {
        try {
            return Optional.of(Path.of(text));
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    /** The first {@code limit} bytes of a file. */
    public Optional<String> read(Path file, int limit) {
        try {
            return Optional.of(KernelFile.beginning(file, limit));
        } catch (IOException e) {
            // Ended, or this user may not read it.
            return Optional.empty();
        }
    }

    /**
     * {@code length} bytes of a process's memory; empty if it has ended, if nothing is there, or if this user may not read it.
     * Blocks while another thread of the process changes its memory's layout.
     */
    public Optional<byte[]> memory(int pid, long address, int length) {
        try {
            return Optional.of(KernelFile.bytes(process(pid).resolve("mem"), address, length));
        } catch (IOException e) {
            // Ended, or this user may not read it.
            return Optional.empty();
        }
    }

    /** The name is in parentheses and may itself contain blanks and parentheses. */
    private static Optional<Stat> parse(String line) {
        int open = line.indexOf('(');
        int close = line.lastIndexOf(')');
        if (open < 1 || close < open) {
            return Optional.empty();
        }
        // Some hundred lines in each scan: no text is made of the fields that are not needed.
        int state = close + 2;
        int parent = state + 2;
        int start = parent;
        for (int field = 0; field < TO_START; field++) {
            start = line.indexOf(' ', start) + 1;
            if (start == 0) {
                return Optional.empty();
            }
        }
        int end = digits(line, start);
        int parentEnd = digits(line, parent);
        return end == start || parentEnd == parent
                ? Optional.empty()
                : Optional.of(new Stat(
                        Integer.parseInt(line, 0, digits(line, 0), 10),
                        line.substring(open + 1, close),
                        line.charAt(state),
                        Integer.parseInt(line, parent, parentEnd, 10),
                        Long.parseLong(line, start, end, 10)));
    }
}
