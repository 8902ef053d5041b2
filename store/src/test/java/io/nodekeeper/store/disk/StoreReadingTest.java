package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A read of a store leaves values on disk, and reads them until it is closed. */
class StoreReadingTest {
    @TempDir
    Path directory;

    /** A journal with an object of one byte and one of 9,000 bytes, in tables. */
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
    void valuesCanBeReadAlthoughTheServerHasReplacedTheFiles() throws Exception {
        journal();
        try (StoreReading reading = StoreReading.open(directory)) {
            List<Path> deleted;
            try (Stream<Path> files = Files.list(directory)) {
                deleted = files.filter(file -> file.toString().matches(".*\\.(sst|blob)"))
                        .toList();
            }
            for (Path file : deleted) {
                Files.delete(file);
            }

            assertThat(deleted).isNotEmpty();
            assertThat(reading.recovered().entries())
                    .extracting(entry -> entry.value().length)
                    .containsExactly(1, 9_000);
        }
    }
}
