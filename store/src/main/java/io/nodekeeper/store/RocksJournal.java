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
import org.rocksdb.Status;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal in RocksDB, synced with every group. Not thread-safe.
 *
 * <p>Rows, all numbers eight bytes big-endian: {@code o KEY 00 REVISION} holds the create revision and the value of one
 * version of an object; {@code h REVISION} holds, for one change still in the window, the kind of change, the revision of
 * the version before it (0: none) and the key; {@code m format} and {@code m revision}. A value is written once; when a
 * change leaves the window its row and the version before it go. So the objects, the window and what watchers need of the
 * versions before come back whole after a crash.
 *
 * <p>A log whose end is damaged is cut there, which is reported. What was cut may have been seen: so the revision jumps by
 * more than a log can hold, and history begins anew after that ({@code m floor}); whoever saw what is lost is told that his
 * revision is gone. Damage anywhere else stops the start: half of the objects are worse than none.
 */
public final class RocksJournal implements Journal {
    private static final Logger log = LoggerFactory.getLogger(RocksJournal.class);
    private static final byte[] FORMAT_KEY = "mformat".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REVISION_KEY = "mrevision".getBytes(StandardCharsets.US_ASCII);
    private static final long FORMAT = 1;
    private static final byte[] FLOOR_KEY = "mfloor".getBytes(StandardCharsets.US_ASCII);
    /** More changes than the logs of two write buffers can hold, at 60 bytes each at the least. */
    static final long JUMP = 2_000_000;

