package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.host.Statvfs;
import io.nodekeeper.agent.kernel.FileStat;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures volumes of pods. Immutable.
 *
 * @param directory with a directory for each pod
 */
record VolumeFiles(Path directory) {
    /** The most files with several names in one volume that count once; further ones count once for each name. */
    private static final int MOST_LINKED = 100_000;
    /** The deepest directory that is entered: each one on the way to it is open meanwhile. */
    private static final int DEEPEST = 512;
    /**
     * The kinds of volumes that are a pod's local storage, as with a kubelet. The others of the node's own are in memory: file systems
     * of their own.
     */
    private static final List<String> LOCAL = List.of("kubernetes.io~empty-dir", "kubernetes.io~configmap");
    /** What a volume uses at least whose files cannot all be looked at: more than any limit. */
    private static final long BEYOND_LIMITS = 1L << 50;

    /** By UID and name: what each {@code emptyDir} and {@code configMap} volume on the node's disk uses there. Blocks. */
    Map<String, Map<String, DiskUse>> read(List<RunningPod> pods) throws IOException {
        Map<String, Map<String, DiskUse>> used = new HashMap<>();
        for (RunningPod pod : pods) {
            Path volumes = directory.resolve(pod.uid()).resolve("volumes").normalize();
            // The UID comes from the runtime, which takes it from the API.
            if (volumes.startsWith(directory)) {
                Map<String, DiskUse> local = new HashMap<>();
                for (String kind : LOCAL) {
                    local.putAll(volumes(volumes.resolve(kind)));
                }
                used.put(pod.uid(), local);
            }
        }
        return used;
    }

    /**
     * By UID: what pods have on the node's disk besides volumes and logs, which they can write: their {@code /etc/hosts}, and the
     * files in which containers say why they ended. Blocks.
     */
    Map<String, DiskUse> others(List<RunningPod> pods) throws IOException {
        Map<String, DiskUse> used = new HashMap<>();
        for (RunningPod pod : pods) {
            Path own = directory.resolve(pod.uid()).normalize();
            Optional<FileStat> place = own.startsWith(directory) ? FileStat.of(own) : Optional.empty();
            if (place.isPresent()) {
                long device = place.get().device();
                used.put(
                        pod.uid(),
                        count(own.resolve("etc-hosts"), device).plus(count(own.resolve("containers"), device)));
            }
        }
        return used;
    }

    /** What {@code volume} uses, and of what; empty if it is no directory, such as a block device. Blocks; fails if its file system does. */
    Optional<VolumeUse> measure(MountedVolume volume) throws IOException {
        Path path = volume.path();
        try {
            if (!Files.readAttributes(path, BasicFileAttributes.class).isDirectory()) {
                return Optional.empty();
            }
        } catch (NoSuchFileException e) {
            // It was unmounted meanwhile.
            return Optional.empty();
        }
        Filesystem filesystem = Statvfs.of(path);
        Optional<FileStat> place = FileStat.of(path);
        Optional<FileStat> disk = FileStat.of(directory);
        // On the node's disk, of which a volume is a small part.
        boolean shared = place.isPresent()
                && disk.filter(on -> on.device() == place.get().device()).isPresent();
        boolean local = volume.counted() && shared;
        DiskUse used = local ? count(path, place.get().device()) : UsageJson.all(filesystem);
        return Optional.of(new VolumeUse(volume.name(), volume.claim(), filesystem, used, local));
    }

    /** Nothing for what does not exist. */
    private static DiskUse count(Path volume, long device) throws IOException {
        Sum sum = new Sum(device);
        Files.walkFileTree(volume, Set.of(), DEEPEST, sum);
        return new DiskUse(sum.hidden ? Math.max(sum.bytes, BEYOND_LIMITS) : sum.bytes, sum.files);
    }

    private static Map<String, DiskUse> volumes(Path volumes) throws IOException {
        Map<String, DiskUse> used = new HashMap<>();
        if (!Files.isDirectory(volumes)) {
            return used;
        }
        Optional<FileStat> disk = FileStat.of(volumes);
        try (DirectoryStream<Path> each = Files.newDirectoryStream(volumes)) {
            for (Path volume : each) {
                Optional<FileStat> place = FileStat.of(volume);
                // A volume in memory is a file system of its own, and counts as memory.
                if (place.isPresent()
                        && disk.filter(on -> on.device() == place.get().device())
                                .isPresent()) {
                    used.put(
                            volume.getFileName().toString(),
                            count(volume, place.get().device()));
                }
            }
        } catch (NoSuchFileException e) {
            return used;
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return used;
    }

    /**
     * Counts blocks rather than lengths, as a file may have holes, and a file with several names once. Does not enter other file
     * systems. Files that are removed meanwhile do not count. The number of files has no limit: a pod would hide a large file
     * behind many empty ones. Each takes some microseconds. Nor can it hide one below directories that are too deep.
     */
    private static final class Sum extends SimpleFileVisitor<Path> {
        private final long device;
        private final InodeSet linked = new InodeSet(MOST_LINKED);
        long bytes;
        long files;
        /** Whether there are files that cannot be looked at. */
        boolean hidden;

        Sum(long device) {
            this.device = device;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) throws IOException {
            return add(path, 0);
        }

        @Override
        public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) throws IOException {
            // This is so for a directory that is too deep.
            hidden |= attributes.isDirectory();
            return add(path, attributes.size());
        }

        @Override
        public FileVisitResult visitFileFailed(Path path, IOException error) {
            hidden |= FileStat.isTooLong(path);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path path, @Nullable IOException error) {
            return FileVisitResult.CONTINUE;
        }

        private FileVisitResult add(Path path, long length) throws IOException {
            Optional<FileStat> stat = FileStat.of(path);
            if (stat.filter(found -> found.device() != device).isPresent()) {
                return FileVisitResult.SKIP_SUBTREE;
            }
            boolean again = stat.filter(found -> found.links() > 1 && length > 0 && !linked.add(found.inode()))
                    .isPresent();
            if (!again) {
                files++;
                bytes += stat.map(FileStat::bytes).orElse(length);
            }
            return FileVisitResult.CONTINUE;
        }
    }
}
