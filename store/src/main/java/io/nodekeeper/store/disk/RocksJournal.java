package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.StoreKeys;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal in RocksDB that syncs each group. Not thread-safe.
 *
 * <p>{@link RowFormat} defines the rows. A change is one row. Row keys grow with the revision, so each change is appended, which is
 * what RocksDB does fastest. A row stays while its change is in the history, is the latest version of its object, or was
 * replaced by a change in the history. So the objects, the history and the replaced versions are complete after a crash. When
 * a change leaves the history, the row of the version that it replaced is deleted; if the change is a deletion, its own row,
 * too.
 *
 * <p>A start first checks the files without changing them ({@link StoreCheck}), and refuses a store that lacks an acknowledged
 * change. It truncates a part of a group at the end of the log, because that group was never acknowledged. But after a power
 * cut the high-water mark can be older than the log, so a client may have seen that group. Therefore the revision jumps by more
 * than a log can hold, and the history begins there ({@code m floor}): a watch from an older revision gets the error that the
 * revision was compacted.
 */
public final class RocksJournal implements Journal {
    private static final Logger log = LoggerFactory.getLogger(RocksJournal.class);
    /** More than the logs of two write buffers can hold: 2 times 16 MiB at no less than 60 bytes a change are 560,000 changes. */
    static final long JUMP = 2_000_000;

    /**
     * A group whose write failed. RocksDB writes a group atomically, but after an error only the next open shows whether the
     * group is in the log.
     *
     * @param sum the checksum that is stored with the group
     * @param put the row keys of its changes
     * @param deleted the row keys that it deletes
     * @param windows the rows {@code w} that it writes
     */
    private record Attempt(
            RowChecksum sum, long revision, List<byte[]> put, List<byte[]> deleted, Map<String, Long> windows) {}

    /** Writes a batch. Tests replace {@link RocksDB#write(WriteOptions, WriteBatch)} by a write that fails. */
    @FunctionalInterface
    interface BatchWriter {
        void write(RocksDB db, WriteOptions how, WriteBatch batch) throws RocksDBException;
    }

    private final Options options;
    private final WriteOptions durable;
    private final BatchWriter writer;
    private final Path directory;
    private final ValueTransformer transformer;
    private final HighWaterMark mark;
    private final RocksValueReader values;
    /** Open for reads only after it could not be opened again for writes. */
    private RocksDB db;

    private boolean closed;
    /** The checksum of all rows in the database as of {@link #revision}. */
    private RowChecksum sum = new RowChecksum();

    private long revision;
    private long floor;
    /** The contents as read at the start, until {@link #load}. */
    private Optional<JournalContents> fresh;
    /** The group that failed last. After a failed write RocksDB refuses writes until it is opened again. */
    private Optional<Attempt> failed = Optional.empty();
    /** Size of the active memtable after the last group. If it shrinks, RocksDB has started a new log. */
    private long active = Long.MAX_VALUE;
    /** Row keys that are in the database but not needed. The next group deletes them. */
    private final List<byte[]> unwanted = new ArrayList<>();
    /** Row keys that a failed group deleted. Bounded by the history: its compaction is requested again and removes them here. */
    private final Set<ByteBuffer> gone = new HashSet<>();
    /** The rows {@code w}. */
    private final Map<String, Long> windows = new HashMap<>();

    private RocksJournal(
            Path directory,
            Options options,
            RocksDB db,
            HighWaterMark mark,
            ValueTransformer transformer,
            JournalContents contents,
            RocksValueReader values,
            BatchWriter writer) {
        this.values = values;
        this.writer = writer;
        values.attach(db);
        this.directory = directory;
        this.options = options;
        this.db = db;
        this.mark = mark;
        this.transformer = transformer;
        this.durable = new WriteOptions().setSync(true);
        this.fresh = Optional.of(contents);
        take(contents);
    }

    /**
     * Opens the journal in {@code directory}, which is created if it does not exist. Values are not encrypted.
     *
     * @throws StoreException if the journal cannot be read, is damaged, is in use, or was written by a newer version; then
     *     nothing in the directory was changed
     */
    public static RocksJournal open(Path directory) {
        return open(directory, ValueTransformer.IDENTITY);
    }

    /** As {@link #open(Path)}; {@code transformer} encodes and decodes the stored values. */
    public static RocksJournal open(Path directory, ValueTransformer transformer) {
        return open(directory, transformer, List.of());
    }

