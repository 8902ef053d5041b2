package io.nodekeeper.store.disk;

import io.nodekeeper.time.Futures;
import io.nodekeeper.time.ThreadPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/**
 * Reads all changes of a database in the order of their revisions. A start waits for this, and to read a row takes about as long as
 * to take it up. So a second thread reads the next block of rows while the caller takes the last one. Two blocks are in memory at a
 * time. If the disk hangs, the caller hangs, as it would without the second thread.
 */
final class ChangeScan {
    private static final int ROWS = 512;
    /** A block ends once its values have this many bytes, if not before: an encrypted Secret can have more than a megabyte. */
    private static final int BYTES = 1 << 20;

    private ChangeScan() {}

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
            List<ChangeRow> read = block(rows, reader);
            while (!read.isEmpty()) {
                CompletableFuture<List<ChangeRow>> following =
                        CompletableFuture.supplyAsync(() -> block(rows, reader), second);
                try {
                    read.forEach(taker);
                } finally {
                    // The database must not be closed while the other thread reads it.
                    following.exceptionally(failed -> List.of()).join();
                }
                read = Futures.join(following);
            }
            rows.status();
        }
    }

    /** The next rows; none at the end, and where the iterator stops because of an error, which is its status then. */
    static List<ChangeRow> block(RocksIterator rows, ChangeRow.Reader reader) {
        List<ChangeRow> block = new ArrayList<>(ROWS);
        long bytes = 0;
        for (; block.size() < ROWS && bytes < BYTES && rows.isValid(); rows.next()) {
            ChangeRow change = reader.read(rows);
            bytes += change.stored().map(value -> value.length).orElse(0);
            block.add(change);
        }
        return block;
    }
}
