package io.nodekeeper.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.CRC32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file {@code acknowledged} of a store: up to which revision changes were made durable before they were acknowledged. It
 * is apart from RocksDB's files, so that one of these cannot be lost unnoticed together with it. A group advances the mark
 * after the group was synced and before it is acknowledged; the mark itself is synced with the first group of each log only. So
 * it outlives {@code kill -9} exactly. After a power cut it may be older than the store but never newer, and it is not older
 * than the first group of the newest log: the loss of that whole log is always noticed.
 *
 * <p>Two slots of one sector each are written in turns, so that a torn write leaves the other one. A third sector holds the
 * process that has the store open. The file also is the lock against a second process. Not thread-safe.
 */
final class Mark implements AutoCloseable {
    static final String FILE = "acknowledged";

    private static final Logger log = LoggerFactory.getLogger(Mark.class);
    /** Disks write a sector of this size whole or not at all. */
    private static final int SECTOR = 512;

    private static final int HOLDER = 2 * SECTOR;
    private static final int SIZE = 3 * SECTOR;
    /** ASCII "NKMARK01". */
    private static final long MAGIC = 0x4e4b4d41524b3031L;
    /** Magic, sequence, value and checksum. */
    private static final int SLOT = 4 * Long.BYTES;

    private final Path file;
    private final RandomAccessFile content;
    private long sequence;
    private boolean failing;
    /** The revision that a power cut cannot take from the mark. */
    private long synced;

    private Mark(Path file, RandomAccessFile content) {
        this.file = file;
        this.content = content;
    }

    /** The revision in the mark of the store in {@code directory}; empty if there is no mark, or none that can be read. */
    static OptionalLong read(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return OptionalLong.empty();
        }
        try {
            return value(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new StoreException("cannot read " + file + ": " + e, e);
        }
    }

    /**
     * The revision in this mark, read through the file that holds the lock: to open and close the file once more would give up
     * the lock, as POSIX has it.
     */
    OptionalLong read() {
        try {
            byte[] bytes = new byte[SIZE];
            content.seek(0);
            int length = Math.max(0, content.read(bytes));
            return value(Arrays.copyOf(bytes, length));
        } catch (IOException e) {
            throw new StoreException("cannot read " + file + ": " + e, e);
        }
    }

    private static OptionalLong value(byte[] bytes) {
        return newest(bytes).stream().mapToLong(Slot::value).findFirst();
    }

    /**
     * Locks the mark of the store in {@code directory}, if there is one. Nothing is written.
     *
     * @throws StoreException if another process holds it; the message says which
     */
    static Optional<Mark> lock(Path directory) {
        Path file = directory.resolve(FILE);
        return Files.exists(file) ? Optional.of(open(file)) : Optional.empty();
    }

    /** Makes an empty mark in {@code directory} and locks it. */
    static Mark create(Path directory) {
        return open(directory.resolve(FILE));
    }

    private static Mark open(Path file) {
        RandomAccessFile content;
        try {
            content = new RandomAccessFile(file.toFile(), "rw");
        } catch (IOException e) {
            throw new StoreException("cannot open " + file + ": " + e.getMessage(), e);
        }
        try {
            // Held until the file is closed.
            FileLock lock = content.getChannel().tryLock();
            if (lock == null) {
                throw inUse(file, holder(content));
            }
            return new Mark(file, content);
        } catch (OverlappingFileLockException e) {
            throw inUse(file, "this process");
        } catch (IOException | StoreException e) {
            try {
                content.close();
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e instanceof StoreException known ? known : new StoreException("cannot lock " + file + ": " + e, e);
        }
    }

    private static StoreException inUse(Path file, String holder) {
        return new StoreException(
                "the store in " + file.getParent() + " is in use by " + holder
                        + "; stop that, or use another --data-dir",
                null);
    }

    private static String holder(RandomAccessFile content) throws IOException {
        byte[] bytes = new byte[SIZE];
        content.seek(0);
        int read = Math.max(0, content.read(bytes));
        return read < HOLDER + SLOT
                ? "another process"
                : slot(bytes, HOLDER)
                        .map(slot -> "process " + slot.value + command(slot.value))
                        .orElse("another process");
    }

    private static String command(long process) {
        return ProcessHandle.of(process)
                .flatMap(handle -> handle.info().command())
                .map(command -> " (" + command + ")")
                .orElse("");
    }

    /** Writes the mark durably; {@code revision} was made durable before. Also notes this process as the holder. */
    void begin(long revision) {
        try {
            byte[] before = new byte[SIZE];
            content.seek(0);
            if (content.read(before) == SIZE) {
                sequence = newest(before).map(Slot::sequence).orElse(0L);
            }
            content.setLength(SIZE);
            write(HOLDER, 1, ProcessHandle.current().pid());
            advance(revision);
            content.getFD().sync();
            synced = revision;
        } catch (IOException e) {
            throw new StoreException("cannot write " + file + ": " + e.getMessage(), e);
        }
    }

    /** As {@link #advance}, and outlives a power cut. */
    void advanceAndSync(long revision) {
        advance(revision);
        try {
            content.getFD().sync();
            synced = revision;
        } catch (IOException e) {
            log.warn("cannot sync {}: {}", file, e.getMessage());
        }
    }

    /** The revision that the mark has at the least after a power cut. */
    long synced() {
        return synced;
    }

    /**
     * Advances the mark to {@code revision}, which is durable. A mark that cannot be written stays behind, which is logged: it
     * claims less then, never more.
     */
    void advance(long revision) {
        try {
            sequence++;
            write((int) (sequence % 2) * SECTOR, sequence, revision);
            failing = false;
        } catch (IOException e) {
            if (!failing) {
                log.warn("cannot write {}, which stays behind the store: {}", file, e.getMessage());
            }
            failing = true;
        }
    }

    private void write(int at, long sequence, long value) throws IOException {
        ByteBuffer slot =
                ByteBuffer.allocate(SLOT).putLong(MAGIC).putLong(sequence).putLong(value);
        slot.putLong(checksum(slot.array()));
        content.seek(at);
        content.write(slot.array());
    }

    private record Slot(long sequence, long value) {}

    private static Optional<Slot> newest(byte[] bytes) {
        Optional<Slot> first = slot(bytes, 0);
        Optional<Slot> second = slot(bytes, SECTOR);
        if (first.isPresent() && second.isPresent()) {
            return first.get().sequence > second.get().sequence ? first : second;
        }
        return first.or(() -> second);
    }

    private static Optional<Slot> slot(byte[] bytes, int at) {
        if (bytes.length < at + SLOT) {
            return Optional.empty();
        }
        ByteBuffer slot = ByteBuffer.wrap(bytes, at, SLOT).slice();
        byte[] copy = new byte[SLOT];
        slot.duplicate().get(copy);
        boolean good = slot.getLong(0) == MAGIC && slot.getLong(3 * Long.BYTES) == checksum(copy);
        return good ? Optional.of(new Slot(slot.getLong(Long.BYTES), slot.getLong(2 * Long.BYTES))) : Optional.empty();
    }

    private static long checksum(byte[] slot) {
        CRC32 crc = new CRC32();
        crc.update(slot, 0, 3 * Long.BYTES);
        return crc.getValue();
    }

    @Override
    public void close() {
        try {
            content.close();
        } catch (IOException e) {
            log.warn("cannot close {}: {}", file, e.getMessage());
        }
    }
}
