package io.nodekeeper.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the kernel and its own JVM tell of a process. */
public final class ProcessFacts {
    /** The kernel counts processor time in these, whatever its own clock: 100 a second on Linux. */
    private static final double TICKS_A_SECOND = 100;

    private static final Pattern USED = Pattern.compile("used (\\d+)K");
    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");

    private static final Pattern ANONYMOUS = Pattern.compile("RssAnon:\\s+(\\d+) kB");

    private ProcessFacts() {}

    /** Processor time used so far, seconds. */
    static double cpuSeconds(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        // The name in the second field may hold blanks; utime and stime are the 12th and 13th field after it.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_A_SECOND;
    }

    /** Processor time that its present threads have used so far, ns; finer than {@link #cpuSeconds}. */
    static long runNanos(long pid) throws IOException {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path thread : threads) {
                try {
                    sum += Long.parseLong(
                            Files.readString(thread.resolve("schedstat")).split(" ")[0]);
                } catch (NoSuchFileException e) {
                    // It has ended since.
                }
            }
        }
        return sum;
    }

    /** The kernel's letter for what it does: R, S, D, T, Z and so on; X once it is gone. */
    public static char state(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            return 'X';
        }
    }

    /** Resident memory, KB. */
    static long residentKb(long pid) throws IOException {
        return number(RESIDENT, Files.readString(Path.of("/proc", Long.toString(pid), "status")));
    }

    /** That part of the resident memory which is the process's own and not a part of a file, KB. */
    static long anonymousKb(long pid) throws IOException {
        return number(ANONYMOUS, Files.readString(Path.of("/proc", Long.toString(pid), "status")));
    }

    /** Heap in use after a full collection, KB. */
    static long liveHeapKb(long pid) throws Exception {
        jcmd(pid, "GC.run");
        Matcher used = USED.matcher(jcmd(pid, "GC.heap_info"));
        long sum = 0;
        // The serial collector's young and old generation; what follows them is metaspace.
        for (int generation = 0; generation < 2 && used.find(); generation++) {
            sum += Long.parseLong(used.group(1));
        }
        return sum;
    }

    private static String jcmd(long pid, String command) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(), Long.toString(pid), command)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("jcmd " + pid + " " + command + ": " + output);
        }
        return output;
    }

    private static long number(Pattern pattern, String text) throws IOException {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.find()) {
            throw new IOException("expected " + pattern + " in: " + text);
        }
        return Long.parseLong(matcher.group(1));
    }
}
