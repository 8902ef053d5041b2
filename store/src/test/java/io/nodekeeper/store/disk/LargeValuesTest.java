package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Changes;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.StoreKeys;
import io.nodekeeper.store.encryption.AesGcmKey;
import io.nodekeeper.store.encryption.EncryptionProvider;
import io.nodekeeper.store.encryption.ResourceTransformer;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.store.memory.StoreLimits;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Large values, and those that are seldom read, are read from disk on demand. */
class LargeValuesTest {
    private static final String KEY = "/registry/minions/n1";
    private static final String EVENTS = "/registry/events/";

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);

    private static byte[] value(int size, int content) {
        byte[] value = new byte[size];
        Arrays.fill(value, (byte) content);
        return value;
    }

    private IndexedStore open() {
        return new IndexedStore(time.loop("store"), RocksJournal.open(directory));
    }

    private IndexedStore openWithSeldomRead(ValueTransformer transformer) {
        return new IndexedStore(time.loop("store"), RocksJournal.open(directory, transformer, List.of(EVENTS)));
    }

    private void settle() {
        time.advance(Duration.ZERO);
    }

    @Test
    void smallValuesAreInMemoryAndLargeValuesOnDisk() {
        IndexedStore store = open();
        store.put("/registry/leases/kube-node-lease/n1", value(ValuePlacement.LARGE, 1), 0);
        store.put(KEY, value(ValuePlacement.LARGE + 1, 2), 0);
        settle();
        assertThat(store.get("/registry/leases/kube-node-lease/n1")
                        .orElseThrow()
                        .resident())
                .isEqualTo(ValuePlacement.LARGE);
        Entry large = store.get(KEY).orElseThrow();
        assertThat(large.resident()).isZero();
        assertThat(large.length()).isEqualTo(ValuePlacement.LARGE + 1);
        assertThat(large.value()).isEqualTo(value(ValuePlacement.LARGE + 1, 2));
        store.close();
        settle();
    }

    @Test
    void largeValuesBeforeAndAfterAChangeSurviveAReopening() {
        IndexedStore store = open();
        store.put(KEY, value(9_000, 1), 0);
        settle();
        store.put(KEY, value(9_000, 2), 1);
        store.put(KEY, value(10, 3), 2);
        settle();
        store.close();
        settle();
        IndexedStore opened = open();
        // the history has the replaced values, and earlier states can be listed
        Changes changes = opened.changes("/registry/minions/", 0, 10, Long.MAX_VALUE);
        assertThat(changes.events()).hasSize(3);
        assertThat(changes.events().get(1).before().orElseThrow().value()).isEqualTo(value(9_000, 1));
        assertThat(changes.events().get(1).after().orElseThrow().value()).isEqualTo(value(9_000, 2));
        assertThat(opened.list("/registry/minions/", "", 0, 1)
                        .entries()
                        .getFirst()
                        .value())
                .isEqualTo(value(9_000, 1));
        assertThat(opened.get(KEY).orElseThrow().resident()).isEqualTo(10);
        opened.close();
        settle();
    }

    @Test
    void whoWatchesHasSeldomReadValuesAtHandAndOthersReadThemFromDisk() {
        // given a store that keeps Events on disk, and a watch of them
        IndexedStore store = openWithSeldomRead(ValueTransformer.IDENTITY);
        List<Event> seen = new ArrayList<>();
        store.watch(EVENTS, 0, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                seen.add(event);
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                throw new AssertionError(why);
            }
        });

        // when an event is created, changed and deleted, beside an object of the same length
        store.put(EVENTS + "default/e1", value(500, 1), 0);
        store.put("/registry/leases/kube-node-lease/n1", value(500, 9), 0);
        settle();
        Entry first = store.get(EVENTS + "default/e1").orElseThrow();
        store.put(EVENTS + "default/e1", value(600, 2), 1);
        settle();
        Entry second = store.get(EVENTS + "default/e1").orElseThrow();
        store.delete(EVENTS + "default/e1", 3);
        settle();

        // then the watch reads no disk
        assertThat(seen).hasSize(3);
        assertThat(seen.get(0).after().orElseThrow().resident()).isEqualTo(500);
        assertThat(seen.get(1).after().orElseThrow().resident()).isEqualTo(600);
        assertThat(seen)
                .flatExtracting(event -> event.before().stream().toList())
                .allMatch(Entry::atHand);
        // and the store has the values on disk, also that of the deleted object
        assertThat(List.of(first, second)).allMatch(entry -> entry.resident() == 0 && !entry.atHand());
        assertThat(first.value()).isEqualTo(value(500, 1));
        assertThat(second.value()).isEqualTo(value(600, 2));
        assertThat(store.get("/registry/leases/kube-node-lease/n1")
                        .orElseThrow()
                        .resident())
                .isEqualTo(500);
        store.close();
        settle();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void seldomReadValuesAreOnDiskAfterAStartToo(boolean encrypted) {
        // given small values of both kinds, stored as they are or encrypted
        ValueTransformer transformer = encrypted ? aes() : ValueTransformer.IDENTITY;
        IndexedStore store = openWithSeldomRead(transformer);
        for (int i = 1; i <= 50; i++) {
            store.put(EVENTS + "default/e" + i, value(10 * i, i), 0);
            store.put("/registry/leases/kube-node-lease/n" + i, value(10 * i, -i), 0);
        }
        settle();
        store.close();
        settle();

        // when the store is opened again
        IndexedStore opened = openWithSeldomRead(transformer);

        // then all values can be read, and only those of leases are in memory
        for (int i = 1; i <= 50; i++) {
            Entry event = opened.get(EVENTS + "default/e" + i).orElseThrow();
            assertThat(event.resident()).isZero();
            assertThat(event.length()).isEqualTo(10 * i);
            assertThat(event.value()).isEqualTo(value(10 * i, i));
            Entry lease = opened.get("/registry/leases/kube-node-lease/n" + i).orElseThrow();
            assertThat(lease.resident()).isEqualTo(10 * i);
            assertThat(lease.value()).isEqualTo(value(10 * i, -i));
        }
        opened.close();
        settle();
    }

    /** A write that the quota refuses gives its revision to the next one. */
    @ParameterizedTest
    @ValueSource(strings = {"/registry/events/default/e1", "/registry/leases/kube-node-lease/n1"})
    void aValueIsNeverThatOfARefusedWriteWithTheSameRevision(String key) {
        // given a store that refuses a large object
        IndexedStore store = new IndexedStore(
                time.loop("store"),
                RocksJournal.open(directory, ValueTransformer.IDENTITY, List.of(EVENTS)),
                StoreLimits.DEFAULT.quota(5_000));
        store.put(key, value(100, 1), 0);
        settle();
        CompletableFuture<Entry> refused = store.put("/registry/secrets/default/s1", value(9_000, 9), 0);
        settle();
        assertThat(refused).isCompletedExceptionally();

        // when a small object gets its revision, and is replaced
        store.put(key, value(100, 2), 1);
        settle();

        // then it has its own value, in the store and in the history
        Entry second = store.get(key).orElseThrow();
        assertThat(second.modRevision()).isEqualTo(2);
        assertThat(second.value()).isEqualTo(value(100, 2));
        store.put(key, value(100, 3), 2);
        settle();
        List<Event> history =
                store.changes(StoreKeys.resource(key), 0, 10, Long.MAX_VALUE).events();
        assertThat(history.get(1).after().orElseThrow().value()).isEqualTo(value(100, 2));
        store.close();
        settle();
    }

    private static ValueTransformer aes() {
        EncryptionProvider key =
                new AesGcmKey("k1", "0123456789abcdef".getBytes(StandardCharsets.US_ASCII), Randoms.secure());
        return new ResourceTransformer(List.of(new ResourceTransformer.Rule(any -> true, List.of(key))));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void onlyTheLatestVersionOfASmallObjectIsInMemoryAndAllOthersCanBeRead(long seed) {
        String prefix = "/registry/leases/kube-node-lease/n";
        IndexedStore store = open();
        Written written = Written.randomly(store, prefix, new Random(seed), this::settle);

        // then the history has all of them
        List<Event> history = written.historyOf(store);
        for (Event event : history) {
            event.before().ifPresent(before -> assertThat(before.resident()).isZero());
            event.after().ifPresent(after -> {
                boolean latest = written.current.getOrDefault(after.key(), 0L) == after.modRevision();
                assertThat(after.resident() > 0).as("%s is in memory", after).isEqualTo(latest);
            });
        }
        store.close();
        settle();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void noVersionOfASeldomReadObjectIsInMemoryAndAllCanBeReadAfterAStartToo(long seed) {
        IndexedStore store = openWithSeldomRead(ValueTransformer.IDENTITY);
        Written written = Written.randomly(store, EVENTS + "default/e", new Random(seed), this::settle);

        // then the history has all of them on disk
        assertThat(written.historyOf(store))
                .flatExtracting(event -> Stream.concat(event.before().stream(), event.after().stream())
                        .toList())
                .allMatch(entry -> entry.resident() == 0 && !entry.atHand());

        // and it is complete after another start
        store.close();
        settle();
        IndexedStore opened = openWithSeldomRead(ValueTransformer.IDENTITY);
        written.historyOf(opened);
        written.current.forEach((key, revision) ->
                assertThat(opened.get(key).orElseThrow().value()).isEqualTo(written.values.get(revision)));
        opened.close();
        settle();
    }

    /**
     * Small objects that were written in groups, at times several versions of one in a group.
     *
     * @param current the revision of each object that was not deleted
     * @param values the value of each revision that is no deletion
     */
    private record Written(String prefix, Map<String, Long> current, Map<Long, byte[]> values, long revision) {
        static Written randomly(IndexedStore store, String prefix, Random random, Runnable settle) {
            Map<String, Long> current = new HashMap<>();
            Map<Long, byte[]> values = new HashMap<>();
            long revision = 0;
            for (int group = 0; group < 60; group++) {
                for (int i = random.nextInt(6); i >= 0; i--) {
                    String key = prefix + random.nextInt(4);
                    long expected = current.getOrDefault(key, 0L);
                    revision++;
                    if (expected > 0 && random.nextInt(8) == 0) {
                        store.delete(key, expected);
                        current.remove(key);
                    } else {
                        byte[] value = value(1 + random.nextInt(ValuePlacement.LARGE), (int) revision);
                        store.put(key, value, expected);
                        current.put(key, revision);
                        values.put(revision, value);
                    }
                }
                settle.run();
            }
            return new Written(prefix, current, values, revision);
        }

        /** All changes, whose values are those that were written. */
        List<Event> historyOf(IndexedStore store) {
            List<Event> history = store.changes(StoreKeys.resource(prefix), 0, Integer.MAX_VALUE, Long.MAX_VALUE)
                    .events();
            assertThat(history).hasSize((int) revision);
            assertThat(history)
                    .flatExtracting(event -> Stream.concat(event.before().stream(), event.after().stream())
                            .toList())
                    .allSatisfy(entry -> assertThat(entry.value()).isEqualTo(values.get(entry.modRevision())));
            return history;
        }
    }

    @Test
    void readOfARemovedVersionFails() throws RocksDBException {
        // given an entry of a version whose row was deleted
        RocksValueReader values = new RocksValueReader(directory, ValueTransformer.IDENTITY, ValuePlacement.BY_LENGTH);
        Entry held = Entry.stored(KEY, 9_000, values, 1, 7);
        RocksDB.loadLibrary();
        try (Options options = new Options().setCreateIfMissing(true);
                RocksDB db = RocksDB.open(options, directory.toString())) {
            values.attach(db);
            // then the read fails because the version was compacted
            assertThatThrownBy(held::value)
                    .isInstanceOf(StoreException.Compacted.class)
                    .hasMessageContaining("revision 7 is gone");
            // and after the store is closed, because it is closed
            values.detach();
        }
        assertThatThrownBy(held::value).isInstanceOf(StoreException.class).hasMessageContaining("the store is closed");
    }

    @Test
    void readFromDiskDoesNotBlockTheLoop() {
        // given a store that was just opened, and a disk that blocks
        IndexedStore first = open();
        first.put(KEY, value(9_000, 1), 0);
        settle();
        first.close();
        settle();
        ArrayDeque<Runnable> readers = new ArrayDeque<>();
        IndexedStore store = new IndexedStore(
                time.loop("store"), Runnable::run, readers::add, RocksJournal.open(directory), StoreLimits.DEFAULT);
        // when the object is read
        CompletableFuture<Optional<Entry>> read = store.read(KEY);
        settle();
        // then only the caller waits
        assertThat(read).isNotDone();
        readers.remove().run();
        assertThat(read.join().orElseThrow().value()).isEqualTo(value(9_000, 1));
        // and the next read comes from the cache
        assertThat(store.read(KEY).join().orElseThrow().atHand()).isTrue();
        store.close();
        settle();
    }

    @Test
    void cacheKeepsItsLimitAndTheRecentlyUsedValues() {
        ValueCache cache = new ValueCache(10_000);
        for (int revision = 1; revision <= 50; revision++) {
            cache.put(revision, value(900, revision));
            assertThat(cache.get(1)).isPresent();
            assertThat(cache.bytes()).isLessThanOrEqualTo(10_000);
        }
        cache.put(51, value(9_000, 51));
        assertThat(cache.has(51)).isFalse();
        assertThat(cache.has(2)).isFalse();
        assertThat(cache.has(50)).isTrue();
    }

    @Test
    void smallHeapIsEnoughForManyLargeObjectsAndTheirHistory() throws Exception {
        // 600 writes of 240 KB, three times the heap; then a start with all of them on disk
        inSmallHeap("write");
        inSmallHeap("read");

        // then what reads the store beside or without a server needs no more
        inSmallHeap("check");
        inSmallHeap("snapshot");

        // and a repair does not, whether the check or only a search finds what can be read, nor does a rewrite
        Files.delete(directory.resolve("store").resolve(HighWaterMark.FILE));
        inSmallHeap("repair");
        inSmallHeap("check");
        Files.delete(directory.resolve("store").resolve("CURRENT"));
        inSmallHeap("repair");
        inSmallHeap("rewrite");
        inSmallHeap("check");
    }

    private void inSmallHeap(String what) throws IOException, InterruptedException {
        Path output = directory.resolve(what + ".out");
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-Xmx48m",
                        "-XX:+UseSerialGC",
                        "-XX:+ExitOnOutOfMemoryError",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        String.join(File.pathSeparator, SmallHeap.classpath()),
                        SmallHeap.class.getName(),
                        what,
                        directory.resolve("store").toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(5, TimeUnit.MINUTES)) {
            process.destroyForcibly();
        }
        assertThat(process.waitFor())
                .as(() -> what + ": " + TestFiles.text(output))
                .isZero();
    }
}
