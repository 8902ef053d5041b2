package io.nodekeeper.store;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A count and a sum over all rows of a journal: the sum, modulo 2^64, of the first eight bytes of each row's SHA-256. It is
 * kept up to date with each group and stored in that group's batch, so a journal whose rows do not add up lacks rows or has
 * rows that were removed. A change is summed by its row's key, which holds its revision and is never used again; other
 * rows are summed with their values. Damaged values of changes are left to RocksDB's checksums. Not thread-safe.
 */
final class RowSum {
    private static final byte[] NOTHING = {};

    private final MessageDigest sha256;
    private long count;
    private long sum;

    /** The sum of no rows. */
    RowSum() {
        this(0, 0);
    }

    private RowSum(long count, long sum) {
        this.count = count;
        this.sum = sum;
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    RowSum copy() {
        return new RowSum(count, sum);
    }

    /** How many rows there are. */
    long count() {
        return count;
    }

    /** Adds the row of a change. */
    void add(byte[] row) {
        add(row, NOTHING);
    }

    /** Takes away the row of a change, which must have been added. */
    void remove(byte[] row) {
        remove(row, NOTHING);
    }

    /** Adds a row whose value can change. */
    void add(byte[] row, byte[] value) {
        count++;
        sum += hash(row, value);
    }

    /** Takes away a row whose value can change. */
    void remove(byte[] row, byte[] value) {
        count--;
        sum -= hash(row, value);
    }

    private long hash(byte[] row, byte[] value) {
        sha256.update(row);
        sha256.update(value);
        return ByteBuffer.wrap(sha256.digest()).getLong();
    }

    /** As it is stored with the group that led to {@code revision}. */
    byte[] encode(long revision) {
        return ByteBuffer.allocate(3 * Long.BYTES)
                .putLong(revision)
                .putLong(count)
                .putLong(sum)
                .array();
    }

    /** How many rows {@code encoded} counts. */
    static long count(byte[] encoded) {
        return ByteBuffer.wrap(encoded).getLong(Long.BYTES);
    }

    @Override
    public String toString() {
        return count + " rows, sum " + Long.toHexString(sum);
    }
}
