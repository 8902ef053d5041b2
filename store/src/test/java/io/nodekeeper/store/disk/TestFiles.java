package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;

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

    /** The contents of {@code file}. */
    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The files of {@code directory} whose name ends with {@code ending}, the oldest first: RocksDB numbers its files. */
    static List<Path> ending(Path directory, String ending) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList();
        }
    }

    /** The newest log of a store that has content. */
    static Path log(Path directory) throws IOException {
        return ending(directory, ".log").reversed().stream()
                .filter(file -> file.toFile().length() > 0)
                .findFirst()
                .orElseThrow();
    }

    /** Deletes the files of {@code directory} whose name ends with {@code ending}, and returns their number. */
    static int delete(Path directory, String ending) throws IOException {
        List<Path> deleted = ending(directory, ending);
        for (Path file : deleted) {
            Files.delete(file);
        }
        return deleted.size();
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

    /** Moves the changes in the log of a closed store to a table, and long values to a blob file. */
    static void flush(Path directory) throws RocksDBException {
        RocksDB.loadLibrary();
        try (Options options = RocksOptions.DEFAULT.options(WALRecoveryMode.AbsoluteConsistency);
                RocksDB db = RocksDB.open(options, directory.toString());
                FlushOptions flush = new FlushOptions()) {
            db.flush(flush);
        }
    }
}
