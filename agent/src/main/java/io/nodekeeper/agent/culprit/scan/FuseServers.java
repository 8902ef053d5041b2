package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * Finds the processes that serve FUSE file systems: they have {@code /dev/fuse} open, and the kernel reports the number
 * of the connection, which is the mount's device. Not thread-safe.
 */
final class FuseServers {
    private final ProcFiles files;
    private final OpenEnds ends;
    private final IntFunction<List<String>> arguments;

    /** {@code arguments} are those of the process with a pid, as they are known: reading them may block. */
    FuseServers(ProcFiles files, OpenEnds ends, IntFunction<List<String>> arguments) {
        this.files = files;
        this.ends = ends;
        this.arguments = arguments;
    }

    /**
     * The FUSE file system for which a thread of {@code pid} waits: that of {@code file}; or of the working directory;
     * or the only one that the process sees and that has requests without an answer; or of these the only one that an
     * argument of the process names. Empty if that is ambiguous.
     */
    Optional<Wait> of(int pid, Optional<ProcFiles.OpenFile> file) {
        Mounts mounts = new Mounts(files);
        List<Mounts.Line> own = mounts.of(pid);
        Optional<Mounts.Line> mount = file.flatMap(open -> fuse(open.path(), own))
                .or(() -> files.link(files.process(pid).resolve("cwd"))
                        .flatMap(path -> fuse(path, own))
                        .filter(line -> requests(line) != 0))
                .or(() -> only(pid, own));
        return mount.map(line -> {
            // Inside a container it has another mount point.
            Stall.Mount shown = mounts.ofHost().stream()
                    .filter(host ->
                            host.device().equals(line.device()) && host.root().equals("/"))
                    .map(Mounts.Line::mount)
                    .findFirst()
                    .orElse(line.mount());
            String connection = connection(line);
            return new Wait.ForServer(shown, ends.servers(connection));
        });
    }

    private Optional<Mounts.Line> only(int pid, List<Mounts.Line> own) {
        Map<String, Mounts.Line> all = new LinkedHashMap<>();
        own.stream()
                .filter(line -> isFuse(line) && requests(line) != 0)
                .forEach(line -> all.putIfAbsent(line.device(), line));
        List<Mounts.Line> asked = List.copyOf(all.values());
        if (asked.size() < 2) {
            return asked.stream().findFirst();
        }
        List<Mounts.Line> named = asked.stream()
                .filter(line -> arguments.apply(pid).stream()
                        .anyMatch(argument -> fuse(argument, own).equals(Optional.of(line))))
                .toList();
        return named.size() == 1 ? Optional.of(named.getFirst()) : Optional.empty();
    }

    /** The requests that its server has not answered; -1 if that is not visible, as without a mounted fusectl. */
    private int requests(Mounts.Line line) {
        return files.read(files.root()
                        .resolve("sys/fs/fuse/connections")
                        .resolve(connection(line))
                        .resolve("waiting"))
                .map(String::strip)
                .filter(text -> text.matches("\\d{1,9}"))
                .map(Integer::parseInt)
                .orElse(-1);
    }

    /** The number of a device as the kernel holds it: the minor number, unless a block device is mounted (fuseblk). */
    private static String connection(Mounts.Line line) {
        String[] numbers = line.device().split(":");
        boolean plain = numbers.length == 2 && numbers[0].matches("\\d{1,4}") && numbers[1].matches("\\d{1,7}");
        return plain ? Long.toString((Long.parseLong(numbers[0]) << 20) + Long.parseLong(numbers[1])) : line.device();
    }

    private static Optional<Mounts.Line> fuse(String path, List<Mounts.Line> mounts) {
        return Mounts.of(path, mounts).filter(FuseServers::isFuse);
    }

    /** {@code fuse}, {@code fuse.NAME} and {@code fuseblk}; not {@code fusectl}, which has no server. */
    private static boolean isFuse(Mounts.Line line) {
        return line.mount().type().startsWith("fuse") && !line.mount().type().equals("fusectl");
    }
}
