package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WALRecoveryMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A read of a damaged store that skips rows that cannot be read.
 *
 * @param entries the latest readable version of each object
 * @param revision the latest revision of all readable changes
 * @param rows the number of readable changes
 * @param unreadable ranges of revisions with at least one unreadable change
 */
record BestEffortRead(List<Entry> entries, long revision, long rows, List<String> unreadable) {
    private static final Logger log = LoggerFactory.getLogger(BestEffortRead.class);

    /** The search tries this many revisions one by one. A block of a table has a few hundred rows, so this skips several blocks. */
    private static final int ONE_BY_ONE = 4_096;

    /**
     * Reads the store in {@code directory} and passes what can be read to {@code user}. Creates {@code scratch} with links to its
     * files, reads these and deletes {@code scratch}. Values are read when {@code user} needs them; later they cannot be read.
     *
     * @throws StoreException if nothing can be read
     */
    static <T> T use(Path directory, Path scratch, RocksOptions database, Function<BestEffortRead, T> user) {
        RocksDB.loadLibrary();
        try {
            link(directory, scratch);
            List<String> reasons = new ArrayList<>();
            for (WALRecoveryMode mode :
                    List.of(WALRecoveryMode.PointInTimeRecovery, WALRecoveryMode.SkipAnyCorruptedRecords)) {
                try (Options options = database.options(mode).setParanoidChecks(false);
                        RocksDB db = RocksOptions.openReadOnly(options, scratch)) {
                    RocksValueReader values =
                            new RocksValueReader(directory, ValueTransformer.RAW, ValuePlacement.ALL_ON_DISK);
                    values.attach(db);
                    try {
                        return user.apply(read(db, values));
                    } finally {
                        values.detach();
                    }
                } catch (RocksDBException e) {
                    reasons.add(e.getMessage());
                }
            }
            throw new StoreException(
                    "the store in " + directory + " cannot be repaired: " + reasons.getLast()
                            + "; bring back a snapshot with \"nodekeeper apiserver restore\"",
                    null);
        } catch (IOException e) {
            throw new StoreException("cannot read " + directory + ": " + e, e);
        } finally {
            StoreFiles.delete(scratch);
        }
    }

    /**
     * Passes each object to {@code taker}.
     *
     * @return the keys of those whose value cannot be read after all
     */
    List<String> each(Consumer<Entry> taker) {
        List<String> lost = new ArrayList<>();
        for (Entry entry : entries) {
            Optional<Entry> loaded = loaded(entry);
            loaded.ifPresentOrElse(taker, () -> lost.add(entry.key()));
        }
        return lost;
    }

    private static Optional<Entry> loaded(Entry entry) {
        try {
            return Optional.of(entry.loaded());
        } catch (StoreException e) {
            log.warn("{} is lost: {}", entry.key(), e.getMessage());
            return Optional.empty();
        }
    }

    private static BestEffortRead read(RocksDB db, RocksValueReader values) throws RocksDBException {
        ChangeRow.Reader rowReader = new ChangeRow.Reader(true);
        Map<String, Entry> live = new HashMap<>();
        List<String> unreadable = new ArrayList<>();
        long rows = 0;
        long last = 0;
        long from = 0;
        while (from >= 0) {
            try (RocksIterator at = db.newIterator()) {
                for (at.seek(RowFormat.row(from, "")); at.isValid() && at.key()[0] == RowFormat.CHANGE; at.next()) {
                    ChangeRow change = rowReader.read(at);
                    String key = RowFormat.key(change.row());
                    last = RowFormat.revision(change.row());
                    if (change.put()) {
                        live.put(key, Entry.stored(key, change.length(), values, change.created(), last));
                    } else {
                        live.remove(key);
                    }
                    rows++;
                }
                if (isEnd(at)) {
                    break;
                }
            }
            from = firstReadable(db, last + 1);
            unreadable.add((last + 1) + " to " + (from < 0 ? "the end" : from - 1));
        }
        return new BestEffortRead(List.copyOf(live.values()), last, rows, unreadable);
    }

    private static boolean isEnd(RocksIterator at) {
        try {
            at.status();
            return true;
        } catch (RocksDBException e) {
            return false;
        }
    }

    /** The first revision from {@code from} on at which a read succeeds; -1 if there is none. */
    private static long firstReadable(RocksDB db, long from) {
        long failed = from - 1;
        long step = 1;
        for (long revision = from; revision > 0; revision += step) {
            if (isReadable(db, revision)) {
                return firstReadable(db, failed, revision);
            }
            failed = revision;
            step = revision - from < ONE_BY_ONE ? 1 : step * 2;
        }
        return -1;
    }

    /** The first readable revision after {@code failed}, which is not readable, up to {@code good}, which is. */
    private static long firstReadable(RocksDB db, long failed, long good) {
        long low = failed;
        long high = good;
        while (high - low > 1) {
            long middle = low + (high - low) / 2;
            if (isReadable(db, middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return high;
    }

    /**
     * Whether a seek at {@code revision} reaches a readable row or the end of the database. Each seek has an iterator of its
     * own: after 4,096 seeks into a damaged block RocksDB's iterator failed at readable rows, too.
     */
    private static boolean isReadable(RocksDB db, long revision) {
        try (RocksIterator at = db.newIterator()) {
            at.seek(RowFormat.row(revision, ""));
            return at.isValid() || isEnd(at);
        }
    }

    /** Links the files, because a read writes none of them, and writes a {@code CURRENT} that names the newest manifest. */
    private static void link(Path directory, Path scratch) throws IOException {
        StoreFiles.delete(scratch);
        Files.createDirectory(scratch, StoreFiles.OWNER_ONLY);
        Optional<String> manifest = Optional.empty();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = file.getFileName().toString();
                if (name.startsWith("MANIFEST-")) {
                    manifest = manifest.filter(known -> number(known) > number(name))
                            .or(() -> Optional.of(name));
                }
                if (!name.equals("CURRENT")) {
                    linkOrCopy(file, scratch.resolve(name));
                }
            }
        }
        if (manifest.isPresent()) {
            Files.writeString(scratch.resolve("CURRENT"), manifest.get() + "\n", StandardCharsets.US_ASCII);
        }
    }

    private static long number(String manifest) {
        String digits = manifest.replaceAll("[^0-9]", "");
        return digits.isEmpty() || digits.length() > 18 ? 0 : Long.parseLong(digits);
    }

    private static void linkOrCopy(Path from, Path to) throws IOException {
        try {
            Files.createLink(to, from);
        } catch (IOException | UnsupportedOperationException e) {
            Files.copy(from, to);
        }
    }
}
