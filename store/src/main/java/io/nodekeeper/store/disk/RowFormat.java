package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The format of a journal's rows in RocksDB. Numbers have eight bytes, big-endian.
 *
 * <ul>
 *   <li>{@code c REVISION KEY}: a change. The value consists of the kind (put or delete), the create revision, the revision of
 *       the replaced version (0 if there is none) and the stored form of the object.
 *   <li>{@code w RESOURCE}: the revision of the resource's latest change that left the history.
 *   <li>{@code m format}: the version of this format.
 *   <li>{@code m revision}: the latest revision.
 *   <li>{@code m floor}: the revision at which the history begins after a jump of the revision; see {@link RocksJournal}.
 *   <li>{@code m sum}: the {@link RowChecksum} of all {@code c} and {@code w} rows and {@code m floor}.
 * </ul>
 */
final class RowFormat {
    static final byte[] FORMAT = "mformat".getBytes(StandardCharsets.US_ASCII);
    static final byte[] REVISION = "mrevision".getBytes(StandardCharsets.US_ASCII);
    static final byte[] FLOOR = "mfloor".getBytes(StandardCharsets.US_ASCII);
    static final byte[] SUM = "msum".getBytes(StandardCharsets.US_ASCII);
    static final byte CHANGE = 'c';
    static final byte WINDOW = 'w';
    /** The offset of the object's key in the row key of a change. */
    static final int KEY = 1 + Long.BYTES;

    /** Length of the kind, the create revision and the replaced revision, which precede the object. */
    static final int HEAD = 1 + 2 * Long.BYTES;
    /** The kind of a deletion. */
    static final byte DELETE = 2;

    private static final byte PUT = 1;
    private static final byte[] NOTHING = {};

    private RowFormat() {}

    static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    static byte[] window(String resource) {
        return ("w" + resource).getBytes(StandardCharsets.UTF_8);
    }

    /** The row key of a change. */
    static byte[] row(long revision, String key) {
        byte[] name = key.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(KEY + name.length)
                .put(CHANGE)
                .putLong(revision)
                .put(name)
                .array();
    }

    static byte[] row(Event event) {
        return row(event.revision(), event.key());
    }

    /** The row value of a change. */
    static byte[] change(Event event, ValueTransformer transformer) {
        byte[] value = event.after()
                .map(after -> transformer.toStorage(event.key(), event.key(), after.value()))
                .orElse(NOTHING);
        return ByteBuffer.allocate(HEAD + value.length)
                .put(event.after().isPresent() ? PUT : DELETE)
                .putLong(event.after().map(Entry::createRevision).orElse(0L))
                .putLong(event.before().map(Entry::modRevision).orElse(0L))
                .put(value)
                .array();
    }

    static long revision(byte[] row) {
        return ByteBuffer.wrap(row).getLong(1);
    }

    static String key(byte[] row) {
        return new String(row, KEY, row.length - KEY, StandardCharsets.UTF_8);
    }

    /** Decodes the object in the row value of a change. */
    static byte[] value(String key, byte[] change, ValueTransformer transformer) {
        return transformer.fromStorage(key, key, Arrays.copyOfRange(change, HEAD, change.length));
    }

    /** The row keys that are not needed after {@code event} has left the history. */
    static List<byte[]> leftBehind(Event event) {
        List<byte[]> rows = new ArrayList<>(1);
        event.before().ifPresent(before -> rows.add(row(before.modRevision(), before.key())));
        if (event.after().isEmpty()) {
            rows.add(row(event));
        }
        return rows;
    }
}
