package io.nodekeeper.bench.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads a process's processor time, memory and writes from {@code /proc}. */
final class ProcessCost {
    /** Linux counts processor time in hundredths of a second on every common machine. */
    private static final double TICKS = 100;

    private ProcessCost() {}

    /** Processor time of process {@code pid}, user and system, in seconds. */
    static double cpuSeconds(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        // The second field is the name in parentheses, which may contain anything; user and system time are fields 14,
        // 15.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS;
    }

    /** Resident memory of process {@code pid}, in bytes. */
    static long residentBytes(long pid) throws IOException {
        return number(pid, "status", "VmRSS:") << 10;
    }

    /** What process {@code pid} has sent to disks so far, in bytes: whole pages, also if only a part of one changed. */
    static long writtenBytes(long pid) throws IOException {
        return number(pid, "io", "write_bytes:");
    }

    private static long number(long pid, String file, String name) throws IOException {
        Path path = Path.of("/proc/" + pid + "/" + file);
        for (String line : Files.readAllLines(path)) {
            if (line.startsWith(name)) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException(path + " has no " + name);
    }
}
