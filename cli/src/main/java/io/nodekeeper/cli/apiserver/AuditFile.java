package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.audit.AuditLog;
import io.nodekeeper.client.files.OwnerOnly;
import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A file of lines that is rotated when it reaches a size: {@code audit.log} becomes {@code
 * audit-2026-11-21T07-00-00.000.log} (kube-apiserver's names), and the oldest of those are deleted. Only its owner may
 * read it. Not thread-safe.
 */
final class AuditFile implements AuditLog.Out {
    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH-mm-ss.SSS");

    private final Path file;
    private final long maxBytes;
    private final int maxDays;
    private final int maxFiles;
    private final Clock clock;
    private OutputStream stream;
    private long size;
    /** Whether the last line may be there in part, as when the disk was full or the process was killed. */
    private boolean torn;

    private AuditFile(Path file, long maxBytes, int maxDays, int maxFiles, Clock clock) throws IOException {
        this.file = file.toAbsolutePath();
        this.maxBytes = maxBytes;
        this.maxDays = maxDays;
        this.maxFiles = maxFiles;
        this.clock = clock;
        stream = appending();
    }

    /**
     * Opens {@code file} to append to it.
     *
     * @param maxBytes the size at which it is rotated
     * @param maxDays how long rotated files are kept; 0 for no limit
     * @param maxFiles how many rotated files are kept; 0 for no limit
     */
    static AuditFile open(Path file, long maxBytes, int maxDays, int maxFiles, Clock clock) throws IOException {
        return new AuditFile(file, maxBytes, maxDays, maxFiles, clock);
    }

    /** An output that writes lines to standard output. */
    static AuditLog.Out standardOutput() {
        PrintStream out = System.out;
        return new AuditLog.Out() {
            @Override
            public void write(List<byte[]> lines) throws IOException {
                for (byte[] line : lines) {
                    out.write(line);
                }
                out.flush();
                if (out.checkError()) {
                    throw new IOException("standard output is closed");
                }
            }

            @Override
            public void close() {}
        };
    }

    private OutputStream appending() throws IOException {
        Optional<String> fault = OwnerOnly.outputFault(file);
        if (fault.isPresent()) {
            throw new IOException("--audit-log-path " + fault.get() + " (- for standard output)");
        }
        if (!Files.exists(file)) {
            Files.createFile(file, OwnerOnly.FILE);
        }
        OwnerOnly.tighten(file);
        long length = Files.size(file);
        torn = !endsWithALine(length);
        OutputStream out = Files.newOutputStream(file, StandardOpenOption.APPEND);
        size = length;
        return out;
    }

    private boolean endsWithALine(long length) throws IOException {
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            ByteBuffer last = ByteBuffer.allocate(1);
            return length == 0 || channel.position(length - 1).read(last) < 1 || last.get(0) == '\n';
        }
    }

    @Override
    public void write(List<byte[]> lines) throws IOException {
        for (byte[] line : lines) {
            if (size > 0 && size + line.length > maxBytes) {
                putAside();
            }
            if (torn) {
                // So that the part does not make the next line unreadable, too.
                stream.write('\n');
                size++;
            }
            torn = true;
            stream.write(line);
            torn = false;
            size += line.length;
        }
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }

    private void putAside() throws IOException {
        // After a failure the next line begins here again.
        size = maxBytes;
        stream.close();
        // Somebody may have removed the file to free space.
        if (Files.exists(file)) {
            Files.move(file, file.resolveSibling(prefix() + STAMP.format(utc(clock.wallTime())) + suffix()));
        }
        stream = appending();
        removeOld();
    }

    private void removeOld() throws IOException {
        Instant oldest = clock.wallTime().minus(Duration.ofDays(maxDays));
        List<Path> aside;
        try (Stream<Path> files = Files.list(file.resolveSibling("."))) {
            aside = files.filter(other -> putAsideAt(other).isPresent())
                    .sorted(Comparator.comparing(
                                    (Path other) -> putAsideAt(other).orElseThrow())
                            .reversed())
                    .toList();
        }
        for (int i = 0; i < aside.size(); i++) {
            boolean old = maxDays > 0 && putAsideAt(aside.get(i)).orElseThrow().isBefore(oldest);
            if (old || (maxFiles > 0 && i >= maxFiles)) {
                Files.deleteIfExists(aside.get(i));
            }
        }
    }

    /** When that file was rotated; empty if it is not a file of this log. */
    private Optional<Instant> putAsideAt(Path other) {
        String name = String.valueOf(other.getFileName());
        if (!name.startsWith(prefix()) || !name.endsWith(suffix())) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    LocalDateTime.parse(name.substring(prefix().length(), name.length() - suffix().length()), STAMP)
                            .toInstant(ZoneOffset.UTC));
        } catch (DateTimeException | IndexOutOfBoundsException e) {
            // Another program's file whose name looks like ours.
            return Optional.empty();
        }
    }

    private static LocalDateTime utc(Instant instant) {
        return LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
    }

    private String name() {
        return String.valueOf(file.getFileName());
    }

    private String prefix() {
        int dot = name().lastIndexOf('.');
        return (dot <= 0 ? name() : name().substring(0, dot)) + "-";
    }

    private String suffix() {
        int dot = name().lastIndexOf('.');
        return dot <= 0 ? "" : name().substring(dot);
    }
}
