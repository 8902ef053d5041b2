package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;

/**
 * A power cut that loses the newest log, although it was synced, and all unsynced writes of the mark. The start fails if
 * the log had an acknowledged change.
 */
class PowerCutTest {
    /** A write buffer for about a hundred changes, after which RocksDB starts a new log. */
    private static final RocksOptions SMALL = new RocksOptions(64 << 10, 3);

    private static final String NODES = "/registry/minions/";

    @TempDir
    Path directory;

    private final Random random = new Random(3);
    private long revision;

    /** Appends one group of changes, with a value of {@code bytes} bytes in each. */
    private void append(RocksJournal journal, int changes, int bytes) {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < changes; i++) {
            revision++;
            byte[] value = new byte[bytes];
            random.nextBytes(value);
            Entry entry = new Entry(NODES + "n" + revision, value, revision, revision);
            events.add(new Event(revision, entry.key(), Optional.empty(), Optional.of(entry)));
        }
        journal.append(events, List.of());
    }

    private static StoreCheck.State check(Path store) {
        return StoreCheck.of(store, Optional.empty(), SMALL, ValueTransformer.IDENTITY)
                .state();
    }

    /** A consistent copy of a store. Repeats the copy if RocksDB removes files during it. */
    private Path copy(Path store) throws IOException {
        Path copy = directory.resolve("copy");
        for (int attempt = 0; attempt < 50; attempt++) {
            try {
                TestFiles.copy(store, copy);
                if (check(copy) == StoreCheck.State.WHOLE) {
                    return copy;
                }
            } catch (NoSuchFileException e) {
                // RocksDB replaced a log by a table.
            }
            StoreFiles.delete(copy);
        }
        throw new IOException("no whole copy of " + store);
    }

    /** The check of a copy without the newest log and with the mark as last synced. */
    private StoreCheck.State afterPowerCut(Path store, long marked) throws IOException {
        Path copy = copy(store);
        Files.delete(TestFiles.ending(copy, ".log").getLast());
        Files.delete(copy.resolve(HighWaterMark.FILE));
        try (HighWaterMark mark = HighWaterMark.create(copy)) {
            mark.begin(marked);
        }
        try {
            return check(copy);
        } finally {
            StoreFiles.delete(copy);
        }
    }

    @Test
    @Tag("W85")
    void lossOfTheNewestLogIsDetectedEvenIfTheMarkIsOld() throws Exception {
        Path store = directory.resolve("store");
        int logs = 0;
        for (int run = 0; run < 2; run++) {
            try (RocksJournal journal = RocksJournal.open(
                    store, SMALL, ValueTransformer.IDENTITY, ValuePlacement.BY_LENGTH, RocksDB::write)) {
                journal.load();
                Path log = store;
                for (int group = 0; group < 200; group++) {
                    append(journal, 1 + random.nextInt(3), 100 + random.nextInt(900));
                    Path newest = TestFiles.ending(store, ".log").getLast();
                    boolean first = !newest.equals(log);
                    log = newest;
                    // when the power is cut after the first change of a log, or later
                    if (first || group % 50 == 7) {
                        logs += first ? 1 : 0;
                        assertThat(afterPowerCut(store, journal.marked()))
                                .as("run %s, group %s, revision %s, mark %s", run, group, revision, journal.marked())
                                .isEqualTo(StoreCheck.State.DAMAGED);
                    }
                }
                // and after a group that is larger than all others of a log together
                append(journal, 1, 200_000);
                append(journal, 1, 200_000);
                assertThat(afterPowerCut(store, journal.marked())).isEqualTo(StoreCheck.State.DAMAGED);
            }
        }
        assertThat(logs).isGreaterThan(6);
    }

    @Test
    @Tag("W85")
    void lossOfALogWithOneLargeGroupIsDetectedEvenIfEachLogIsLargerThanTheOneBefore() throws Exception {
        Path store = directory.resolve("store");
        try (RocksJournal journal =
                RocksJournal.open(store, SMALL, ValueTransformer.IDENTITY, ValuePlacement.BY_LENGTH, RocksDB::write)) {
            journal.load();
            // given groups that fill a write buffer each, so that the active memtable grows from log to log
            for (int bytes = 80_000; bytes < 160_000; bytes += 10_000) {
                append(journal, 1, bytes);

                assertThat(afterPowerCut(store, journal.marked()))
                        .as("group of %s bytes, revision %s, mark %s", bytes, revision, journal.marked())
                        .isEqualTo(StoreCheck.State.DAMAGED);
            }
        }
    }

    @Test
    void markIsSyncedOncePerLog() throws Exception {
        Path store = directory.resolve("store");
        try (RocksJournal journal =
                RocksJournal.open(store, SMALL, ValueTransformer.IDENTITY, ValuePlacement.BY_LENGTH, RocksDB::write)) {
            journal.load();
            int syncs = 0;
            long marked = journal.marked();
            for (int group = 0; group < 200; group++) {
                append(journal, 1, 100);
                if (journal.marked() != marked) {
                    marked = journal.marked();
                    syncs++;
                }
            }
            assertThat(syncs).isBetween(1, 4);
            assertThat(new String(Files.readAllBytes(store.resolve(HighWaterMark.FILE)), StandardCharsets.ISO_8859_1))
                    .hasSize(1_536);
        }
    }
}
