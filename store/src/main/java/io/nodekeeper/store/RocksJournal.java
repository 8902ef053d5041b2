package io.nodekeeper.store;

import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
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
 * A journal in RocksDB, synced with every group. Not thread-safe.
 *
 * <p>{@link Rows} says what is stored. A change is one row, written once, at the end of all rows, which is what RocksDB does
 * fastest. It stays while it is in the window, the latest version of its object, or the version before a change in the
 * window: so the objects, the window and what watchers need of the versions before come back whole after a crash. When a
 * change leaves the window, the version before it goes, and the change itself if it was a deletion.
 *
 * <p>A start first looks at the files without changing them ({@link StoreCheck}). A store that lacks an acknowledged change is
 * refused as it is. A part of a group at the end of the log, which was never acknowledged, is cut off. As a power cut can
 * leave the mark behind the log, what was cut may still have been seen: so the revision jumps by more than a log can hold,
 * and the history begins after that ({@code m floor}); a client that saw what is lost gets an error that its revision is gone.
 */
public final class RocksJournal implements Journal {
    private static final Logger log = LoggerFactory.getLogger(RocksJournal.class);
    /** More changes than the logs of two write buffers can hold, at 60 bytes each at the least. */
    static final long JUMP = 2_000_000;

    /** A store holds Secrets. */
    static final FileAttribute<Set<PosixFilePermission>> OWNER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    /** The files of a store change every few minutes: several changes in a row while it is read are unlikely. */
    private static final int READ_ATTEMPTS = 5;

    /**
     * A group that was written but not confirmed. RocksDB writes a group as a whole; after an error only the next open shows
     * whether it is there.
     *
     * @param sum the sum as stored with the group
     * @param put the rows of its changes
     * @param deleted the rows that it removed
     * @param windows the rows {@code w} that it wrote
     */
    private record Attempt(
            RowSum sum, long revision, List<byte[]> put, List<byte[]> deleted, Map<String, Long> windows) {}

    private final Options options;
    private final WriteOptions durable;
    private final Path directory;
    private final ValueTransformer transformer;
    private final Mark mark;
    private final StoredValues values;
    private RocksDB db;
    /** All rows in the database, and the revision up to which they go. */
    private RowSum sum = new RowSum();

    private long revision;
    private long floor;
    /** What was read at the start, until it is asked for. */
    private Optional<Contents> fresh;
    /** The group that failed last: RocksDB takes no more then until it is opened again. */
    private Optional<Attempt> failed = Optional.empty();
    /** Bytes of the changes in memory that RocksDB has not yet made a table of; fewer than before once a new log begins. */
    private long active = Long.MAX_VALUE;
    /** Rows that are in the database but not needed: the next group removes them. */
    private final List<byte[]> unwanted = new ArrayList<>();
    /** Rows that a failed group removed nevertheless. Bounded by the window, which will forget them again. */
    private final Set<ByteBuffer> gone = new HashSet<>();
    /** The rows {@code w}. */
    private final Map<String, Long> windows = new HashMap<>();

