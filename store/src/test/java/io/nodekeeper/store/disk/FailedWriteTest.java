package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.store.memory.StoreLimits;
import io.nodekeeper.store.memory.WatchCache;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** Writes that fail. The group is in the log or not, which only the next open of the database shows. */
class FailedWriteTest {
    private static final String N1 = "/registry/minions/n1";
    private static final String N2 = "/registry/minions/n2";
    private static final int HISTORY = 3;

    /** What happens to a group. */
    enum Outcome {
        WRITTEN,
        /** The write fails, and nothing of the group is in the log. */
        LOST,
        /** The write fails, but the group is in the log, for example because only the sync failed. */
        DURABLE
    }

    /** Writes batches as {@link #next} says, and writes again after that. */
    private static final class Disk implements RocksJournal.BatchWriter {
        private Outcome next = Outcome.WRITTEN;

        @Override
        public void write(RocksDB db, WriteOptions how, WriteBatch batch) throws RocksDBException {
            Outcome outcome = next;
            next = Outcome.WRITTEN;
            if (outcome != Outcome.LOST) {
                db.write(how, batch);
            }
            if (outcome != Outcome.WRITTEN) {
                throw new RocksDBException("the disk failed");
            }
        }
    }

    @TempDir
    Path parent;

    private final Disk disk = new Disk();
    private Optional<RocksJournal> open = Optional.empty();

    @AfterEach
    void close() {
        open.ifPresent(RocksJournal::close);
    }

    private static RocksJournal journal(Path directory, Disk disk) {
        return RocksJournal.open(
                directory, RocksOptions.DEFAULT, ValueTransformer.IDENTITY, ValuePlacement.BY_LENGTH, disk);
    }

    private Path directory() {
        return parent.resolve("store");
    }

    private RocksJournal start() {
        close();
        RocksJournal journal = journal(directory(), disk);
        open = Optional.of(journal);
        journal.load();
        return journal;
    }

    private static Entry entry(String key, String value, long created, long revision) {
        return new Entry(key, value.getBytes(StandardCharsets.UTF_8), created, revision);
    }

    private static Event put(Optional<Entry> before, Entry after) {
        return new Event(after.modRevision(), after.key(), before, Optional.of(after));
    }

    private static void fails(RocksJournal journal, Event... events) {
        assertThatThrownBy(() -> journal.append(List.of(events), List.of()))
                .isInstanceOf(StoreException.class)
                .isNotInstanceOf(StoreException.Damaged.class)
                .hasMessageStartingWith("cannot write the journal in ")
                .hasMessageEndingWith(": the disk failed");
    }

    private Journal.Recovered recovered() {
        close();
        open = Optional.empty();
        return TestFiles.recovered(directory());
    }

    private static List<String> texts(List<Entry> entries) {
        return entries.stream()
                .map(entry -> entry.key() + "=" + new String(entry.value(), StandardCharsets.UTF_8) + "@"
                        + entry.createRevision() + "/" + entry.modRevision())
                .sorted()
                .toList();
    }

    @Test
    @Tag("W71")
    void groupThatWasLostIsNotThereAndItsRevisionIsUsedAgain() {
        RocksJournal journal = start();
        journal.append(List.of(put(Optional.empty(), entry(N1, "a", 1, 1))), List.of());
        disk.next = Outcome.LOST;
        fails(journal, put(Optional.empty(), entry(N2, "lost", 2, 2)));

        journal.append(List.of(put(Optional.empty(), entry(N2, "b", 2, 2))), List.of());

        assertThat(texts(recovered().entries())).containsExactly(N1 + "=a@1/1", N2 + "=b@2/2");
    }

    @Test
    @Tag("W71")
    void groupThatBecameDurableThoughItFailedIsRemovedByTheNextOne() {
        RocksJournal journal = start();
        journal.append(List.of(put(Optional.empty(), entry(N1, "a", 1, 1))), List.of());
        disk.next = Outcome.DURABLE;
        fails(
                journal,
                put(Optional.empty(), entry(N2, "failed", 2, 2)),
                put(Optional.of(entry(N1, "a", 1, 1)), entry(N1, "failed", 1, 3)));

        journal.append(List.of(put(Optional.of(entry(N1, "a", 1, 1)), entry(N1, "b", 1, 2))), List.of());

        Journal.Recovered recovered = recovered();
        assertThat(texts(recovered.entries())).containsExactly(N1 + "=b@1/2");
        assertThat(recovered.revision()).isEqualTo(2);
        assertThat(recovered.history()).extracting(Event::revision).containsExactly(1L, 2L);
    }

    @Test
    @Tag("W71")
    void groupThatBecameDurableIsThereIfTheProcessEndsBeforeTheNextOne() {
        RocksJournal journal = start();
        disk.next = Outcome.DURABLE;
        fails(journal, put(Optional.empty(), entry(N1, "a", 1, 1)));

        assertThat(texts(start().load().entries())).containsExactly(N1 + "=a@1/1");
        assertThat(recovered().revision()).isEqualTo(1);
    }