    /** As above. Values of objects whose keys begin with one of {@code seldomRead} are not kept in memory, whatever their length. */
    public static RocksJournal open(Path directory, ValueTransformer transformer, List<String> seldomRead) {
        return open(directory, RocksOptions.DEFAULT, transformer, new ValuePlacement(seldomRead), RocksDB::write);
    }

    static RocksJournal open(
            Path directory,
            RocksOptions database,
            ValueTransformer transformer,
            ValuePlacement placement,
            BatchWriter writer) {
        RocksDB.loadLibrary();
        StoreFiles.finishRepair(directory);
        // Locks first: a store that another process writes would look damaged.
        Optional<HighWaterMark> held = HighWaterMark.lock(directory);
        try {
            RocksValueReader values = new RocksValueReader(directory, transformer, placement);
            StoreCheck check = StoreCheck.of(
                    directory, held, recovery -> StoreCheck.read(directory, recovery, database, transformer, values));
            return switch (check.state()) {
                case DAMAGED -> throw check.refusal();
                case EMPTY -> create(directory, database, transformer, held, values, writer);
                case WHOLE, TORN -> open(directory, database, transformer, held, check, values, writer);
            };
        } catch (RuntimeException e) {
            held.ifPresent(HighWaterMark::close);
            throw e;
        }
    }

    private static RocksJournal create(
            Path directory,
            RocksOptions database,
            ValueTransformer transformer,
            Optional<HighWaterMark> held,
            RocksValueReader values,
            BatchWriter writer) {
        try {
            Files.createDirectories(directory, StoreFiles.OWNER_ONLY);
        } catch (IOException e) {
            throw cannot("create", directory, e);
        }
        HighWaterMark mark = held.orElseGet(() -> HighWaterMark.create(directory));
        Options options = database.options(WALRecoveryMode.PointInTimeRecovery).setCreateIfMissing(true);
        Optional<RocksDB> db = Optional.empty();
        try {
            db = Optional.of(RocksDB.open(options, directory.toString()));
            RocksJournal journal = new RocksJournal(
                    directory,
                    options,
                    db.get(),
                    mark,
                    transformer,
                    new JournalContents(
                            new Recovered(0, List.of(), List.of()), 0, new RowChecksum(), Map.of(), List.of()),
                    values,
                    writer);
            journal.begin();
            return journal;
        } catch (RocksDBException | RuntimeException e) {
            db.ifPresent(RocksDB::close);
            options.close();
            mark.close();
            throw e instanceof RuntimeException known ? known : cannot("create", directory, e);
        }
    }

    private static RocksJournal open(
            Path directory,
            RocksOptions database,
            ValueTransformer transformer,
            Optional<HighWaterMark> held,
            StoreCheck check,
            RocksValueReader values,
            BatchWriter writer) {
        // A failed group may leave a torn record at the end of the log, which must not prevent the next open.
        Options options = database.options(WALRecoveryMode.PointInTimeRecovery);
        HighWaterMark mark = held.orElseGet(() -> HighWaterMark.create(directory));
        Optional<RocksDB> db = Optional.empty();
        try {
            db = Optional.of(RocksDB.open(options, directory.toString()));
            RocksJournal journal = new RocksJournal(
                    directory,
                    options,
                    db.get(),
                    mark,
                    transformer,
                    check.contents().orElseThrow(),
                    values,
                    writer);
            if (check.state() == StoreCheck.State.TORN) {
                journal.restart(check);
            }
            journal.begin();
            return journal;
        } catch (RocksDBException | RuntimeException e) {
            db.ifPresent(RocksDB::close);
            options.close();
            mark.close();
            throw e instanceof RuntimeException known ? known : cannot("open", directory, e);
        }
    }

    /**
     * Creates a journal with {@code objects} in {@code directory}, which must not contain one. Values are stored without
     * encoding. The revision starts {@code jump} after {@code revision}, so that clients which saw later revisions list again.
     *
     * @throws StoreException if the journal cannot be written
     */
    public static <E extends Exception> void create(Path directory, long revision, long jump, ObjectSource<E> objects)
            throws E {
        try (RocksJournal journal = open(directory, ValueTransformer.RAW)) {
            if (journal.revision != 0) {
                throw new StoreException(directory + " holds a store already", null);
            }
            objects.each(journal::insert);
            try (WriteBatch batch = new WriteBatch()) {
                journal.jump(revision + jump, batch, journal.sum);
            }
        } catch (RocksDBException e) {
            throw cannot("write", directory, e);
        }
    }