    private RocksJournal(
            Path directory,
            Options options,
            RocksDB db,
            Mark mark,
            ValueTransformer transformer,
            Contents contents,
            StoredValues values) {
        this.values = values;
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
     * Opens the journal in {@code directory}, which is created if need be, with values stored as they are.
     *
     * @throws StoreException if it cannot be read, is damaged, is in use, or was written by a newer version; then nothing in
     *     the directory was changed
     */
    public static RocksJournal open(Path directory) {
        return open(directory, ValueTransformer.IDENTITY);
    }

    /** As {@link #open(Path)}, with values stored as {@code transformer} says. */
    public static RocksJournal open(Path directory, ValueTransformer transformer) {
        return open(directory, Database.DEFAULT, transformer);
    }

    static RocksJournal open(Path directory, Database database, ValueTransformer transformer) {
        RocksDB.loadLibrary();
        StoreRepair.complete(directory);
        // Held first: a store that another process writes would look damaged.
        Optional<Mark> held = Mark.lock(directory);
        try {
            StoredValues values = new StoredValues(directory, transformer);
            StoreCheck check = StoreCheck.of(directory, held, database, transformer, Optional.of(values));
            return switch (check.state()) {
                case DAMAGED -> throw check.refusal();
                case EMPTY -> create(directory, database, transformer, held, values);
                case WHOLE, TORN -> open(directory, database, transformer, held, check, values);
            };
        } catch (RuntimeException e) {
            held.ifPresent(Mark::close);
            throw e;
        }
    }

    private static RocksJournal create(
            Path directory, Database database, ValueTransformer transformer, Optional<Mark> held, StoredValues values) {
        Mark mark = held.orElse(null);
        try {
            Files.createDirectories(directory, OWNER);
            mark = held.orElseGet(() -> Mark.create(directory));
            Options options = database.options(WALRecoveryMode.PointInTimeRecovery);
            RocksDB db = RocksDB.open(options.setCreateIfMissing(true), directory.toString());
            RocksJournal journal = new RocksJournal(
                    directory,
                    options,
                    db,
                    mark,
                    transformer,
                    new Contents(new Recovered(0, List.of(), List.of()), 0, new RowSum(), Map.of(), List.of()),
                    values);
            journal.begin();
            return journal;
        } catch (RocksDBException | IOException e) {
            if (mark != null) {
                mark.close();
            }
            throw cannot("create", directory, e);
        }
    }

    private static RocksJournal open(
            Path directory,
            Database database,
            ValueTransformer transformer,
            Optional<Mark> held,
            StoreCheck check,
            StoredValues values) {
        // A group that fails may leave a torn end, which must not stop the next open.
        Options options = database.options(WALRecoveryMode.PointInTimeRecovery);
        Mark mark = held.orElseGet(() -> Mark.create(directory));
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
                    values);
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
     * Reads what is in {@code directory}, where a server may be running: at the least all that was acknowledged before this
     * was called. Nothing is changed there. Encrypted values stay encrypted.
     *
     * @throws StoreException if it cannot be read
     */
    public static Recovered read(Path directory) {
        for (int attempt = 1; ; attempt++) {
            StoreCheck check = StoreCheck.of(directory);
            switch (check.state()) {
                case EMPTY:
                    return new Recovered(0, List.of(), List.of());
                case WHOLE:
                case TORN:
                    return check.contents().orElseThrow().recovered();
                case DAMAGED:
                default:
                    // The server may have replaced files while they were being read.
                    if (attempt == READ_ATTEMPTS) {
                        throw check.refusal();
                    }
            }
        }
    }

    /**
     * Makes a journal in {@code directory}, which must not have one, that holds {@code entries} with their stored bytes as they
     * are. Its revision goes on well beyond {@code revision}, so that clients that saw later ones than these list again.
     *
     * @throws StoreException if it cannot be written
     */
    public static void create(Path directory, long revision, List<Entry> entries) {
        try (RocksJournal journal = open(directory, ValueTransformer.RAW)) {
            if (journal.revision != 0) {
                throw new StoreException(directory + " holds a store already", null);
            }
            for (Entry entry : entries) {
                Event created = new Event(entry.modRevision(), entry.key(), Optional.empty(), Optional.of(entry));
                journal.db.put(Rows.row(created), Rows.change(created, ValueTransformer.RAW));
                journal.sum.add(Rows.row(created));
            }
            try (WriteBatch batch = new WriteBatch()) {
                journal.jump(revision + JUMP, batch, journal.sum);
            }
        } catch (RocksDBException e) {
            throw cannot("write", directory, e);
        }
    }

    private static StoreException cannot(String what, Path directory, Exception why) {
        return new StoreException("cannot " + what + " the journal in " + directory + ": " + why.getMessage(), why);
    }

    private void take(Contents contents) {
        sum = contents.sum();
        revision = contents.recovered().revision();
        floor = contents.recovered().floor();
        windows.clear();
        windows.putAll(contents.windows());
        unwanted.clear();
        unwanted.addAll(contents.unwanted());
        gone.clear();
    }

    /** Writes the mark, and the rows that every journal of this format has. The mark comes first: the format promises it. */
    private void begin() throws RocksDBException {
        mark.begin(revision);
        try (WriteBatch batch = new WriteBatch()) {
            batch.put(Rows.FORMAT, Rows.number(Contents.FORMAT));
            batch.put(Rows.SUM, sum.encode(revision));
            db.write(durable, batch);
        }
    }

    /** After a torn end: objects stay as they are known, the history goes, and the revision jumps. */
    private void restart(StoreCheck check) throws RocksDBException {
        long seen = check.known();
        log.warn(
                "The end of the log in {} was torn and is cut off: {}. The journal goes back to revision {}{}; revisions go"
                        + " on from {}",
                directory,
                check.problem(),
                revision,
                seen > revision
                        ? "; revisions up to " + seen + ", which were never acknowledged, are cut: " + check.lost()
                        : ", and no whole change was behind it",
                seen + JUMP);
        try (WriteBatch batch = new WriteBatch()) {
            RowSum next = sum.copy();
            forget(load().history(), batch, next);
            jump(seen + JUMP, batch, next);
        }
        fresh = Optional.of(Contents.read(db, directory, transformer, Optional.of(values)));
        take(fresh.get());
    }

    /** Writes {@code batch}, and with it that history begins at {@code to}. */
    private void jump(long to, WriteBatch batch, RowSum next) throws RocksDBException {
        if (floor != 0) {
            next.remove(Rows.FLOOR, Rows.number(floor));
        }
        next.add(Rows.FLOOR, Rows.number(to));
        batch.put(Rows.REVISION, Rows.number(to));
        batch.put(Rows.FLOOR, Rows.number(to));
        batch.put(Rows.SUM, next.encode(to));
        db.write(durable, batch);
        sum = next;
        floor = to;
        revision = to;
        mark.advance(to);
    }

    @Override
    public Recovered load() {
        try {
            Contents contents =
                    fresh.isPresent() ? fresh.get() : Contents.read(db, directory, transformer, Optional.of(values));
            // Once: what was read at the start is not to stay in memory.
            fresh = Optional.empty();
            take(contents);
            return contents.recovered();
        } catch (RocksDBException e) {
            throw cannot("read", directory, e);
        }
    }

    @Override
    public void append(List<Event> events, List<Event> forgotten) {
        Optional<Attempt> attempt = Optional.empty();
        try (WriteBatch batch = new WriteBatch()) {
            if (failed.isPresent()) {
                reopen(failed.get());
            }
            RowSum next = sum.copy();
            // First: the revisions of a failed group are given again.
            for (byte[] row : unwanted) {
                batch.delete(row);
                next.remove(row);
            }
            // New rows together, and those that go: RocksDB finds the place of a row fastest beside the last one's.
            List<byte[]> put = new ArrayList<>(events.size());
            for (Event event : events) {
                byte[] row = Rows.row(event);
                batch.put(row, Rows.change(event, transformer));
                next.add(row);
                put.add(row);
            }
            long last = events.getLast().revision();
            batch.put(Rows.REVISION, Rows.number(last));
            List<byte[]> deleted = forget(forgotten, batch, next);
            batch.put(Rows.SUM, next.encode(last));
            attempt = Optional.of(new Attempt(next, last, put, deleted, latest(forgotten)));
            db.write(durable, batch);
            written(attempt.get());
            unwanted.clear();
            deleted.forEach(row -> gone.remove(ByteBuffer.wrap(row)));
            acknowledge(last, batch.getDataSize());
        } catch (RocksDBException e) {
            failed = attempt.or(() -> failed);
            throw cannot("write", directory, e);
        }
    }

    /** Advances the mark; durably with the first group of each log, so that the loss of that log is noticed. */
    private void acknowledge(long last, long bytes) throws RocksDBException {
        long before = active;
        active = db.getLongProperty("rocksdb.cur-size-active-mem-table");
        // A large group may take more memory in a new log than all groups of the log before.
        if (active < before || bytes > options.writeBufferSize() / 4) {
            mark.advanceAndSync(last);
        } else {
            mark.advance(last);
        }
    }

    /** The revision that the mark has at the least after a power cut. */
    long marked() {
        return mark.synced();
    }

    private void written(Attempt attempt) {
        sum = attempt.sum;
        revision = attempt.revision;
        windows.putAll(attempt.windows);
        failed = Optional.empty();
    }

    /** Opens the database again after {@code attempt} failed, which may have become durable nevertheless. */
    private void reopen(Attempt attempt) throws RocksDBException {
        values.detach();
        db.close();
        db = RocksDB.open(options, directory.toString());
        active = Long.MAX_VALUE;
        values.attach(db);
        byte[] stored = db.get(Rows.SUM);
        if (Arrays.equals(stored, attempt.sum.encode(attempt.revision))) {
            written(attempt);
            unwanted.clear();
            unwanted.addAll(attempt.put);
            attempt.deleted.forEach(row -> gone.add(ByteBuffer.wrap(row)));
        } else if (Arrays.equals(stored, sum.encode(revision))) {
            failed = Optional.empty();
        } else {
            throw new StoreException.Damaged(
                    "the journal in " + directory + " came back neither as of revision " + revision
                            + " nor as of revision " + attempt.revision + " after a failed write; no more is written",
                    null);
        }
    }

    /**
     * Removes the rows that only these changes needed, and notes how far each resource's history is forgotten, so that it stays
     * forgotten. Returns the rows.
     */
    private List<byte[]> forget(List<Event> forgotten, WriteBatch batch, RowSum next) throws RocksDBException {
        List<byte[]> deleted = new ArrayList<>();
        for (Event event : forgotten) {
            for (byte[] row : Rows.leftBehind(event)) {
                if (!gone.contains(ByteBuffer.wrap(row))) {
                    batch.delete(row);
                    next.remove(row);
                }
                deleted.add(row);
            }
        }
        for (Map.Entry<String, Long> latest : latest(forgotten).entrySet()) {
            byte[] row = Rows.window(latest.getKey());
            Long before = windows.get(latest.getKey());
            if (before != null) {
                next.remove(row, Rows.number(before));
            }
            next.add(row, Rows.number(latest.getValue()));
            batch.put(row, Rows.number(latest.getValue()));
        }
        return deleted;
    }

    /** How far the history of each resource is forgotten after {@code forgotten} left the window. */
    private Map<String, Long> latest(List<Event> forgotten) {
        Map<String, Long> latest = new HashMap<>();
        for (Event event : forgotten) {
            String resource = Window.resource(event.key());
            latest.merge(resource, Math.max(event.revision(), windows.getOrDefault(resource, 0L)), Math::max);
        }
        return latest;
    }

    @Override
    public Entry stored(Entry entry) {
        return values.stored(entry);
    }

    @Override
    public void close() {
        values.detach();
        db.close();
        durable.close();
        options.close();
        mark.close();
    }
}