    @Test
    void rowsThatAFailedGroupRemovedMayBeRemovedAgain() {
        // given an object with three versions, and a group that failed but removed the first version from the disk
        RocksJournal journal = start();
        Entry first = entry(N1, "a", 1, 1);
        Entry second = entry(N1, "b", 1, 2);
        Entry third = entry(N1, "c", 1, 3);
        journal.append(List.of(put(Optional.empty(), first)), List.of());
        journal.append(List.of(put(Optional.of(first), second)), List.of());
        List<Event> forgotten = List.of(put(Optional.empty(), first), put(Optional.of(first), second));
        disk.next = Outcome.DURABLE;
        assertThatThrownBy(() -> journal.append(List.of(put(Optional.of(second), third)), forgotten))
                .hasMessageEndingWith(": the disk failed");

        // when the next group removes the same version, and one more removes the next one
        journal.append(List.of(put(Optional.of(second), third)), forgotten);
        Entry fourth = entry(N1, "d", 1, 4);
        journal.append(List.of(put(Optional.of(third), fourth)), List.of(put(Optional.of(second), third)));

        Journal.Recovered recovered = recovered();
        assertThat(texts(recovered.entries())).containsExactly(N1 + "=d@1/4");
        assertThat(recovered.forgotten()).containsEntry("/registry/minions/", 3L);
        assertThat(recovered.history()).extracting(Event::revision).containsExactly(4L);
    }

    @Test
    void databaseThatIsNeitherBeforeNorAfterTheFailedGroupAcceptsNoWrites() throws Exception {
        RocksJournal journal = start();
        journal.append(List.of(put(Optional.empty(), entry(N1, "a", 1, 1))), List.of());
        RocksJournal.BatchWriter other = (db, how, batch) -> {
            db.put(RowFormat.SUM, new RowChecksum().encode(77));
            throw new RocksDBException("the disk failed");
        };
        close();
        RocksJournal broken = RocksJournal.open(
                directory(),
                RocksOptions.DEFAULT,
                ValueTransformer.IDENTITY,
                ValuePlacement.BY_LENGTH,
                new AfterFirst(other));
        open = Optional.of(broken);
        broken.load();
        fails(broken, put(Optional.empty(), entry(N2, "b", 2, 2)));

        for (int attempt = 0; attempt < 2; attempt++) {
            assertThatThrownBy(() -> broken.append(List.of(put(Optional.empty(), entry(N2, "b", 2, 2))), List.of()))
                    .isInstanceOf(StoreException.Damaged.class)
                    .hasMessage("the journal in " + directory()
                            + " is neither at revision 1 nor at revision 2 after a failed write; it accepts no more"
                            + " writes");
        }
    }

    @Test
    void groupThatIsDurableAlthoughItsWriteEndedWithAnErrorIsReplacedByTheNextOne() throws Exception {
        // given a journal whose first group is written, with an error after that
        start();
        close();
        AtomicBoolean failing = new AtomicBoolean(true);
        RocksJournal journal = RocksJournal.open(
                directory(),
                RocksOptions.DEFAULT,
                ValueTransformer.IDENTITY,
                ValuePlacement.BY_LENGTH,
                new AfterFirst((db, how, batch) -> {
                    db.write(how, batch);
                    if (failing.getAndSet(false)) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                }));
        open = Optional.of(journal);
        journal.load();
        assertThatThrownBy(() -> journal.append(List.of(put(Optional.empty(), entry(N1, "a", 1, 1))), List.of()))
                .isInstanceOf(OutOfMemoryError.class);

        // when the next group has the same revision
        journal.append(List.of(put(Optional.empty(), entry(N2, "b", 1, 1))), List.of());

        // then the first one is not there
        assertThat(texts(recovered().entries())).containsExactly(N2 + "=b@1/1");
    }

    /** Writes the first batch, which is that of the start, and passes later ones to {@code later}. */
    private static final class AfterFirst implements RocksJournal.BatchWriter {
        private final RocksJournal.BatchWriter later;
        private boolean started;

        AfterFirst(RocksJournal.BatchWriter later) {
            this.later = later;
        }

        @Override
        public void write(RocksDB db, WriteOptions how, WriteBatch batch) throws RocksDBException {
            if (started) {
                later.write(db, how, batch);
            } else {
                started = true;
                db.write(how, batch);
            }
        }
    }

