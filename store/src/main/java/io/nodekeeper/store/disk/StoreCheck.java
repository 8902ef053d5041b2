package io.nodekeeper.store.disk;

import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;

/**
 * The result of a check of a store's files. A check changes nothing in the directory. Immutable.
 *
 * <p>A store is whole if it can be read up to a group of changes that is not older than the {@link HighWaterMark}, and if it
 * contains exactly the rows as of that group, which the {@link RowChecksum} shows.
 */
public final class StoreCheck {
    /** The state of a store. */
    public enum State {
        /** No store: the directory is missing or empty, or the first start was interrupted before its first change. */
        EMPTY,
        /** All acknowledged changes can be read. */
        WHOLE,
        /** All acknowledged changes can be read. The log ends with a part of a group that a crash interrupted. */
        TORN,
        /** Files are damaged or missing, so that acknowledged changes may be lost. */
        DAMAGED
    }

    /** Number of keys in a message, so that it fits a line or two. {@link #lost} has all of them. */
    private static final int NAMED = 5;

    /** Reads the rows of a store. */
    @FunctionalInterface
    interface Rows {
        JournalContents read(WALRecoveryMode recovery) throws RocksDBException;
    }

    private final Path directory;
    private final State state;
    private final Optional<JournalContents> contents;
    private final OptionalLong mark;
    private final String problem;
    private final WalScan log;

    private StoreCheck(
            Path directory, State state, Optional<JournalContents> contents, OptionalLong mark, String problem) {
        this.directory = directory;
        this.state = state;
        this.contents = contents;
        this.mark = mark;
        this.problem = problem;
        this.log = state == State.TORN || state == State.DAMAGED
                ? WalScan.of(directory, revision())
                : new WalScan(0, new TreeMap<>());
    }

    /**
     * Checks the store in {@code directory}.
     *
     * @throws StoreException if the files cannot be read, for example because of missing permissions
     */
    public static StoreCheck of(Path directory) {
        return of(directory, Optional.empty(), RocksOptions.DEFAULT, ValueTransformer.RAW);
    }

    /**
     * Checks the store in {@code directory}. No value stays in memory, and none can be read from the result.
     *
     * @param held the store's high-water mark, if this process has locked it
     */
    static StoreCheck of(
            Path directory, Optional<HighWaterMark> held, RocksOptions database, ValueTransformer transformer) {
        RocksValueReader none = new RocksValueReader(directory, transformer, ValuePlacement.ALL_ON_DISK);
        return of(directory, held, recovery -> read(directory, recovery, database, transformer, none));
    }

    /** As above, for rows that {@code rows} reads. */
    static StoreCheck of(Path directory, Optional<HighWaterMark> held, Rows rows) {
        OptionalLong mark = held.isPresent() ? held.get().read() : HighWaterMark.read(directory);
        Optional<String> missing = missing(directory, mark);
        if (missing.isPresent()) {
            return missing.get().isEmpty()
                    ? new StoreCheck(directory, State.EMPTY, Optional.empty(), mark, "")
                    : new StoreCheck(directory, State.DAMAGED, Optional.empty(), mark, missing.get());
        }
        RocksDB.loadLibrary();
        try {
            return judge(directory, State.WHOLE, rows.read(WALRecoveryMode.AbsoluteConsistency), mark, "");
        } catch (RocksDBException e) {
            if (!RocksOptions.isDamage(e)) {
                throw new StoreException("cannot read the store in " + directory + ": " + e.getMessage(), e);
            }
            return torn(directory, rows, mark, e);
        } catch (StoreException.Damaged e) {
            return new StoreCheck(directory, State.DAMAGED, Optional.empty(), mark, text(e));
        }
    }

    private static StoreCheck torn(Path directory, Rows rows, OptionalLong mark, RocksDBException strict) {
        try {
            JournalContents contents = rows.read(WALRecoveryMode.PointInTimeRecovery);
            return judge(directory, State.TORN, contents, mark, text(strict));
        } catch (RocksDBException | StoreException.Damaged e) {
            return new StoreCheck(directory, State.DAMAGED, Optional.empty(), mark, text(strict));
        }
    }

    private static StoreCheck judge(
            Path directory, State good, JournalContents contents, OptionalLong mark, String problem) {
        long revision = contents.recovered().revision();
        if (contents.format() == 0 && mark.orElse(0) == 0) {
            return new StoreCheck(directory, State.EMPTY, Optional.of(contents), mark, problem);
        }
        if (contents.format() == JournalContents.FORMAT && mark.isEmpty()) {
            return new StoreCheck(
                    directory,
                    State.DAMAGED,
                    Optional.of(contents),
                    mark,
                    directory.resolve(HighWaterMark.FILE)
                            + " is missing or damaged; without it, it is unknown whether the"
                            + " latest changes are there");
        }
        if (revision < mark.orElse(0)) {
            return new StoreCheck(
                    directory,
                    State.DAMAGED,
                    Optional.of(contents),
                    mark,
                    problem.isEmpty() ? "the latest log, or another file, is missing or cut" : problem);
        }
        return new StoreCheck(directory, good, Optional.of(contents), mark, problem);
    }

