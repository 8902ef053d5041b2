package io.nodekeeper.store.disk;

import io.nodekeeper.time.ThreadPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/**
 * Reads all changes of a database in the order of their revisions. A start waits for this, and to read a row takes about as long as
 * to take it up. So a second thread reads the next rows while the caller takes the last ones.
 */
final class ChangeScan {
    /** Rows that are read at once: some hundred kilobytes, if values are small. */
    private static final int ROWS = 512;

    private final RocksIterator rows;
    private final ChangeRow.Reader reader;

    private ChangeScan(RocksIterator rows, ChangeRow.Reader reader) {
        this.rows = rows;
        this.reader = reader;
    }

    /**
     * Passes each change of {@code db} to {@code taker}, on the caller's thread.
     *
     * @throws RocksDBException if a row cannot be read
     * @throws io.nodekeeper.store.StoreException.Damaged if a row is too short
     */
    static void each(RocksDB db, ChangeRow.Reader reader, Consumer<ChangeRow> taker) throws RocksDBException {
        try (Slice end = new Slice(new byte[] {RowFormat.CHANGE + 1});
                ReadOptions options = new ReadOptions().setIterateUpperBound(end);
                RocksIterator rows = db.newIterator(options);
                ThreadPool second = new ThreadPool("rows", 1)) {
            rows.seek(new byte[] {RowFormat.CHANGE});
            ChangeScan scan = new ChangeScan(rows, reader);
            List<ChangeRow> read = scan.next();
            while (!read.isEmpty()) {
                CompletableFuture<List<ChangeRow>> following = CompletableFuture.supplyAsync(scan::next, second);
                try {
                    read.forEach(taker);
                } finally {
                    // Nobody may close the database while the other thread reads it.
                    following.exceptionally(failed -> List.of()).join();
                }
                read = of(following);
            }
            rows.status();
        }
    }

    private static List<ChangeRow> of(CompletableFuture<List<ChangeRow>> read) {
        try {
            return read.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : e;
        }
    }

    /** The next rows; none at the end, and where the iterator stops because of an error, which is its status then. */
    private List<ChangeRow> next() {
        List<ChangeRow> next = new ArrayList<>(ROWS);
        for (; next.size() < ROWS && rows.isValid(); rows.next()) {
            next.add(reader.read(rows));
        }
        return next;
    }
}
