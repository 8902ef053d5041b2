package io.nodekeeper.agent.pods.mounts;

import io.nodekeeper.agent.kernel.SyscallException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;

/**
 * Mounts of this machine. Needs the right to mount. A part of a volume is opened with {@code openat2} and
 * {@code RESOLVE_BENEATH}: the kernel itself resolves the path and refuses each step that leaves the volume. The open
 * descriptor is what is mounted, so a container that exchanges a directory for a link in between changes nothing.
 */
public final class LinuxMounts implements Mounts {
    /** The bits of a mode that chmod sets. */
    private static final int PERMISSIONS = 07777;

    private final Path table;

    /** Mounts of this process. */
    public LinuxMounts() {
        this(Path.of("/proc/self/mountinfo"));
    }

    /** Mounts of which {@code table} is the kernel's list. */
    LinuxMounts(Path table) {
        this.table = table;
    }

    @Override
    public void memory(Path at, long bytes) throws IOException {
        if (isMounted(at)) {
            return;
        }
        String size = bytes > 0 ? "size=" + bytes : "";
        try {
            // Kernel 6.3 and newer: the content, perhaps secrets, is never written to a swap disk.
            Syscalls.mount("tmpfs", at, "tmpfs", 0, size.isEmpty() ? "noswap" : size + ",noswap");
        } catch (SyscallException e) {
            if (e.errno() != SyscallException.EINVAL) {
                throw e;
            }
            Syscalls.mount("tmpfs", at, "tmpfs", 0, size);
        }
    }

    @Override
    public void hugePages(Path at, long pageBytes, long bytes) throws IOException {
        if (!isMounted(at)) {
            // Without a mode only root could write, unlike in every other empty directory.
            String options = "mode=0777,pagesize=" + pageBytes + (bytes > 0 ? ",size=" + bytes : "");
            Syscalls.mount("hugetlbfs", at, "hugetlbfs", 0, options);
        }
    }

    @Override
    public void part(Path volume, String inside, Path target) throws IOException {
        int root = Syscalls.open(volume);
        try {
            int part = open(volume, root, inside);
            try {
                bind(Syscalls.path(part), target);
            } finally {
                Syscalls.close(part);
            }
        } finally {
            Syscalls.close(root);
        }
    }

    private static void bind(Path source, Path target) throws IOException {
        checkGoesOn(target);
        Files.createDirectories(parent(target));
        // Before it is looked at: what an earlier container mounted there may hang.
        unmount(target);
        boolean directory = Files.isDirectory(source);
        if (Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS) != directory) {
            Files.deleteIfExists(target);
        }
        if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            if (directory) {
                Files.createDirectory(target);
            } else {
                Files.createFile(target);
            }
        }
        checkGoesOn(target);
        Syscalls.mount(source.toString(), target, "", Syscalls.BIND, "");
    }

    /** What hung until it was given up, such as an open, must mount nothing for a pod that is removed meanwhile. */
    private static void checkGoesOn(Path target) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("mount at " + target + ": given up");
        }
    }

    /** A descriptor of {@code inside}; makes what of it does not exist. */
    private static int open(Path volume, int root, String inside) throws IOException {
        try {
            return beneath(volume, root, inside);
        } catch (SyscallException e) {
            if (e.errno() != SyscallException.ENOENT) {
                throw e;
            }
        }
        int mode = (int) Files.getAttribute(volume, "unix:mode") & PERMISSIONS;
        String made = "";
        for (Path name : Path.of(inside).normalize()) {
            int parent = beneath(volume, root, made.isEmpty() ? "." : made);
            try {
                made = made.isEmpty() ? name.toString() : made + "/" + name;
                if (Syscalls.makeDirectory(parent, name.toString(), mode)) {
                    setMode(volume, root, made, mode);
                }
            } finally {
                Syscalls.close(parent);
            }
        }
        return beneath(volume, root, inside);
    }

    /** Afterwards, because the process has a umask; by a descriptor, because a name may have become a link. */
    private static void setMode(Path volume, int root, String made, int mode) throws IOException {
        int directory = beneath(volume, root, made);
        try {
            Files.setAttribute(Syscalls.path(directory), "unix:mode", mode);
        } finally {
            Syscalls.close(directory);
        }
    }

    private static int beneath(Path volume, int root, String inside) throws IOException {
        try {
            return Syscalls.openBeneath(root, inside);
        } catch (SyscallException e) {
            if (e.errno() == SyscallException.EXDEV || e.errno() == SyscallException.ELOOP) {
                throw new IOException("path " + inside + " leads out of the volume " + volume, e);
            }
            throw e;
        }
    }

    @Override
    public void unmountBelow(Path directory) throws IOException {
        if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        // The kernel lists mount points without links.
        Path real = directory.toRealPath();
        List<String> points = below(real);
        for (String point : points.reversed()) {
            Syscalls.unmount(Path.of(point));
        }
        List<String> left = below(real);
        if (!left.isEmpty()) {
            throw new IOException(left.size() + " mounts below " + real + " remain, for example " + left.getFirst());
        }
    }

    private List<String> below(Path directory) throws IOException {
        return MountPoints.below(table, directory);
    }

    /**
     * Unmounts what is mounted at {@code target}, one mount after the other. Does not look into the kernel's list of mounts, which is as
     * long as a pod has made it with the parts that it mounts.
     */
    private static void unmount(Path target) throws IOException {
        boolean mounted = true;
        while (mounted) {
            mounted = Syscalls.unmountIfMounted(target);
        }
    }

    /** Whether a file system begins at {@code directory}. */
    private static boolean isMounted(Path directory) throws IOException {
        return !device(directory).equals(device(parent(directory)));
    }

    private static Object device(Path path) throws IOException {
        return Files.getAttribute(path, "unix:dev", LinkOption.NOFOLLOW_LINKS);
    }

    /** The directory of {@code path}, which is not the root. */
    private static Path parent(Path path) {
        return path.resolveSibling("");
    }
}
