package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.agent.eviction.Threshold;
import io.nodekeeper.agent.eviction.Thresholds;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.agent.host.Statvfs;
import io.nodekeeper.time.Workers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Bytes and inodes that are left on a file system. Below Kubernetes' default thresholds the node gets DiskPressure and pods are
 * evicted; it stays Ready.
 */
final class DiskCheck implements NodeCheck {
    private final String name;
    private final Path path;
    private final String signal;
    private final Workers workers;

    /** The file system of {@code path}; {@code signal} is {@code nodefs} or {@code imagefs}. */
    DiskCheck(String name, Path path, String signal, Workers workers) {
        this.name = name;
        this.path = path;
        this.signal = signal;
        this.workers = workers;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public CompletableFuture<CheckResult> run() {
        // The search for an existing directory may block on the disk, too.
        return workers.call(name, deadline(), () -> {
            Path existing = LinuxHost.existing(path);
            return judge(name, existing, signal, Statvfs.of(existing));
        });
    }

    /** The result for a file system in that state. */
    static CheckResult judge(String name, Path path, String signal, Filesystem filesystem) {
        List<String> low = new ArrayList<>();
        low(signal + ".available", filesystem.bytes(), "bytes").ifPresent(low::add);
        // Some file systems, such as btrfs, count no inodes.
        if (filesystem.inodes().capacity() > 0) {
            low(signal + ".inodesFree", filesystem.inodes(), "inodes").ifPresent(low::add);
        }
        String left = share(filesystem.bytes()) + " of the bytes and "
                + (filesystem.inodes().capacity() > 0
                        ? share(filesystem.inodes()) + " of the inodes are left"
                        : "no count of inodes")
                + " on the file system of " + path;
        if (filesystem.bytes().available() == 0
                || (filesystem.inodes().capacity() > 0 && filesystem.inodes().available() == 0)) {
            return CheckResult.failed(name, left + "; nothing can be written", next(path, low));
        }
        return low.isEmpty()
                ? CheckResult.ok(name, left)
                : CheckResult.warning(name, left + "; expected " + String.join(", ", low), next(path, low));
    }

    private static String next(Path path, List<String> low) {
        boolean inodes = low.stream().anyMatch(text -> text.endsWith("inodes"));
        return "du -x" + (inodes ? " --inodes" : "") + " --max-depth=2 " + path + " | sort -n | tail";
    }

    private static Optional<String> low(String signal, Level level, String what) {
        return Thresholds.read(Map.of(), false, false, Map.of(), Map.of(), Map.of(), new ArrayList<>()).stream()
                .filter(threshold -> threshold.signal().name().equals(constant(signal)))
                .map(Threshold::limit)
                .map(limit -> limit.of(level.capacity()))
                .filter(limit -> level.available() < limit)
                .findFirst()
                .map(limit -> "at least " + share(new Level(limit, level.capacity())) + " of the " + what);
    }

    /** {@code nodefs.inodesFree} as {@code NODEFS_INODES_FREE}. */
    private static String constant(String signal) {
        return signal.replace('.', '_').replaceAll("([a-z])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT);
    }

    private static String share(Level level) {
        return String.format(
                Locale.ROOT, "%.1f %%", level.capacity() == 0 ? 0 : 100.0 * level.available() / level.capacity());
    }
}
