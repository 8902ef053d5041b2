package io.nodekeeper.store.disk;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;

/** A new database for each test, whose rows the test writes itself. */
abstract class DatabaseFixture {
    @TempDir
    Path directory;

    RocksDB db;
    private Options options;

    @BeforeEach
    void open() throws RocksDBException {
        RocksDB.loadLibrary();
        options = RocksOptions.DEFAULT
                .options(WALRecoveryMode.AbsoluteConsistency)
                .setCreateIfMissing(true);
        db = RocksDB.open(options, directory.toString());
    }

    /** Opens the database, which is closed. */
    void openAgain() throws RocksDBException {
        db = RocksDB.open(options, directory.toString());
    }

    @AfterEach
    void close() {
        db.close();
        options.close();
    }
}
