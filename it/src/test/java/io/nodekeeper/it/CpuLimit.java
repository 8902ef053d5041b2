package io.nodekeeper.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A control group in which a process gets little processor time. Version 1 or 2 of control groups. */
final class CpuLimit implements AutoCloseable {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");

    private final boolean first = Files.isDirectory(ROOT.resolve("cpu"));
    private final Path hierarchy = first ? ROOT.resolve("cpu") : ROOT;
    private final Path group;

    /** A group called {@code name}, without a limit. */
    CpuLimit(String name) throws IOException {
        if (!first) {
            Files.writeString(ROOT.resolve("cgroup.subtree_control"), "+cpu");
        }
        group = Files.createDirectory(hierarchy.resolve(name));
    }

    /** The process and its future children get {@code quota} of processor time in each {@code period}, at most 1 s. */
    void limit(long pid, Duration quota, Duration period) throws IOException {
        String quotaMicros = Long.toString(quota.toNanos() / 1_000);
        String periodMicros = Long.toString(period.toNanos() / 1_000);
        if (first) {
            Files.writeString(group.resolve("cpu.cfs_period_us"), periodMicros);
            Files.writeString(group.resolve("cpu.cfs_quota_us"), quotaMicros);
        } else {
            Files.writeString(group.resolve("cpu.max"), quotaMicros + " " + periodMicros);
        }
        Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
    }

    /** Removes the limit. */
    void lift() throws IOException {
        if (first) {
            Files.writeString(group.resolve("cpu.cfs_quota_us"), "-1");
        } else {
            Files.writeString(group.resolve("cpu.max"), "max 100000");
        }
    }

    /** Lifts the limit and puts everybody back where most processes are. */
    @Override
    public void close() throws IOException {
        lift();
        for (String pid : Files.readAllLines(group.resolve("cgroup.procs"))) {
            try {
                Files.writeString(hierarchy.resolve("cgroup.procs"), pid);
            } catch (IOException e) {
                // It has ended meanwhile.
                if (Files.exists(Path.of("/proc", pid))) {
                    throw e;
                }
            }
        }
        Files.delete(group);
    }
}
