package io.nodekeeper.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;

/** A journal whose files are damaged between two runs. */
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

    /** Changes one byte of the first place where {@code text} stands in the file. */
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
    void cutsADamagedTailAndRevisionsJump() throws Exception {
        // given three acknowledged changes, the second of which is damaged in the log
        Store store = open();
        put(store, "n1", 0);
        put(store, "n2", 0);
        put(store, "n3", 0);
        close(store);
        damage(file(".log"), "value of n2");
        // when it is opened again
        store = open();
        // then what came before is there, the damaged change and what follows is not
        assertThat(names(store)).containsExactly("n1");
        assertThat(store.get(NODES + "n1").orElseThrow().modRevision()).isEqualTo(1);
        // and the next change has a revision beyond those that were lost
        assertThat(store.revision()).isEqualTo(3 + RocksJournal.JUMP);
        assertThat(put(store, "n4", 0).modRevision()).isEqualTo(4 + RocksJournal.JUMP);
        // and who saw any of them is told that his revision is gone
        assertThat(watch(store, 1)).containsExactly("gone");
        assertThat(watch(store, 3)).containsExactly("gone");
        assertThat(watch(store, 3 + RocksJournal.JUMP)).containsExactly("n4");
        Store last = store;
        assertThatThrownBy(() -> last.list(NODES, "", 0, 2)).isInstanceOf(StoreException.Compacted.class);
        // and it stays so
        close(store);
        store = open();
        assertThat(names(store)).containsExactly("n1", "n4");
        assertThat(watch(store, 3)).containsExactly("gone");
        assertThat(watch(store, 3 + RocksJournal.JUMP)).containsExactly("n4");
        close(store);
    }

    @Test
    @Tag("W71")
    void aTailThatIsCutOffInTheMiddleOfAChangeIsNotServed() throws Exception {
        Store store = open();
        put(store, "n1", 0);
        put(store, "n2", 0);
        close(store);
        Path log = file(".log");
        try (RandomAccessFile bytes = new RandomAccessFile(log.toFile(), "rw")) {
            bytes.setLength(bytes.length() - 7);
        }
        store = open();
        assertThat(names(store)).containsExactly("n1");
        assertThat(store.revision()).isEqualTo(1 + RocksJournal.JUMP);
        close(store);
    }

    @Test
    void anUndamagedLogIsTakenAsItIs() {
        Store store = open();
        put(store, "n1", 0);
        close(store);
        store = open();
        assertThat(store.revision()).isEqualTo(1);
        assertThat(watch(store, 0)).containsExactly("n1");
        close(store);
    }

    @Test
    void damageInATableStopsTheStartAndSaysWhatToDo() throws Exception {
        // given objects in a table
        Store store = open();
        put(store, "n1", 0);
        close(store);
        RocksDB.loadLibrary();
        try (RocksDB db = RocksDB.open(directory.toString());
                FlushOptions flush = new FlushOptions()) {
            db.flush(flush);
        }
        damage(file(".sst"), "value of n1");
        assertThatThrownBy(this::open)
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("the journal in " + directory + ": ")
                .hasMessageEndingWith("; it is damaged: move it away, and bring back a snapshot with"
                        + " \"nodekeeper apiserver restore\"");
    }

    @Test
    void isReadWhileAServerWritesIt() throws Exception {
        Store store = open();
        put(store, "n1", 0);
        List<String> files = names();
        Journal.Recovered read = RocksJournal.read(directory);
        assertThat(names()).isEqualTo(files);
        assertThat(read.revision()).isEqualTo(1);
        assertThat(read.entries()).extracting(Entry::key).containsExactly(NODES + "n1");
        put(store, "n2", 0);
        assertThat(RocksJournal.read(directory).entries()).hasSize(2);
        assertThat(put(store, "n3", 0).modRevision()).isEqualTo(3);
        close(store);
    }

    @Test
    @Tag("W71")
    void whatIsMadeFromEntriesGoesOnBeyondTheirRevision() {
        Entry entry = new Entry(NODES + "n1", new byte[] {1}, 3, 7);
        RocksJournal.create(directory, 9, List.of(entry));
        Store store = open();
        assertThat(store.revision()).isEqualTo(9 + RocksJournal.JUMP);
        Entry found = store.get(NODES + "n1").orElseThrow();
        assertThat(found.createRevision()).isEqualTo(3);
        assertThat(found.modRevision()).isEqualTo(7);
        assertThat(watch(store, 9)).containsExactly("gone");
        close(store);
        assertThatThrownBy(() -> RocksJournal.create(directory, 9, List.of(entry)))
                .hasMessage(directory + " holds a store already");
    }
}
