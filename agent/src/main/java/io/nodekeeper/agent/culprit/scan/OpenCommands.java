package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts the commands that containerd has open in containers. It opens a command's FIFOs before it asks the shim to begin it,
 * and closes them once it has ended: {@code …/containers/CONTAINER/io/NUMBER/COMMAND-stdout}. The container's own FIFOs have its
 * id in place of the command's.
 */
final class OpenCommands {
    private static final Pattern FIFO =
            Pattern.compile(".*(/containers/([0-9a-f]{64})/io/[^/]+)/([^/]+)-(?:stdin|stdout|stderr)");

    /** A tenth of the deadline of a scan. What is not read by then is missing, so a queue looks shorter than it is. */
    private static final Duration LONGEST = Duration.ofMillis(200);

    private OpenCommands() {}

    /** The number for each container that has any; of a process that is containerd. */
    static Map<String, Integer> of(int pid, ProcFiles files, Clock clock) {
        Map<String, Integer> commands = new HashMap<>();
        Set<String> seen = new HashSet<>();
        long begin = clock.nanoTime();
        for (Path link : files.openFiles(pid)) {
            if (clock.nanoTime() - begin > LONGEST.toNanos()) {
                break;
            }
            Matcher fifo = FIFO.matcher(files.link(link).orElse(""));
            if (fifo.matches() && !fifo.group(3).equals(fifo.group(2)) && seen.add(fifo.group(1))) {
                commands.merge(fifo.group(2), 1, Integer::sum);
            }
        }
        return Map.copyOf(commands);
    }
}
