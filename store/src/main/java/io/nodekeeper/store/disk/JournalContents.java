package io.nodekeeper.store.disk;

import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * The contents of a journal, verified against the journal's {@link RowChecksum}.
 *
 * @param recovered the state with which a store starts
 * @param format the version of the format; 0 if nothing was ever written
 * @param sum the checksum of all rows
 * @param windows the rows {@code w}: for each resource the revision of the latest change that left the history
 * @param unwanted row keys that exist but are not needed
 */
record JournalContents(
        Journal.Recovered recovered, long format, RowChecksum sum, Map<String, Long> windows, List<byte[]> unwanted) {
    /** The format without {@code m sum}. A start reads it and then writes the current one. */
    static final long FORMAT_WITHOUT_SUM = 2;

    static final long FORMAT = 3;

    /**
     * Reads all rows of {@code db}.
     *
     * @param values reads the values that stay on disk, and those of the history, later
     * @throws StoreException.Damaged if rows are missing, or if deleted rows are back
     * @throws StoreException if the format is unknown or a value cannot be decrypted
     */
    static JournalContents read(RocksDB db, Path directory, ValueTransformer transformer, RocksValueReader values)
            throws RocksDBException {
        long format = format(db, directory);
        RowChecksum sum = new RowChecksum();
        long floor = number(db, RowFormat.FLOOR);
        if (db.get(RowFormat.FLOOR) != null) {
            sum.add(RowFormat.FLOOR, RowFormat.number(floor));
        }
        Map<String, Long> windows = windows(db, sum);
        Replay replay = new Replay(transformer, values, windows, floor, sum);
        ChangeScan.each(db, new ChangeRow.Reader(transformer.isPlain()), replay::take);
        long revision = number(db, RowFormat.REVISION);
        if (format == FORMAT) {
            checkSum(db, sum, revision);
        }
        if (replay.gap().isPresent()) {
            throw replay.gap().get();
        }
        return new JournalContents(
                new Journal.Recovered(revision, replay.objects(), replay.history(), Map.copyOf(windows), floor),
                format,
                sum,
                windows,
                replay.unwanted());
    }

    private static long format(RocksDB db, Path directory) throws RocksDBException {
        byte[] format = db.get(RowFormat.FORMAT);
        if (format == null) {
            if (db.get(RowFormat.REVISION) != null) {
                throw new StoreException.Damaged("the row of the journal's format is missing", null);
            }
            return 0;
        }
        long found = ByteBuffer.wrap(format).getLong();
        if (found != FORMAT && found != FORMAT_WITHOUT_SUM) {
            throw new StoreException(
                    directory + " is in journal format " + found + "; this version reads format " + FORMAT, null);
        }
        return found;
    }

    private static Map<String, Long> windows(RocksDB db, RowChecksum sum) throws RocksDBException {
        Map<String, Long> windows = new HashMap<>();
        try (RocksIterator rows = db.newIterator()) {
            for (rows.seek(new byte[] {RowFormat.WINDOW});
                    rows.isValid() && rows.key()[0] == RowFormat.WINDOW;
                    rows.next()) {
                String resource = new String(rows.key(), 1, rows.key().length - 1, StandardCharsets.UTF_8);
                windows.put(resource, ByteBuffer.wrap(rows.value()).getLong());
                sum.add(rows.key(), rows.value());
            }
            rows.status();
        }
        return windows;
    }

    private static void checkSum(RocksDB db, RowChecksum actual, long revision) throws RocksDBException {
        byte[] stored = db.get(RowFormat.SUM);
        if (stored == null || !Arrays.equals(stored, actual.encode(revision))) {
            throw new StoreException.Damaged(
                    "its rows do not add up: expected "
                            + (stored == null ? "a sum" : RowChecksum.count(stored) + " rows")
                            + " as of revision " + revision + ", found " + actual.count()
                            + (stored != null && RowChecksum.count(stored) == actual.count() ? " other ones" : ""),
                    null);
        }
    }

    static long number(RocksDB db, byte[] row) throws RocksDBException {
        byte[] value = db.get(row);
        return value == null ? 0 : ByteBuffer.wrap(value).getLong();
    }
}
