package io.nodekeeper.controller.history;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.files.OwnerOnly;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Stores decisions in files: one JSON object per line, in segments {@code decisions-00000001.jsonl}, … of one
 * directory. Appends to the newest segment, starts a new one when that is full, and deletes the oldest ones when the
 * total is too large. Lines are passed to the operating system without fsync: they survive the end of the process by
 * any signal, but a power failure may lose the last seconds.
 *
 * <p>A process that is killed while it writes a line leaves a torn line. The next writing process removes it, and
 * readers skip it. One process writes at a time: it holds a lock on the file {@code lock}, which ends with the process.
 * On a file system without locks there is none. Calls block; not thread-safe.
 */
final class Segments {
    private static final Pattern NAME = Pattern.compile("decisions-(\\d{8})\\.jsonl");
    /**
     * The number of segments at the size limit: each deletion drops an eighth of the history. More segments would mean
     * more files, fewer would drop more at a time.
     */
    private static final int SEGMENTS = 8;

    /** Symbolic links are not followed, because another file would then be written or truncated. */
    private static final Set<OpenOption> APPEND = Set.of(
            StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND, LinkOption.NOFOLLOW_LINKS);

    private static final String LOCK = "lock";

    private final Path directory;
    private final long bound;
    /** Open and locked while this process is the writer. */
    private @Nullable FileChannel lock;
    /** Whether the newest segment ends with a whole line: it was repaired, and each append has succeeded since. */
    private boolean isWhole;

    /** At most {@code bound} bytes and one batch in {@code directory}, which the first write creates. */
    Segments(Path directory, long bound) {
        this.directory = directory;
        this.bound = bound;
    }

    /**
     * Creates the directory, and removes a torn line at the end of the newest segment; returns how many bytes it
     * removed.
     *
     * @throws IOException if another process writes to it, among other reasons
     */
    long repair() throws IOException {
        OwnerOnly.directoryAndFiles(directory);
        own();
        List<Path> all = list();
        long removed = all.isEmpty() ? 0 : removeTornLine(all.getLast());
        isWhole = true;
        return removed;
    }

    private static long removeTornLine(Path segment) throws IOException {
        try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long size = channel.size();
            long end = afterLastNewline(channel, size);
            if (end < size) {
                channel.truncate(end);
            }
            return size - end;
        }
    }

    private void own() throws IOException {
        if (lock == null) {
            FileChannel channel = FileChannel.open(directory.resolve(LOCK), APPEND, OwnerOnly.FILE);
            if (!isMine(channel)) {
                channel.close();
                throw new IOException("another process writes to it");
            }
            lock = channel;
        }
    }

    private static boolean isMine(FileChannel channel) {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            // The file system does not support locks.
            return true;
        }
    }

    /** Releases the lock for another process. */
    void release() throws IOException {
        isWhole = false;
        if (lock != null) {
            lock.close();
            lock = null;
        }
    }

    /** Appends decisions, then deletes the oldest segments if the total is too large. */
    void append(List<Decision> decisions) throws IOException {
        if (!isWhole) {
            // Another process may have written until now, or the last append was interrupted, and left a torn line.
            repair();
        }
        ByteArrayOutputStream lines = new ByteArrayOutputStream(512 * decisions.size());
        for (Decision decision : decisions) {
            lines.writeBytes(Json.writeBytes(decision.json()));
            lines.write('\n');
        }
        isWhole = false;
        try (FileChannel channel = FileChannel.open(target(), APPEND, OwnerOnly.FILE)) {
            long before = channel.size();
            ByteBuffer buffer = ByteBuffer.wrap(lines.toByteArray());
            try {
                while (buffer.hasRemaining()) {
                    channel.write(buffer);
                }
            } catch (IOException e) {
                // A full disk may store a part of the lines, all of which count as lost.
                cut(channel, before, e);
                throw e;
            }
        }
        isWhole = true;
        prune();
    }

    private static void cut(FileChannel channel, long size, IOException why) {
        try {
            channel.truncate(size);
        } catch (IOException e) {
            why.addSuppressed(e);
        }
    }

    /** Whether the oldest decisions have been deleted. */
    boolean wasPruned() throws IOException {
        List<Path> all = list();
        return !all.isEmpty() && number(all.getFirst()) > 1;
    }

    /** The bytes of all segments. */
    long size() throws IOException {
        long size = 0;
        for (Path segment : list()) {
            size += Files.size(segment);
        }
        return size;
    }

    private static long afterLastNewline(FileChannel channel, long size) throws IOException {
        ByteBuffer block = ByteBuffer.allocate(8_192);
        for (long end = size; end > 0; ) {
            long start = Math.max(0, end - block.capacity());
            block.clear().limit((int) (end - start));
            while (block.hasRemaining() && channel.read(block, start + block.position()) >= 0) {
                // Reads on until the block is full.
                continue;
            }
            for (int i = block.position() - 1; i >= 0; i--) {
                if (block.get(i) == '\n') {
                    return start + i + 1;
                }
            }
            end = start;
        }
        return 0;
    }

    private Path target() throws IOException {
        if (!Files.exists(directory)) {
            OwnerOnly.directory(directory);
        }
        List<Path> all = list();
        if (all.isEmpty()) {
            return segment(1);
        }
        Path newest = all.getLast();
        return Files.size(newest) < bound / SEGMENTS ? newest : segment(number(newest) + 1);
    }

    private void prune() throws IOException {
        List<Path> all = list();
        long size = size();
        for (Path oldest : all.subList(0, all.size() - 1)) {
            if (size <= bound) {
                return;
            }
            size -= Files.size(oldest);
            Files.delete(oldest);
        }
    }

    /** The files, oldest first. */
    List<Path> list() throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file ->
                            NAME.matcher(name(file)).matches() && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .sorted()
                    .toList();
        }
    }

    private Path segment(int number) {
        return directory.resolve(String.format(Locale.ROOT, "decisions-%08d.jsonl", number));
    }

    private static int number(Path segment) {
        return Integer.parseInt(name(segment).substring(10, 18));
    }

    private static String name(Path file) {
        return file.getFileName() == null ? "" : file.getFileName().toString();
    }

    @Override
    public String toString() {
        return directory.toString();
    }
}
