package io.nodekeeper.agent.culprit.scan;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the processes that serve FUSE file systems: they have {@code /dev/fuse} open, and the kernel reports the number
 * of the connection, which is the minor number of the mount's device. Not thread-safe.
 */
final class FuseServers {
    private final ProcFiles files;
    private final Set<Integer> pids;
    private final ScanBudget budget;

    FuseServers(ProcFiles files, Set<Integer> pids, ScanBudget budget) {
        this.files = files;
        this.pids = pids;
        this.budget = budget;
    }

    /**
     * The FUSE file system for which a thread of {@code pid} waits: that of {@code file}, or of the working directory,
     * or the only one that the process sees; empty if that is ambiguous.
     */
    Optional<Wait> of(int pid, Optional<ProcFiles.OpenFile> file) {
        Mounts mounts = new Mounts(files);
        List<Mounts.Line> own = mounts.of(pid);
        Optional<Mounts.Line> mount = file.flatMap(open -> fuse(open.path(), own))
                .or(() -> files.link(files.process(pid).resolve("cwd")).flatMap(path -> fuse(path, own)))
                .or(() -> {
                    List<Mounts.Line> all =
                            own.stream().filter(FuseServers::isFuse).toList();
                    long devices =
                            all.stream().map(Mounts.Line::device).distinct().count();
                    return devices == 1 ? Optional.of(all.getFirst()) : Optional.empty();
                });
        return mount.map(line -> {
            // Inside a container it has another mount point.
            Stall.Mount shown = mounts.ofHost().stream()
                    .filter(host ->
                            host.device().equals(line.device()) && host.root().equals("/"))
                    .map(Mounts.Line::mount)
                    .findFirst()
                    .orElse(line.mount());
            String connection = line.device().substring(line.device().indexOf(':') + 1);
            return new Wait.ForServer(
                    shown,
                    pids.stream()
                            .filter(any -> serves(any, connection))
                            .sorted()
                            .toList());
        });
    }

    private static Optional<Mounts.Line> fuse(String path, List<Mounts.Line> mounts) {
        return Mounts.of(path, mounts).filter(FuseServers::isFuse);
    }

    /** {@code fuse}, {@code fuse.NAME} and {@code fuseblk}; not {@code fusectl}, which has no server. */
    private static boolean isFuse(Mounts.Line line) {
        return line.mount().type().startsWith("fuse") && !line.mount().type().equals("fusectl");
    }

    private boolean serves(int pid, String connection) {
        for (Path link : files.openFiles(pid)) {
            if (!budget.spend()) {
                return false;
            }
            if (files.link(link).filter(target -> target.endsWith("/fuse")).isPresent()
                    && files.openFile(pid, Integer.parseInt(link.getFileName().toString()))
                            .filter(file -> file.fuseConnection().equals(connection))
                            .isPresent()) {
                return true;
            }
        }
        return false;
    }
}
