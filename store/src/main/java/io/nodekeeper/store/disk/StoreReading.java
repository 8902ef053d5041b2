package io.nodekeeper.store.disk;

import io.nodekeeper.store.Journal;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;

/**
 * A read of a store's files that changes none of them: their {@link StoreCheck}, and until it is closed all values. They are read from
 * disk when they are needed, so that a store may be larger than the memory.
 */
public final class StoreReading implements AutoCloseable {
    /** Attempts to read a store in use. Its files change every few minutes, so five failures in a row mean damage. */
    private static final int ATTEMPTS = 5;

    private final Path directory;
    private final RocksOptions database;
    private final ValueTransformer transformer;
    private final RocksValueReader values;
    private Optional<RocksDB> db = Optional.empty();
    private final StoreCheck check;

    /**
     * Checks the store in {@code directory}.
     *
     * @param held the store's high-water mark, if this process has locked it
     */
    StoreReading(Path directory, Optional<HighWaterMark> held, RocksOptions database, ValueTransformer transformer) {
        this.directory = directory;
        this.database = database;
        this.transformer = transformer;
        this.values = new RocksValueReader(directory, transformer, ValuePlacement.ALL_ON_DISK);
        try {
            this.check = StoreCheck.of(directory, held, this::rows);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Reads the store in {@code directory}, which a server may have open: at least all changes that were acknowledged before
     * this call. Encrypted values stay encrypted.
     *
     * @throws io.nodekeeper.store.StoreException if the store cannot be read
     */
    public static StoreReading open(Path directory) {
        for (int attempt = 1; ; attempt++) {
            StoreReading reading =
                    new StoreReading(directory, Optional.empty(), RocksOptions.DEFAULT, ValueTransformer.RAW);
            if (reading.check.state() != StoreCheck.State.DAMAGED) {
                return reading;
            }
            reading.close();
            // The server may have replaced files during the read.
            if (attempt == ATTEMPTS) {
                throw reading.check.refusal();
            }
        }
    }

    /** Opens the database, in the place of the one that could not be read, and leaves it open. */
    private JournalContents rows(WALRecoveryMode recovery) throws RocksDBException {
        close();
        try (Options options = database.options(recovery)) {
            RocksDB open = RocksOptions.openReadOnly(options, directory);
            db = Optional.of(open);
            values.attach(open);
            return JournalContents.read(open, directory, transformer, values);
        }
    }

    /** What is known of the files. */
    StoreCheck check() {
        return check;
    }

    /** The objects and the history, as far as they can be read; nothing if there is no store. */
    public Journal.Recovered recovered() {
        return check.contents()
                .map(JournalContents::recovered)
                .orElseGet(() -> new Journal.Recovered(0, List.of(), List.of()));
    }

    @Override
    public void close() {
        values.detach();
        db.ifPresent(RocksDB::close);
        db = Optional.empty();
    }
}
