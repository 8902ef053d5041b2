package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.kernel.FileStat;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes, walks and removes trees of files without following links. All methods block. */
final class PodDirectories {
    /** The mode of a new file, before it has its own. */
    static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    /** The beginning of the name of a directory that does not have its mode yet. */
    private static final String UNFINISHED = ".new-";

    /** The characters of a path below the top of a tree from which on a directory is moved up. */
    private static final int LONG_PATH = 800;

    private PodDirectories() {}

    /**
     * Makes {@code directory}, and its parents, with {@code mode}; leaves one that is there. It gets its name last: a process that is
     * killed in between leaves no directory that others cannot use.
     */
    static void make(Path directory, int mode) throws IOException {
        if (!Files.isDirectory(directory)) {
            Path unfinished = unfinished(directory);
            Files.createDirectories(unfinished);
            // Afterwards, because the process has a umask.
            setMode(unfinished, mode);
            Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** As {@link #make}, of a directory that only the agent changes: one that is there gets {@code mode}, too. */
    static void makeOwn(Path directory, int mode) throws IOException {
        make(directory, mode);
        if (mode(directory) != mode) {
            setMode(directory, mode);
        }
    }

    private static int mode(Path path) throws IOException {
        return (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777;
    }

    /** Where {@code directory} is until it is finished. */
    static Path unfinished(Path directory) {
        return directory.resolveSibling(UNFINISHED + directory.getFileName());
    }

    /** The name that a directory called {@code name} has or will have. */
    static String finalName(String name) {
        return name.startsWith(UNFINISHED) ? name.substring(UNFINISHED.length()) : name;
    }

    static void setMode(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Whether the top of a writable tree is the group's, as {@link #give} leaves it: a kubelet's question for {@code
     * OnRootMismatch}. Only a directory can be.
     */
    static boolean isGiven(Path tree, long group) throws IOException {
        int needed = GroupTree.WRITES | GroupTree.ENTERS;
        return Files.isDirectory(tree, LinkOption.NOFOLLOW_LINKS)
                && (int) Files.getAttribute(tree, "unix:gid", LinkOption.NOFOLLOW_LINKS) == (int) group
                && (mode(tree) & needed) == needed;
    }

    /** Gives a tree to a group as a kubelet does for {@code fsGroup}; see {@link GroupTree}. */
    static void give(Path tree, long group, boolean readOnly) throws IOException {
        new GroupTree(tree, (int) group, readOnly).give();
    }

    static List<Path> children(Path parent) throws IOException {
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(parent)) {
            stream.forEach(children::add);
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return children;
    }

    /** Whether something is mounted at a directory. */
    interface MountTest {
        boolean isMountPoint(Path directory) throws IOException;
    }

    /**
     * Neither follows links nor enters what is mounted, so nothing outside of the tree is removed. A process can make directories in
     * each other beyond the longest path that the kernel accepts: one whose path becomes long moves to the top of the tree first.
     *
     * @throws IOException if something is mounted in the tree, which then stays, or cannot be removed
     */
    static void removeTree(Path tree) throws IOException {
        removeTree(tree, FileStat::isMountPoint);
    }

    static void removeTree(Path tree, MountTest mounts) throws IOException {
        for (int pass = 0; Files.exists(tree, LinkOption.NOFOLLOW_LINKS); pass++) {
            removeOnce(tree, pass, mounts);
        }
    }

    private static void removeOnce(Path tree, int pass, MountTest mounts) throws IOException {
        // A character may have three bytes, the kernel's limit is 4,096, and a child's name has 255 at most.
        int longest = tree.toString().length() + LONG_PATH;
        int[] moved = new int[1];
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                if (mounts.isMountPoint(directory)) {
                    throw new IOException(directory + " is not removed: something is mounted there");
                }
                if (directory.toString().length() <= longest) {
                    return FileVisitResult.CONTINUE;
                }
                Path up = tree.resolve(".removed-" + pass + "-" + moved[0]++);
                while (Files.exists(up, LinkOption.NOFOLLOW_LINKS)) {
                    up = tree.resolve(".removed-" + pass + "-" + moved[0]++);
                }
                Files.move(directory, up);
                return FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException error) throws IOException {
                if (error != null) {
                    throw error;
                }
                if (moved[0] == 0 || !directory.equals(tree)) {
                    Files.deleteIfExists(directory);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
