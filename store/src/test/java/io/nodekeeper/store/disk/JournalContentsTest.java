package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDBException;

/** The rows of a journal, written one by one, and what a start reads from them. */
class JournalContentsTest extends DatabaseFixture {
    private static final String N1 = "/registry/minions/n1";
    private static final String N2 = "/registry/minions/n2";
    private static final String LEASE = "/registry/leases/kube-node-lease/n1";
    private static final String NODES = "/registry/minions/";

    /** The checksum of the rows that this test wrote. */
    private final RowChecksum sum = new RowChecksum();

    /** A reader of the test's database. */
    private RocksValueReader later(String... seldomRead) {
        RocksValueReader reader =
                new RocksValueReader(directory, ValueTransformer.RAW, new ValuePlacement(List.of(seldomRead)));
        reader.attach(db);
        return reader;
    }

    private static Entry entry(String key, int length, long created, long revision) {
        return new Entry(key, new byte[length], created, revision);
    }

    private static Event change(Optional<Entry> before, Entry after) {
        return new Event(after.modRevision(), after.key(), before, Optional.of(after));
    }

    private static Event deletion(long revision, Entry before) {
        return new Event(revision, before.key(), Optional.of(before), Optional.empty());
    }

    private void write(Event event) throws RocksDBException {
        db.put(RowFormat.row(event), RowFormat.change(event, ValueTransformer.RAW));
        sum.add(RowFormat.row(event));
    }

    private void window(String resource, long revision) throws RocksDBException {
        db.put(RowFormat.window(resource), RowFormat.number(revision));
        sum.add(RowFormat.window(resource), RowFormat.number(revision));
    }

    private void floor(long revision) throws RocksDBException {
        db.put(RowFormat.FLOOR, RowFormat.number(revision));
        sum.add(RowFormat.FLOOR, RowFormat.number(revision));
    }

    /** Writes the rows that end each group: the format, the revision and the checksum. */
    private void end(long revision) throws RocksDBException {
        db.put(RowFormat.FORMAT, RowFormat.number(JournalContents.FORMAT));
        db.put(RowFormat.REVISION, RowFormat.number(revision));
        db.put(RowFormat.SUM, sum.encode(revision));
    }

    private JournalContents read() throws RocksDBException {
        return JournalContents.read(db, directory, ValueTransformer.RAW, later());
    }

    private static List<String> texts(List<byte[]> rows) {
        return rows.stream()
                .map(row -> RowFormat.key(row) + "@" + RowFormat.revision(row))
                .toList();
    }

    @Test
    void databaseWithoutRowsIsAJournalThatNeverBegan() throws Exception {
        JournalContents contents = read();

        assertThat(contents.format()).isZero();
        assertThat(contents.recovered().revision()).isZero();
        assertThat(contents.recovered().entries()).isEmpty();
        assertThat(contents.recovered().history()).isEmpty();
        assertThat(contents.recovered().forgotten()).isEmpty();
        assertThat(contents.recovered().floor()).isZero();
        assertThat(contents.sum().encode(0)).isEqualTo(new RowChecksum().encode(0));
        assertThat(contents.unwanted()).isEmpty();
    }

    @Test
    void objectsHistoryAndChecksumAreTheRowsTogether() throws Exception {
        // given a node that was created and changed, and a lease that was created and deleted
        Entry first = entry(N1, 10, 1, 1);
        Entry second = entry(N1, 20, 1, 2);
        Entry lease = entry(LEASE, 30, 3, 3);
        write(change(Optional.empty(), first));
        write(change(Optional.of(first), second));
        write(change(Optional.empty(), lease));
        write(deletion(4, lease));
        end(4);

        JournalContents contents = read();

        assertThat(contents.format()).isEqualTo(3);
        assertThat(contents.recovered().revision()).isEqualTo(4);
        assertThat(contents.recovered().entries()).containsExactly(second);
        assertThat(contents.recovered().entries().getFirst().value()).hasSize(20);
        assertThat(contents.recovered().history())
                .containsExactly(
                        change(Optional.empty(), first),
                        change(Optional.of(first), second),
                        change(Optional.empty(), lease),
                        deletion(4, lease));
        // and all versions of an object share one key string
        String key = contents.recovered().entries().getFirst().key();
        assertThat(contents.recovered().history().subList(0, 2)).allSatisfy(event -> {
            assertThat(event.key()).isSameAs(key);
            assertThat(event.after().orElseThrow().key()).isSameAs(key);
        });
        assertThat(contents.unwanted()).isEmpty();
        assertThat(contents.sum().encode(4)).isEqualTo(sum.encode(4));
    }

