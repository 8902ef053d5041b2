package io.nodekeeper.store.disk;

import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.rocksdb.RocksIterator;

/**
 * A row of a change, read from a database. {@link RowFormat} describes it.
 *
 * @param row the row key
 * @param put whether the change created or changed the object; otherwise it deleted it
 * @param created the create revision of the object; 0 for a deletion
 * @param before the revision of the version that the change replaced; 0 if there is none
 * @param length the length of the stored value in bytes
 * @param stored the stored value; empty if it is large and the reader leaves such values out
 */
record ChangeRow(byte[] row, boolean put, long created, long before, int length, Optional<byte[]> stored) {

    /**
     * Reads rows. To copy a large value takes longer than the rest of its row, so a reader can leave such values out unless they
     * are encrypted: it copies only their start. Not thread-safe.
     */
    static final class Reader {
        private final boolean leavesLarge;
        private final byte[] start = new byte[RowFormat.HEAD + ValuePlacement.LARGE];

        /** A reader that does or does not leave out values of more than {@link ValuePlacement#LARGE} bytes. */
        Reader(boolean leavesLarge) {
            this.leavesLarge = leavesLarge;
        }

        /**
         * Reads the row at which {@code rows} is.
         *
         * @throws StoreException.Damaged if the row value is too short
         */
        ChangeRow read(RocksIterator rows) {
            byte[] row = rows.key();
            int size = rows.value(start);
            if (size < RowFormat.HEAD) {
                throw new StoreException.Damaged(
                        "the change of revision " + RowFormat.revision(row) + " has " + size + " bytes; expected "
                                + RowFormat.HEAD + " or more",
                        null);
            }
            ByteBuffer head = ByteBuffer.wrap(start);
            boolean put = head.get() != RowFormat.DELETE;
            return new ChangeRow(row, put, head.getLong(), head.getLong(), size - RowFormat.HEAD, stored(rows, size));
        }

        private Optional<byte[]> stored(RocksIterator rows, int size) {
            if (size <= start.length) {
                return Optional.of(Arrays.copyOfRange(start, RowFormat.HEAD, size));
            }
            return leavesLarge && !ValueTransformer.isEncrypted(start, RowFormat.HEAD, size)
                    ? Optional.empty()
                    : Optional.of(Arrays.copyOfRange(rows.value(), RowFormat.HEAD, size));
        }
    }
}
