package io.nodekeeper.store.disk;

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

    /** Moves the changes in the log of a closed store to a table. */
    static void flush(Path directory) throws RocksDBException {
        RocksDB.loadLibrary();
        try (RocksDB db = RocksDB.open(directory.toString());
                FlushOptions flush = new FlushOptions()) {
            db.flush(flush);
        }
    }
}