    @Test
    void historyOfAResourceBeginsAfterItsWindow() throws Exception {
        // given nodes whose changes up to revision 3 left the history, and leases that kept theirs
        Entry first = entry(N1, 1, 1, 1);
        Entry second = entry(N1, 1, 1, 3);
        Entry third = entry(N1, 1, 1, 4);
        Entry lease = entry(LEASE, 1, 2, 2);
        write(change(Optional.empty(), first));
        write(change(Optional.empty(), lease));
        write(change(Optional.of(first), second));
        write(change(Optional.of(second), third));
        window(NODES, 3);
        end(4);

        JournalContents contents = read();

        assertThat(contents.windows()).isEqualTo(Map.of(NODES, 3L));
        assertThat(contents.recovered().forgotten()).isEqualTo(Map.of(NODES, 3L));
        assertThat(contents.recovered().history())
                .containsExactly(change(Optional.empty(), lease), change(Optional.of(second), third));
        // then the version that only a forgotten change replaced is not needed
        assertThat(texts(contents.unwanted())).containsExactly(N1 + "@1");
        assertThat(contents.sum().encode(4)).isEqualTo(sum.encode(4));
    }

    @Test
    void historyOfAllResourcesBeginsAfterTheFloor() throws Exception {
        Entry lease = entry(LEASE, 1, 5, 5);
        write(change(Optional.empty(), entry(N1, 1, 4, 4)));
        write(change(Optional.empty(), lease));
        write(change(Optional.empty(), entry(N2, 1, 6, 6)));
        write(deletion(7, lease));
        floor(5);
        window("/registry/leases/", 9);
        end(9);

        JournalContents contents = read();

        assertThat(contents.recovered().floor()).isEqualTo(5);
        assertThat(contents.recovered().history()).containsExactly(change(Optional.empty(), entry(N2, 1, 6, 6)));
        // then a forgotten deletion needs neither its own row nor that of the version before it
        assertThat(texts(contents.unwanted())).containsExactly(LEASE + "@5", LEASE + "@7");
        assertThat(contents.recovered().entries()).containsExactlyInAnyOrder(entry(N1, 1, 4, 4), entry(N2, 1, 6, 6));
        assertThat(contents.sum().encode(9)).isEqualTo(sum.encode(9));
    }

    @Test
    void onlyLatestSmallValuesStayInMemory() throws Exception {
        // given an object that shrank, one that grew, one at the limit, and a small one that was deleted
        Entry shrank = entry("/registry/a/shrank", ValuePlacement.LARGE + 1, 1, 1);
        Entry grew = entry("/registry/a/grew", 5, 2, 2);
        Entry gone = entry("/registry/a/gone", 5, 3, 3);
        write(change(Optional.empty(), shrank));
        write(change(Optional.empty(), grew));
        write(change(Optional.empty(), gone));
        write(change(Optional.of(shrank), entry("/registry/a/shrank", 6, 1, 4)));
        write(change(Optional.of(grew), entry("/registry/a/grew", ValuePlacement.LARGE + 1, 2, 5)));
        write(deletion(6, gone));
        write(change(Optional.empty(), entry("/registry/a/limit", ValuePlacement.LARGE, 7, 7)));
        end(7);

        JournalContents contents = JournalContents.read(db, directory, ValueTransformer.RAW, later());

        assertThat(contents.recovered().entries())
                .extracting(entry -> entry.key() + " " + entry.length() + " " + entry.resident())
                .containsExactlyInAnyOrder(
                        "/registry/a/shrank 6 6", "/registry/a/grew 2049 0", "/registry/a/limit 2048 2048");
        // then the versions of the history keep their revisions, and their values are read when they are needed
        assertThat(contents.recovered().history()).hasSize(7);
        Event last = contents.recovered().history().get(4);
        assertThat(last.before().orElseThrow().resident()).isZero();
        assertThat(last.after().orElseThrow())
                .satisfies(after -> assertThat(after.value()).hasSize(2_049))
                .satisfies(after -> assertThat(after.createRevision()).isEqualTo(2))
                .satisfies(after -> assertThat(after.length()).isEqualTo(2_049));
        assertThat(contents.recovered().history())
                .extracting(event -> event.after().map(Entry::length).orElse(-1))
                .containsExactly(2_049, 5, 5, 6, 2_049, -1, 2_048);
    }

