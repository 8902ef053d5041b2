package io.nodekeeper.bench.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads a process's processor time and memory from {@code /proc}. */
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
        List<String> lines = Files.readAllLines(Path.of("/proc/" + pid + "/status"));
        for (String line : lines) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IOException("process " + pid + " has no VmRSS; it is gone");
    }
}
