package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.ValueReader;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;

/** Reads of a table with damaged blocks. The report has exactly the unreadable revisions. */
class BestEffortReadTest {
    private static final int CHANGES = 3_000;
    private static final RocksOptions OPTIONS = RocksOptions.DEFAULT;

    @TempDir
    Path parent;

    private Path directory;
    private Path scratch;

    @BeforeEach
    void place() {
        directory = parent.resolve("store");
        scratch = parent.resolve("store.salvage");
    }

    private static String key(long revision) {
        return "/registry/a/k" + revision;
    }

    /** One table with one change of another object per revision; the value contains the revision. */
    private void table(LongStream revisions) throws RocksDBException {
        RocksDB.loadLibrary();
        try (Options options =
                        OPTIONS.options(WALRecoveryMode.AbsoluteConsistency).setCreateIfMissing(true);
                RocksDB db = RocksDB.open(options, directory.toString());
                FlushOptions flush = new FlushOptions()) {
            for (long revision : revisions.toArray()) {
                db.put(
                        RowFormat.row(revision, key(revision)),
                        RowFormat.change(created(revision), ValueTransformer.RAW));
            }
            db.put(RowFormat.REVISION, RowFormat.number(7));
            db.flush(flush);
        }
    }

    private static Event created(long revision) {
        byte[] value = ("value of " + revision + "!").getBytes(StandardCharsets.UTF_8);
        return new Event(
                revision,
                key(revision),
                Optional.empty(),
                Optional.of(new Entry(key(revision), value, revision, revision)));
    }