    /** One step: what to do to which key, and what happens to the write. */
    record Step(String what, int key, Outcome outcome) {}

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(
                        Arbitraries.of("put", "put", "large", "delete", "reopen"),
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.of(Outcome.WRITTEN, Outcome.WRITTEN, Outcome.LOST, Outcome.DURABLE))
                .as(Step::new)
                .list()
                .ofMaxSize(30);
    }

    /** A store whose writes fail in any order has, after each step, exactly the changes that it acknowledged. */
    @Property(tries = 40)
    @net.jqwik.api.Tag("W71")
    @net.jqwik.api.Tag("W85")
    void storeHasWhatItAcknowledgedWhateverWritesFail(@ForAll("steps") List<Step> steps) throws IOException {
        Path home = Files.createTempDirectory("failed");
        Path directory = home.resolve("store");
        VirtualTime time = new VirtualTime(Instant.EPOCH);
        Disk broken = new Disk();
        IndexedStore store = store(time, directory, broken);
        TreeMap<String, String> acknowledged = new TreeMap<>();
        // The objects on disk if the last group failed after it became durable.
        Optional<TreeMap<String, String>> undecided = Optional.empty();
        long revision = 0;
        try {
            for (int i = 0; i < steps.size(); i++) {
                Step step = steps.get(i);
                String key = "/registry/" + (step.key < 2 ? "minions" : "leases") + "/k" + step.key;
                if (step.what.equals("reopen")) {
                    close(time, store);
                    store = store(time, directory, broken);
                    if (undecided.isPresent()) {
                        acknowledged = undecided.get();
                        revision++;
                    }
                    undecided = Optional.empty();
                } else {
                    TreeMap<String, String> next = new TreeMap<>(acknowledged);
                    long expected = store.get(key).map(Entry::modRevision).orElse(0L);
                    if (step.what.equals("delete") && expected == 0) {
                        continue;
                    }
                    broken.next = step.outcome;
                    CompletableFuture<?> write;
                    if (step.what.equals("delete")) {
                        next.remove(key);
                        write = store.delete(key, expected);
                    } else {
                        String value = (step.what + i).repeat(step.what.equals("large") ? 800 : 1);
                        next.put(key, value);
                        write = store.put(key, value.getBytes(StandardCharsets.UTF_8), expected);
                    }
                    time.advance(Duration.ZERO);
                    assertThat(write.isCompletedExceptionally()).isEqualTo(step.outcome != Outcome.WRITTEN);
                    if (step.outcome == Outcome.WRITTEN) {
                        acknowledged = next;
                        revision++;
                        undecided = Optional.empty();
                    } else if (step.outcome == Outcome.DURABLE) {
                        undecided = Optional.of(next);
                    }
                    // A group that is lost leaves the disk as it was, so an earlier group that became durable is still
                    // there.
                }
                assertThat(objects(store)).isEqualTo(acknowledged);
                assertThat(store.revision()).isEqualTo(revision);
            }
            put(time, store, "/registry/minions/last");
            close(time, store);
            assertNoRowIsLeftOver(directory);
        } finally {
            close(time, store);
            StoreFiles.delete(home);
        }
    }

    /** The rows are those of the history, of the versions that it replaced, and of the latest versions. */
    private static void assertNoRowIsLeftOver(Path directory) {
        try {
            JournalContents contents = StoreCheck.read(
                    directory,
                    WALRecoveryMode.AbsoluteConsistency,
                    RocksOptions.DEFAULT,
                    ValueTransformer.IDENTITY,
                    new RocksValueReader(directory, ValueTransformer.IDENTITY, ValuePlacement.ALL_ON_DISK));
            Set<Long> needed = new HashSet<>();
            contents.recovered().entries().forEach(entry -> needed.add(entry.modRevision()));
            contents.recovered().history().forEach(event -> {
                needed.add(event.revision());
                event.before().ifPresent(before -> needed.add(before.modRevision()));
            });
            assertThat(contents.sum().count())
                    .isEqualTo(needed.size() + contents.windows().size());
            assertThat(contents.unwanted()).isEmpty();
        } catch (RocksDBException e) {
            throw new AssertionError("cannot read " + directory, e);
        }
    }

    private static IndexedStore store(VirtualTime time, Path directory, Disk disk) {
        return new IndexedStore(
                time.loop("store"),
                journal(directory, disk),
                new StoreLimits(new WatchCache.Limits(HISTORY, Long.MAX_VALUE), StoreLimits.QUOTA, Long.MAX_VALUE));
    }

    private static void put(VirtualTime time, IndexedStore store, String key) {
        CompletableFuture<Entry> put = store.put(key, new byte[] {1}, 0);
        time.advance(Duration.ZERO);
        put.join();
    }

    private static void close(VirtualTime time, IndexedStore store) {
        store.close();
        time.advance(Duration.ZERO);
    }

    private static TreeMap<String, String> objects(IndexedStore store) {
        TreeMap<String, String> objects = new TreeMap<>();
        for (String prefix : List.of("/registry/minions/", "/registry/leases/")) {
            store.list(prefix, "", 0, 0)
                    .entries()
                    .forEach(entry -> objects.put(entry.key(), new String(entry.value(), StandardCharsets.UTF_8)));
        }
        return objects;
    }
}