    /** Chosen: the files of a store change every few minutes. */
    private static final int READ_ATTEMPTS = 5;

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
        Options strict = options(WALRecoveryMode.AbsoluteConsistency);
        Options options = options(WALRecoveryMode.PointInTimeRecovery);
        try {
            Optional<LogTail> damaged = Optional.empty();
            RocksDB db;
            try {
                db = RocksDB.open(strict, directory.toString());
            } catch (RocksDBException e) {
                if (!isDamage(e)) {
                    throw e;
                }
                damaged = Optional.of(LogTail.of(directory));
                db = RocksDB.open(options, directory.toString());
                log.warn("the end of the log in {} is damaged and is cut off: {}", directory, e.getMessage());
            }
            RocksJournal journal = new RocksJournal(directory, options, db);
            try {
                journal.checkFormat();
                if (db.get(FORMAT_KEY) == null) {
                    db.put(FORMAT_KEY, eight(FORMAT));
                }
                if (damaged.isPresent()) {
                    journal.beginAnew(damaged.get());
                }
            } catch (RuntimeException | RocksDBException e) {
                db.close();
                throw e;
            }
            return journal;
        } catch (RocksDBException e) {
            options.close();
            throw cannot("open", directory, e);
        } finally {
            strict.close();
        }
    }

    /**
     * What is kept in {@code directory} by a server that may be running: at the least all that was acknowledged before this
     * was called. Nothing is changed there.
     *
     * @throws StoreException if it cannot be read
     */
    public static Recovered read(Path directory) {
        RocksDB.loadLibrary();
        for (int attempt = 1; ; attempt++) {
            try (Options options = options(WALRecoveryMode.PointInTimeRecovery).setCreateIfMissing(false)) {
                RocksDB db = RocksDB.openReadOnly(options, directory.toString());
                try (RocksJournal journal = new RocksJournal(directory, new Options(), db)) {
                    journal.checkFormat();
                    return journal.load();
                }
            } catch (RocksDBException e) {
                // The server may have put files together while their list was being read.
                if (attempt == READ_ATTEMPTS) {
                    throw cannot("read", directory, e);
                }
            }
        }
    }

    /**
     * Makes a journal in {@code directory}, which must not have one, that holds {@code entries}. Its revision goes on well
     * beyond {@code revision}, so that clients who saw later ones than these begin anew.
     *
     * @throws StoreException if it cannot be written
     */
    public static void create(Path directory, long revision, List<Entry> entries) {
        try (RocksJournal journal = open(directory)) {
            if (journal.db.get(REVISION_KEY) != null) {
                throw new StoreException(directory + " holds a store already", null);
            }
            for (Entry entry : entries) {
                journal.db.put(objectKey(entry.key(), entry.modRevision()), object(entry));
            }
            journal.jump(revision + JUMP);
        } catch (RocksDBException e) {
            throw cannot("write", directory, e);
        }
    }

    private static Options options(WALRecoveryMode recovery) {
        return new Options()
                .setCreateIfMissing(true)
                .setWalRecoveryMode(recovery)
                .setCompressionType(CompressionType.LZ4_COMPRESSION)
                // Everything is read once, at the start: caches would only cost memory.
                .setWriteBufferSize(32 << 20)
                .setMaxWriteBufferNumber(2)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setKeepLogFileNum(2);
    }

    private static StoreException cannot(String what, Path directory, RocksDBException why) {
        return new StoreException(
                "cannot " + what + " the journal in " + directory + ": " + why.getMessage()
                        + (isDamage(why)
                                ? "; it is damaged: move it away, and bring back a snapshot with \"nodekeeper apiserver"
                                        + " restore\""
                                : ""),
                why);
    }

    private static boolean isDamage(RocksDBException why) {
        return why.getStatus() != null && why.getStatus().getCode() == Status.Code.Corruption;
    }

    private void checkFormat() throws RocksDBException {
        byte[] format = db.get(FORMAT_KEY);
        if (format == null) {
            if (db.get(REVISION_KEY) != null) {
                throw new StoreException(directory + " lacks the format of its journal", null);
            }
            return;
        }
        long found = ByteBuffer.wrap(format).getLong();
        if (found != FORMAT) {
            throw new StoreException(
                    directory + " is in journal format " + found + "; this version reads format " + FORMAT, null);
        }
    }

    /** After a loss: objects stay as they are known, the rest of the past goes, and the revision jumps. */
    private void beginAnew(LogTail lost) throws RocksDBException {
        long revision = number(REVISION_KEY);
        long seen = Math.max(revision, lost.revision());
        log.warn(
                "the journal in {} goes back to revision {}; {}; revisions go on from {}",
                directory,
                revision,
                seen > revision
                        ? "changes up to revision " + seen + " are lost"
                        : "no whole change was in what was cut off, of logs of " + lost.bytes() + " bytes",
                seen + JUMP);
        Recovered known = load();
        try (WriteBatch batch = new WriteBatch()) {
            for (Event event : known.history()) {
                batch.delete(historyKey(event.revision()));
                if (event.before().isPresent()) {
                    batch.delete(objectKey(event.key(), event.before().get().modRevision()));
                }
            }
            db.write(durable, batch);
        }
        jump(seen + JUMP);
    }

    private void jump(long revision) throws RocksDBException {
        try (WriteBatch batch = new WriteBatch()) {
            batch.put(REVISION_KEY, eight(revision));
            batch.put(FLOOR_KEY, eight(revision));
            db.write(durable, batch);
        }
    }

    private long number(byte[] key) throws RocksDBException {
        byte[] value = db.get(key);
        return value == null ? 0 : ByteBuffer.wrap(value).getLong();
    }

    private record Row(long revision, byte kind, long before, String key) {}

    @Override
    public Recovered load() {
        try {
            long revision = number(REVISION_KEY);
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
            return new Recovered(revision, List.copyOf(live.values()), events, number(FLOOR_KEY));
        } catch (RocksDBException e) {
            throw cannot("read", directory, e);
        }
    }

    @Override
    public void append(List<Event> events, List<Event> forgotten) {
        boolean written = false;
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
                    batch.put(objectKey(entry.key(), entry.modRevision()), object(entry));
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
            batch.put(REVISION_KEY, eight(events.getLast().revision()));
            written = true;
            db.write(durable, batch);
            doubtful = List.of();
        } catch (RocksDBException e) {
            if (written) {
                List<Event> all = new ArrayList<>(doubtful);
                all.addAll(events);
                doubtful = all;
            }
            throw cannot("write", directory, e);
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

    private static byte[] object(Entry entry) {
        return ByteBuffer.allocate(Long.BYTES + entry.value().length)
                .putLong(entry.createRevision())
                .put(entry.value())
                .array();
    }

    private static byte[] eight(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}
