package io.nodekeeper.store.disk;

import io.nodekeeper.store.StoreException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file {@code acknowledged} of a store: the highest revision that was made durable and may have been acknowledged. It is
 * not one of RocksDB's files, so a start notices when one of those is lost. A group is synced, then it advances the mark, then
 * it is acknowledged. The mark itself is synced only with the first group of each write-ahead log. So the mark is exact after
 * {@code kill -9}. After a power cut it may be older than the store but never newer. It is never older than the first group of
 * the newest log, so the loss of that log is always noticed.
 *
 * <p>The file has three sectors. The first two are written alternately, so that a torn write leaves the other one intact. The
 * third one holds the ID of the process that has the store open. The file is also the lock against a second process. Used by
 * one thread, except for {@link #read()}.
 */
final class HighWaterMark implements AutoCloseable {
    static final String FILE = "acknowledged";

    private static final Logger log = LoggerFactory.getLogger(HighWaterMark.class);
    /** Disks write a sector of this size atomically. */
    private static final int SECTOR = 512;

    private static final int HOLDER = 2 * SECTOR;
    private static final int SIZE = 3 * SECTOR;
    /** ASCII "NKMARK01". */
    private static final long MAGIC = 0x4e4b4d41524b3031L;
    /** Magic, sequence, value and checksum. */
    private static final int SLOT = 4 * Long.BYTES;

    /**
     * The marks that this process has locked, by their real paths. POSIX releases a process's lock when the process closes any
     * descriptor of the file, so a locked file is never opened again. Bound: the stores that this process has open.
     */
    private static final Map<Path, HighWaterMark> LOCKED = new ConcurrentHashMap<>();

    private final Path file;
    private final RandomAccessFile content;
    private long sequence;
    private boolean failing;
    /** The latest revision that was synced: a power cut cannot undo it. */
    private long synced;

    private HighWaterMark(Path file, RandomAccessFile content) {
        this.file = file;
        this.content = content;
    }

    /** Reads the mark of the store in {@code directory}. Empty if the file is missing or no slot is valid. */
    static OptionalLong read(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return OptionalLong.empty();
        }
        try {
            HighWaterMark locked = LOCKED.get(file.toRealPath());
            return locked != null ? locked.read() : value(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new StoreException("cannot read " + file + ": " + e, e);
        }
    }

    /** Reads this mark through the file that holds the lock. Any thread may call this. */
    OptionalLong read() {
        try {
            return value(bytes(content));
        } catch (IOException e) {
            throw new StoreException("cannot read " + file + ": " + e, e);
        }
    }

    /** The file's bytes, filled up with zeros to {@link #SIZE}. */
    private static byte[] bytes(RandomAccessFile content) throws IOException {
        byte[] bytes = new byte[SIZE];
        // Not through the channel: an interrupt of the thread would close it, and the lock with it.
        synchronized (content) {
            content.seek(0);
            content.read(bytes);
        }
        return bytes;
    }

    private static OptionalLong value(byte[] bytes) {
        return newest(bytes).stream().mapToLong(Slot::value).findFirst();
    }

    /**
     * Locks the mark of the store in {@code directory}, if the file exists. Writes nothing.
     *
     * @throws StoreException if another process holds the lock; the message names that process
     */
    static Optional<HighWaterMark> lock(Path directory) {
        Path file = directory.resolve(FILE);
        return Files.exists(file) ? Optional.of(open(file)) : Optional.empty();
    }

    /** Creates an empty mark in {@code directory} and locks it. */
    static HighWaterMark create(Path directory) {
        return open(directory.resolve(FILE));
    }

    private static HighWaterMark open(Path file) {
        synchronized (LOCKED) {
            RandomAccessFile content;
            try {
                if (Files.exists(file) && LOCKED.containsKey(file.toRealPath())) {
                    throw inUse(file, "this process");
                }
                content = new RandomAccessFile(file.toFile(), "rw");
            } catch (IOException e) {
                throw new StoreException("cannot open " + file + ": " + e.getMessage(), e);
            }
            try {
                // The lock is held until the file is closed.
                FileLock lock = content.getChannel().tryLock();
                if (lock == null) {
                    throw inUse(file, holder(content));
                }
                HighWaterMark mark = new HighWaterMark(file.toRealPath(), content);
                LOCKED.put(mark.file, mark);
                return mark;
            } catch (IOException | StoreException e) {
                try {
                    content.close();
                } catch (IOException suppressed) {
                    e.addSuppressed(suppressed);
                }
                throw e instanceof StoreException known
                        ? known
                        : new StoreException("cannot lock " + file + ": " + e, e);
            }
        }
    }

    private static StoreException inUse(Path file, String holder) {
        return new StoreException(
                "the store in " + file.getParent() + " is in use by " + holder
                        + "; stop that, or use another --data-dir",
                null);
    }

    private static String holder(RandomAccessFile content) throws IOException {
        return slot(bytes(content), HOLDER)
                .map(slot -> "process " + slot.value + command(slot.value))
                .orElse("another process");
    }

    private static String command(long process) {
        return ProcessHandle.of(process)
                .flatMap(handle -> handle.info().command())
                .map(command -> " (" + command + ")")
                .orElse("");
    }

    /** Writes and syncs the mark, and writes the ID of this process. {@code revision} must be durable already. */
    void begin(long revision) {
        try {
            sequence = newest(bytes(content)).map(Slot::sequence).orElse(0L);
            content.setLength(SIZE);
            write(HOLDER, 1, ProcessHandle.current().pid());
            advance(revision);
            content.getFD().sync();
            synced = revision;
        } catch (IOException e) {
            throw new StoreException("cannot write " + file + ": " + e.getMessage(), e);
        }
    }

    /** As {@link #advance}, and syncs the mark, so that it survives a power cut. */
    void advanceAndSync(long revision) {
        advance(revision);
        try {
            content.getFD().sync();
            synced = revision;
        } catch (IOException e) {
            log.warn("cannot sync {}: {}", file, e.getMessage());
        }
    }

    /** The lowest revision that the mark can have after a power cut. */
    long synced() {
        return synced;
    }

    /**
     * Advances the mark to {@code revision}, which must be durable already. If the write fails, the mark stays at an older
     * revision, and the failure is logged once.
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
        synchronized (content) {
            content.seek(at);
            content.write(slot.array());
        }
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
        LOCKED.remove(file, this);
        try {
            content.close();
        } catch (IOException e) {
            log.warn("cannot close {}: {}", file, e.getMessage());
        }
    }
}
