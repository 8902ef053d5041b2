package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** A journal alone: starts that fail, torn ends one after the other, values that are read later, and reads from outside. */
@Tag("W85")
class RocksJournalTest {
    private static final String N1 = "/registry/minions/n1";
    private static final String N2 = "/registry/minions/n2";
    private static final int LARGE = ValuePlacement.LARGE + 1;

    /** A writer that fails from the batch with this index on, as often as it is told. */
    private static final class Failing implements RocksJournal.BatchWriter {
        private final int from;
        private int failures;
        private int written;

        Failing(int from, int failures) {
            this.from = from;
            this.failures = failures;
        }

        @Override
        public void write(RocksDB db, WriteOptions how, WriteBatch batch) throws RocksDBException {
            if (written >= from && failures > 0) {
                failures--;
                throw new RocksDBException("the disk failed");
            }
            written++;
            db.write(how, batch);
        }
    }

    @TempDir
    Path parent;

    private Path directory;

    @BeforeEach
    void place() {
        directory = parent.resolve("store");
    }

    private RocksJournal open(RocksJournal.BatchWriter writer) {
        return RocksJournal.open(
                directory, RocksOptions.DEFAULT, ValueTransformer.IDENTITY, ValuePlacement.BY_LENGTH, writer);
    }

    private static Event created(String key, int length, long revision) {
        Entry entry = new Entry(key, new byte[length], revision, revision);
        return new Event(revision, key, Optional.empty(), Optional.of(entry));
    }

    private void append(Event... events) {
        try (RocksJournal journal = RocksJournal.open(directory)) {
            journal.load();
            for (Event event : events) {
                journal.append(List.of(event), List.of());
            }
        }
    }

    /** Cuts the last byte of the newest log that has content. */
    private void tear() throws IOException {
        try (RandomAccessFile bytes =
                new RandomAccessFile(TestFiles.log(directory).toFile(), "rw")) {
            bytes.setLength(bytes.length() - 1);
        }
    }

    private void mark(long revision) {
        try (HighWaterMark mark = HighWaterMark.create(directory)) {
            mark.begin(revision);
        }
    }

    @Test
    void firstStartThatFailsCanBeRepeatedInTheSameProcess() {
        assertThatThrownBy(() -> open(new Failing(0, 1)))
                .isInstanceOf(StoreException.class)
                .hasMessage("cannot create the journal in " + directory + ": the disk failed");

        append(created(N1, 1, 1));

        assertThat(TestFiles.recovered(directory).revision()).isEqualTo(1);
    }

    @Test
    void firstStartWhoseMarkCannotBeWrittenCanBeRepeatedInTheSameProcess() throws Exception {
        // given the directory of the store, in which the mark is a directory
        Files.createDirectories(directory.resolve(HighWaterMark.FILE));
        assertThatThrownBy(() -> RocksJournal.open(directory)).isInstanceOf(StoreException.class);

        Files.delete(directory.resolve(HighWaterMark.FILE));

        append(created(N1, 1, 1));
        assertThat(TestFiles.recovered(directory).revision()).isEqualTo(1);
    }

    @Test
    void laterStartThatFailsCanBeRepeatedInTheSameProcess() throws Exception {
        append(created(N1, 1, 1));
        assertThatThrownBy(() -> open(new Failing(0, 1)))
                .isInstanceOf(StoreException.class)
                .hasMessage("cannot open the journal in " + directory + ": the disk failed");

        append(created(N2, 1, 2));

        // and so it is with the format that has no mark
        try (RocksDB db = RocksDB.open(directory.toString())) {
            db.put(RowFormat.FORMAT, RowFormat.number(JournalContents.FORMAT_WITHOUT_SUM));
        }
        Files.delete(directory.resolve(HighWaterMark.FILE));
        assertThatThrownBy(() -> open(new Failing(0, 1))).hasMessageEndingWith(": the disk failed");
        try (RocksJournal journal = RocksJournal.open(directory)) {
            assertThat(journal.load().entries()).hasSize(2);
        }
    }

