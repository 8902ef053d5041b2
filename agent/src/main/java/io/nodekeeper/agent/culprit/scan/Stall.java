package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.kernel.MountTable;
import java.util.List;
import java.util.Optional;

/**
 * A thread in uninterruptible sleep (state D). Immutable.
 *
 * @param switches how often it was taken off a processor; while this number stays the same, the thread does not run
 * @param waitsIn the kernel function; empty if the kernel does not report it
 * @param stack the kernel's functions, innermost first; empty if only the superuser may read it
 * @param file the file that its system call uses, if it can be determined
 * @param path the path in its system call, of which links are not followed, if it can be read
 * @param mounts the file systems on devices or servers that the process uses, as far as visible; that of {@code file} or {@code
 *     path} first
 */
public record Stall(
        int thread,
        long switches,
        String waitsIn,
        List<String> stack,
        Optional<String> file,
        Optional<String> path,
        List<Mount> mounts) {

    /** A mounted file system: mount point, source and type. */
    public record Mount(String point, String source, String type) {
        static Mount of(MountTable.Mount mount) {
            return new Mount(mount.point(), mount.source(), mount.type());
        }
    }

    /** Whether the thread waits for a file system, and not for something else in the kernel. */
    public boolean onDisk() {
        String where = waitsIn + " " + String.join(" ", stack);
        return file.isPresent()
                || path.isPresent() && !mounts.isEmpty()
                || DISK_WORDS.stream().anyMatch(where::contains)
                || !mounts.isEmpty() && waitsIn.isEmpty();
    }

    /** Whether it looks like a file system that was frozen (fsfreeze), for example for a snapshot. */
    public boolean onFrozen() {
        String where = waitsIn + " " + String.join(" ", stack);
        return FROZEN_WORDS.stream().anyMatch(where::contains);
    }

    /** Parts of the names of kernel functions that wait until a file system admits writers again. */
    private static final List<String> FROZEN_WORDS =
            List.of("percpu_rwsem_wait", "sb_start", "mnt_want_write", "freeze");

    /** Parts of names of kernel functions in which threads wait for a disk or a file server. */
    private static final List<String> DISK_WORDS = List.of(
            "percpu_rwsem_wait",
            "sb_start",
            "mnt_want_write",
            "io_schedule",
            "folio_wait",
            "wait_on_page",
            "jbd2",
            "ext4",
            "xfs",
            "btrfs",
            "nfs",
            "rpc_wait",
            "fuse",
            "blk_",
            "writeback",
            "iomap",
            "dm_",
            "ceph",
            "cifs");
}
