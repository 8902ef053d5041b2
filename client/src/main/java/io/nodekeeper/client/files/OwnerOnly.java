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
 * Directories (0700) and files (0600) of this process's user alone, whatever the umask, and outputs that replace nothing
 * but regular files. All calls block.
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

    /** The bit of a directory in which everybody may create files, as {@code /tmp}. */
    private static final int STICKY = 01000;

    private OwnerOnly() {}

    /**
     * Makes {@code directory} if it is absent, or takes the rights of others on it away. Directories above it that are
     * absent get the usual mode.
     *
     * @throws IOException if it cannot be made or is no directory
     */
    public static Path directory(Path directory) throws IOException {
        if (Files.exists(directory)) {
            tighten(directory);
        } else {
            make(directory);
        }
        return directory;
    }

    /** As {@link #directory(Path)}, and takes the rights of others on the regular files in it away. */
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
     * As {@link #directory(Path)}, but a directory that is there is changed only if it is empty or holds one of {@code parts},
     * which says that it is ours: somebody may have named a directory that others need.
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
            log.warn("{} holds files of others and stays open to them; what is put into it is not", directory);
        }
        return directory;
    }

    /**
     * Takes the rights of others on {@code file} away, if they have some, and logs that.
     *
     * @throws IOException if {@code file} cannot be looked at
     */
    public static void tighten(Path file) throws IOException {
        if (!isOpen(file)) {
            return;
        }
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(file);
        Set<PosixFilePermission> own = EnumSet.copyOf(mode);
        own.removeAll(OTHERS);
        if (((int) Files.getAttribute(file, "unix:mode") & STICKY) != 0) {
            log.warn("{} is a directory for everybody and stays so", file);
            return;
        }
        try {
            Files.setPosixFilePermissions(file, own);
            log.warn(
                    "{} was open to others ({}); it is its owner's alone now ({})",
                    file,
                    PosixFilePermissions.toString(mode),
                    PosixFilePermissions.toString(own));
        } catch (IOException e) {
            log.warn("{} is open to others ({}): {}", file, PosixFilePermissions.toString(mode), e.toString());
        }
    }

    /**
     * Why a new file cannot be put at {@code file}: only a regular file is replaced, never a link, a device or a directory.
     * Empty if it can.
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
