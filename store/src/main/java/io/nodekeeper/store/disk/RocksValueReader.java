package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.ValueReader;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.file.Path;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Reads the values that are not in memory from a journal's database, through a cache. Thread-safe. */
final class RocksValueReader implements ValueReader {
    private final Path directory;
    private final ValueTransformer transformer;
    private final ValuePlacement placement;
    /** Large values that were recently written or read. A 32nd of the heap, a quarter of what the history may take. */
    private final ValueCache cache = new ValueCache(Runtime.getRuntime().maxMemory() / 32);

    /** The write lock guards changes of {@link #db}, the read lock its use. */
    private final ReadWriteLock lock = new ReentrantReadWriteLock();

    private @Nullable RocksDB db;

    /** A reader of values that {@code transformer} decodes. It reads nothing before {@link #attach}. */
    RocksValueReader(Path directory, ValueTransformer transformer, ValuePlacement placement) {
        this.directory = directory;
        this.transformer = transformer;
        this.placement = placement;
    }

    /** Sets the database to read from. */
    void attach(RocksDB open) {
        lock.writeLock().lock();
        try {
            db = open;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Waits for running reads. The caller may close the database after that. */
    void detach() {
        pause().close();
    }

    /** A time in which reads wait. */
    interface Pause extends AutoCloseable {
        @Override
        void close();
    }

    /** As {@link #detach}, and lets reads wait until the end of the pause, for a database that is attached meanwhile. */
    Pause pause() {
        lock.writeLock().lock();
        db = null;
        return lock.writeLock()::unlock;
    }

    /** Whether a value of {@code length} bytes stays on disk. */
    boolean onDisk(String key, int length) {
        return placement.onDisk(key, length);
    }

    /** The same version, without its value in memory if the value stays on disk. */
    Entry stored(Entry entry) {
        // A write that failed or was refused may have had this revision before.
        cache.remove(entry.modRevision());
        if (!onDisk(entry.key(), entry.length())) {
            return entry;
        }
        remember(entry.key(), entry.modRevision(), entry.value());
        return replaced(entry);
    }

    /** The same version without its value in memory. The cache does not keep it, because few readers want old versions. */
    Entry replaced(Entry entry) {
        return Entry.stored(entry.key(), entry.length(), this, entry.createRevision(), entry.modRevision());
    }

    @Override
    public byte[] read(String key, long revision) {
        return cache.get(revision).orElseGet(() -> fetch(key, revision));
    }

    @Override
    public boolean cached(long revision) {
        return cache.has(revision);
    }

    private byte[] fetch(String key, long revision) {
        lock.readLock().lock();
        try {
            if (db == null) {
                throw new StoreException("the store is closed: " + key + " is not read", null);
            }
            byte[] change = db.get(RowFormat.row(revision, key));
            if (change == null) {
                throw new StoreException.Compacted(revision, revision + 1);
            }
            byte[] value = RowFormat.value(key, change, transformer);
            remember(key, revision, value);
            return value;
        } catch (RocksDBException e) {
            throw new StoreException(
                    "cannot read " + key + " of revision " + revision + " in " + directory + ": " + e.getMessage(), e);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Keeps the value in the cache, unless many of its kind would replace there what is read often. */
    private void remember(String key, long revision, byte[] value) {
        if (!placement.isSeldomRead(key)) {
            cache.put(revision, value);
        }
    }
}
