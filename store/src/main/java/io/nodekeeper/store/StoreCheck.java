package io.nodekeeper.store;

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
 * What is in the files of a store that no server has open. Looking changes nothing in the directory. Immutable.
 *
 * <p>A store is whole if it can be read to a group of changes that is not older than the {@link Mark}, and all rows as of that
 * group, no others, are there.
 */
public final class StoreCheck {
    /** What can be said of a store. */
    public enum State {
        /** There is none: the directory is missing or empty, or the first start did not get as far as a change. */
        EMPTY,
        /** All acknowledged changes are there. */
        WHOLE,
        /** All acknowledged changes are there; behind them is a part of a group that a crash interrupted. */
        TORN,
        /** Files are damaged or missing, and with them acknowledged changes. */
        DAMAGED
    }

    /** Keys that a message names; the full list is in {@link #lost}. */
    private static final int NAMED = 5;

    private final Path directory;
    private final State state;
    private final Optional<Contents> contents;
    private final OptionalLong mark;
    private final String problem;
    private final LogScan log;

    private StoreCheck(Path directory, State state, Optional<Contents> contents, OptionalLong mark, String problem) {
        this.directory = directory;
        this.state = state;
        this.contents = contents;
        this.mark = mark;
        this.problem = problem;
        this.log = state == State.TORN || state == State.DAMAGED
                ? LogScan.of(directory, revision())
                : new LogScan(0, 0, new TreeMap<>());
    }

    /**
     * Looks at the store in {@code directory}.
     *
     * @throws StoreException if the files cannot be read, for want of permission for example
     */
    public static StoreCheck of(Path directory) {
        return of(directory, Optional.empty(), Database.DEFAULT, ValueTransformer.RAW);
    }

    /**
     * Looks at the store in {@code directory}, whose values are read at once.
     *
     * @param held its mark, if this process holds it
     */
    static StoreCheck of(Path directory, Optional<Mark> held, Database database, ValueTransformer transformer) {
        return of(directory, held, database, transformer, Optional.empty());
    }

    /** As above; large values are read from {@code values}, if given, once a database is attached to them. */
    static StoreCheck of(
            Path directory,
            Optional<Mark> held,
            Database database,
            ValueTransformer transformer,
            Optional<Values> values) {
        OptionalLong mark = held.isPresent() ? held.get().read() : Mark.read(directory);
        Optional<String> missing = missing(directory, mark);
        if (missing.isPresent()) {
            return missing.get().isEmpty()
                    ? new StoreCheck(directory, State.EMPTY, Optional.empty(), mark, "")
                    : new StoreCheck(directory, State.DAMAGED, Optional.empty(), mark, missing.get());
        }
        RocksDB.loadLibrary();
        try {
            return judge(
                    directory,
                    State.WHOLE,
                    read(directory, WALRecoveryMode.AbsoluteConsistency, database, transformer, values),
                    mark,
                    "");
        } catch (RocksDBException e) {
            if (!Database.isDamage(e)) {
                throw new StoreException("cannot read the store in " + directory + ": " + e.getMessage(), e);
            }
            return torn(directory, database, transformer, values, mark, e);
        } catch (StoreException.Damaged e) {
            return new StoreCheck(directory, State.DAMAGED, Optional.empty(), mark, text(e));
        }
    }

    private static StoreCheck torn(
            Path directory,
            Database database,
            ValueTransformer transformer,
            Optional<Values> values,
            OptionalLong mark,
            RocksDBException strict) {
        try {
            Contents contents = read(directory, WALRecoveryMode.PointInTimeRecovery, database, transformer, values);
            return judge(directory, State.TORN, contents, mark, text(strict));
        } catch (RocksDBException | StoreException.Damaged e) {
            return new StoreCheck(directory, State.DAMAGED, Optional.empty(), mark, text(strict));
        }
    }

    private static StoreCheck judge(Path directory, State good, Contents contents, OptionalLong mark, String problem) {
        long revision = contents.recovered().revision();
        if (contents.format() == 0 && mark.orElse(0) == 0) {
            return new StoreCheck(directory, State.EMPTY, Optional.of(contents), mark, problem);
        }
        if (contents.format() == Contents.FORMAT && mark.isEmpty()) {
            return new StoreCheck(
                    directory,
                    State.DAMAGED,
                    Optional.of(contents),
                    mark,
                    directory.resolve(Mark.FILE) + " is missing or damaged; without it, it is unknown whether the"
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

    static Contents read(
            Path directory,
            WALRecoveryMode recovery,
            Database database,
            ValueTransformer transformer,
            Optional<Values> values)
            throws RocksDBException {
        try (Options options = database.options(recovery);
                RocksDB db = RocksDB.openReadOnly(options, directory.toString())) {
            return Contents.read(db, directory, transformer, values);
        }
    }

    /**
     * Whether there is no database that could be opened: empty if there is one, else an empty text if there never was one, or
     * what is wrong. RocksDB itself takes a directory without {@code CURRENT} for a new one, and removes the rest.
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

    /** Whether a start that was interrupted before {@code CURRENT} was there cannot have left {@code file}. */
    private static boolean holdsChanges(Path file) {
        String name = file.getFileName().toString();
        return name.matches("[0-9]+\\.(sst|blob)")
                || (name.matches("[0-9]+\\.log") && file.toFile().length() > 0)
                || (name.startsWith("MANIFEST-") && !name.equals("MANIFEST-000001"));
    }

    private static String text(Exception e) {
        return String.valueOf(e.getMessage());
    }

    /** What can be said. */
    public State state() {
        return state;
    }

    /** The revision up to which the store can be read; 0 if it cannot. */
    public long revision() {
        return contents.map(found -> found.recovered().revision()).orElse(0L);
    }

    /** How many objects can be read. */
    public int objects() {
        return contents.map(found -> found.recovered().entries().size()).orElse(0);
    }

    /** The latest revision that is known to have been written: from the mark, or from the raw logs. */
    public long known() {
        return Math.max(revision(), Math.max(mark.orElse(0), log.revision()));
    }

    /** What is wrong; empty for a whole store. */
    public String problem() {
        return problem;
    }

    /** The keys of the changes after {@link #revision} that are still named in the raw logs, by revision. */
    public TreeMap<Long, String> lost() {
        return new TreeMap<>(log.changes());
    }

    /** What is lost, in a sentence. */
    public String loss() {
        if (contents.isEmpty()) {
            return "the latest known revision is " + known()
                    + ", and what can still be read is for \"repair\" to find out";
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

    Optional<Contents> contents() {
        return contents;
    }

    /** Why a server does not start on it, and what to do. */
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
