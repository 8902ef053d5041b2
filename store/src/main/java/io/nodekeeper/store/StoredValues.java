package io.nodekeeper.store;

import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.file.Path;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Reads large values from a journal's database, through a cache. Thread-safe. */
final class StoredValues implements Values {
    /**
     * Longer values stay on disk: nodes and pods, which have 3 to 20 KB, but not leases, which are renewed all the time and
     * have well below 1 KB.
     */
    static final int LARGE = 2_048;

    private final Path directory;
    private final ValueTransformer transformer;
    /** A sixteenth of the heap: the values that were written or read last. */
    private final ValueCache cache = new ValueCache(Runtime.getRuntime().maxMemory() / 16);

    /** Held for writing while {@link #db} changes, for reading while it is used. */
    private final ReadWriteLock lock = new ReentrantReadWriteLock();

    private @Nullable RocksDB db;

    /** Values that {@code transformer} can read; there are none until {@link #attach}. */
    StoredValues(Path directory, ValueTransformer transformer) {
        this.directory = directory;
        this.transformer = transformer;
    }

    /** Reads from {@code open} from now on. */
    void attach(RocksDB open) {
        lock.writeLock().lock();
        try {
            db = open;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Waits for the reads under way; after that the database may be closed. */
    void detach() {
        lock.writeLock().lock();
        try {
            db = null;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** The same version, which leaves its value here if it is large. */
    Entry stored(Entry entry) {
        if (entry.length() <= LARGE) {
            return entry;
        }
        cache.put(entry.modRevision(), entry.value());
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
            byte[] change = db.get(Rows.row(revision, key));
            if (change == null) {
                throw new StoreException.Compacted(revision, revision + 1);
            }
            byte[] value = Rows.value(key, change, transformer);
            cache.put(revision, value);
            return value;
        } catch (RocksDBException e) {
            throw new StoreException(
                    "cannot read " + key + " of revision " + revision + " in " + directory + ": " + e.getMessage(), e);
        } finally {
            lock.readLock().unlock();
        }
    }
}
