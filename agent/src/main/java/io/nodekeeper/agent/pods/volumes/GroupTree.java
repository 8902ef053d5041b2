package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.kernel.SyscallException;
import io.nodekeeper.agent.pods.mounts.Syscalls;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * Gives a tree to a group as a kubelet does for {@code fsGroup}: new files in its directories get that group, too. Another pod may have
 * the same volume and exchange a directory for a link meanwhile. So each entry is opened in its directory, which is open, and never
 * through a link; what was opened is what is looked at and changed. Confined to its thread.
 */
final class GroupTree {
    /** The group's rights to writable files, and to directories besides: the kubelet's. */
    static final int WRITES = 0660;

    static final int ENTERS = 02110;
    /** The group's rights to files that it only reads: the kubelet's. */
    private static final int READS = 0440;
    /**
     * The deepest directory that is entered: each one on the way to it has three descriptors open meanwhile. A pod can make directories
     * in each other without end; usual trees have less than 50.
     */
    static final int DEEPEST = 256;

    private final Path tree;
    private final int group;
    private final int rights;
    /** What is worked on, for messages: a descriptor says no name. */
    private Path current;

    GroupTree(Path tree, int group, boolean readOnly) {
        this.tree = tree;
        this.group = group;
        rights = readOnly ? READS : WRITES;
        current = tree;
    }

    /** Gives all of it. The top comes last, so that it shows whether all was done. */
    void give() throws IOException {
        try {
            give(tree, tree, 0);
        } catch (IOException e) {
            throw new IOException(current + ": " + e.getMessage(), e);
        }
    }

    /**
     * Gives {@code entry} and what is in it.
     *
     * @param entry a name in an open directory, below {@link Syscalls#path}; only the top is an ordinary path
     * @param name its path, for messages
     * @param depth of directories above it in the tree
     */
    void give(Path entry, Path name, int depth) throws IOException {
        current = name;
        int place;
        try {
            place = Syscalls.openItself(entry);
        } catch (SyscallException e) {
            if (depth > 0 && e.errno() == SyscallException.ENOENT) {
                // Removed since its directory was listed.
                return;
            }
            throw e;
        }
        try {
            giveOpen(Syscalls.path(place), name, depth);
        } finally {
            Syscalls.close(place);
        }
    }

    private void giveOpen(Path open, Path name, int depth) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(open, BasicFileAttributes.class);
        if (attributes.isDirectory()) {
            giveEntries(open, name, depth);
            current = name;
            change(open, rights | ENTERS);
        } else if (attributes.isRegularFile()) {
            change(open, rights);
        }
    }

    private void giveEntries(Path directory, Path name, int depth) throws IOException {
        if (depth == DEEPEST) {
            throw new IOException("more than " + DEEPEST + " directories in each other, which is the limit");
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                give(entry, name.resolve(entry.getFileName()), depth + 1);
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private void change(Path open, int more) throws IOException {
        Files.setAttribute(open, "unix:gid", group);
        int mode = (int) Files.getAttribute(open, "unix:mode") & 07777;
        Files.setAttribute(open, "unix:mode", mode | more);
    }
}
