package io.nodekeeper.store.disk;

import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.ThreadPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Reads the rows of one kind in the order of their keys, on a thread of its own and ahead of their user: a start has to read
 * and to decode more than a hundred thousand of them, and each takes about half of the time. What waits is bounded by
 * {@link #WAITING} batches of 1 MiB, or of one row if that is larger. Used by one thread.
 */
final class RowReader implements AutoCloseable {
    private static final int BATCH_ROWS = 1_024;
    private static final int BATCH_BYTES = 1 << 20;
    private static final int WAITING = 4;

    /** A row key and its value. */
    record Row(byte[] key, byte[] value) {}

    /** The next rows; the last batch has none, but perhaps an error. */
    private record Batch(List<Row> rows, @Nullable Exception failure) {}

    private final BlockingQueue<Batch> batches = new ArrayBlockingQueue<>(WAITING);
    private final ThreadPool thread = new ThreadPool("rows", 1);
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final RocksDB db;
    private final byte kind;
    private boolean ended;

    private RowReader(RocksDB db, byte kind) {
        this.db = db;
        this.kind = kind;
    }

    /** Starts to read the rows of {@code db} whose keys begin with {@code kind}. Close it before the database. */
    static RowReader start(RocksDB db, byte kind) {
        RowReader reader = new RowReader(db, kind);
        reader.thread.execute(reader::read);
        return reader;
    }

    /**
     * Waits for the next rows. Empty at the end.
     *
     * @throws RocksDBException if they cannot be read
     */
    List<Row> next() throws RocksDBException {
        if (ended) {
            return List.of();
        }
        Batch batch;
        try {
            batch = batches.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException("interrupted while the journal was read", e);
        }
        ended = batch.rows.isEmpty();
        if (batch.failure instanceof RocksDBException failure) {
            throw failure;
        }
        if (batch.failure != null) {
            throw new IllegalStateException("the journal's rows cannot be read", batch.failure);
        }
        return batch.rows;
    }

    private void read() {
        try {
            batches.put(new Batch(List.of(), readAll()));
        } catch (InterruptedException e) {
            // Closed: nobody takes the rest.
            Thread.currentThread().interrupt();
        } finally {
            over.complete(null);
        }
    }

    /** Returns the error that ended it, null if it read to the end. */
    private @Nullable Exception readAll() throws InterruptedException {
        try (RocksIterator rows = db.newIterator()) {
            rows.seek(new byte[] {kind});
            for (List<Row> batch = batch(rows); !batch.isEmpty(); batch = batch(rows)) {
                batches.put(new Batch(batch, null));
            }
            rows.status();
            return null;
        } catch (RocksDBException | RuntimeException e) {
            return e;
        }
    }

    private List<Row> batch(RocksIterator rows) {
        List<Row> batch = new ArrayList<>(BATCH_ROWS);
        for (int bytes = 0; bytes < BATCH_BYTES && batch.size() < BATCH_ROWS && rows.isValid(); rows.next()) {
            byte[] key = rows.key();
            if (key[0] != kind) {
                break;
            }
            Row row = new Row(key, rows.value());
            bytes += key.length + row.value.length;
            batch.add(row);
        }
        return batch;
    }

    /** Ends the reading, which may be in the middle; afterwards the database may be closed. */
    @Override
    public void close() {
        thread.close();
        // Within the time of one batch.
        over.join();
    }
}
