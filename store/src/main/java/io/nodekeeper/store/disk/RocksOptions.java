package io.nodekeeper.store.disk;

import java.nio.file.Path;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.StringAppendOperator;
import org.rocksdb.WALRecoveryMode;

/**
 * The options with which RocksDB is opened, and the meaning of its errors.
 *
 * @param writeBuffer size of the memtable in bytes, which limits the changes of one log and one table
 * @param levelZeroFiles number of tables in level 0 that start a compaction
 */
record RocksOptions(long writeBuffer, int levelZeroFiles) {
    /**
     * 16 MiB, because rows are read only at the start: larger buffers cost memory and save no reads. Eight tables, because most
     * rows of a new table are deleted by the time that seven more have followed.
     */
    static final RocksOptions DEFAULT = new RocksOptions(16 << 20, 8);

    /** Values of at least this length go to blob files. The header of a blob record takes 32 bytes. */
    private static final int VALUE = 128;

    Options options(WALRecoveryMode recovery) {
        return new Options()
                .setWalRecoveryMode(recovery)
                // Tables hold keys of recent changes, which are soon deleted, so compressing them does not pay.
                .setCompressionType(CompressionType.NO_COMPRESSION)
                // Compaction moves keys, and the values that it meets in the oldest quarter of the blob files. A blob
                // file without a value in use is deleted.
                .setEnableBlobFiles(true)
                .setMinBlobSize(VALUE)
                .setEnableBlobGarbageCollection(true)
                .setWriteBufferSize(writeBuffer)
                .setLevel0FileNumCompactionTrigger(levelZeroFiles)
                .setMaxWriteBufferNumber(2)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setKeepLogFileNum(2);
    }

    /**
     * Opens the database in {@code directory} for reads. It keeps all files open, so values can be read although a server deletes the
     * files.
     */
    static RocksDB openReadOnly(Options options, Path directory) throws RocksDBException {
        // A get of RocksDB's CompactedDBImpl, which reads a database of one level, does not find values in blob files
        // (facebook/rocksdb#12503). RocksDB does not use it for databases with a merge operator, of which this one
        // makes no use.
        try (StringAppendOperator unused = new StringAppendOperator();
                Options other = new Options(options).setMergeOperator(unused)) {
            return RocksDB.openReadOnly(other, directory.toString());
        }
    }

    /** Whether {@code why} means that files are damaged or missing. False for other errors, for example missing permissions. */
    static boolean isDamage(RocksDBException why) {
        Status status = why.getStatus();
        if (status == null) {
            return false;
        }
        String message = String.valueOf(why.getMessage());
        return switch (status.getCode()) {
            case Corruption, NotFound, InvalidArgument, NotSupported -> true;
            case IOError ->
                message.contains("No such file")
                        || message.contains("Is a directory")
                        || message.contains("does not exist");
            default -> false;
        };
    }
}
