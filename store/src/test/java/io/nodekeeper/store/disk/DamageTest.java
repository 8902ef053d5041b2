package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts with damaged files. */
class DamageTest {
    private static final String NODES = "/registry/minions/";

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);

    private IndexedStore open() {
        return new IndexedStore(time.loop("store"), RocksJournal.open(directory));
    }

    private void close(Store store) {
        store.close();
        time.advance(Duration.ZERO);
    }

    private Entry put(Store store, String name, long expected) {
        CompletableFuture<Entry> put =
                store.put(NODES + name, ("value of " + name).getBytes(StandardCharsets.UTF_8), expected);
        time.advance(Duration.ZERO);
        return put.join();
    }

    private List<String> names(Store store) {
        return store.list(NODES, "", 0, 0).entries().stream()
                .map(entry -> entry.key().substring(NODES.length()))
                .toList();
    }

    private List<String> watch(Store store, long after) {
        List<String> heard = new ArrayList<>();
        store.watch(NODES, after, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                heard.add(event.key().substring(NODES.length()));
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                heard.add("gone");
            }
        });
        time.advance(Duration.ZERO);
        return heard;
    }

    private Path file(String ending) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .filter(file -> file.toFile().length() > 0)
                    .findFirst()
                    .orElseThrow();
        }
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /** Changes one byte of the first occurrence of {@code text} in the file. */
    private static void damage(Path file, String text) throws IOException {
        String content = Files.readString(file, StandardCharsets.ISO_8859_1);
        int at = content.indexOf(text);
        assertThat(at).isPositive();
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(at);
            bytes.write('X');
        }
    }

    @Test
    @Tag("W71")
    @Tag("W85")
    void damagedAcknowledgedChangePreventsTheStartUntilARepair() throws Exception {
        // given three acknowledged changes, the second of which is damaged in the log
        Store store = open();
        put(store, "n1", 0);
        put(store, "n2", 0);
        put(store, "n3", 0);
        close(store);
        damage(file(".log"), "value of n2");
        // when it is opened again, then the start fails and the error says what is lost
        assertThatThrownBy(this::open)
                .isInstanceOf(StoreException.Damaged.class)
                .hasMessageStartingWith("the store in " + directory + " is damaged and was not changed: ")
                .hasMessageContaining("the changes of revisions 2 to 3 are lost (/registry/minions/n2,"
                        + " /registry/minions/n3); all up to revision 1 can be read; objects: 1");
        // when it is repaired
        StoreRepair.Report report = StoreRepair.repair(directory);
        // then the damaged files are kept
        assertThat(report.losses())
                .endsWith("revision 2 of /registry/minions/n2", "revision 3 of /registry/minions/n3");
        assertThat(report.aside().orElseThrow()).isDirectoryContaining("glob:**.log");
        // and the changes before the damaged one are there, the damaged and later ones are not
        store = open();
        assertThat(names(store)).containsExactly("n1");
        assertThat(store.get(NODES + "n1").orElseThrow().modRevision()).isEqualTo(1);
        // and the next change has a revision after the lost ones
        assertThat(store.revision()).isEqualTo(3 + RocksJournal.JUMP);
        assertThat(put(store, "n4", 0).modRevision()).isEqualTo(4 + RocksJournal.JUMP);
        // and a watch from one of the lost revisions fails because it was compacted
        assertThat(watch(store, 1)).containsExactly("gone");
        assertThat(watch(store, 3)).containsExactly("gone");
        assertThat(watch(store, 3 + RocksJournal.JUMP)).containsExactly("n4");
        Store last = store;
        assertThatThrownBy(() -> last.list(NODES, "", 0, 2)).isInstanceOf(StoreException.Compacted.class);
        // and the same holds after the next start
        close(store);
        store = open();
        assertThat(names(store)).containsExactly("n1", "n4");
        assertThat(watch(store, 3)).containsExactly("gone");
        close(store);
    }

    @Test
    @Tag("W71")
    void tornUnacknowledgedGroupIsRemovedAndRevisionsJump() throws Exception {
        // given a store with two acknowledged changes, and its log with a third, unacknowledged one
        Store store = open();
        put(store, "n1", 0);
        put(store, "n2", 0);
        Path before = TestFiles.copy(directory, directory.resolveSibling(directory.getFileName() + "-before"));
        put(store, "n3", 0);
        byte[] log = Files.readAllBytes(file(".log"));
        close(store);
        Path at = directory.resolveSibling(directory.getFileName() + "-torn");
        long start = Files.size(before.resolve(file(".log").getFileName()));
        for (int length = (int) start; length <= log.length; length++) {
            // when the crash wrote the log up to this length
            TestFiles.copy(before, at);
            Files.write(at.resolve(file(".log").getFileName()), Arrays.copyOf(log, length));
            StoreCheck.State state = StoreCheck.of(at).state();
            Store torn = new IndexedStore(time.loop("store"), RocksJournal.open(at));
            // then the acknowledged changes are there, and the third one is there completely or not at all
            if (length == start) {
                assertThat(state).isEqualTo(StoreCheck.State.WHOLE);
                assertThat(torn.revision()).isEqualTo(2);
            } else if (length == log.length) {
                assertThat(state).isEqualTo(StoreCheck.State.WHOLE);
                assertThat(torn.revision()).isEqualTo(3);
            } else {
                assertThat(state).isEqualTo(StoreCheck.State.TORN);
                assertThat(names(torn)).containsExactly("n1", "n2");
                // and no other change gets its revision
                assertThat(torn.revision()).isBetween(2 + RocksJournal.JUMP, 3 + RocksJournal.JUMP);
                assertThat(watch(torn, 2)).containsExactly("gone");
            }
            close(torn);
            StoreFiles.delete(at);
        }
        StoreFiles.delete(before);
    }

    @Test
    @Tag("W85")
    void missingLatestLogPreventsTheStart() throws Exception {
        // given objects in a table, and a later one in the log
        Store store = open();
        put(store, "n1", 0);
        close(store);
        TestFiles.flush(directory);
        store = open();
        put(store, "n2", 0);
        close(store);
        // when the log is missing
        Files.delete(file(".log"));
        // then the start fails
        assertThatThrownBy(this::open)
                .isInstanceOf(StoreException.Damaged.class)
                .hasMessageContaining("the latest log, or another file, is missing or cut; the change of revision 2 is"
                        + " lost; all up to revision 1 can be read; objects: 1");
    }

    @Test
    void startWithoutCurrentRemovesNothing() throws Exception {
        Store store = open();
        put(store, "n1", 0);
        close(store);
        Files.delete(directory.resolve("CURRENT"));
        List<String> files = names();
        assertThatThrownBy(this::open).hasMessageContaining(directory.resolve("CURRENT") + " is missing");
        assertThat(names()).isEqualTo(files);
        // and a repair finds the files without CURRENT
        StoreRepair.Report report = StoreRepair.repair(directory);
        assertThat(report.objects()).isEqualTo(1);
        store = open();
        assertThat(names(store)).containsExactly("n1");
        close(store);
    }

    @Test
    void interruptedFirstStartIsRepeated() throws Exception {
        Files.writeString(directory.resolve("MANIFEST-000001"), "half");
        Files.createFile(directory.resolve("acknowledged"));
        Store store = open();
        assertThat(put(store, "n1", 0).modRevision()).isEqualTo(1);
        close(store);
    }

    @Test
    void startFinishesARepairThatWasInterruptedBetweenItsRenames() throws Exception {
        Path data = directory.resolve("store");
        RocksJournal.create(
                directory.resolve("store.repaired"),
                7,
                RocksJournal.JUMP,
                List.of(new Entry(NODES + "n1", new byte[] {1}, 3, 7))::forEach);
        Store store = new IndexedStore(time.loop("store"), RocksJournal.open(data));
        assertThat(names(store)).containsExactly("n1");
        close(store);
        assertThat(directory.resolve("store.repaired")).doesNotExist();
    }

    @Test
    void undamagedLogIsReplayed() {
        Store store = open();
        put(store, "n1", 0);
        close(store);
        store = open();
        assertThat(store.revision()).isEqualTo(1);
        assertThat(watch(store, 0)).containsExactly("n1");
        close(store);
    }

    @Test
    void damagedTablePreventsTheStartAndTheErrorSaysWhatToDo() throws Exception {
        // given objects in a table
        Store store = open();
        put(store, "n1", 0);
        close(store);
        TestFiles.flush(directory);
        damage(file(".sst"), "value of n1");
        assertThatThrownBy(this::open)
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("the store in " + directory + " is damaged and was not changed: block checksum")
                .hasMessageEndingWith(
                        "\"nodekeeper apiserver check\" tells more; bring a snapshot back with \"nodekeeper"
                                + " apiserver restore\", or go on with what can be read with \"nodekeeper apiserver repair\"");
    }

    @Test
    void storeCanBeReadWhileAServerWritesIt() throws Exception {
        Store store = open();
        put(store, "n1", 0);
        List<String> files = names();
        Journal.Recovered read = TestFiles.recovered(directory);
        assertThat(names()).isEqualTo(files);
        assertThat(read.revision()).isEqualTo(1);
        assertThat(read.entries()).extracting(Entry::key).containsExactly(NODES + "n1");
        put(store, "n2", 0);
        assertThat(TestFiles.recovered(directory).entries()).hasSize(2);
        assertThat(put(store, "n3", 0).modRevision()).isEqualTo(3);
        close(store);
    }

    @Test
    @Tag("W71")
    void storeCreatedFromEntriesContinuesAfterTheirRevision() {
        Entry entry = new Entry(NODES + "n1", new byte[] {1}, 3, 7);
        RocksJournal.create(directory, 9, RocksJournal.JUMP, List.of(entry)::forEach);
        Store store = open();
        assertThat(store.revision()).isEqualTo(9 + RocksJournal.JUMP);
        Entry found = store.get(NODES + "n1").orElseThrow();
        assertThat(found.createRevision()).isEqualTo(3);
        assertThat(found.modRevision()).isEqualTo(7);
        assertThat(watch(store, 9)).containsExactly("gone");
        close(store);
        assertThatThrownBy(() -> RocksJournal.create(directory, 9, RocksJournal.JUMP, List.of(entry)::forEach))
                .hasMessage(directory + " holds a store already");
    }
}
