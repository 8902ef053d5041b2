package io.nodekeeper.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * A journal in RocksDB, synced with every group. Not thread-safe.
 *
 * <p>Rows, all numbers eight bytes big-endian: {@code o KEY 00 REVISION} holds the create revision and the value of one
 * version of an object; {@code h REVISION} holds, for one change still in the window, the kind of change, the revision of
 * the version before it (0: none) and the key; {@code m format} and {@code m revision}. A value is written once; when a
 * change leaves the window its row and the version before it go. So the objects, the window and what watchers need of the
 * versions before come back whole after a crash.
 */
public final class RocksJournal implements Journal {
    private static final byte[] FORMAT_KEY = "mformat".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REVISION_KEY = "mrevision".getBytes(StandardCharsets.US_ASCII);
    private static final long FORMAT = 1;
    private static final byte PUT = 1;
    private static final byte DELETE = 2;

    private final Options options;
    private final WriteOptions durable;
    private final Path directory;
    private RocksDB db;
    /** What the last append wrote if it failed: RocksDB cannot say how much of it a recovery would bring back. */
    private List<Event> doubtful = List.of();

    private RocksJournal(Path directory, Options options, RocksDB db) {
        this.directory = directory;
        this.options = options;
        this.db = db;
        this.durable = new WriteOptions().setSync(true);
    }