    /** Damages the block that holds the value of {@code revision}. */
    private void damage(long revision) throws IOException {
        for (Path file : TestFiles.ending(directory, ".sst")) {
            String content = Files.readString(file, StandardCharsets.ISO_8859_1);
            int at = content.indexOf("value of " + revision + "!");
            if (at > 0) {
                try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                    bytes.seek(at);
                    bytes.write('X');
                }
                return;
            }
        }
        throw new AssertionError("no table holds revision " + revision);
    }

    /** What can be read of the store, with all values in memory. */
    private BestEffortRead read() {
        return BestEffortRead.use(
                directory,
                scratch,
                OPTIONS,
                read -> new BestEffortRead(
                        read.entries().stream().map(Entry::loaded).toList(),
                        read.revision(),
                        read.rows(),
                        read.unreadable()));
    }

    /** The revisions of a range as the report names it. */
    private static long[] range(String text) {
        Matcher range = Pattern.compile("([0-9]+) to ([0-9]+)").matcher(text);
        assertThat(range.matches()).as(text).isTrue();
        return new long[] {Long.parseLong(range.group(1)), Long.parseLong(range.group(2))};
    }

    @Test
    void objectsWhoseValueCannotBeReadAreNamedAndTheOthersKept() {
        // given three objects, the second of which was found but cannot be read
        ValueReader broken = new ValueReader() {
            @Override
            public byte[] read(String key, long revision) {
                throw new StoreException("cannot read " + key, null);
            }

            @Override
            public boolean cached(long revision) {
                return false;
            }
        };
        Entry first = new Entry(key(1), new byte[1], 1, 1);
        Entry third = new Entry(key(3), new byte[1], 3, 3);
        List<Entry> kept = new ArrayList<>();

        List<String> lost = new BestEffortRead(
                        List.of(first, Entry.stored(key(2), 1, broken, 2, 2), third), 3, 3, List.of())
                .each(kept::add);

        assertThat(kept).containsExactly(first, third);
        assertThat(lost).containsExactly(key(2));
    }

    private static void assertReadsAllBut(BestEffortRead read, LongStream written, LongPredicate lost) {
        TreeSet<Long> expected = new TreeSet<>(
                written.filter(revision -> !lost.test(revision)).boxed().toList());
        assertThat(read.rows()).isEqualTo(expected.size());
        assertThat(read.entries()).extracting(Entry::modRevision).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(read.entries())
                .allSatisfy(entry -> assertThat(new String(entry.value(), StandardCharsets.UTF_8))
                        .isEqualTo("value of " + entry.modRevision() + "!"));
        assertThat(read.revision()).isEqualTo(expected.last());
    }

    @Test
    @Tag("W85")
    void storeWithoutDamageIsReadWhole() throws Exception {
        table(LongStream.rangeClosed(1, CHANGES));

        BestEffortRead read = read();

        assertThat(read.unreadable()).isEmpty();
        assertReadsAllBut(read, LongStream.rangeClosed(1, CHANGES), revision -> false);
        assertThat(scratch).doesNotExist();
    }

    @Test
    @Tag("W85")
    void twoDamagedBlocksCostTheirOwnChangesOnly() throws Exception {
        table(LongStream.rangeClosed(1, CHANGES));
        damage(1_000);
        damage(2_000);

        BestEffortRead read = read();

        assertThat(read.unreadable()).hasSize(2);
        long[] first = range(read.unreadable().get(0));
        long[] second = range(read.unreadable().get(1));
        assertThat(1_000L).isBetween(first[0], first[1]);
        assertThat(2_000L).isBetween(second[0], second[1]);
        // a block of 4 KiB holds fewer than 200 of these changes
        assertThat(first[1] - first[0]).isLessThan(200);
        assertThat(second[1] - second[0]).isLessThan(200);
        assertReadsAllBut(
                read,
                LongStream.rangeClosed(1, CHANGES),
                revision ->
                        revision >= first[0] && revision <= first[1] || revision >= second[0] && revision <= second[1]);
    }

    @Test
    @Tag("W85")
    void firstBlockIsSkipped() throws Exception {
        table(LongStream.rangeClosed(1, CHANGES));
        damage(1);

        BestEffortRead read = read();

        long[] lost = range(read.unreadable().getFirst());
        assertThat(lost[0]).isEqualTo(1);
        assertReadsAllBut(read, LongStream.rangeClosed(1, CHANGES), revision -> revision <= lost[1]);
    }

    @Test
    @Tag("W85")
    void lastBlockIsLostToTheEnd() throws Exception {
        table(LongStream.rangeClosed(1, CHANGES));
        damage(CHANGES);

        BestEffortRead read = read();

        assertThat(read.unreadable()).containsExactly((read.revision() + 1) + " to the end");
        assertReadsAllBut(read, LongStream.rangeClosed(1, CHANGES), revision -> revision > read.revision());
        assertThat(read.revision()).isBetween(CHANGES - 200L, CHANGES - 1L);
    }

    @Test
    @Tag("W85")
    void changesBeyondAJumpOfTheRevisionAreFoundBehindADamagedBlock() throws Exception {
        // given 150 changes, a jump of two million revisions as a repair makes it, and 300 changes after that
        long jump = 2_000_000;
        table(LongStream.concat(LongStream.rangeClosed(1, 150), LongStream.rangeClosed(jump, jump + 300)));
        // when the block around the jump is damaged
        damage(150);

        BestEffortRead read = read();

        long[] lost = range(read.unreadable().getFirst());
        assertThat(lost[0]).isBetween(1L, 150L);
        assertThat(lost[1]).isBetween(jump, jump + 200);
        assertReadsAllBut(
                read,
                LongStream.concat(LongStream.rangeClosed(1, 150), LongStream.rangeClosed(jump, jump + 300)),
                revision -> revision >= lost[0] && revision <= lost[1]);
    }

    @Test
    @Tag("W85")
    void readableBlockBetweenDamagedOnesIsFoundAtAnyRevision() throws Exception {
        // given revisions beyond the number that is searched one by one, and damaged blocks on both sides of readable
        // ones
        long first = 100_000;
        table(LongStream.range(first, first + CHANGES));
        for (long revision = first + 1_000; revision < first + 1_600; revision += 10) {
            if (revision < first + 1_250 || revision > first + 1_450) {
                damage(revision);
            }
        }

        BestEffortRead read = read();

        // then the changes between them are read
        assertThat(read.unreadable()).hasSize(2);
        assertThat(range(read.unreadable().get(0))[1]).isBetween(first + 1_240, first + 1_400);
        assertThat(range(read.unreadable().get(1))[0]).isBetween(first + 1_300, first + 1_460);
    }

    @Test
    void deletionsAndUpdatesAreApplied() throws Exception {
        RocksDB.loadLibrary();
        try (Options options =
                        OPTIONS.options(WALRecoveryMode.AbsoluteConsistency).setCreateIfMissing(true);
                RocksDB db = RocksDB.open(options, directory.toString())) {
            Entry one = created(1).after().orElseThrow();
            Entry two = created(2).after().orElseThrow();
            for (Event event : List.of(
                    created(1),
                    created(2),
                    new Event(3, one.key(), Optional.of(one), Optional.empty()),
                    new Event(
                            4, two.key(), Optional.of(two), Optional.of(new Entry(two.key(), new byte[] {4}, 2, 4))))) {
                db.put(RowFormat.row(event), RowFormat.change(event, ValueTransformer.RAW));
            }
        }

        BestEffortRead read = read();

        assertThat(read.entries()).containsExactly(new Entry(key(2), new byte[] {4}, 2, 4));
        assertThat(read.rows()).isEqualTo(4);
        assertThat(read.revision()).isEqualTo(4);
    }

    @Test
    void newestManifestIsUsedWhateverCurrentSays() throws Exception {
        table(LongStream.rangeClosed(1, 10));
        List<Path> manifests;
        try (Stream<Path> files = Files.list(directory)) {
            manifests = files.filter(file -> file.getFileName().toString().startsWith("MANIFEST-"))
                    .sorted()
                    .toList();
        }
        // given older and unreadable manifests, names without a number, and a CURRENT that names none of them
        for (String name : List.of("MANIFEST-000001", "MANIFEST-", "MANIFEST-9999999999999999999")) {
            if (!Files.exists(directory.resolve(name))) {
                Files.writeString(directory.resolve(name), "damaged");
            }
        }
        // and a directory that has the name of a newer one
        Files.createDirectory(directory.resolve("MANIFEST-888888"));
        Files.writeString(directory.resolve("CURRENT"), "MANIFEST-777777\n");

        assertThat(manifests).isNotEmpty();
        assertThat(read().rows()).isEqualTo(10);
        assertThat(Files.readString(directory.resolve("CURRENT"))).isEqualTo("MANIFEST-777777\n");
    }

    @Test
    void remainsOfAnInterruptedReadAreRemovedFirst() throws Exception {
        table(LongStream.rangeClosed(1, 10));
        Files.createDirectory(scratch);
        Files.writeString(scratch.resolve("CURRENT"), "MANIFEST-777777\n");

        assertThat(read().rows()).isEqualTo(10);
        assertThat(scratch).doesNotExist();
    }

    @Test
    void storeWithoutAnyManifestCannotBeRepaired() throws Exception {
        table(LongStream.rangeClosed(1, 10));
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(each -> each.getFileName().toString().startsWith("MANIFEST-"))
                    .toList()) {
                Files.delete(file);
            }
        }

        assertThatThrownBy(() -> read())
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("the store in " + directory + " cannot be repaired: ")
                .hasMessageEndingWith("; bring back a snapshot with \"nodekeeper apiserver restore\"");
        assertThat(scratch).doesNotExist();
    }

    @Test
    void directoryThatDoesNotExistIsNamed() {
        assertThatThrownBy(() -> read())
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("cannot read " + directory + ": ");
        assertThat(scratch).doesNotExist();
    }
}