    @Test
    void seldomReadValuesStayOnDiskWhateverTheirLength() throws Exception {
        // given an object that changed, one that was deleted, and one whose key begins differently
        Entry changed = entry("/registry/events/default/changed", 5, 1, 1);
        Entry gone = entry("/registry/events/default/gone", 5, 2, 2);
        write(change(Optional.empty(), changed));
        write(change(Optional.empty(), gone));
        write(change(Optional.of(changed), entry("/registry/events/default/changed", 6, 1, 3)));
        write(deletion(4, gone));
        write(change(Optional.empty(), entry("/registry/eventsources/default/other", 7, 5, 5)));
        end(5);

        JournalContents contents =
                JournalContents.read(db, directory, ValueTransformer.RAW, later("/registry/events/"));

        assertThat(contents.recovered().entries())
                .extracting(entry ->
                        entry.key() + " " + entry.length() + " " + entry.resident() + " " + entry.value().length)
                .containsExactlyInAnyOrder(
                        "/registry/events/default/changed 6 0 6", "/registry/eventsources/default/other 7 7 7");
        assertThat(contents.recovered().history()).hasSize(5);
    }

    @Test
    void valueThatMayNotBeStoredAsItIsIsRefusedWhateverItsLength() throws Exception {
        // given a transformer that reads encrypted values only, and a value that is not encrypted, at and beyond the
        // limit
        ValueTransformer strict = new ValueTransformer() {
            @Override
            public byte[] toStorage(String key, String storageKey, byte[] value) {
                throw new AssertionError("nothing is written");
            }

            @Override
            public byte[] fromStorage(String key, String storageKey, byte[] stored) {
                throw new StoreException(key + " has " + stored.length + " bytes that are not encrypted", null);
            }
        };
        for (int length : List.of(ValuePlacement.LARGE, ValuePlacement.LARGE + 1)) {
            write(change(Optional.empty(), entry(N1, length, 1, 1)));

            assertThatThrownBy(() -> JournalContents.read(db, directory, strict, later()))
                    .isInstanceOf(StoreException.class)
                    .hasMessage(N1 + " has " + length + " bytes that are not encrypted");
        }
    }

    @Test
    void replacedVersionThatIsMissingIsNamed() throws Exception {
        // given two changes of the history whose replaced versions have no rows
        write(change(Optional.of(entry(N1, 1, 1, 2)), entry(N1, 1, 1, 5)));
        write(change(Optional.of(entry(N2, 1, 3, 3)), entry(N2, 1, 3, 6)));
        end(6);

        assertThatThrownBy(this::read)
                .isInstanceOf(StoreException.Damaged.class)
                .hasMessage("the version of " + N1 + " at revision 2 is missing, which revision 5 changed");
    }

    @Test
    void replacedVersionOfAForgottenChangeMayBeMissing() throws Exception {
        write(change(Optional.of(entry(N1, 1, 1, 2)), entry(N1, 1, 1, 5)));
        window(NODES, 5);
        end(5);

        assertThat(read().recovered().history()).isEmpty();
    }

