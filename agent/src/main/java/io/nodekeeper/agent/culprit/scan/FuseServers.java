package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.agent.kernel.MountTable.Mount;
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
        MountTable own = files.mounts(pid);
        Optional<Mount> mount = file.flatMap(open -> fuse(open.path(), own))
                .or(() -> files.link(files.process(pid).resolve("cwd"))
                        .flatMap(path -> fuse(path, own))
                        .filter(used -> requests(used) != 0))
                .or(() -> only(pid, own));
        return mount.map(used -> {
            // Inside a container it has another mount point.
            Mount shown = files.ownMounts().whole(used.device()).orElse(used);
            return new Wait.ForServer(Stall.Mount.of(shown), ends.servers(connection(used)));
        });
    }

    private Optional<Mount> only(int pid, MountTable own) {
        Map<String, Mount> all = new LinkedHashMap<>();
        own.mounts().stream()
                .filter(mount -> isFuse(mount) && requests(mount) != 0)
                .forEach(mount -> all.putIfAbsent(mount.device(), mount));
        List<Mount> asked = List.copyOf(all.values());
        if (asked.size() < 2) {
            return asked.stream().findFirst();
        }
        List<Mount> named = asked.stream()
                .filter(mount -> arguments.apply(pid).stream()
                        .anyMatch(argument -> fuse(argument, own).equals(Optional.of(mount))))
                .toList();
        return named.size() == 1 ? Optional.of(named.getFirst()) : Optional.empty();
    }

    /** The requests that its server has not answered; -1 if that is not visible, as without a mounted fusectl. */
    private int requests(Mount mount) {
        return files.read(files.root()
                        .resolve("sys/fs/fuse/connections")
                        .resolve(connection(mount))
                        .resolve("waiting"))
                .map(String::strip)
                .filter(text -> text.matches("\\d{1,9}"))
                .map(Integer::parseInt)
                .orElse(-1);
    }

    /** The number of a device as the kernel holds it: the minor number, unless a block device is mounted (fuseblk). */
    private static String connection(Mount mount) {
        String[] numbers = mount.device().split(":");
        boolean plain = numbers.length == 2 && numbers[0].matches("\\d{1,4}") && numbers[1].matches("\\d{1,7}");
        return plain ? Long.toString((Long.parseLong(numbers[0]) << 20) + Long.parseLong(numbers[1])) : mount.device();
    }

    private static Optional<Mount> fuse(String path, MountTable mounts) {
        return mounts.of(path).filter(FuseServers::isFuse);
    }

    /** {@code fuse}, {@code fuse.NAME} and {@code fuseblk}; not {@code fusectl}, which has no server. */
    private static boolean isFuse(Mount mount) {
        return mount.type().startsWith("fuse") && !mount.type().equals("fusectl");
    }
}
