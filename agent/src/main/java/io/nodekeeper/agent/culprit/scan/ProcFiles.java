package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.agent.kernel.KernelFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads files of {@code /proc}. Files may disappear at any time because processes end. Reading the memory of a stuck
 * process (its arguments and environment) may block. Thread-safe.
 *
 * @param root {@code /}, or a copy of the files for tests
 */
record ProcFiles(Path root) {
    /** A number of ns that fits a long. */
    private static final String NANOS = "\\d{1,18}";
    /** The longest file that is read, in bytes: environments and lists of mounts are rarely longer. */
    private static final int LONGEST = 1 << 18;

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
    record OpenFile(String path, String inode, int access, String fuseConnection) {}

    /** A line of {@code stat}: the cheap facts about a process or thread. */
    record Stat(int pid, String name, char state, int parent, long startTicks) {}

    /** The pids of all processes. */
    List<Integer> pids() throws IOException {
        return numbers(root.resolve("proc"));
    }

    /** The ids of a process's threads; empty if it has ended. */
    List<Integer> threads(int pid) {
        try {
            return numbers(process(pid).resolve("task"));
        } catch (IOException e) {
            // It has ended.
            return List.of();
        }
    }

    /** A process's state. */
    Optional<Stat> stat(int pid) {
        return read(process(pid).resolve("stat")).flatMap(ProcFiles::parse);
    }

    /** A thread's state. */
    Optional<Stat> stat(int pid, int thread) {
        return read(thread(pid, thread).resolve("stat")).flatMap(ProcFiles::parse);
    }

    /** What these threads of a process got from the processors; empty if the kernel does not report it. */
    Optional<Work> work(int pid, List<Integer> threads) {
        return threads.stream()
                .flatMap(thread -> read(thread(pid, thread).resolve("schedstat")).stream())
                .map(text -> text.strip().split(" "))
                .filter(values -> values.length >= 2 && values[0].matches(NANOS) && values[1].matches(NANOS))
                .map(values -> new Work(
                        Duration.ofNanos(Long.parseLong(values[0])), Duration.ofNanos(Long.parseLong(values[1]))))
                .reduce(Work::plus);
    }

    /** The arguments; empty for kernel threads and processes that have ended. */
    List<String> arguments(int pid) {
        return read(process(pid).resolve("cmdline"))
                .filter(text -> !text.isEmpty())
                .map(text -> List.of(text.split("\0")))
                .orElse(List.of());
    }

    /** The environment; empty if it has ended or this user may not read it. */
    List<String> environment(int pid) {
        return read(process(pid).resolve("environ"))
                .map(text -> List.of(text.split("\0")))
                .orElse(List.of());
    }

    /** The time since boot, in ticks of 1/100 s as {@code stat} counts. */
    long uptimeTicks() throws IOException {
        Path file = root.resolve("proc/uptime");
        String text = read(file).orElseThrow(() -> new IOException("cannot read " + file));
        return (long) (Double.parseDouble(text.split(" ")[0]) * 100);
    }

    /** A file of a process. */
    Path process(int pid) {
        return root.resolve("proc").resolve(Integer.toString(pid));
    }

    /** A file of a thread. */
    Path thread(int pid, int thread) {
        return process(pid).resolve("task").resolve(Integer.toString(thread));
    }

    /** The target of a symbolic link, as text; does not follow it. */
    Optional<String> link(Path path) {
        try {
            return Optional.of(Files.readSymbolicLink(path).toString());
        } catch (IOException | UnsupportedOperationException e) {
            // Ended, or this user may not read it.
            return Optional.empty();
        }
    }

    /** The links of a process's open files, at most {@value #OPEN_FILES}; empty if this user may not read them. */
    List<Path> openFiles(int pid) {
        Path directory = process(pid).resolve("fd");
        try {
            return numbers(directory).stream()
                    .limit(OPEN_FILES)
                    .map(fd -> directory.resolve(Integer.toString(fd)))
                    .toList();
        } catch (IOException e) {
            // Ended, or this user may not read it.
            return List.of();
        }
    }

    /** One of a process's open files. */
    Optional<OpenFile> openFile(int pid, int fd) {
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
    static String field(String text, String name) {
        return text.lines()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip())
                .findFirst()
                .orElse("");
    }

    /** The numbered entries of a directory. */
    static List<Integer> numbers(Path directory) throws IOException {
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
    Optional<String> read(Path file) {
        try {
            return Optional.of(KernelFile.beginning(file, LONGEST));
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
        String[] rest = line.substring(Math.min(close + 2, line.length())).split(" ", 21);
        if (rest.length < 20) {
            return Optional.empty();
        }
        return Optional.of(new Stat(
                Integer.parseInt(line.substring(0, open).strip()),
                line.substring(open + 1, close),
                rest[0].charAt(0),
                Integer.parseInt(rest[1]),
                Long.parseLong(rest[19])));
    }
}