    @Test
    void endThatIsTornTwiceIsCutTwice() throws Exception {
        // given a store whose log was torn once, so that its history begins at a floor
        append(created(N1, 1, 1), created(N2, 1, 2));
        mark(1);
        tear();
        long first = 2 + RocksJournal.JUMP;
        append(created("/registry/minions/n3", 1, first + 1), created("/registry/minions/n4", 1, first + 2));

        // when it is torn once more
        mark(first + 1);
        tear();

        // then it is opened, and stays whole
        for (int start = 0; start < 2; start++) {
            try (RocksJournal journal = RocksJournal.open(directory)) {
                Journal.Recovered recovered = journal.load();
                assertThat(recovered.entries())
                        .extracting(Entry::key)
                        .containsExactlyInAnyOrder(N1, "/registry/minions/n3");
                assertThat(recovered.floor()).isEqualTo(first + 2 + RocksJournal.JUMP);
                assertThat(recovered.revision()).isEqualTo(first + 2 + RocksJournal.JUMP);
            }
            assertThat(StoreCheck.of(directory).state()).isEqualTo(StoreCheck.State.WHOLE);
        }
    }

    @Test
    void journalThatIsMadeFromEntriesHasItsMark() {
        RocksJournal.create(
                directory,
                9,
                RocksJournal.JUMP,
                List.of(created(N1, 1, 3).after().orElseThrow())::forEach);

        assertThat(HighWaterMark.read(directory)).hasValue(9 + RocksJournal.JUMP);
    }

    @Test
    void rowsThatAreNotNeededAreRemovedOnceByTheNextGroup() throws Exception {
        // given a journal with the row of a version that only a forgotten change replaced
        append(created(N1, 1, 1));
        Entry first = created(N1, 1, 1).after().orElseThrow();
        Entry second = new Entry(N1, new byte[] {2}, 1, 2);
        Event change = new Event(2, N1, Optional.of(first), Optional.of(second));
        RowChecksum sum = new RowChecksum();
        sum.add(RowFormat.row(1, N1));
        sum.add(RowFormat.row(2, N1));
        sum.add(RowFormat.window("/registry/minions/"), RowFormat.number(2));
        try (RocksDB db = RocksDB.open(directory.toString())) {
            db.put(RowFormat.row(change), RowFormat.change(change, ValueTransformer.RAW));
            db.put(RowFormat.window("/registry/minions/"), RowFormat.number(2));
            db.put(RowFormat.REVISION, RowFormat.number(2));
            db.put(RowFormat.SUM, sum.encode(2));
        }

        append(created(N2, 1, 3), created("/registry/minions/n3", 1, 4));

        assertThat(StoreCheck.of(directory).state()).isEqualTo(StoreCheck.State.WHOLE);
        try (RocksDB db = RocksDB.open(directory.toString())) {
            assertThat(db.get(RowFormat.row(1, N1))).isNull();
            assertThat(db.get(RowFormat.row(2, N1))).isNotNull();
        }
    }

    @Test
    void valuesAreReadAfterAFailedWriteAndNoMoreAfterTheClose() {
        append(created(N1, LARGE, 1));
        Failing disk = new Failing(1, 1);
        Entry large;
        try (RocksJournal journal = open(disk)) {
            large = journal.load().entries().getFirst();
            assertThat(large.resident()).isZero();
            assertThatThrownBy(() -> journal.append(List.of(created(N2, 1, 2)), List.of()))
                    .hasMessageEndingWith(": the disk failed");
            // when the next group opens the database again
            journal.append(List.of(created(N2, 1, 2)), List.of());

            assertThat(large.value()).hasSize(LARGE);
        }
        try (RocksJournal journal = RocksJournal.open(directory)) {
            large = journal.load().entries().stream()
                    .filter(entry -> entry.key().equals(N1))
                    .findFirst()
                    .orElseThrow();
        }
        assertThatThrownBy(large::value).hasMessage("the store is closed: " + N1 + " is not read");
    }