    private void insert(Entry entry) {
        Event created = new Event(entry.modRevision(), entry.key(), Optional.empty(), Optional.of(entry));
        try {
            db.put(RowFormat.row(created), RowFormat.change(created, ValueTransformer.RAW));
            sum.add(RowFormat.row(created));
        } catch (RocksDBException e) {
            throw cannot("write", directory, e);
        }
    }

    private static StoreException cannot(String what, Path directory, Exception why) {
        return new StoreException("cannot " + what + " the journal in " + directory + ": " + why.getMessage(), why);
    }

    private void take(JournalContents contents) {
        sum = contents.sum();
        revision = contents.recovered().revision();
        floor = contents.recovered().floor();
        windows.clear();
        windows.putAll(contents.windows());
        unwanted.clear();
        unwanted.addAll(contents.unwanted());
        gone.clear();
    }

    /** Writes the mark and the rows that each journal of this format has. The mark is first, because the format requires it. */
    private void begin() throws RocksDBException {
        mark.begin(revision);
        try (WriteBatch batch = new WriteBatch()) {
            batch.put(RowFormat.FORMAT, RowFormat.number(JournalContents.FORMAT));
            batch.put(RowFormat.SUM, sum.encode(revision));
            writer.write(db, durable, batch);
        }
    }

    /** Recovers from a torn end of the log: keeps the objects, removes the history and lets the revision jump. */
    private void restart(StoreCheck check) throws RocksDBException {
        long seen = check.known();
        log.warn(
                "The end of the log in {} is torn and is cut off: {}. The journal goes back to revision {}{}; revisions"
                        + " continue at {}",
                directory,
                check.problem(),
                revision,
                seen > revision
                        ? "; revisions up to " + seen + ", which were never acknowledged, are cut: " + check.lost()
                        : ", and no whole change was behind it",
                seen + JUMP);
        try (WriteBatch batch = new WriteBatch()) {
            RowChecksum next = sum.copy();
            forget(load().history(), batch, next);
            jump(seen + JUMP, batch, next);
        }
        fresh = Optional.of(JournalContents.read(db, directory, transformer, values));
        take(fresh.get());
    }

    /** Writes {@code batch} with {@code to} as the revision and as the start of the history. */
    private void jump(long to, WriteBatch batch, RowChecksum next) throws RocksDBException {
        if (floor != 0) {
            next.remove(RowFormat.FLOOR, RowFormat.number(floor));
        }
        next.add(RowFormat.FLOOR, RowFormat.number(to));
        batch.put(RowFormat.REVISION, RowFormat.number(to));
        batch.put(RowFormat.FLOOR, RowFormat.number(to));
        batch.put(RowFormat.SUM, next.encode(to));
        writer.write(db, durable, batch);
        sum = next;
        floor = to;
        revision = to;
        mark.advance(to);
    }

    @Override
    public Recovered load() {
        try {
            JournalContents contents =
                    fresh.isPresent() ? fresh.get() : JournalContents.read(db, directory, transformer, values);
            // Used once, so that the contents do not stay in memory.
            fresh = Optional.empty();
            take(contents);
            return contents.recovered();
        } catch (RocksDBException e) {
            throw cannot("read", directory, e);
        }
    }

    @Override
    public void append(List<Event> events, List<Event> forgotten) {
        if (closed) {
            // RocksDB itself would use freed memory.
            throw new StoreException("the journal in " + directory + " is closed", null);
        }
        Optional<Attempt> attempt = Optional.empty();
        try (WriteBatch batch = new WriteBatch()) {
            if (failed.isPresent()) {
                reopen(failed.get());
            }
            RowChecksum next = sum.copy();
            // Before the puts: a failed group's revisions are used again.
            for (byte[] row : unwanted) {
                batch.delete(row);
                next.remove(row);
            }
            // Puts together, deletes together: RocksDB inserts a row fastest next to the last one.
            List<byte[]> put = new ArrayList<>(events.size());
            for (Event event : events) {
                byte[] row = RowFormat.row(event);
                batch.put(row, RowFormat.change(event, transformer));
                next.add(row);
                put.add(row);
            }
            long last = events.getLast().revision();
            batch.put(RowFormat.REVISION, RowFormat.number(last));
            List<byte[]> deleted = forget(forgotten, batch, next);
            batch.put(RowFormat.SUM, next.encode(last));
            attempt = Optional.of(new Attempt(next, last, put, deleted, latest(forgotten)));
            writer.write(db, durable, batch);
            written(attempt.get());
            unwanted.clear();
            deleted.forEach(row -> gone.remove(ByteBuffer.wrap(row)));
            acknowledge(last, batch.getDataSize());
        } catch (RocksDBException e) {
            failed = attempt.or(() -> failed);
            throw cannot("write", directory, e);
        } catch (RuntimeException | Error e) {
            // If the write had begun, the group may be in the log.
            failed = attempt.or(() -> failed);
            throw e;
        }
    }

