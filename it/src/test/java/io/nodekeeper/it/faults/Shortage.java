package io.nodekeeper.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * How long the threads of a process waited for a processor although they could have run, as the kernel counts it
 * ({@code /proc/PID/task/TID/schedstat}). An agent that gets no processor cannot look: such a scene says nothing about its
 * diagnosis. Used by one thread.
 */
final class Shortage {
    /** Threads of Java itself: a compiler waits for its turn without delaying a look. */
    private static final Pattern OF_JAVA = Pattern.compile("(C1|C2|VM|GC|G1) .*");

    private final Path tasks;
    private final Map<String, Long> before;
    private final long begin;

    private Shortage(Path tasks, Map<String, Long> before, long begin) {
        this.tasks = tasks;
        this.before = before;
        this.begin = begin;
    }

    /** Counts from now on. */
    static Shortage of(long pid) {
        return of(Path.of("/proc", Long.toString(pid), "task"), System.nanoTime());
    }

    /** Counts in the threads below {@code tasks} from the time {@code now}, in ns. */
    static Shortage of(Path tasks, long now) {
        return new Shortage(tasks, waited(tasks), now);
    }

    /**
     * The wait of the thread that waited most, as a share of the time since then: 0 if each thread ran as soon as it could. A
     * thread that has ended meanwhile does not count.
     */
    double share() {
        return share(System.nanoTime());
    }

    double share(long now) {
        long most = waited(tasks).entrySet().stream()
                .mapToLong(thread -> thread.getValue() - before.getOrDefault(thread.getKey(), 0L))
                .max()
                .orElse(0);
        return (double) most / Math.max(1, now - begin);
    }

    private static Map<String, Long> waited(Path tasks) {
        Map<String, Long> waited = new HashMap<>();
        try (var threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                try {
                    if (OF_JAVA.matcher(Files.readString(thread.resolve("comm")).strip())
                            .matches()) {
                        continue;
                    }
                    String[] fields = Files.readString(thread.resolve("schedstat"))
                            .strip()
                            .split(" ");
                    waited.put(thread.getFileName().toString(), Long.parseLong(fields[1]));
                } catch (IOException e) {
                    // It has ended.
                }
            }
        } catch (IOException e) {
            // The process has ended.
        }
        return waited;
    }
}
