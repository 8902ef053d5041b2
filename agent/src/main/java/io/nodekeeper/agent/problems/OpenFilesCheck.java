package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.kernel.KernelFile;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;

/** Finds that the agent or the machine runs out of file descriptors. Used by one worker at a time. */
public final class OpenFilesCheck implements ProblemCheck {
    static final String TYPE = "FileDescriptorPressure";
    /**
     * The fewest descriptors with which an agent starts. It needs about 150: its jars, its connections, and the files
     * of a scan.
     */
    public static final long LEAST = 256;
    /** The share of a limit from which the condition is True. */
    private static final double FULL = 0.9;

    private static final String LIMIT = "Max open files";

    private final Path proc;

    /** A check of the files below {@code proc}. */
    public OpenFilesCheck(Path proc) {
        this.proc = proc;
    }

    /** Why the limit of this process is too small for an agent; empty if it suffices or cannot be read; blocks. */
    public static Optional<String> limitFault() {
        try {
            long limit = limit(Path.of("/proc"));
            return limit < LEAST
                    ? Optional.of("RLIMIT_NOFILE is " + limit + "; expected " + LEAST
                            + " or more (ulimit -n, or LimitNOFILE of the systemd unit)")
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * Opens all jars of the class path, which stay open: a class that is needed for the first time while no descriptor is
     * left could not be loaded.
     *
     * @throws IOException if a jar cannot be opened
     */
    public static void openJars() throws IOException {
        Enumeration<URL> manifests = OpenFilesCheck.class.getClassLoader().getResources("META-INF/MANIFEST.MF");
        while (manifests.hasMoreElements()) {
            manifests.nextElement();
        }
    }

    @Override
    public String name() {
        return "open files";
    }

    @Override
    public List<String> conditions() {
        return List.of(TYPE);
    }

    @Override
    public Duration period() {
        return Duration.ofSeconds(10);
    }

    @Override
    public Duration deadline() {
        return Duration.ofSeconds(2);
    }

    @Override
    public Finding run() throws IOException {
        // The list itself needs a descriptor, so it fails where none is left.
        String[] open = proc.resolve("self/fd").toFile().list();
        long limit = limit(proc);
        if (open == null || open.length >= limit * FULL) {
            return Finding.of(Finding.problem(
                    TYPE,
                    "AgentHasFewFileDescriptors",
                    "the agent has " + (open == null ? "all" : open.length) + " of " + limit
                            + " file descriptors open (RLIMIT_NOFILE)"));
        }
        return Finding.of(machine());
    }

    private ConditionReport machine() throws IOException {
        Path file = proc.resolve("sys/fs/file-nr");
        String[] numbers = KernelFile.text(file).strip().split("\\s+");
        if (numbers.length != 3) {
            throw new IOException(file + ": expected three numbers, got \"" + String.join(" ", numbers) + "\"");
        }
        // The kernel's own limit is about 2^63 by default, which no double holds exactly; the share does not need it.
        double used = Double.parseDouble(numbers[0]);
        double limit = Double.parseDouble(numbers[2]);
        return used >= limit * FULL
                ? Finding.problem(
                        TYPE,
                        "NodeHasFewFileDescriptors",
                        "the machine has " + numbers[0] + " of " + numbers[2] + " files open (fs.file-max)")
                : Finding.fine(TYPE, "FileDescriptorsAvailable", "file descriptors are available");
    }

    private static long limit(Path proc) throws IOException {
        Path file = proc.resolve("self/limits");
        for (String line : KernelFile.lines(file)) {
            if (line.startsWith(LIMIT)) {
                String soft = line.substring(LIMIT.length()).strip().split("\\s+")[0];
                return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
            }
        }
        throw new IOException(file + " has no line \"" + LIMIT + "\"");
    }
}
