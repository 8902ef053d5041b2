package io.nodekeeper.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The processor time of some processes, of all that they start, and of the pods of their node. Version 1 or 2 of control groups. */
final class ProcessorUse implements AutoCloseable {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");

    private final boolean first = Files.isDirectory(ROOT.resolve("cpuacct"));
    private final Path hierarchy = first ? ROOT.resolve("cpuacct") : ROOT;
    private final Path node;
    private final Path group;

    private ProcessorUse(String cgroup) throws IOException {
        node = hierarchy.resolve(cgroup.substring(1));
        // In version 2 a group with subgroups has no processes itself.
        group = Files.createDirectories(node.resolve("measured"));
    }

    /** Measures {@code processes} from now on; {@code cgroup} is that in which the cgroups of pods are. */
    static ProcessorUse of(String cgroup, List<Long> processes) throws IOException {
        ProcessorUse use = new ProcessorUse(cgroup);
        for (long pid : processes) {
            Files.writeString(use.group.resolve("cgroup.procs"), Long.toString(pid));
        }
        return use;
    }

    /** The processor time so far, in seconds. */
    double seconds() {
        try {
            if (first) {
                return Long.parseLong(
                                Files.readString(node.resolve("cpuacct.usage")).strip())
                        / 1e9;
            }
            return Files.readAllLines(node.resolve("cpu.stat")).stream()
                            .filter(line -> line.startsWith("usage_usec "))
                            .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
                            .sum()
                    / 1e6;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Puts the processes back where most are. */
    @Override
    public void close() throws IOException {
        for (String pid : Files.readAllLines(group.resolve("cgroup.procs"))) {
            Files.writeString(hierarchy.resolve("cgroup.procs"), pid);
        }
    }
}