    static JournalContents read(
            Path directory,
            WALRecoveryMode recovery,
            RocksOptions database,
            ValueTransformer transformer,
            RocksValueReader values)
            throws RocksDBException {
        try (Options options = database.options(recovery);
                RocksDB db = RocksOptions.openReadOnly(options, directory)) {
            return JournalContents.read(db, directory, transformer, values);
        }
    }

    /**
     * Why there is no database to open. Empty if there is one; an empty text if there never was one; otherwise what is wrong.
     * RocksDB itself treats a directory without {@code CURRENT} as a new database and deletes the other files.
     */
    private static Optional<String> missing(Path directory, OptionalLong mark) {
        if (!Files.exists(directory)) {
            return Optional.of("");
        }
        Path current = directory.resolve("CURRENT");
        if (Files.exists(current)) {
            return Optional.empty();
        }
        if (mark.isPresent()) {
            return Optional.of(current + " is missing");
        }
        try (Stream<Path> files = Files.list(directory)) {
            String found = files.filter(StoreCheck::holdsChanges)
                    .map(file -> file.getFileName().toString())
                    .sorted()
                    .limit(NAMED)
                    .collect(Collectors.joining(", "));
            return Optional.of(found.isEmpty() ? "" : current + " is missing, but there are " + found);
        } catch (IOException e) {
            throw new StoreException("cannot list " + directory + ": " + e, e);
        }
    }

    /** Whether {@code file} may hold changes: a start that was interrupted before it wrote {@code CURRENT} cannot have left it. */
    private static boolean holdsChanges(Path file) {
        String name = file.getFileName().toString();
        return name.matches("[0-9]+\\.(sst|blob)")
                || (name.matches("[0-9]+\\.log") && file.toFile().length() > 0)
                || (name.startsWith("MANIFEST-") && !name.equals("MANIFEST-000001"));
    }

    private static String text(Exception e) {
        return String.valueOf(e.getMessage());
    }

    /** The state of the store. */
    public State state() {
        return state;
    }

    /** The revision up to which the store can be read; 0 if it cannot be read. */
    public long revision() {
        return contents.map(found -> found.recovered().revision()).orElse(0L);
    }

    /** The number of objects that can be read. */
    public int objects() {
        return contents.map(found -> found.recovered().entries().size()).orElse(0);
    }

    /** The latest revision that is known to have been written, from the rows, the mark or the raw logs. */
    public long known() {
        return Math.max(revision(), Math.max(mark.orElse(0), log.revision()));
    }

    /** What is wrong; empty for a whole store. */
    public String problem() {
        return problem;
    }

    /** The keys of the changes after {@link #revision} that the raw logs still name, by revision. */
    public TreeMap<Long, String> lost() {
        return new TreeMap<>(log.changes());
    }

    /** One sentence that says what is lost. */
    public String loss() {
        if (contents.isEmpty()) {
            return "the latest known revision is " + known() + "; \"repair\" finds out what can still be read";
        }
        long lost = known() - revision();
        if (lost == 0) {
            return "all up to revision " + revision() + " can be read; objects: " + objects();
        }
        String named = log.changes().values().stream().distinct().limit(NAMED).collect(Collectors.joining(", "));
        return (lost == 1
                        ? "the change of revision " + known() + " is lost"
                        : "the changes of revisions " + (revision() + 1) + " to " + known() + " are lost")
                + (named.isEmpty() ? "" : " (" + named + (log.changes().size() > NAMED ? ", ..." : "") + ")")
                + "; all up to revision " + revision() + " can be read; objects: " + objects();
    }

    Optional<JournalContents> contents() {
        return contents;
    }

    /** The error of a server that refuses to start: the damage, the loss and what to do. */
    StoreException.Damaged refusal() {
        return new StoreException.Damaged(
                "the store in " + directory + " is damaged and was not changed: " + problem + "; " + loss()
                        + ". \"nodekeeper apiserver check\" tells more; bring a snapshot back with \"nodekeeper apiserver"
                        + " restore\", or go on with what can be read with \"nodekeeper apiserver repair\"",
                null);
    }

    @Override
    public String toString() {
        return state + " " + problem;
    }
}