    /** Advances the mark. Syncs it with the first group of each log, so that the loss of that log is noticed. */
    private void acknowledge(long last, long bytes) throws RocksDBException {
        long before = active;
        active = db.getLongProperty("rocksdb.cur-size-active-mem-table");
        // After a large group the active memtable of a new log can be larger than that of the previous log was.
        if (active < before || bytes > options.writeBufferSize() / 4) {
            mark.advanceAndSync(last);
        } else {
            mark.advance(last);
        }
    }

    /** The lowest revision that the mark can have after a power cut. */
    long marked() {
        return mark.synced();
    }

    private void written(Attempt attempt) {
        sum = attempt.sum;
        revision = attempt.revision;
        windows.putAll(attempt.windows);
        failed = Optional.empty();
    }

    /**
     * Opens the database again after {@code attempt} failed, and finds out whether that group became durable. If it cannot be opened, as
     * on a full disk, it is opened for reads only, until the next write tries again.
     */
    private void reopen(Attempt attempt) throws RocksDBException {
        try (RocksValueReader.Pause _ = values.pause()) {
            db.close();
            try {
                db = RocksDB.open(options, directory.toString());
                values.attach(db);
            } catch (RocksDBException e) {
                db = RocksOptions.openReadOnly(options, directory);
                values.attach(db);
                throw e;
            }
        }
        active = Long.MAX_VALUE;
        byte[] stored = db.get(RowFormat.SUM);
        if (Arrays.equals(stored, attempt.sum.encode(attempt.revision))) {
            written(attempt);
            unwanted.clear();
            unwanted.addAll(attempt.put);
            attempt.deleted.forEach(row -> gone.add(ByteBuffer.wrap(row)));
        } else if (Arrays.equals(stored, sum.encode(revision))) {
            failed = Optional.empty();
        } else {
            throw new StoreException.Damaged(
                    "the journal in " + directory + " is neither at revision " + revision + " nor at revision "
                            + attempt.revision + " after a failed write; it accepts no more writes",
                    null);
        }
    }

    /**
     * Deletes the rows that only these changes needed, and stores for each resource how far its history is compacted. Returns
     * the row keys.
     */
    private List<byte[]> forget(List<Event> forgotten, WriteBatch batch, RowChecksum next) throws RocksDBException {
        List<byte[]> deleted = new ArrayList<>();
        for (Event event : forgotten) {
            for (byte[] row : RowFormat.leftBehind(event)) {
                if (!gone.contains(ByteBuffer.wrap(row))) {
                    batch.delete(row);
                    next.remove(row);
                }
                deleted.add(row);
            }
        }
        for (Map.Entry<String, Long> latest : latest(forgotten).entrySet()) {
            byte[] row = RowFormat.window(latest.getKey());
            Long before = windows.get(latest.getKey());
            if (before != null) {
                next.remove(row, RowFormat.number(before));
            }
            next.add(row, RowFormat.number(latest.getValue()));
            batch.put(row, RowFormat.number(latest.getValue()));
        }
        return deleted;
    }

    /** The revision up to which each resource's history is compacted after {@code forgotten} left the history. */
    private Map<String, Long> latest(List<Event> forgotten) {
        Map<String, Long> latest = new HashMap<>();
        for (Event event : forgotten) {
            String resource = StoreKeys.resource(event.key());
            latest.merge(resource, Math.max(event.revision(), windows.getOrDefault(resource, 0L)), Math::max);
        }
        return latest;
    }

    @Override
    public Entry stored(Entry entry) {
        return values.stored(entry);
    }

    @Override
    public Entry replaced(Entry entry) {
        return values.replaced(entry);
    }

    @Override
    public void close() {
        closed = true;
        values.detach();
        db.close();
        durable.close();
        options.close();
        mark.close();
    }
}
