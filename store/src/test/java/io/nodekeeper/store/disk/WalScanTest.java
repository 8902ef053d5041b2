package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.StoreException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** Raw write-ahead logs as RocksDB writes them: blocks of 32 KiB, fragments with a header of 7 bytes, batches of puts. */
class WalScanTest {
    private static final String KEY = "/registry/a/x";
    /** A key of 150 bytes, so that the length of its row takes two bytes in a batch. */
    private static final String LONG_KEY = "/registry/a/" + "y".repeat(138);

    @TempDir
    Path directory;

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    /** The put of a change in a batch. */
    private static byte[] put(long revision, String key, int valueLength) {
        byte[] name = key.getBytes(StandardCharsets.UTF_8);
        ByteBuffer put = ByteBuffer.allocate(16 + name.length + valueLength).put((byte) 1);
        varint(put, 9 + name.length);
        put.put((byte) 'c').putLong(revision).put(name);
        varint(put, valueLength);
        put.position(put.position() + valueLength);
        return Arrays.copyOf(put.array(), put.position());
    }

    private static void varint(ByteBuffer to, int value) {
        while (value > 0x7f) {
            to.put((byte) (value | 0x80));
            value >>>= 7;
        }
        to.put((byte) value);
    }

    /** The put of the row {@code m revision} in a batch. */
    private static byte[] revision(long revision) {
        return ByteBuffer.allocate(20)
                .put((byte) 1)
                .put((byte) 9)
                .put("mrevision".getBytes(StandardCharsets.US_ASCII))
                .put((byte) 8)
                .putLong(revision)
                .array();
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    /** Appends a fragment; the scan ignores the checksum. */
    private void fragment(int type, byte[] content) {
        log.writeBytes(new byte[] {1, 2, 3, 4, (byte) content.length, (byte) (content.length >> 8), (byte) type});
        log.writeBytes(content);
    }

    private WalScan scan(long after) throws IOException {
        Files.write(directory.resolve("000004.log"), log.toByteArray());
        return WalScan.of(directory, after);
    }

    @Test
    void changesAndTheLatestRevisionAreFound() throws IOException {
        fragment(1, join(put(1, KEY, 3), revision(1)));
        fragment(1, join(put(2, LONG_KEY, 200), put(3, KEY, 0), revision(3)));
        fragment(1, join(put(4, KEY, 1), revision(2)));

        WalScan scan = scan(0);

        assertThat(scan.revision()).isEqualTo(3);
        assertThat(scan.changes())
                .containsExactly(Map.entry(1L, KEY), Map.entry(2L, LONG_KEY), Map.entry(3L, KEY), Map.entry(4L, KEY));
    }

    @Test
    void onlyChangesAfterTheRequestedRevisionAreKept() throws IOException {
        fragment(1, join(put(1, KEY, 3), put(2, KEY, 3), put(3, KEY, 3), revision(3)));

        assertThat(scan(2).changes()).containsExactly(Map.entry(3L, KEY));
        assertThat(scan(3).changes()).isEmpty();
        assertThat(scan(3).revision()).isEqualTo(3);
    }

    @Test
    void keyLengthsAroundTheSecondByteOfTheirLengthAreRead() throws IOException {
        // a row of 127 bytes has a length of one byte, one of 128 bytes has two
        for (int length = 116; length <= 121; length++) {
            fragment(1, put(length, "/" + "k".repeat(length - 1), 1));
        }

        assertThat(scan(0).changes())
                .hasSize(6)
                .allSatisfy((revision, key) -> assertThat(key).isEqualTo("/" + "k".repeat((int) (revision - 1))));
    }

    @Test
    void changeThatSpansTwoBlocksIsFound() throws IOException {
        // given a block that is full but for 30 bytes, then a change of which 23 bytes fit
        fragment(1, new byte[32_768 - 7 - 30]);
        byte[] change = join(put(5, KEY, 40), revision(5));
        fragment(2, Arrays.copyOf(change, 23));
        fragment(3, Arrays.copyOfRange(change, 23, 30));
        fragment(4, Arrays.copyOfRange(change, 30, change.length));

        assertThat(scan(0).changes()).containsExactly(Map.entry(5L, KEY));
        assertThat(scan(0).revision()).isEqualTo(5);
    }

    @Test
    void trailerOfABlockThatIsTooShortForAHeaderIsSkipped() throws IOException {
        // given a block with 6 bytes left, which RocksDB fills with zeros
        fragment(1, new byte[32_768 - 7 - 6]);
        log.writeBytes(new byte[6]);
        fragment(1, put(5, KEY, 1));

        assertThat(scan(0).changes()).containsExactly(Map.entry(5L, KEY));
    }

    @Test
    void emptyFragmentAtTheEndOfABlockIsRead() throws IOException {
        // given a block with 7 bytes left: RocksDB writes a first fragment without content there
        fragment(1, new byte[32_768 - 7 - 7]);
        fragment(2, new byte[0]);
        fragment(4, put(5, KEY, 1));

        assertThat(scan(0).changes()).containsExactly(Map.entry(5L, KEY));
    }

    @Test
    void afterADamagedHeaderTheScanContinuesAtTheNextBlock() throws IOException {
        for (int type : new int[] {0, 5, -1}) {
            log.reset();
            fragment(1, put(1, KEY, 1));
            fragment(type, put(2, KEY, 1));
            fragment(1, put(3, KEY, 1));
            log.writeBytes(new byte[32_768 - log.size()]);
            fragment(1, put(4, KEY, 1));

            assertThat(scan(0).changes()).as("type %s", type).containsOnlyKeys(1L, 4L);
        }
    }

    @Test
    void lengthThatPointsBeyondTheBlockIsCutAtItsEnd() throws IOException {
        fragment(1, put(1, KEY, 1));
        log.writeBytes(new byte[] {1, 2, 3, 4, (byte) 0xff, (byte) 0xff, 1});
        log.writeBytes(put(2, KEY, 1));
        log.writeBytes(new byte[32_768 - log.size()]);
        fragment(1, put(3, KEY, 1));

        assertThat(scan(0).changes()).containsOnlyKeys(1L, 2L, 3L);
    }

    @Test
    void truncatedLogIsReadAsFarAsItGoes() throws IOException {
        fragment(1, join(put(1, KEY, 0), revision(1)));
        fragment(1, join(put(2, KEY, 0), revision(2)));
        byte[] whole = log.toByteArray();
        // a record: header (7), tag (1), length (1), row key (22), length of the value (1), row of the revision (20)
        for (int length = 0; length <= whole.length; length++) {
            Files.write(directory.resolve("000004.log"), Arrays.copyOf(whole, length));

            WalScan scan = WalScan.of(directory, 0);

            int second = 7 + 25 + 20;
            assertThat(scan.changes())
                    .as("%s bytes", length)
                    .hasSize(length < 7 + 24 ? 0 : length < second + 7 + 24 ? 1 : 2);
            assertThat(scan.revision())
                    .as("%s bytes", length)
                    .isEqualTo(length < second ? 0 : length < 2 * second ? 1 : 2);
        }
    }

    @Test
    void bytesThatOnlyResembleAPutAreIgnored() throws IOException {
        byte[] row = RowFormat.row(7, KEY);
        // at the start without a tag, with a length of 0, without a tag, with the tag of a deletion, with a length of 9
        // (a row
        // without a key)
        fragment(1, join(new byte[] {(byte) 0x96, 1}, RowFormat.row(12, LONG_KEY), new byte[1]));
        fragment(1, join(new byte[] {1, 0, 1}, RowFormat.row(11, LONG_KEY), new byte[1]));
        fragment(1, row);
        fragment(1, join(new byte[] {0, (byte) row.length}, row, new byte[1]));
        fragment(1, join(new byte[] {1, 9}, row, new byte[1]));
        fragment(1, join(new byte[] {0, (byte) 0x96, 1}, RowFormat.row(8, LONG_KEY), new byte[1]));
        fragment(1, join(new byte[] {1, 22, 1}, RowFormat.row(9, LONG_KEY), new byte[1]));
        // and a change whose key is no storage key
        fragment(1, put(10, "registry", 1));
        fragment(1, "mrevisiox\b12345678".getBytes(StandardCharsets.US_ASCII));

        assertThat(scan(0).changes()).isEmpty();
        assertThat(scan(0).revision()).isZero();
    }

    @Test
    void onlyLogsAreRead() throws IOException {
        fragment(1, join(put(5, KEY, 1), revision(5)));
        scan(0);
        log.reset();
        fragment(1, join(put(4, KEY, 1), revision(4)));
        Files.write(directory.resolve("000009.log"), log.toByteArray());
        log.reset();
        fragment(1, join(put(8, KEY, 1), revision(8)));
        Files.write(directory.resolve("LOG.old.log"), log.toByteArray());
        Files.write(directory.resolve("000010.sst"), log.toByteArray());

        WalScan scan = WalScan.of(directory, 0);

        assertThat(scan.changes()).containsOnlyKeys(4L, 5L);
        assertThat(scan.revision()).isEqualTo(5);
    }

    @Test
    void storeThatDoesNotExistHasNoChanges() {
        WalScan scan = WalScan.of(directory.resolve("none"), 0);

        assertThat(scan.changes()).isEmpty();
        assertThat(scan.revision()).isZero();
    }

    @Test
    void resultIsBounded() throws IOException {
        long revision = 0;
        while (revision < 100_100) {
            // 1,300 changes of 25 bytes in each block of 32,768
            ByteArrayOutputStream changes = new ByteArrayOutputStream();
            for (int i = 0; i < 1_300; i++) {
                changes.writeBytes(put(++revision, KEY, 0));
            }
            fragment(1, Arrays.copyOf(changes.toByteArray(), 32_768 - 7));
        }

        assertThat(scan(0).changes()).hasSize(100_000);
    }

    @Test
    void errorNamesALogThatIsNotAFile() throws IOException {
        Files.createDirectory(directory.resolve("000001.log"));

        assertThatThrownBy(() -> WalScan.of(directory, 0))
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("cannot read the log in " + directory + ": ");
    }

    @Test
    void logThatRocksDbWroteIsRead() throws Exception {
        RocksDB.loadLibrary();
        try (Options options = new Options().setCreateIfMissing(true);
                WriteOptions write = new WriteOptions();
                RocksDB db = RocksDB.open(options, directory.toString())) {
            for (long revision = 1; revision <= 40; revision++) {
                try (WriteBatch batch = new WriteBatch()) {
                    // values of 3,000 bytes: every eleventh change spans two blocks
                    batch.put(RowFormat.row(revision, KEY + revision), new byte[3_000]);
                    batch.put(RowFormat.REVISION, RowFormat.number(revision));
                    db.write(write, batch);
                }
            }
            WalScan scan = WalScan.of(directory, 10);

            assertThat(scan.revision()).isEqualTo(40);
            assertThat(scan.changes())
                    .hasSize(30)
                    .allSatisfy((revision, key) -> assertThat(key).isEqualTo(KEY + revision));
        }
    }
}