    /**
     * Opens the journal in {@code directory}, which is created if need be.
     *
     * @throws StoreException if it cannot be read or was written by a newer version
     */
    public static RocksJournal open(Path directory) {
        RocksDB.loadLibrary();
        Options options = new Options()
                .setCreateIfMissing(true)
                .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery)
                .setCompressionType(CompressionType.LZ4_COMPRESSION)
                // Everything is read once, at the start: caches would only cost memory.
                .setWriteBufferSize(32 << 20)
                .setMaxWriteBufferNumber(2)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setKeepLogFileNum(2);
        try {
            RocksDB db = RocksDB.open(options, directory.toString());
            byte[] format = db.get(FORMAT_KEY);
            if (format == null) {
                db.put(FORMAT_KEY, number(FORMAT));
            } else if (ByteBuffer.wrap(format).getLong() != FORMAT) {
                long found = ByteBuffer.wrap(format).getLong();
                db.close();
                options.close();
                throw new StoreException(
                        directory + " is in journal format " + found + "; this version reads format " + FORMAT, null);
            }
            return new RocksJournal(directory, options, db);
        } catch (RocksDBException e) {
            options.close();
            throw new StoreException("cannot open the journal in " + directory + ": " + e.getMessage(), e);
        }
    }

    private record Row(long revision, byte kind, long before, String key) {}

    @Override
    public Recovered load() {
        try {
            byte[] latest = db.get(REVISION_KEY);
            long revision = latest == null ? 0 : ByteBuffer.wrap(latest).getLong();
            List<Row> rows = history();
            Set<String> deleted = new HashSet<>();
            Set<String> changed = new HashSet<>();
            for (Row row : rows.reversed()) {
                if (changed.add(row.key) && row.kind == DELETE) {
                    deleted.add(row.key);
                }
            }
            Map<Long, Entry> versions = new HashMap<>();
            Map<String, Entry> live = new HashMap<>();
            try (RocksIterator rowsOfObjects = db.newIterator()) {
                for (rowsOfObjects.seek(new byte[] {'o'});
                        rowsOfObjects.isValid() && rowsOfObjects.key()[0] == 'o';
                        rowsOfObjects.next()) {
                    Entry entry = entry(rowsOfObjects.key(), rowsOfObjects.value());
                    if (changed.contains(entry.key())) {
                        versions.put(entry.modRevision(), entry);
                    }
                    if (!deleted.contains(entry.key())) {
                        live.put(entry.key(), entry);
                    }
                }
                rowsOfObjects.status();
            }
            List<Event> events = new ArrayList<>();
            for (Row row : rows) {
                Optional<Entry> before =
                        row.before == 0 ? Optional.empty() : Optional.of(version(versions, row.before));
                Optional<Entry> after =
                        row.kind == DELETE ? Optional.empty() : Optional.of(version(versions, row.revision));
                events.add(new Event(row.revision, row.key, before, after));
            }
            return new Recovered(revision, List.copyOf(live.values()), events, 0);
        } catch (RocksDBException e) {
            throw new StoreException("cannot read the journal in " + directory + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void append(List<Event> events, List<Event> forgotten) {
        try (WriteBatch batch = new WriteBatch()) {
            if (!doubtful.isEmpty()) {
                // After a failed write RocksDB takes no more until it is opened anew.
                db.close();
                db = RocksDB.open(options, directory.toString());
                for (Event event : doubtful) {
                    batch.delete(historyKey(event.revision()));
                    batch.delete(objectKey(event.key(), event.revision()));
                }
            }
            for (Event event : events) {
                byte kind = event.after().isPresent() ? PUT : DELETE;
                if (event.after().isPresent()) {
                    Entry entry = event.after().get();
                    batch.put(
                            objectKey(entry.key(), entry.modRevision()),
                            ByteBuffer.allocate(Long.BYTES + entry.value().length)
                                    .putLong(entry.createRevision())
                                    .put(entry.value())
                                    .array());
                }
                byte[] key = event.key().getBytes(StandardCharsets.UTF_8);
                long before = event.before().map(Entry::modRevision).orElse(0L);
                batch.put(
                        historyKey(event.revision()),
                        ByteBuffer.allocate(1 + Long.BYTES + key.length)
                                .put(kind)
                                .putLong(before)
                                .put(key)
                                .array());
            }
            for (Event event : forgotten) {
                batch.delete(historyKey(event.revision()));
                if (event.before().isPresent()) {
                    batch.delete(objectKey(event.key(), event.before().get().modRevision()));
                }
            }
            batch.put(REVISION_KEY, number(events.getLast().revision()));
            db.write(durable, batch);
            doubtful = List.of();
        } catch (RocksDBException e) {
            List<Event> all = new ArrayList<>(doubtful);
            all.addAll(events);
            doubtful = all;
            throw new StoreException("cannot write the journal in " + directory + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        db.close();
        durable.close();
        options.close();
    }

    private List<Row> history() throws RocksDBException {
        List<Row> rows = new ArrayList<>();
        try (RocksIterator iterator = db.newIterator()) {
            for (iterator.seek(new byte[] {'h'}); iterator.isValid() && iterator.key()[0] == 'h'; iterator.next()) {
                ByteBuffer value = ByteBuffer.wrap(iterator.value());
                byte kind = value.get();
                long before = value.getLong();
                String key = StandardCharsets.UTF_8.decode(value).toString();
                rows.add(new Row(ByteBuffer.wrap(iterator.key()).getLong(1), kind, before, key));
            }
            iterator.status();
        }
        return rows;
    }

    private Entry version(Map<Long, Entry> versions, long revision) {
        Entry entry = versions.get(revision);
        if (entry == null) {
            throw new StoreException("the journal in " + directory + " lacks the object of revision " + revision, null);
        }
        return entry;
    }

    private static Entry entry(byte[] row, byte[] value) {
        int end = row.length - Long.BYTES - 1;
        String key = new String(row, 1, end - 1, StandardCharsets.UTF_8);
        long created = ByteBuffer.wrap(value).getLong();
        return new Entry(
                key,
                Arrays.copyOfRange(value, Long.BYTES, value.length),
                created,
                ByteBuffer.wrap(row).getLong(end + 1));
    }

    private static byte[] objectKey(String key, long revision) {
        byte[] name = key.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(name.length + 2 + Long.BYTES)
                .put((byte) 'o')
                .put(name)
                .put((byte) 0)
                .putLong(revision)
                .array();
    }

    private static byte[] historyKey(long revision) {
        return ByteBuffer.allocate(1 + Long.BYTES)
                .put((byte) 'h')
                .putLong(revision)
                .array();
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}
