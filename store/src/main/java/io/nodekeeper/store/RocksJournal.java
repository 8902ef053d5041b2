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
 * <p>Rows, all numbers eight bytes big-endian: {@code c REVISION KEY} is a change: its kind, the create revision, the
 * revision of the version before it (0: none) and the value. {@code w RESOURCE} is the latest change of a resource that left
 * the window; {@code m format}, {@code m revision}. A change is one row, written once, at the end of all rows, which is what
 * RocksDB does fastest. It stays while it is in the window, the latest version of its object, or the version before a
 * change in the window: so the objects, the window and what watchers need of the versions before come back whole after a
 * crash. When a change leaves the window, the version before it goes, and the change itself if it was a deletion.
 *
 * <p>A log whose end is damaged is cut there, which is reported. What was cut may have been seen: so the revision jumps by
 * more than a log can hold, and history begins anew after that ({@code m floor}); whoever saw what is lost is told that his
 * revision is gone. Damage anywhere else stops the start: half of the objects are worse than none.
 */
public final class RocksJournal implements Journal {
    private static final Logger log = LoggerFactory.getLogger(RocksJournal.class);
    private static final byte[] FORMAT_KEY = "mformat".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REVISION_KEY = "mrevision".getBytes(StandardCharsets.US_ASCII);
    private static final long FORMAT = 2;
    private static final byte[] FLOOR_KEY = "mfloor".getBytes(StandardCharsets.US_ASCII);
    /** More changes than the logs of two write buffers can hold, at 60 bytes each at the least. */
    static final long JUMP = 2_000_000;

    /** Shorter values are not worth a place of their own. Chosen. */
    private static final int VALUE = 128;

    /** The first level is what was just written, the second the window of a busy store. */
    private static final List<CompressionType> NEW_AND_OLD =
            List.of(CompressionType.NO_COMPRESSION, CompressionType.NO_COMPRESSION, CompressionType.LZ4_COMPRESSION);

    /** Chosen: the files of a store change every few minutes. */
    private static final int READ_ATTEMPTS = 5;

    private static final byte CHANGE = 'c';
    private static final byte WINDOW = 'w';
    private static final byte PUT = 1;
    private static final byte DELETE = 2;
    private static final byte[] NOTHING = {};
    /** Where the key begins in a row of a change. */
    private static final int KEY = 1 + Long.BYTES;

    /** Kind, create revision and the revision before, ahead of the value. */
    private static final int HEAD = 1 + 2 * Long.BYTES;