    @Test
    void databaseThatCannotBeOpenedAfterAFailedWriteIsOpenedLater() throws Exception {
        append(created(N1, 1, 1));
        Path current = directory.resolve("CURRENT");
        Path aside = parent.resolve("CURRENT");
        try (RocksJournal journal = open(new Failing(1, 1))) {
            journal.load();
            assertThatThrownBy(() -> journal.append(List.of(created(N2, 1, 2)), List.of()))
                    .hasMessageEndingWith(": the disk failed");
            // given that the database cannot be opened again for a while
            Files.move(current, aside);
            for (int attempt = 0; attempt < 2; attempt++) {
                assertThatThrownBy(() -> journal.append(List.of(created(N2, 1, 2)), List.of()))
                        .isInstanceOf(StoreException.class)
                        .hasMessageStartingWith("cannot write the journal in " + directory + ": ");
            }
            Files.move(aside, current);

            journal.append(List.of(created(N2, 1, 2)), List.of());
        }
        assertThat(TestFiles.recovered(directory).entries())
                .extracting(Entry::key)
                .containsExactlyInAnyOrder(N1, N2);
    }

    @Test
    void databaseThatCannotBeOpenedForWritesIsReadMeanwhile() throws Exception {
        // given a value that is only on disk
        Event event = created("/registry/events/default/e1", 500, 1);
        try (RocksJournal journal = RocksJournal.open(
                directory,
                RocksOptions.DEFAULT,
                ValueTransformer.IDENTITY,
                new ValuePlacement(List.of("/registry/events/")),
                new Failing(2, 1))) {
            journal.load();
            Entry stored = journal.stored(event.after().orElseThrow());
            journal.append(List.of(event), List.of());

            // when a write fails, and the database cannot be locked again
            assertThatThrownBy(() -> journal.append(List.of(created(N1, 1, 2)), List.of()))
                    .hasMessageEndingWith(": the disk failed");
            Files.delete(directory.resolve("LOCK"));
            Files.createDirectory(directory.resolve("LOCK"));
            for (int attempt = 0; attempt < 2; attempt++) {
                assertThatThrownBy(() -> journal.append(List.of(created(N1, 1, 2)), List.of()))
                        .hasMessageStartingWith("cannot write the journal in " + directory + ": ");

                // then the value can be read
                assertThat(stored.resident()).isZero();
                assertThat(stored.value()).hasSize(500);
            }

            // and the database is written again when it can be
            Files.delete(directory.resolve("LOCK"));
            journal.append(List.of(created(N1, 1, 2)), List.of());
            assertThat(stored.value()).hasSize(500);
        }
        assertThat(TestFiles.recovered(directory).revision()).isEqualTo(2);
    }

    @Test
    void closedJournalRefusesWrites() {
        RocksJournal journal = RocksJournal.open(directory);
        journal.load();
        journal.close();

        assertThatThrownBy(() -> journal.append(List.of(created(N1, 1, 1)), List.of()))
                .isInstanceOf(StoreException.class)
                .hasMessage("the journal in " + directory + " is closed");
    }

    @Test
    void readFromOutsideFindsNothingOrRefusesDamage() throws Exception {
        Journal.Recovered nothing = TestFiles.recovered(directory);
        assertThat(nothing.revision()).isZero();
        assertThat(nothing.entries()).isEmpty();
        assertThat(directory).doesNotExist();

        append(created(N1, 1, 1));
        mark(5);

        assertThatThrownBy(() -> TestFiles.recovered(directory))
                .isInstanceOf(StoreException.Damaged.class)
                .hasMessageContaining("the changes of revisions 2 to 5 are lost");
    }
}
