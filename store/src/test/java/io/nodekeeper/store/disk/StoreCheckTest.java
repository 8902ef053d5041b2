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
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.RocksDB;

/** What a check says of the files of a store, and that it changes none of them. */
@Tag("W85")
class StoreCheckTest {
    @TempDir
    Path parent;

    private Path directory;

    @BeforeEach
    void place() {
        directory = parent.resolve("store");
    }

    /** A journal with one object of its own at each revision from 1 to {@code last}. */
    private void journal(int last) {
        try (RocksJournal journal = RocksJournal.open(directory)) {
            journal.load();
            for (int revision = 1; revision <= last; revision++) {
                Entry entry = new Entry(
                        "/registry/minions/n" + revision,
                        ("value " + revision).getBytes(StandardCharsets.UTF_8),
                        revision,
                        revision);
                journal.append(
                        List.of(new Event(revision, entry.key(), Optional.empty(), Optional.of(entry))), List.of());
            }
        }
    }

    /** Changes one byte of {@code text} in the log. */
    private void damageLog(String text) throws IOException {
        Path log = TestFiles.log(directory);
        int at = Files.readString(log, StandardCharsets.ISO_8859_1).indexOf(text);
        assertThat(at).isPositive();
        try (RandomAccessFile bytes = new RandomAccessFile(log.toFile(), "rw")) {
            bytes.seek(at);
            bytes.write('X');
        }
    }

    /** Sets the mark of a closed store. */
    private void mark(long revision) {
        try (HighWaterMark mark = HighWaterMark.create(directory)) {
            mark.begin(revision);
        }
    }

