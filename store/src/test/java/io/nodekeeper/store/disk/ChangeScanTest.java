package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** What a scan reads of the rows of changes, in which order, and how it fails. */
class ChangeScanTest extends DatabaseFixture {
    private static final String KEY = "/registry/a/ä";
    private static final ChangeRow.Reader EVERYTHING = new ChangeRow.Reader(false);
    private static final ChangeRow.Reader NOTHING_LARGE = new ChangeRow.Reader(true);

    private static Entry version(long revision, byte[] value) {
        return new Entry(KEY, value, 2, revision);
    }

    private void write(long revision, Optional<Entry> before, Optional<Entry> after) throws RocksDBException {
        Event event = new Event(revision, KEY, before, after);
        db.put(RowFormat.row(event), RowFormat.change(event, ValueTransformer.RAW));
    }

    /** Writes a creation with a value of one byte at each of these revisions. */
    private void create(long first, long last) throws RocksDBException {
        for (long revision = first; revision <= last; revision++) {
            write(revision, Optional.empty(), Optional.of(version(revision, new byte[1])));
        }
    }

    private List<ChangeRow> scan(ChangeRow.Reader reader) throws RocksDBException {
        List<ChangeRow> found = new ArrayList<>();
        ChangeScan.each(db, reader, found::add);
        return found;
    }

    @Test
    void creationChangeAndDeletionAreReadInTheOrderOfTheirRevisions() throws Exception {
        // given rows before and after those of changes, and changes that were written out of order
        db.put(RowFormat.FORMAT, RowFormat.number(3));
        db.put(new byte[] {RowFormat.CHANGE - 1}, new byte[0]);
        db.put(new byte[] {RowFormat.CHANGE + 1}, new byte[0]);
        write(300, Optional.of(version(4, new byte[0])), Optional.empty());
        write(4, Optional.of(version(2, new byte[] {7})), Optional.of(version(4, new byte[0])));
        write(2, Optional.empty(), Optional.of(version(2, new byte[] {7})));

        List<ChangeRow> changes = scan(EVERYTHING);

        assertThat(changes)
                .extracting(change -> RowFormat.key(change.row()) + "@" + RowFormat.revision(change.row()) + " put "
                        + change.put() + " created " + change.created() + " before " + change.before() + " length "
                        + change.length())
                .containsExactly(
                        KEY + "@2 put true created 2 before 0 length 1",
                        KEY + "@4 put true created 2 before 2 length 0",
                        KEY + "@300 put false created 0 before 4 length 0");
        assertThat(changes.getFirst().stored()).hasValue(new byte[] {7});
    }

    @Test
    void databaseWithoutChangesHasNone() throws Exception {
        db.put(RowFormat.FORMAT, RowFormat.number(3));

        assertThat(scan(EVERYTHING)).isEmpty();
    }

    @Test
    void largeValueIsLeftUnlessItIsEncrypted() throws Exception {
        // given a value at the limit, one beyond it, and an encrypted one beyond it
        byte[] small = new byte[ValuePlacement.LARGE];
        byte[] large = new byte[ValuePlacement.LARGE + 1];
        large[ValuePlacement.LARGE] = 1;
        byte[] encrypted = Arrays.copyOf("k8s:enc:".getBytes(StandardCharsets.US_ASCII), ValuePlacement.LARGE + 1);
        write(1, Optional.empty(), Optional.of(version(1, small)));
        write(2, Optional.empty(), Optional.of(version(2, large)));
        write(3, Optional.empty(), Optional.of(version(3, encrypted)));

        assertThat(scan(NOTHING_LARGE)).extracting(ChangeRow::length).containsExactly(2_048, 2_049, 2_049);
        assertThat(scan(NOTHING_LARGE))
                .extracting(ChangeRow::stored)
                .usingRecursiveFieldByFieldElementComparator()
                .containsExactly(Optional.of(small), Optional.empty(), Optional.of(encrypted));
        assertThat(scan(EVERYTHING))
                .extracting(ChangeRow::stored)
                .usingRecursiveFieldByFieldElementComparator()
                .containsExactly(Optional.of(small), Optional.of(large), Optional.of(encrypted));
    }

    @Test
    void blockIsBoundedInRowsAndInBytesOfValues() throws Exception {
        // given two values that are together larger than a block, then one that is larger alone, then 600 small ones
        write(1, Optional.empty(), Optional.of(version(1, new byte[600 << 10])));
        write(2, Optional.empty(), Optional.of(version(2, new byte[600 << 10])));
        write(3, Optional.empty(), Optional.of(version(3, new byte[3 << 20])));
        create(4, 603);
        try (RocksIterator rows = db.newIterator()) {
            rows.seekToFirst();
            assertThat(ChangeScan.block(rows, EVERYTHING)).hasSize(2);
            assertThat(ChangeScan.block(rows, EVERYTHING)).hasSize(1);
            assertThat(ChangeScan.block(rows, EVERYTHING)).hasSize(512);
            assertThat(ChangeScan.block(rows, EVERYTHING)).hasSize(88);
            assertThat(ChangeScan.block(rows, EVERYTHING)).isEmpty();
        }
        // but values that are left on disk do not count
        try (RocksIterator rows = db.newIterator()) {
            rows.seekToFirst();
            assertThat(ChangeScan.block(rows, NOTHING_LARGE)).hasSize(512);
        }
        assertThat(scan(EVERYTHING)).hasSize(603);
    }

    @Test
    void anyNumberOfRowsIsReadOnceEach() throws Exception {
        // given 0, 1 and some more rows than are read at once, which is 512
        long written = 0;
        for (int rows : List.of(0, 1, 511, 512, 513, 1_024, 1_025, 2_000)) {
            create(written + 1, rows);
            written = rows;

            assertThat(scan(EVERYTHING))
                    .extracting(change -> RowFormat.revision(change.row()))
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(1, rows).boxed().toList());
        }
    }

    @Test
    void rowThatIsTooShortIsDamagedWhereverItIs() throws Exception {
        create(1, 1_100);
        for (int revision : List.of(1, 512, 513, 1_100)) {
            byte[] whole = db.get(RowFormat.row(revision, KEY));
            for (int length : List.of(0, 1, 16)) {
                db.put(RowFormat.row(revision, KEY), Arrays.copyOf(whole, length));

                assertThatThrownBy(() -> scan(EVERYTHING))
                        .isInstanceOf(StoreException.Damaged.class)
                        .hasMessage("the change of revision " + revision + " has " + length
                                + " bytes; expected 17 or more");
            }
            db.put(RowFormat.row(revision, KEY), whole);
        }
    }

    @Test
    void failureOfTheTakerEndsTheScan() throws Exception {
        create(1, 2_000);
        for (long refused : List.of(1L, 512L, 513L, 2_000L)) {
            List<Long> taken = new ArrayList<>();

            assertThatThrownBy(() -> ChangeScan.each(db, EVERYTHING, change -> {
                        if (RowFormat.revision(change.row()) == refused) {
                            throw new IllegalArgumentException("refused");
                        }
                        taken.add(RowFormat.revision(change.row()));
                    }))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("refused");

            assertThat(taken).hasSize((int) refused - 1);
        }
        // then the database can be closed and opened, because no thread reads it any more
        db.close();
        openAgain();
        assertThat(scan(EVERYTHING)).hasSize(2_000);
    }
}