    @Test
    void rowsThatDoNotAddUpAreCounted() throws Exception {
        write(change(Optional.empty(), entry(N1, 1, 1, 1)));
        end(1);
        db.delete(RowFormat.SUM);
        assertThatThrownBy(this::read)
                .isInstanceOf(StoreException.Damaged.class)
                .hasMessage("its rows do not add up: expected a sum as of revision 1, found 1");

        // given a row more than the sum has
        end(1);
        db.put(
                RowFormat.row(2, N2),
                RowFormat.change(change(Optional.empty(), entry(N2, 1, 2, 2)), ValueTransformer.RAW));
        assertThatThrownBy(this::read).hasMessage("its rows do not add up: expected 1 rows as of revision 1, found 2");

        // given as many rows as the sum has, but another one
        db.delete(RowFormat.row(1, N1));
        assertThatThrownBy(this::read)
                .hasMessage("its rows do not add up: expected 1 rows as of revision 1, found 1 other ones");
    }

    @Test
    void rowsThatDoNotAddUpAreToldBeforeAMissingVersion() throws Exception {
        write(change(Optional.of(entry(N1, 1, 1, 2)), entry(N1, 1, 1, 5)));
        end(5);
        db.put(RowFormat.SUM, new RowChecksum().encode(5));

        assertThatThrownBy(this::read).hasMessage("its rows do not add up: expected 0 rows as of revision 5, found 1");
    }

    @Test
    void formatThatIsMissingOrUnknownIsRefused() throws Exception {
        db.put(RowFormat.REVISION, RowFormat.number(1));
        assertThatThrownBy(this::read)
                .isInstanceOf(StoreException.Damaged.class)
                .hasMessage("the row of the journal's format is missing");

        db.put(RowFormat.FORMAT, RowFormat.number(4));
        assertThatThrownBy(this::read)
                .isNotInstanceOf(StoreException.Damaged.class)
                .hasMessage(directory + " is in journal format 4; this version reads format 3");

        // given the format before the sum
        db.put(RowFormat.FORMAT, RowFormat.number(2));
        assertThat(read().format()).isEqualTo(2);
    }

    /** Writes all rows so far to a table of their own and damages the first block of that table which holds {@code text}. */
    private void damagedTable(String text) throws RocksDBException, IOException {
        try (FlushOptions flush = new FlushOptions()) {
            db.flush(flush);
        }
        db.close();
        Path table = TestFiles.ending(directory, ".sst").getLast();
        int at = Files.readString(table, StandardCharsets.ISO_8859_1).indexOf(text);
        assertThat(at).isPositive();
        try (RandomAccessFile bytes = new RandomAccessFile(table.toFile(), "rw")) {
            bytes.seek(at);
            bytes.write('X');
        }
        openAgain();
    }

    /** Writes the format that has no sum, which would detect missing rows, to a table of its own. */
    private void formatWithoutSum() throws RocksDBException {
        db.put(RowFormat.FORMAT, RowFormat.number(JournalContents.FORMAT_WITHOUT_SUM));
        db.put(RowFormat.REVISION, RowFormat.number(1));
        try (FlushOptions flush = new FlushOptions()) {
            db.flush(flush);
        }
    }

    @Test
    @Tag("W85")
    void changesThatCannotBeReadAreAnErrorAndNotTheEndOfTheChanges() throws Exception {
        formatWithoutSum();
        write(change(Optional.empty(), entry(N1, 1, 1, 1)));
        damagedTable("minions/n1");

        assertThatThrownBy(this::read).isInstanceOf(RocksDBException.class).hasMessageContaining("checksum");
    }

    @Test
    @Tag("W85")
    void windowsThatCannotBeReadAreAnErrorAndNotTheEndOfTheWindows() throws Exception {
        // given windows in several blocks of a table, the last of which is damaged
        formatWithoutSum();
        long first = 0x4142434445460000L;
        for (int i = 0; i < 999; i++) {
            window("/registry/r" + (1_000 + i) + "/", first + i);
        }
        damagedTable(new String(RowFormat.number(first + 998), StandardCharsets.ISO_8859_1));

        assertThatThrownBy(this::read).isInstanceOf(RocksDBException.class).hasMessageContaining("checksum");
    }
}
