package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a repair and a rewrite leave: the store, the directories beside it, and the lock. */
@Tag("W85")
class StoreRepairTest {
    /** Appends {@code x} to each value and removes it again. */
    private static final ValueTransformer SUFFIX = new ValueTransformer() {
        @Override
        public byte[] toStorage(String key, String storageKey, byte[] value) {
            byte[] stored = Arrays.copyOf(value, value.length + 1);
            stored[value.length] = 'x';
            return stored;
        }

        @Override
        public byte[] fromStorage(String key, String storageKey, byte[] stored) {
            return stored[stored.length - 1] == 'x' ? Arrays.copyOf(stored, stored.length - 1) : stored;
        }
    };

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
                journal.append(List.of(created(revision)), List.of());
            }
        }
    }

    private static Event created(long revision) {
        Entry entry = new Entry(
                "/registry/minions/n" + revision,
                ("value " + revision).getBytes(StandardCharsets.UTF_8),
                revision,
                revision);
        return new Event(revision, entry.key(), Optional.empty(), Optional.of(entry));
    }

    /** A journal with an object of 9,000 bytes in a table and its blob file, whose empty log is missing. */
    private void journalWithoutLog() throws Exception {
        try (RocksJournal journal = RocksJournal.open(directory)) {
            journal.load();
            Entry entry = new Entry("/registry/minions/n1", "x".repeat(9_000).getBytes(StandardCharsets.UTF_8), 1, 1);
            journal.append(List.of(new Event(1, entry.key(), Optional.empty(), Optional.of(entry))), List.of());
        }
        TestFiles.flush(directory);
        TestFiles.delete(directory, ".log");
    }

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
                        parent.relativize(file).toString(),
                        Files.isRegularFile(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "");
            }
        }
        return tree;
    }

    private List<String> directories() throws IOException {
        try (Stream<Path> files = Files.list(parent)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /** The objects of the repaired store as {@code KEY=VALUE@REVISION}, and the revision of the store. Needs the lock. */
    private List<String> objects(long revision, ValueTransformer transformer) {
        try (RocksJournal journal = RocksJournal.open(directory, transformer)) {
            Journal.Recovered recovered = journal.load();
            assertThat(recovered.revision()).isEqualTo(revision);
            assertThat(recovered.floor()).isEqualTo(revision);
            assertThat(recovered.history()).isEmpty();
            return recovered.entries().stream()
                    .map(entry -> entry.key().substring("/registry/minions/".length()) + "="
                            + new String(entry.value(), StandardCharsets.UTF_8) + "@" + entry.modRevision())
                    .sorted()
                    .toList();
        }
    }

    @Test
    void storeThatIsNotDamagedIsNotRepaired() throws Exception {
        journal(2);
        Map<String, String> before = tree();

        StoreRepair.Report report = StoreRepair.repair(directory);

        assertThat(report.check().state()).isEqualTo(StoreCheck.State.WHOLE);
        assertThat(report.objects()).isEqualTo(2);
        assertThat(report.losses()).isEmpty();
        assertThat(report.aside()).isEmpty();
        assertThat(tree()).isEqualTo(before);
        // then the lock is free
        mark(2);
    }

    @Test
    void changesThatAreKnownButMissingAreReported() throws Exception {
        journal(2);
        mark(4);

        StoreRepair.Report report = StoreRepair.repair(directory);

        assertThat(report.objects()).isEqualTo(2);
        assertThat(report.losses())
                .containsExactly(
                        "the changes of revisions 3 to 4 are lost; all up to revision 2 can be read; objects: 2");
        assertThat(report.aside()).contains(parent.resolve("store.damaged-1"));
        assertThat(directories()).containsExactly("store", "store.damaged-1");
        assertThat(objects(4 + RocksJournal.JUMP, ValueTransformer.IDENTITY))
                .containsExactly("n1=value 1@1", "n2=value 2@2");
    }

    @Test
    void changesAfterADamagedOneInTheLogAreReportedOneByOne() throws Exception {
        journal(4);
        Path log = TestFiles.log(directory);
        byte[] content = Files.readAllBytes(log);
        content[new String(content, StandardCharsets.ISO_8859_1).indexOf("value 3")] = 'X';
        Files.write(log, content);

        StoreRepair.Report report = StoreRepair.repair(directory);

        assertThat(report.losses())
                .containsExactly(
                        "the changes of revisions 3 to 4 are lost (/registry/minions/n3, /registry/minions/n4); all up to"
                                + " revision 2 can be read; objects: 2",
                        "revision 3 of /registry/minions/n3",
                        "revision 4 of /registry/minions/n4");
        assertThat(objects(4 + RocksJournal.JUMP, ValueTransformer.IDENTITY)).hasSize(2);
    }

    @Test
    void largeValuesAreFoundWithoutALog() throws Exception {
        // given that the mark knows a change of the missing log
        journalWithoutLog();
        mark(2);

        StoreRepair.Report report = StoreRepair.repair(directory);

        assertThat(report.losses())
                .containsExactly("the change of revision 2 is lost; all up to revision 1 can be read; objects: 1");
        assertThat(objects(2 + RocksJournal.JUMP, ValueTransformer.IDENTITY))
                .containsExactly("n1=" + "x".repeat(9_000) + "@1");
    }

    @Test
    void largeValuesAreFoundRowByRowWithoutALog() throws Exception {
        journalWithoutLog();
        Files.delete(directory.resolve("CURRENT"));

        StoreRepair.Report report = StoreRepair.repair(directory);

        assertThat(report.objects()).isEqualTo(1);
        assertThat(objects(1 + RocksJournal.JUMP, ValueTransformer.IDENTITY))
                .containsExactly("n1=" + "x".repeat(9_000) + "@1");
    }

    @Test
    void storeWithoutItsMarkLosesNothingThatIsKnown() throws Exception {
        journal(2);
        Files.delete(directory.resolve(HighWaterMark.FILE));
        // given the remains of a repair that was interrupted
        Files.createDirectory(parent.resolve("store.repaired"));
        Files.writeString(parent.resolve("store.repaired").resolve("CURRENT"), "remains");

        StoreRepair.Report report = StoreRepair.repair(directory);

        assertThat(report.losses()).isEmpty();
        assertThat(directories()).containsExactly("store", "store.damaged-1");
        assertThat(objects(2 + RocksJournal.JUMP, ValueTransformer.IDENTITY))
                .containsExactly("n1=value 1@1", "n2=value 2@2");
    }

    @Test
    void storeWithoutCurrentIsReadRowByRow() throws Exception {
        // given two changes, of which the mark knows one
        journal(2);
        mark(1);
        Files.delete(directory.resolve("CURRENT"));

        StoreRepair.Report report = StoreRepair.repair(directory);

        assertThat(report.objects()).isEqualTo(2);
        assertThat(report.losses())
                .containsExactly(
                        "2 changes can be read, up to revision 2; objects whose latest change cannot be read are"
                                + " missing, or are as they were before it");
        assertThat(directories()).containsExactly("store", "store.damaged-1");
        assertThat(objects(2 + RocksJournal.JUMP, ValueTransformer.IDENTITY))
                .containsExactly("n1=value 1@1", "n2=value 2@2");
    }

    @Test
    void revisionGoesOnBeyondTheMarkIfFewerChangesCanBeRead() throws Exception {
        journal(2);
        mark(9);
        Files.delete(directory.resolve("CURRENT"));

        StoreRepair.repair(directory);

        assertThat(objects(9 + RocksJournal.JUMP, ValueTransformer.IDENTITY)).hasSize(2);
    }

    @Test
    void changesThatCannotBeReadAreReportedByTheirRevisions() throws Exception {
        // given a table with both changes whose block is damaged
        journal(2);
        TestFiles.flush(directory);
        Path table = TestFiles.ending(directory, ".sst").getFirst();
        byte[] content = Files.readAllBytes(table);
        content[new String(content, StandardCharsets.ISO_8859_1).indexOf("value 1")] = 'X';
        Files.write(table, content);

        StoreRepair.Report report = StoreRepair.repair(directory);

        assertThat(report.losses())
                .containsExactly(
                        "0 changes can be read, up to revision 0; objects whose latest change cannot be read are"
                                + " missing, or are as they were before it",
                        "changes of revisions 1 to the end cannot be read");
        assertThat(report.objects()).isZero();
        assertThat(objects(2 + RocksJournal.JUMP, ValueTransformer.IDENTITY)).isEmpty();
    }

    @Test
    void storeOfWhichNothingCanBeReadStaysAsItIsAndIsNotLocked() throws Exception {
        journal(2);
        Files.delete(directory.resolve("CURRENT"));
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(each -> each.getFileName().toString().startsWith("MANIFEST-"))
                    .toList()) {
                Files.delete(file);
            }
        }
        Map<String, String> before = tree();

        assertThatThrownBy(() -> StoreRepair.repair(directory)).hasMessageContaining(" cannot be repaired: ");

        assertThat(tree()).isEqualTo(before);
        mark(2);
    }

    @Test
    void storeInUseIsNeitherRepairedNorRewritten() {
        try (RocksJournal journal = RocksJournal.open(directory)) {
            journal.load();
            assertThatThrownBy(() -> StoreRepair.repair(directory)).hasMessageContaining(" is in use by this process");
            assertThatThrownBy(() -> StoreRepair.rewrite(directory, SUFFIX))
                    .hasMessageContaining(" is in use by this process");
        }
    }

    @Test
    void rewriteChangesTheFormOfAllObjectsAndLeavesNoOldFile() throws Exception {
        journal(2);

        assertThat(StoreRepair.rewrite(directory, SUFFIX)).isEqualTo(2);

        assertThat(directories()).containsExactly("store");
        assertThat(objects(2 + RocksJournal.JUMP, ValueTransformer.RAW))
                .containsExactly("n1=value 1x@1", "n2=value 2x@2");
        assertThat(objects(2 + RocksJournal.JUMP, SUFFIX)).containsExactly("n1=value 1@1", "n2=value 2@2");
    }

    /** It was interrupted while it removed the store in its old form. */
    @Test
    void whatAnInterruptedRewriteLeftGoesWithTheNextStartOrRewrite() throws Exception {
        journal(2);
        Path left = parent.resolve("store.rewritten");
        Files.createDirectory(left);
        Files.writeString(left.resolve("000007.log"), "a secret");

        StoreRepair.rewrite(directory, SUFFIX);
        assertThat(directories()).containsExactly("store");

        Files.createDirectory(left);
        Files.writeString(left.resolve("000007.log"), "a secret");
        RocksJournal.open(directory, SUFFIX).close();
        assertThat(directories()).containsExactly("store");
    }

    @Test
    void rewriteOfAStoreWithoutObjectsChangesNothing() throws Exception {
        assertThat(StoreRepair.rewrite(directory, SUFFIX)).isZero();
        assertThat(directory).doesNotExist();

        journal(1);
        try (RocksJournal journal = RocksJournal.open(directory)) {
            journal.load();
            Event created = created(1);
            journal.append(List.of(new Event(2, created.key(), created.after(), Optional.empty())), List.of());
        }
        Map<String, String> before = tree();
        assertThat(StoreRepair.rewrite(directory, SUFFIX)).isZero();
        assertThat(tree()).isEqualTo(before);
        // then the lock is free
        mark(2);
    }

    @Test
    void rewriteOfADamagedStoreIsRefusedAndReleasesTheLock() throws Exception {
        journal(2);
        TestFiles.delete(directory, ".log");
        Map<String, String> before = tree();

        assertThatThrownBy(() -> StoreRepair.rewrite(directory, SUFFIX))
                .isInstanceOf(StoreException.Damaged.class)
                .hasMessageStartingWith("the store in " + directory + " is damaged and was not changed: ");

        assertThat(tree()).isEqualTo(before);
        mark(2);
    }
}
