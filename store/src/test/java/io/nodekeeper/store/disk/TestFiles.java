package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Operations on the files of a store, for tests. */
final class TestFiles {
    private TestFiles() {}

    /** Copies all files of {@code from} to the new directory {@code to}, and returns {@code to}. */
    static Path copy(Path from, Path to) throws IOException {
        Files.createDirectory(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
        return to;
    }

    /** What a store that a server may have open holds, with all values in memory. */
    static Journal.Recovered recovered(Path directory) {
        try (StoreReading reading = StoreReading.open(directory)) {
            Journal.Recovered recovered = reading.recovered();
            return new Journal.Recovered(
                    recovered.revision(),
                    recovered.entries().stream().map(Entry::loaded).toList(),
                    recovered.history().stream()
                            .map(event -> new Event(
                                    event.revision(),
                                    event.key(),
                                    event.before().map(Entry::loaded),
                                    event.after().map(Entry::loaded)))
                            .toList(),
                    recovered.forgotten(),
                    recovered.floor());
        }
    }

    /** Moves the changes in the log of a closed store to a table. */
    static void flush(Path directory) throws RocksDBException {
        RocksDB.loadLibrary();
        try (RocksDB db = RocksDB.open(directory.toString());
                FlushOptions flush = new FlushOptions()) {
            db.flush(flush);
        }
    }
}
