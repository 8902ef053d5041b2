package io.nodekeeper.agent.pods.rotation;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.zip.GZIPOutputStream;

/** The files of a container's log. All methods block on the disk. */
final class LogFiles {
    /** The kubelet's form of the time in the name of a rotated log. */
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    /** Bytes that are compressed between two looks whether to go on: some ms of work. */
    private static final int BUFFER = 64 << 10;

    private LogFiles() {}

    /** The bytes of a log; empty if it does not exist. */
    static OptionalLong size(Path log) throws IOException {
        try {
            return OptionalLong.of(
                    Files.readAttributes(log, BasicFileAttributes.class).size());
        } catch (NoSuchFileException e) {
            return OptionalLong.empty();
        }
    }

    /**
     * A log that was renamed.
     *
     * @param path where it is now
     * @param older earlier ones that are to be compressed
     */
    record Rotated(Path path, List<Path> older) {}

    /** Removes rotated logs of which there are too many, and renames the log itself. */
    static Rotated rotate(Path log, int maxFiles, Instant now) throws IOException {
        RotationPlan plan = RotationPlan.of(rotated(log), maxFiles);
        for (String name : plan.remove()) {
            Files.deleteIfExists(log.resolveSibling(name));
        }
        Path target = log.resolveSibling(log.getFileName() + "." + TIME.format(now.atOffset(ZoneOffset.UTC)));
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("the log was rotated to " + target + " in the same second");
        }
        checkGoesOn(log);
        Files.move(log, target, StandardCopyOption.ATOMIC_MOVE);
        return new Rotated(
                target, plan.compress().stream().map(log::resolveSibling).toList());
    }

    /** Renames a log back that the runtime still writes to. */
    static void restore(Path rotated, Path log) throws IOException {
        if (!Files.exists(log, LinkOption.NOFOLLOW_LINKS)) {
            Files.move(rotated, log, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static List<String> rotated(Path log) throws IOException {
        List<String> names = new ArrayList<>();
        String prefix = log.getFileName() + ".";
        try (DirectoryStream<Path> files = Files.newDirectoryStream(log.resolveSibling(""))) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (name.startsWith(prefix)) {
                    names.add(name);
                }
            }
        }
        return names;
    }

    /**
     * Compresses a rotated log.
     *
     * @throws InterruptedIOException if the thread is interrupted; the log stays as it is
     */
    static void compress(Path file) throws IOException {
        Path unfinished = file.resolveSibling(file.getFileName() + RotationPlan.UNFINISHED);
        byte[] buffer = new byte[BUFFER];
        try (InputStream in = Files.newInputStream(file);
                OutputStream out = new GZIPOutputStream(Files.newOutputStream(unfinished))) {
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                checkGoesOn(file);
                out.write(buffer, 0, length);
            }
        }
        checkGoesOn(file);
        Files.move(
                unfinished,
                file.resolveSibling(file.getFileName() + RotationPlan.COMPRESSED),
                StandardCopyOption.ATOMIC_MOVE);
        Files.delete(file);
    }

    /** Ends work that its caller has given up. It would go on to hold a thread. */
    private static void checkGoesOn(Path file) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException(file + ": given up");
        }
    }
}
