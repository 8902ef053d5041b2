package io.nodekeeper.store;

import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WALRecoveryMode;

/**
 * What can be read of a damaged store: row by row, past those that cannot be read.
 *
 * @param entries the latest readable version of each object
 * @param revision the latest revision among all readable rows
 * @param rows how many changes could be read
 * @param unreadable ranges of revisions in which at least one change cannot be read
 */
record Salvage(List<Entry> entries, long revision, long rows, List<String> unreadable) {
    /** So many revisions after an unreadable row are tried one by one; a block of a table has some hundred rows at most. */
    private static final int ONE_BY_ONE = 4_096;

    /**
     * Reads what it can in {@code directory}. Works on links to its files in {@code scratch}, which is made and removed.
     *
     * @throws StoreException if nothing can be read
     */
    static Salvage of(Path directory, Path scratch, Database database) {
        RocksDB.loadLibrary();
        try {
            link(directory, scratch);
            List<String> reasons = new ArrayList<>();
            for (WALRecoveryMode mode :
                    List.of(WALRecoveryMode.PointInTimeRecovery, WALRecoveryMode.SkipAnyCorruptedRecords)) {
                try (Options options = database.options(mode).setParanoidChecks(false);
                        RocksDB db = RocksDB.openReadOnly(options, scratch.toString())) {
                    return read(db);
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
            delete(scratch);
        }
    }

    private static Salvage read(RocksDB db) throws RocksDBException {
        Map<String, Entry> live = new HashMap<>();
        List<String> unreadable = new ArrayList<>();
        long rows = 0;
        long last = 0;
        try (RocksIterator at = db.newIterator()) {
            at.seek(new byte[] {Rows.CHANGE});
            while (true) {
                while (at.isValid() && at.key()[0] == Rows.CHANGE) {
                    Event event = Rows.event(
                            at.key(),
                            at.value(),
                            Optional.ofNullable(live.get(Rows.key(at.key()))),
                            ValueTransformer.RAW);
                    event.after()
                            .ifPresentOrElse(after -> live.put(event.key(), after), () -> live.remove(event.key()));
                    last = event.revision();
                    rows++;
                    at.next();
                }
                if (isEnd(at)) {
                    break;
                }
                long next = skip(at, last + 1);
                unreadable.add((last + 1) + " to " + (next < 0 ? "the end" : next - 1));
                if (next < 0) {
                    break;
                }
            }
        }
        return new Salvage(List.copyOf(live.values()), last, rows, unreadable);
    }

    private static boolean isEnd(RocksIterator at) {
        try {
            at.status();
            return true;
        } catch (RocksDBException e) {
            return false;
        }
    }

    /** Goes to the first readable row of revision {@code from} or later; returns where it looked, or -1 if there is none. */
    private static long skip(RocksIterator at, long from) {
        long failed = from - 1;
        long step = 1;
        for (long revision = from; revision > 0; revision += step) {
            if (stands(at, revision)) {
                return first(at, failed, revision);
            }
            failed = revision;
            step = revision - from < ONE_BY_ONE ? 1 : step * 2;
        }
        return -1;
    }

    /** The first readable place after {@code failed}, given that {@code good} is one. */
    private static long first(RocksIterator at, long failed, long good) {
        long low = failed;
        long high = good;
        while (high - low > 1) {
            long middle = low + (high - low) / 2;
            if (stands(at, middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        stands(at, high);
        return high;
    }

    /** Whether there is a readable row, or the readable end, from {@code revision} on. */
    private static boolean stands(RocksIterator at, long revision) {
        at.seek(Rows.row(revision, ""));
        return at.isValid() || isEnd(at);
    }

    /** Links, as nothing is written; with a {@code CURRENT} that names the newest list of files. */
    private static void link(Path directory, Path scratch) throws IOException {
        delete(scratch);
        Files.createDirectory(scratch, RocksJournal.OWNER);
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

    /** Removes a directory and what is in it, if it is there. */
    static void delete(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new StoreException("cannot remove " + directory + ": " + e, e);
        }
    }
}
