package io.nodekeeper.client.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates directories (0700) and files (0600) that only this process' user can access, whatever the umask, and checks
 * that outputs replace only regular files. All calls block.
 */
public final class OwnerOnly {
    private static final Logger log = LoggerFactory.getLogger(OwnerOnly.class);

    /** The mode of a file, for its creation. */
    public static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private static final FileAttribute<Set<PosixFilePermission>> DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final Set<PosixFilePermission> OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.GROUP_EXECUTE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE,
            PosixFilePermission.OTHERS_EXECUTE);

    /** The sticky bit of a directory in which all users may create files, such as {@code /tmp}. */
    private static final int STICKY = 01000;

    private OwnerOnly() {}

    /**
     * Creates {@code directory} if it is absent, or removes other users' access to it. Absent parent directories get
     * the usual mode.
     * @throws IOException if it cannot be created or is not a directory
     */
    public static Path directory(Path directory) throws IOException {
        if (Files.exists(directory)) {
            tighten(directory);
        } else {
            make(directory);
        }
        return directory;
    }

    /** As {@link #directory(Path)}, and removes other users' access to the regular files in it. */
    public static Path directoryAndFiles(Path directory) throws IOException {
        directory(directory);
        for (Path inside : inside(directory)) {
            if (Files.isRegularFile(inside, LinkOption.NOFOLLOW_LINKS)) {
                tighten(inside);
            }
        }
        return directory;
    }

    /**
     * As {@link #directory(Path)}, but changes an existing directory only if it is empty or has one of {@code parts},
     * which shows that it is ours: a user may have named a directory that others need.
     */
    public static Path directory(Path directory, List<String> parts) throws IOException {
        if (!Files.exists(directory)) {
            make(directory);
            return directory;
        }
        boolean ours = inside(directory).isEmpty()
                || parts.stream().anyMatch(part -> Files.isDirectory(directory.resolve(part)));
        if (ours) {
            tighten(directory);
        } else if (isOpen(directory)) {
            log.warn(
                    "{} has files of other users and stays accessible to them; files that this process creates in"
                            + " it are not",
                    directory);
        }
        return directory;
    }

    /**
     * Removes other users' access to {@code file}, if any, and logs that.
     * @throws IOException if the attributes of {@code file} cannot be read
     */
    public static void tighten(Path file) throws IOException {
        if (!isOpen(file)) {
            return;
        }
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(file);
        Set<PosixFilePermission> own = EnumSet.copyOf(mode);
        own.removeAll(OTHERS);
        if (((int) Files.getAttribute(file, "unix:mode") & STICKY) != 0) {
            log.warn("{} is a directory for all users; its mode is not changed", file);
            return;
        }
        try {
            Files.setPosixFilePermissions(file, own);
            log.warn(
                    "{} was accessible to other users ({}); now only its owner has access ({})",
                    file,
                    PosixFilePermissions.toString(mode),
                    PosixFilePermissions.toString(own));
        } catch (IOException e) {
            log.warn(
                    "{} is accessible to other users ({}): {}",
                    file,
                    PosixFilePermissions.toString(mode),
                    e.toString());
        }
    }

    /**
     * Why {@code file} cannot be written: only a regular file is replaced, never a link, a device or a directory. Empty
     * if it can.
     */
    public static Optional<String> outputFault(Path file) {
        String what = Files.isSymbolicLink(file)
                ? "a symbolic link"
                : Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)
                        ? "a directory"
                        : Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                                        && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                                ? "a device, pipe or socket"
                                : "";
        return what.isEmpty()
                ? Optional.empty()
                : Optional.of(file + " is " + what + "; expected a regular file or the name of a new one");
    }

    private static void make(Path directory) throws IOException {
        Path parent = directory.toAbsolutePath().getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        Files.createDirectories(directory, DIRECTORY);
    }

    private static boolean isOpen(Path file) throws IOException {
        Set<PosixFilePermission> mode = EnumSet.noneOf(PosixFilePermission.class);
        mode.addAll(Files.getPosixFilePermissions(file));
        return mode.removeAll(OTHERS);
    }

    private static List<Path> inside(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }
}