    private Map<String, String> tree() throws IOException {
        Map<String, String> tree = new TreeMap<>();
        try (Stream<Path> files = Files.walk(parent)) {
            for (Path file : files.toList()) {
                tree.put(
                        file.toString(),
                        Files.isRegularFile(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "");
            }
        }
        return tree;
    }

    /** Checks the store twice: with and without its mark. Both must agree, and neither may change a file. */
    private StoreCheck check() throws IOException {
        Map<String, String> before = tree();
        StoreCheck check = StoreCheck.of(directory);
        Optional<HighWaterMark> held = HighWaterMark.lock(directory);
        try {
            StoreCheck locked = StoreCheck.of(directory, held, RocksOptions.DEFAULT, ValueTransformer.RAW);
            assertThat(locked).hasToString(check.toString());
            assertThat(locked.known()).isEqualTo(check.known());
        } finally {
            held.ifPresent(HighWaterMark::close);
        }
        assertThat(tree()).isEqualTo(before);
        return check;
    }

    @Test
    void directoryThatIsMissingOrEmptyHasNoStore() throws Exception {
        StoreCheck missing = check();
        Files.createDirectory(directory);
        StoreCheck empty = check();

        for (StoreCheck check : List.of(missing, empty)) {
            assertThat(check.state()).isEqualTo(StoreCheck.State.EMPTY);
            assertThat(check.problem()).isEmpty();
            assertThat(check.revision()).isZero();
            assertThat(check.objects()).isZero();
            assertThat(check.known()).isZero();
            assertThat(check.lost()).isEmpty();
            assertThat(check.contents()).isEmpty();
        }
    }

    @Test
    void databaseThatHoldsNoRowIsAStoreThatNeverBegan() throws Exception {
        RocksDB.loadLibrary();
        Files.createDirectory(directory);
        try (RocksDB db = RocksDB.open(directory.toString())) {
            assertThat(db.isOwningHandle()).isTrue();
        }
        assertThat(check().state()).isEqualTo(StoreCheck.State.EMPTY);
        mark(0);
        assertThat(check().state()).isEqualTo(StoreCheck.State.EMPTY);

        // when the mark says that there were changes
        mark(3);
        StoreCheck check = check();
        assertThat(check.state()).isEqualTo(StoreCheck.State.DAMAGED);
        assertThat(check.problem()).isEqualTo("the latest log, or another file, is missing or cut");
        assertThat(check.loss())
                .isEqualTo("the changes of revisions 1 to 3 are lost; all up to revision 0 can be read; objects: 0");
    }

    @ParameterizedTest
    @CsvSource({
        "000012.sst, 0, true",
        "000012.blob, 0, true",
        "12.sst, 0, true",
        "000012.sst.tmp, 0, false",
        "x12.sst, 0, false",
        "000012.log, 1, true",
        "000012.log, 0, false",
        "x12.log, 1, false",
        "MANIFEST-000001, 1, false",
        "MANIFEST-000005, 1, true",
        "MANIFEST-000005, 0, true",
        "OPTIONS-000007, 1, false",
        "LOG, 1, false",
        "IDENTITY, 1, false",
        "LOCK, 0, false"
    })
    void directoryWithoutCurrentIsDamagedIfAFileMayHoldChanges(String file, int length, boolean damaged)
            throws Exception {
        Files.createDirectory(directory);
        Files.write(directory.resolve(file), new byte[length]);

        StoreCheck check = check();

        if (damaged) {
            assertThat(check.state()).isEqualTo(StoreCheck.State.DAMAGED);
            assertThat(check.problem()).isEqualTo(directory.resolve("CURRENT") + " is missing, but there are " + file);
        } else {
            assertThat(check.state()).isEqualTo(StoreCheck.State.EMPTY);
            assertThat(check.problem()).isEmpty();
        }
    }

    @Test
    void atMostFiveFilesWithoutCurrentAreNamed() throws Exception {
        Files.createDirectory(directory);
        for (int file = 7; file > 0; file--) {
            Files.createFile(directory.resolve(file + ".sst"));
        }

        assertThat(check().problem()).endsWith(" is missing, but there are 1.sst, 2.sst, 3.sst, 4.sst, 5.sst");
    }

    @Test
    void markWithoutCurrentMeansThatChangesAreLost() throws Exception {
        Files.createDirectory(directory);
        mark(7);

        StoreCheck check = check();

        assertThat(check.state()).isEqualTo(StoreCheck.State.DAMAGED);
        assertThat(check.problem()).isEqualTo(directory.resolve("CURRENT") + " is missing");
        assertThat(check.contents()).isEmpty();
        assertThat(check.objects()).isZero();
        assertThat(check.loss())
                .isEqualTo("the latest known revision is 7; \"repair\" finds out what can still be read");
        assertThat(check).hasToString("DAMAGED " + directory.resolve("CURRENT") + " is missing");
    }

    @Test
    void wholeStoreHasAllChangesUpToTheMark() throws Exception {
        journal(3);

        StoreCheck check = check();

        assertThat(check.state()).isEqualTo(StoreCheck.State.WHOLE);
        assertThat(check.problem()).isEmpty();
        assertThat(check.revision()).isEqualTo(3);
        assertThat(check.objects()).isEqualTo(3);
        assertThat(check.contents().orElseThrow().format()).isEqualTo(3);
        assertThat(check.known()).isEqualTo(3);
        assertThat(check.lost()).isEmpty();
        assertThat(check.loss()).isEqualTo("all up to revision 3 can be read; objects: 3");
    }

    @Test
    void markMayBeOlderThanTheChangesButNotNewer() throws Exception {
        journal(3);
        mark(2);
        assertThat(check().state()).isEqualTo(StoreCheck.State.WHOLE);
        mark(3);
        assertThat(check().state()).isEqualTo(StoreCheck.State.WHOLE);
        mark(4);
        StoreCheck one = check();
        mark(6);
        StoreCheck several = check();

        assertThat(one.state()).isEqualTo(StoreCheck.State.DAMAGED);
        assertThat(one.known()).isEqualTo(4);
        assertThat(one.loss())
                .isEqualTo("the change of revision 4 is lost; all up to revision 3 can be read; objects: 3");
        assertThat(several.loss())
                .isEqualTo("the changes of revisions 4 to 6 are lost; all up to revision 3 can be read; objects: 3");
        assertThat(several.refusal())
                .hasMessage("the store in " + directory + " is damaged and was not changed: the latest log, or another"
                        + " file, is missing or cut; " + several.loss()
                        + ". \"nodekeeper apiserver check\" tells more; bring a snapshot back with \"nodekeeper apiserver"
                        + " restore\", or go on with what can be read with \"nodekeeper apiserver repair\"");
    }

    @Test
    void markThatIsMissingIsDamageUnlessTheFormatHasNone() throws Exception {
        journal(1);
        Files.delete(directory.resolve(HighWaterMark.FILE));
        StoreCheck check = check();
        assertThat(check.state()).isEqualTo(StoreCheck.State.DAMAGED);
        assertThat(check.problem())
                .isEqualTo(directory.resolve(HighWaterMark.FILE)
                        + " is missing or damaged; without it, it is unknown whether the latest changes are there");
        assertThat(check.loss()).isEqualTo("all up to revision 1 can be read; objects: 1");

        // given the format without a sum, which had no mark either
        try (RocksDB db = RocksDB.open(directory.toString())) {
            db.put(RowFormat.FORMAT, RowFormat.number(JournalContents.FORMAT_WITHOUT_SUM));
        }
        assertThat(check().state()).isEqualTo(StoreCheck.State.WHOLE);
    }

    @Test
    void changesAfterADamagedOneAreNamedFromTheRawLog() throws Exception {
        // given seven changes that were acknowledged, of which the second one is damaged
        journal(7);
        damageLog("value 2");

        StoreCheck check = check();

        assertThat(check.state()).isEqualTo(StoreCheck.State.DAMAGED);
        assertThat(check.problem()).contains("checksum mismatch");
        assertThat(check.revision()).isEqualTo(1);
        assertThat(check.objects()).isEqualTo(1);
        assertThat(check.known()).isEqualTo(7);
        assertThat(check.lost())
                .hasSize(6)
                .containsEntry(2L, "/registry/minions/n2")
                .containsEntry(7L, "/registry/minions/n7");
        assertThat(check.loss())
                .isEqualTo("the changes of revisions 2 to 7 are lost (/registry/minions/n2, /registry/minions/n3,"
                        + " /registry/minions/n4, /registry/minions/n5, /registry/minions/n6, ...); all up to revision 1"
                        + " can be read; objects: 1");
    }

    @Test
    void fiveLostChangesAreAllNamed() throws Exception {
        journal(6);
        damageLog("value 2");

        assertThat(check().loss())
                .startsWith("the changes of revisions 2 to 6 are lost (/registry/minions/n2, /registry/minions/n3,"
                        + " /registry/minions/n4, /registry/minions/n5, /registry/minions/n6); ");
    }

    @Test
    void endOfTheLogBeyondTheMarkIsTorn() throws Exception {
        // given a third change that was not acknowledged and is half in the log
        journal(3);
        mark(2);
        Path log = TestFiles.log(directory);
        try (RandomAccessFile bytes = new RandomAccessFile(log.toFile(), "rw")) {
            bytes.setLength(bytes.length() - 1);
        }

        StoreCheck check = check();

        assertThat(check.state()).isEqualTo(StoreCheck.State.TORN);
        assertThat(check.revision()).isEqualTo(2);
        assertThat(check.lost()).isEqualTo(new TreeMap<>(Map.of(3L, "/registry/minions/n3")));
        assertThat(check.known()).isEqualTo(3);
        assertThat(check.toString()).startsWith("TORN ").hasSizeGreaterThan("TORN ".length());

        // when the mark says that it was acknowledged, then it is damage
        mark(3);
        assertThat(check().state()).isEqualTo(StoreCheck.State.DAMAGED);
    }

    @Test
    void tableThatIsMissingIsDamage() throws Exception {
        journal(3);
        TestFiles.flush(directory);
        TestFiles.delete(directory, ".sst");

        StoreCheck check = check();

        assertThat(check.state()).isEqualTo(StoreCheck.State.DAMAGED);
        assertThat(check.contents()).isEmpty();
        assertThat(check.problem()).contains("No such file");
    }

    @Test
    void rowsThatDoNotAddUpAreDamage() throws Exception {
        journal(3);
        try (RocksDB db = RocksDB.open(directory.toString())) {
            db.delete(RowFormat.row(2, "/registry/minions/n2"));
        }

        StoreCheck check = check();

        assertThat(check.state()).isEqualTo(StoreCheck.State.DAMAGED);
        assertThat(check.problem()).isEqualTo("its rows do not add up: expected 3 rows as of revision 3, found 2");
    }

    @Test
    void errorThatIsNoDamageIsReportedAsItIs() throws Exception {
        journal(1);
        // given a log that cannot be opened: a symbolic link to itself
        Path log = TestFiles.log(directory);
        Files.delete(log);
        Files.createSymbolicLink(log, log.getFileName());

        assertThatThrownBy(() -> StoreCheck.of(directory))
                .isInstanceOf(StoreException.class)
                .isNotInstanceOf(StoreException.Damaged.class)
                .hasMessageStartingWith("cannot read the store in " + directory + ": ")
                .hasMessageContaining("symbolic links");
    }

    @Test
    void fileInThePlaceOfTheDirectoryIsReported() throws Exception {
        Files.createFile(directory);

        assertThatThrownBy(() -> StoreCheck.of(directory))
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("cannot list " + directory + ": ");
    }

    @Test
    void lostChangesAreACopy() throws Exception {
        journal(2);
        damageLog("value 2");
        StoreCheck check = StoreCheck.of(directory);

        check.lost().clear();

        assertThat(check.lost()).hasSize(1);
    }
}
