package io.nodekeeper.store;

import java.util.List;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.WALRecoveryMode;

/**
 * How RocksDB is set up, and what its errors mean.
 *
 * @param writeBuffer bytes of changes that go into one log and one table
 * @param levelZeroFiles how many tables are compacted together at first
 */
record Database(long writeBuffer, int levelZeroFiles) {
    /**
     * Everything is read once, at the start: larger caches and buffers would only cost memory. New tables hold mostly what is
     * gone by the time that there are eight of them.
     */
    static final Database DEFAULT = new Database(16 << 20, 8);

    /** Shorter values are not worth a place of their own: a blob's record alone takes 32 bytes. */
    private static final int VALUE = 128;

    /** The first level is what was just written, the second the window of a busy store: both soon go. */
    private static final List<CompressionType> NEW_AND_OLD =
            List.of(CompressionType.NO_COMPRESSION, CompressionType.NO_COMPRESSION, CompressionType.LZ4_COMPRESSION);

    Options options(WALRecoveryMode recovery) {
        return new Options()
                .setWalRecoveryMode(recovery)
                .setCompressionPerLevel(NEW_AND_OLD)
                // Values stay where they are first written until all around them are gone; compaction moves keys.
                .setEnableBlobFiles(true)
                .setMinBlobSize(VALUE)
                .setEnableBlobGarbageCollection(true)
                .setWriteBufferSize(writeBuffer)
                .setLevel0FileNumCompactionTrigger(levelZeroFiles)
                .setMaxWriteBufferNumber(2)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setKeepLogFileNum(2);
    }

    /** Whether {@code why} means that files are damaged or missing, rather than out of reach. */
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
