package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;

/** A read of a store leaves values on disk, and reads them until it is closed. */
class StoreReadingTest {
    @TempDir
    Path directory;

    /** A journal with an object of one byte and one of 9,000 bytes, in a table and a blob file. */
    private void journal() throws Exception {
        try (RocksJournal journal = RocksJournal.open(directory)) {
            journal.load();
            journal.append(List.of(created(1, 1), created(2, 9_000)), List.of());
        }
        TestFiles.flush(directory);
    }

    private static Event created(long revision, int length) {
        Entry entry = new Entry("/registry/minions/n" + revision, new byte[length], revision, revision);
        return new Event(revision, entry.key(), Optional.empty(), Optional.of(entry));
    }

    @Test
    void noValueIsInMemoryAndAllCanBeReadUntilItIsClosed() throws Exception {
        journal();
        List<Entry> entries;
        try (StoreReading reading = StoreReading.open(directory)) {
            entries = reading.recovered().entries();

            assertThat(entries).extracting(Entry::resident).containsExactly(0, 0);
            assertThat(entries).extracting(entry -> entry.value().length).containsExactly(1, 9_000);
            assertThat(entries).noneMatch(Entry::atHand);
        }

        assertThatThrownBy(() -> entries.getFirst().value())
                .isInstanceOf(StoreException.class)
                .hasMessage("the store is closed: /registry/minions/n1 is not read");
    }

    @Test
    void valuesCanBeReadWithoutALog() throws Exception {
        journal();
        TestFiles.delete(directory, ".log");
        try (StoreReading reading = StoreReading.open(directory)) {
            assertThat(reading.recovered().entries())
                    .extracting(entry -> entry.value().length)
                    .containsExactly(1, 9_000);
        }
    }

    @Test
    void valuesCanBeReadAlthoughTheServerHasReplacedTheFiles() throws Exception {
        journal();
        try (StoreReading reading = StoreReading.open(directory)) {
            assertThat(replaceFiles()).isPositive();
            assertThat(reading.recovered().entries())
                    .extracting(entry -> entry.value().length)
                    .containsExactly(1, 9_000);
        }
    }

    /** RocksDB keeps as many files open as it may. */
    @Test
    void valuesCanBeReadAlthoughTheServerHasReplacedHundredsOfFiles() throws Exception {
        // given 300 objects, each with a blob file of its own
        RocksOptions small = new RocksOptions(64 << 10, 10_000);
        try (RocksJournal journal = RocksJournal.open(
                directory, small, ValueTransformer.IDENTITY, ValuePlacement.ALL_ON_DISK, RocksDB::write)) {
            journal.load();
            for (int revision = 1; revision <= 300; revision++) {
                journal.append(List.of(created(revision, 70_000)), List.of());
            }
        }
        try (StoreReading reading = new StoreReading(directory, Optional.empty(), small, ValueTransformer.RAW)) {
            assertThat(replaceFiles()).isGreaterThan(300);

            assertThat(reading.recovered().entries())
                    .hasSize(300)
                    .allSatisfy(entry -> assertThat(entry.value()).hasSize(70_000));
        }
    }

    /** Deletes the files that a compaction can replace, and returns their number. */
    private int replaceFiles() throws Exception {
        return TestFiles.delete(directory, ".sst") + TestFiles.delete(directory, ".blob");
    }
}
