package io.nodekeeper.agent.logs;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads a log file step by step, and goes on with the file that takes its place when the log is rotated. A step reads at
 * most {@link #STEP} bytes, so the memory is bounded whatever is in the file. All methods block on the disk. Used by one
 * thread at a time.
 */
public final class LogReader implements Closeable {
    /** Bytes of the file for each step: four TLS records of answer, and little enough to hold for 200 clients. */
    static final int STEP = 64 << 10;
    /** The longest record; the rest of a longer one is dropped. Runtimes split lines at 16 KiB. */
    static final int LONGEST = 256 << 10;
    /** How often opening is tried while the file is being replaced. */
    private static final int TRIES = 5;

    /** The result of a step. */
    public enum Next {
        /** There is more to read. */
        MORE,
        /** The end of the file was reached; more may be written. */
        END,
        /** The client has all that it asked for. */
        DONE
    }

    /**
     * The result of a step. Immutable.
     *
     * @param bytes for the client; may be empty, must not be changed
     */
    public record Step(byte[] bytes, Next next) {}

    private record Opened(FileChannel file, @Nullable Object key) {}

    private final Path path;
    private final LogOptions options;
    private final LogWriter writer;
    private final ByteBuffer buffer = ByteBuffer.allocate(STEP);
    /** The beginning of a record; at most {@link #LONGEST}. */
    private final ByteArrayOutputStream rest = new ByteArrayOutputStream();

    private Optional<Opened> opened = Optional.empty();
    private long position;
    private boolean dropping;
    /** Whether another file was seen in this one's place; it is read once this one has ended again. */
    private boolean replaced;

    /** A reader of {@code path}, which is not opened yet. */
    public LogReader(Path path, LogOptions options) {
        this.path = path;
        this.options = options;
        writer = new LogWriter(options);
    }

    /**
     * Opens the file, and looks for the lines to begin with.
     *
     * @throws NoSuchFileException if there is no such log
     */
    public void open() throws IOException {
        file();
    }

    /** Reads on. */
    public Step read() throws IOException {
        if (writer.isFull()) {
            return new Step(new byte[0], Next.DONE);
        }
        FileChannel file = file();
        buffer.clear();
        int count = file.read(buffer, position);
        if (count <= 0) {
            return atEnd(file);
        }
        replaced = false;
        position += count;
        ByteArrayOutputStream out = new ByteArrayOutputStream(count);
        records(buffer.array(), count, out);
        return new Step(out.toByteArray(), writer.isFull() ? Next.DONE : Next.MORE);
    }

    /** What is written of a record that has no end; for a log to which nothing will be added. */
    public byte[] remainder() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        if (!dropping && rest.size() > 0 && !writer.isFull()) {
            LogRecord.parse(rest.toByteArray(), 0, rest.size()).ifPresent(line -> writer.write(line, out));
        }
        return out.toByteArray();
    }

    @Override
    public void close() throws IOException {
        if (opened.isPresent()) {
            opened.get().file().close();
            opened = Optional.empty();
        }
    }

    private FileChannel file() throws IOException {
        if (opened.isEmpty()) {
            opened = Optional.of(newest());
            FileChannel file = opened.get().file();
            position = options.tailLines().isPresent()
                    ? tail(file, options.tailLines().getAsLong())
                    : 0;
        }
        return opened.get().file();
    }

    private Opened newest() throws IOException {
        for (int i = 1; ; i++) {
            Object before = key();
            FileChannel file = FileChannel.open(path);
            try {
                if (Objects.equals(before, key()) || i == TRIES) {
                    return new Opened(file, before);
                }
            } catch (IOException e) {
                file.close();
                throw e;
            }
            file.close();
        }
    }

    private @Nullable Object key() throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    private Step atEnd(FileChannel file) throws IOException {
        Step end = new Step(new byte[0], Next.END);
        if (file.size() < position) {
            // Another process truncated it.
            restart();
            return new Step(new byte[0], Next.MORE);
        }
        if (!options.follow()) {
            return end;
        }
        try {
            if (Objects.equals(key(), opened.orElseThrow().key())) {
                return end;
            }
        } catch (NoSuchFileException e) {
            // Between two files, or removed with its pod.
            return end;
        }
        if (replaced) {
            close();
            opened = Optional.of(newest());
            restart();
        } else {
            // The runtime may have written to the old file until it opened the new one.
            replaced = true;
        }
        return new Step(new byte[0], Next.MORE);
    }

    private void restart() {
        position = 0;
        replaced = false;
        dropping = false;
        rest.reset();
    }

    private void records(byte[] bytes, int count, ByteArrayOutputStream out) {
        int from = 0;
        for (int i = 0; i < count && !writer.isFull(); i++) {
            if (bytes[i] != '\n') {
                continue;
            }
            if (dropping) {
                dropping = false;
            } else if (rest.size() > 0) {
                rest.write(bytes, from, i - from);
                LogRecord.parse(rest.toByteArray(), 0, rest.size()).ifPresent(line -> writer.write(line, out));
                rest.reset();
            } else {
                LogRecord.parse(bytes, from, i).ifPresent(line -> writer.write(line, out));
            }
            from = i + 1;
        }
        if (!dropping && !writer.isFull()) {
            rest.write(bytes, from, count - from);
            if (rest.size() > LONGEST) {
                rest.reset();
                dropping = true;
            }
        }
    }

    /** Where the last {@code lines} records of the file begin. */
    private static long tail(FileChannel file, long lines) throws IOException {
        long end = file.size();
        if (lines <= 0) {
            return end;
        }
        ByteBuffer block = ByteBuffer.allocate(STEP);
        long found = 0;
        for (long to = end; to > 0; ) {
            long from = Math.max(0, to - STEP);
            block.clear().limit((int) (to - from));
            while (block.hasRemaining() && file.read(block, from + block.position()) > 0) {
                // Reads the block to its end.
            }
            for (int i = block.position() - 1; i >= 0; i--) {
                // The file's last line feed ends its last record.
                if (block.get(i) == '\n' && from + i < end - 1 && ++found == lines) {
                    return from + i + 1;
                }
            }
            to = from;
        }
        return 0;
    }
}
