package io.nodekeeper.store.disk;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A checksum over the set of all rows of a journal: their count, and the sum modulo 2^64 of the first eight bytes of each row's
 * SHA-256. Each group updates the checksum and stores it in its own batch. If it does not match, rows are missing, or rows that
 * were deleted are back. A change contributes its row key only, which contains the revision and is never reused; other rows
 * contribute their values, too. RocksDB's own checksums detect damaged values. Not thread-safe.
 */
final class RowChecksum {
    private static final byte[] NOTHING = {};

    private final MessageDigest sha256;
    private long count;
    private long sum;

    /** The checksum of an empty set. */
    RowChecksum() {
        this(0, 0);
    }

    private RowChecksum(long count, long sum) {
        this.count = count;
        this.sum = sum;
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    RowChecksum copy() {
        return new RowChecksum(count, sum);
    }

    /** The number of rows. */
    long count() {
        return count;
    }

    /** Adds the row of a change. */
    void add(byte[] row) {
        add(row, NOTHING);
    }

    /** Removes the row of a change, which must have been added. */
    void remove(byte[] row) {
        remove(row, NOTHING);
    }

    /** Adds a row with its value. */
    void add(byte[] row, byte[] value) {
        count++;
        sum += hash(row, value);
    }

    /** Removes a row with its value. */
    void remove(byte[] row, byte[] value) {
        count--;
        sum -= hash(row, value);
    }

    private long hash(byte[] row, byte[] value) {
        sha256.update(row);
        sha256.update(value);
        return ByteBuffer.wrap(sha256.digest()).getLong();
    }

    /** The stored form: {@code revision} of the group, count and sum. */
    byte[] encode(long revision) {
        return ByteBuffer.allocate(3 * Long.BYTES)
                .putLong(revision)
                .putLong(count)
                .putLong(sum)
                .array();
    }

    /** The number of rows in a stored form. */
    static long count(byte[] encoded) {
        return ByteBuffer.wrap(encoded).getLong(Long.BYTES);
    }

    @Override
    public String toString() {
        return count + " rows, sum " + Long.toHexString(sum);
    }
}