    private final Options options;
    private final WriteOptions durable;
    private final Path directory;
    private RocksDB db;
    /** Whether the last append failed: RocksDB takes no more then until it is opened anew. */
    private boolean failed;
    /** Changes that nobody needs and that may be there: RocksDB cannot say what a recovery brings back of a failed append. */
    private final List<byte[]> unwanted = new ArrayList<>();
    /** The rows {@code w} as last written, or as they were tried to be. */
    private final Map<String, Long> windows = new HashMap<>();

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
                Event created = new Event(entry.modRevision(), entry.key(), Optional.empty(), Optional.of(entry));
                journal.db.put(row(created.revision(), created.key()), change(created));
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
                // What is new goes soon: only what stays is worth the processor's time.
                .setCompressionPerLevel(NEW_AND_OLD)
                // Values stay where they are first written until all around them are gone; compaction moves keys.
                .setEnableBlobFiles(true)
                .setMinBlobSize(VALUE)
                .setEnableBlobGarbageCollection(true)
                // Everything is read once, at the start: caches would only cost memory.
                .setWriteBufferSize(16 << 20)
                // New files hold mostly what is gone by the time that there are eight of them.
                .setLevel0FileNumCompactionTrigger(8)
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
        try (WriteBatch batch = new WriteBatch()) {
            forget(load().history(), batch);
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

    @Override
    public Recovered load() {
        try {
            long floor = number(FLOOR_KEY);
            windows.clear();
            windows.putAll(windows());
            unwanted.clear();
            Map<String, Entry> live = new HashMap<>();
            List<Event> history = new ArrayList<>();
            try (RocksIterator rows = db.newIterator()) {
                for (rows.seek(new byte[] {CHANGE}); rows.isValid() && rows.key()[0] == CHANGE; rows.next()) {
                    byte[] value = rows.value();
                    Event event = event(rows.key(), value, live);
                    event.after()
                            .ifPresentOrElse(after -> live.put(event.key(), after), () -> live.remove(event.key()));
                    if (event.revision() > Math.max(floor, windows.getOrDefault(Window.resource(event.key()), 0L))) {
                        checkBefore(event, ByteBuffer.wrap(value).getLong(1 + Long.BYTES));
                        history.add(event);
                    } else {
                        // Gone already, unless the append that was to remove it failed.
                        unwanted.addAll(leftBehind(event));
                    }
                }
                rows.status();
            }
            return new Recovered(number(REVISION_KEY), List.copyOf(live.values()), history, Map.copyOf(windows), floor);
        } catch (RocksDBException e) {
            throw cannot("read", directory, e);
        }
    }

    /** The change of a row, {@code live} being what is known of the objects before it. */
    private Event event(byte[] row, byte[] value, Map<String, Entry> live) {
        ByteBuffer head = ByteBuffer.wrap(value);
        byte kind = head.get();
        long created = head.getLong();
        long revision = ByteBuffer.wrap(row).getLong(1);
        String name = new String(row, KEY, row.length - KEY, StandardCharsets.UTF_8);
        Optional<Entry> before = Optional.ofNullable(live.get(name));
        String key = before.map(Entry::key).orElse(name);
        return new Event(
                revision,
                key,
                before,
                kind == DELETE
                        ? Optional.empty()
                        : Optional.of(
                                new Entry(key, Arrays.copyOfRange(value, HEAD, value.length), created, revision)));
    }

    /** The version that a change in the window replaced must be there, too. */
    private void checkBefore(Event event, long revision) {
        if (event.before().map(Entry::modRevision).orElse(0L) != revision) {
            throw new StoreException(
                    "the journal in " + directory + " lacks the object of revision " + revision + ", which revision "
                            + event.revision() + " changed",
                    null);
        }
    }

    private Map<String, Long> windows() throws RocksDBException {
        Map<String, Long> windows = new HashMap<>();
        try (RocksIterator rows = db.newIterator()) {
            for (rows.seek(new byte[] {WINDOW}); rows.isValid() && rows.key()[0] == WINDOW; rows.next()) {
                String resource = new String(rows.key(), 1, rows.key().length - 1, StandardCharsets.UTF_8);
                windows.put(resource, ByteBuffer.wrap(rows.value()).getLong());
            }
            rows.status();
        }
        return windows;
    }

    @Override
    public void append(List<Event> events, List<Event> forgotten) {
        boolean written = false;
        try (WriteBatch batch = new WriteBatch()) {
            if (failed) {
                db.close();
                db = RocksDB.open(options, directory.toString());
            }
            // First: the revisions of a failed append are given again.
            for (byte[] row : unwanted) {
                batch.delete(row);
            }
            // New rows together, and those that go: RocksDB finds the place of a row fastest beside the last one's.
            for (Event event : events) {
                batch.put(row(event.revision(), event.key()), change(event));
            }
            batch.put(REVISION_KEY, eight(events.getLast().revision()));
            forget(forgotten, batch);
            written = true;
            db.write(durable, batch);
            failed = false;
            unwanted.clear();
        } catch (RocksDBException e) {
            if (written) {
                failed = true;
                events.forEach(event -> unwanted.add(row(event.revision(), event.key())));
            }
            throw cannot("write", directory, e);
        }
    }

    /** Removes what only these changes needed, and notes how far each resource's history is forgotten: what is, stays so. */
    private void forget(List<Event> forgotten, WriteBatch batch) throws RocksDBException {
        Set<String> resources = new HashSet<>();
        for (Event event : forgotten) {
            for (byte[] row : leftBehind(event)) {
                batch.delete(row);
            }
            String resource = Window.resource(event.key());
            resources.add(resource);
            windows.merge(resource, event.revision(), Math::max);
        }
        for (String resource : resources) {
            batch.put(("w" + resource).getBytes(StandardCharsets.UTF_8), eight(windows.getOrDefault(resource, 0L)));
        }
    }

    /** The rows that nobody needs once {@code event} has left the window. */
    private static List<byte[]> leftBehind(Event event) {
        List<byte[]> rows = new ArrayList<>(1);
        event.before().ifPresent(before -> rows.add(row(before.modRevision(), before.key())));
        if (event.after().isEmpty()) {
            rows.add(row(event.revision(), event.key()));
        }
        return rows;
    }

    @Override
    public void close() {
        db.close();
        durable.close();
        options.close();
    }

    private static byte[] row(long revision, String key) {
        byte[] name = key.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(KEY + name.length)
                .put(CHANGE)
                .putLong(revision)
                .put(name)
                .array();
    }

    private static byte[] change(Event event) {
        byte[] value = event.after().map(Entry::value).orElse(NOTHING);
        return ByteBuffer.allocate(HEAD + value.length)
                .put(event.after().isPresent() ? PUT : DELETE)
                .putLong(event.after().map(Entry::createRevision).orElse(0L))
                .putLong(event.before().map(Entry::modRevision).orElse(0L))
                .put(value)
                .array();
    }

    private static byte[] eight(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}
