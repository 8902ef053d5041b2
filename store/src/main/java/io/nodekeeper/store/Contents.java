package io.nodekeeper.store;

import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Everything in a journal, checked against its own sum.
 *
 * @param recovered what a store begins with
 * @param format the journal's format; 0 if nothing was ever written
 * @param sum the sum over all rows
 * @param windows the rows {@code w}
 * @param unwanted rows that are there but not needed
 */
record Contents(
        Journal.Recovered recovered, long format, RowSum sum, Map<String, Long> windows, List<byte[]> unwanted) {
    /** The format without {@code m sum}, which is read and then written as the current one. */
    static final long FORMAT_WITHOUT_SUM = 2;

    static final long FORMAT = 3;

    /**
     * Reads all rows of {@code db}.
     *
     * @param values where large values and those of the history are read later; empty to have all in memory now
     * @throws StoreException.Damaged if rows are missing or too many
     * @throws StoreException if the format is unknown, or a value cannot be decrypted
     */
    static Contents read(RocksDB db, Path directory, ValueTransformer transformer, Optional<Values> values)
            throws RocksDBException {
        long format = format(db, directory);
        RowSum sum = new RowSum();
        long floor = number(db, Rows.FLOOR);
        if (db.get(Rows.FLOOR) != null) {
            sum.add(Rows.FLOOR, Rows.number(floor));
        }
        Map<String, Long> windows = windows(db, sum);
        Map<String, Entry> live = new HashMap<>();
        // The objects that stay in memory; of all other versions only where they are.
        Map<String, Entry> small = new HashMap<>();
        List<Event> history = new ArrayList<>();
        List<byte[]> unwanted = new ArrayList<>();
        Optional<StoreException> gap = Optional.empty();
        try (RocksIterator rows = db.newIterator()) {
            for (rows.seek(new byte[] {Rows.CHANGE}); rows.isValid() && rows.key()[0] == Rows.CHANGE; rows.next()) {
                byte[] row = rows.key();
                byte[] change = rows.value();
                sum.add(row);
                Event whole = Rows.event(row, change, Optional.ofNullable(live.get(Rows.key(row))), transformer);
                Event event = values.map(later -> stored(whole, later)).orElse(whole);
                whole.after()
                        .filter(after -> after.length() <= StoredValues.LARGE)
                        .ifPresentOrElse(after -> small.put(event.key(), after), () -> small.remove(event.key()));
                event.after().ifPresentOrElse(after -> live.put(event.key(), after), () -> live.remove(event.key()));
                if (event.revision() > Math.max(floor, windows.getOrDefault(Window.resource(event.key()), 0L))) {
                    gap = gap.or(() -> missingBefore(event, Rows.before(change)));
                    history.add(event);
                } else {
                    unwanted.addAll(Rows.leftBehind(event));
                }
            }
            rows.status();
        }
        live.putAll(small);
        long revision = number(db, Rows.REVISION);
        if (format == FORMAT) {
            checkSum(db, sum, revision);
        }
        if (gap.isPresent()) {
            throw gap.get();
        }
        return new Contents(
                new Journal.Recovered(revision, List.copyOf(live.values()), history, Map.copyOf(windows), floor),
                format,
                sum,
                windows,
                unwanted);
    }

    /** The same change, whose value is read from {@code values}. */
    private static Event stored(Event event, Values values) {
        return new Event(
                event.revision(),
                event.key(),
                event.before(),
                event.after()
                        .map(after -> Entry.stored(
                                after.key(), after.length(), values, after.createRevision(), after.modRevision())));
    }

    private static long format(RocksDB db, Path directory) throws RocksDBException {
        byte[] format = db.get(Rows.FORMAT);
        if (format == null) {
            if (db.get(Rows.REVISION) != null) {
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

    private static Map<String, Long> windows(RocksDB db, RowSum sum) throws RocksDBException {
        Map<String, Long> windows = new HashMap<>();
        try (RocksIterator rows = db.newIterator()) {
            for (rows.seek(new byte[] {Rows.WINDOW}); rows.isValid() && rows.key()[0] == Rows.WINDOW; rows.next()) {
                String resource = new String(rows.key(), 1, rows.key().length - 1, StandardCharsets.UTF_8);
                windows.put(resource, ByteBuffer.wrap(rows.value()).getLong());
                sum.add(rows.key(), rows.value());
            }
            rows.status();
        }
        return windows;
    }

    /** The version that a change in the window replaced must be there, too. */
    private static Optional<StoreException> missingBefore(Event event, long revision) {
        return event.before().map(Entry::modRevision).orElse(0L) == revision
                ? Optional.empty()
                : Optional.of(new StoreException.Damaged(
                        "the version of " + event.key() + " at revision " + revision + " is missing, which revision "
                                + event.revision() + " changed",
                        null));
    }

    private static void checkSum(RocksDB db, RowSum actual, long revision) throws RocksDBException {
        byte[] stored = db.get(Rows.SUM);
        if (stored == null || !Arrays.equals(stored, actual.encode(revision))) {
            throw new StoreException.Damaged(
                    "its rows do not add up: expected " + (stored == null ? "a sum" : RowSum.count(stored) + " rows")
                            + " as of revision " + revision + ", found " + actual.count()
                            + (stored != null && RowSum.count(stored) == actual.count() ? " other ones" : ""),
                    null);
        }
    }

    static long number(RocksDB db, byte[] row) throws RocksDBException {
        byte[] value = db.get(row);
        return value == null ? 0 : ByteBuffer.wrap(value).getLong();
    }
}
