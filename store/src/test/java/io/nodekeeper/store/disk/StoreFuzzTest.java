package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.store.memory.StoreLimits;
import io.nodekeeper.store.memory.WatchCache;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.rocksdb.RocksDB;

/**
 * Damages each file of a store in many ways before a start. Either the store serves all acknowledged writes, or the start
 * fails and changes no byte. Writes a table of the outcomes to {@code target/store-damage.md}.
 */
class StoreFuzzTest {
    /** Logs of two write buffers, tables of several levels and blob files within some hundred kilobytes. */
    private static final RocksOptions SMALL = new RocksOptions(64 << 10, 3);

    /** Changes of a run: enough for two logs, and a table and blob files of its own. */
    private static final int GROUPS = 120;

    private static final List<String> RESOURCES = List.of("minions", "leases", "secrets");

    /** The values of one resource are read from disk each time, whatever their length. */
    private static final ValuePlacement PLACEMENT = new ValuePlacement(List.of("/registry/secrets/"));

    /** Hundreds of starts sync their files, which is free on a file system in memory. */
    @TempDir(factory = InMemory.class)
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final Random random = new Random(7);
    /** The acknowledged objects: key to value and revision. */
    private final Map<String, String> acknowledged = new HashMap<>();

    /** All versions that were ever written. */
    private final Set<String> versions = new HashSet<>();

    private long revision;
    private int refused;
    private int repaired;

    /** Creates directories in {@code /dev/shm} if it exists, otherwise in the default place. */
    static final class InMemory implements TempDirFactory {
        private static final Path SHARED = Path.of("/dev/shm");

        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
            return Files.isWritable(SHARED)
                    ? Files.createTempDirectory(SHARED, "store")
                    : Files.createTempDirectory("store");
        }
    }

    /** The outcome of a start. */
    private enum Outcome {
        WHOLE,
        CUT,
        REFUSED
    }

    private IndexedStore open(Path at) {
        return new IndexedStore(
                time.loop("store"),
                RocksJournal.open(at, SMALL, ValueTransformer.IDENTITY, PLACEMENT, RocksDB::write),
                new StoreLimits(new WatchCache.Limits(100, Long.MAX_VALUE), StoreLimits.QUOTA, Long.MAX_VALUE));
    }

    private void close(Store store) {
        store.close();
        time.advance(Duration.ZERO);
    }

    /** Creates, updates and deletes objects in groups. Short values go to tables, long ones to blob files. */
    private void change(Store store, int groups) {
        for (int group = 0; group < groups; group++) {
            TreeSet<String> keys = new TreeSet<>();
            while (keys.size() < 3) {
                keys.add("/registry/" + RESOURCES.get(random.nextInt(3)) + "/k" + random.nextInt(60));
            }
            for (String key : keys) {
                long expected = store.get(key).map(Entry::modRevision).orElse(0L);
                if (expected > 0 && random.nextInt(5) == 0) {
                    store.delete(key, expected);
                    acknowledged.remove(key);
                } else {
                    byte[] value = new byte[random.nextBoolean() ? 40 : 400];
                    random.nextBytes(value);
                    store.put(key, value, expected).thenAccept(entry -> {
                        acknowledged.put(key, describe(entry));
                        versions.add(key + " " + describe(entry));
                    });
                }
            }
            time.advance(Duration.ZERO);
        }
        revision = store.revision();
    }

    private static String describe(Entry entry) {
        return Arrays.hashCode(entry.value()) + "@" + entry.createRevision() + "/" + entry.modRevision();
    }

    /** Compares the contents of a store with the acknowledged objects. */
    private Outcome judge(Store store) {
        Map<String, String> served = new HashMap<>();
        for (String resource : RESOURCES) {
            store.list("/registry/" + resource + "/", "", 0, 0)
                    .entries()
                    .forEach(entry -> served.put(entry.key(), describe(entry)));
        }
        assertThat(served).isEqualTo(acknowledged);
        if (store.revision() == revision) {
            return Outcome.WHOLE;
        }
        assertThat(store.revision()).isGreaterThanOrEqualTo(revision + RocksJournal.JUMP);
        return Outcome.CUT;
    }

    @Test
    @Tag("W85")
    void startServesAllAcknowledgedWritesOrChangesNothing() throws Exception {
        // given a store with several logs, levels and blob files, which was opened several times
        Path stopped = directory.resolve("stopped");
        for (int run = 0; run < 3; run++) {
            Store store = open(stopped);
            change(store, GROUPS);
            close(store);
        }
        // and a copy of its files during a write, which is the state after a kill
        Store running = open(stopped);
        change(running, GROUPS);
        Path killed = copyAtRest(stopped, directory.resolve("killed"));
        close(running);
        assertThat(kinds(killed)).contains("CURRENT", "MANIFEST", "log", "sst", "blob", "acknowledged");
        TreeMap<String, Map<Outcome, Integer>> table = new TreeMap<>();
        for (Path original : List.of(stopped, killed)) {
            try (Stream<Path> files = Files.list(original)) {
                for (Path file : files.sorted().toList()) {
                    damageEachWay(original, file.getFileName().toString(), table);
                }
            }
        }
        write(table);
        assertThat(repaired).isPositive();
        // then damage of these kinds of files was detected
        assertThat(table.get("CURRENT | deleted")).containsOnlyKeys(Outcome.REFUSED);
        assertThat(table.get("log | deleted")).containsKey(Outcome.REFUSED);
        // A compaction leaves the files that it replaced for a moment; without one of these nothing is missing.
        assertThat(table.get("sst | deleted")).containsKey(Outcome.REFUSED);
        assertThat(table.get("blob | deleted")).containsKey(Outcome.REFUSED);
        assertThat(table.get("MANIFEST | deleted")).containsOnlyKeys(Outcome.REFUSED);
        assertThat(table.get("LOCK | deleted")).containsOnlyKeys(Outcome.WHOLE);
    }

    private void damageEachWay(Path original, String file, Map<String, Map<Outcome, Integer>> table)
            throws IOException {
        String kind = kind(file);
        long length = Files.size(original.resolve(file));
        count(table, kind + " | deleted", attempt(original, file, Files::delete));
        // RocksDB does not read these files when it opens a store, so a few samples suffice.
        boolean unused = List.of("IDENTITY", "OPTIONS", "LOG", "LOCK").contains(kind);
        for (long at : offsets(length, unused ? 3 : 5)) {
            count(table, kind + " | cut", attempt(original, file, path -> cut(path, at)));
        }
        for (long at : offsets(length, unused ? 3 : 9)) {
            count(table, kind + " | one bit flipped", attempt(original, file, path -> flip(path, at, 1)));
        }
        if (length > 16) {
            count(table, kind + " | zeroes at the start", attempt(original, file, path -> zero(path, 0, 16)));
            count(table, kind + " | zeroes at the end", attempt(original, file, path -> zero(path, length - 16, 16)));
        }
    }

    /** Offsets that include the first and the last byte of a file. */
    private TreeSet<Long> offsets(long length, int count) {
        TreeSet<Long> offsets = new TreeSet<>();
        if (length == 0) {
            return offsets;
        }
        offsets.addAll(List.of(0L, length / 2, length - 1, Math.max(0, length - 7)));
        while (offsets.size() < Math.min(count, length)) {
            offsets.add(random.nextLong(length));
        }
        return offsets;
    }

    private interface Damage {
        void apply(Path file) throws IOException;
    }

    private Outcome attempt(Path original, String file, Damage damage) throws IOException {
        Path at = TestFiles.copy(original, directory.resolve("damaged"));
        damage.apply(at.resolve(file));
        Map<String, String> before = tree(at);
        try {
            Store store;
            try {
                store = open(at);
            } catch (StoreException e) {
                assertThat(e).isInstanceOf(StoreException.Damaged.class).hasMessageContaining("was not changed");
                assertThat(tree(at)).isEqualTo(before);
                if (refused++ % 8 == 0) {
                    repair(at, before);
                }
                return Outcome.REFUSED;
            }
            try {
                return judge(store);
            } catch (AssertionError e) {
                return fail(original.getFileName() + "/" + file + ": " + e.getMessage(), e);
            } finally {
                close(store);
            }
        } finally {
            StoreFiles.delete(at);
        }
    }

    /** A repair serves only versions that were written and keeps the damaged files, or it changes nothing. */
    private void repair(Path at, Map<String, String> before) throws IOException {
        StoreRepair.Report report;
        try {
            report = StoreRepair.repair(at, SMALL);
        } catch (StoreException e) {
            assertThat(e).hasMessageContaining("cannot be repaired");
            assertThat(tree(at)).isEqualTo(before);
            return;
        }
        repaired++;
        Path aside = report.aside().orElseThrow();
        assertThat(tree(aside)).isEqualTo(before);
        StoreFiles.delete(aside);
        Store store = open(at);
        assertThat(store.revision()).isGreaterThan(revision);
        for (String resource : RESOURCES) {
            for (Entry entry :
                    store.list("/registry/" + resource + "/", "", 0, 0).entries()) {
                assertThat(versions).contains(entry.key() + " " + describe(entry));
            }
        }
        close(store);
    }

    private static void cut(Path file, long length) throws IOException {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            content.setLength(length);
        }
    }

    private static void flip(Path file, long at, int bit) throws IOException {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            content.seek(at);
            int value = content.read();
            content.seek(at);
            content.write(value ^ bit);
        }
    }

    private static void zero(Path file, long at, int length) throws IOException {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            content.seek(at);
            content.write(new byte[length]);
        }
    }

    private static String kind(String file) {
        if (file.contains(".")) {
            return file.startsWith("LOG") ? "LOG" : file.substring(file.lastIndexOf('.') + 1);
        }
        return file.replaceAll("-[0-9]+", "");
    }

    private static TreeSet<String> kinds(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> kind(file.getFileName().toString()))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static void count(Map<String, Map<Outcome, Integer>> table, String row, Outcome outcome) {
        table.computeIfAbsent(row, key -> new TreeMap<>()).merge(outcome, 1, Integer::sum);
    }

    private static void write(TreeMap<String, Map<Outcome, Integer>> table) throws IOException {
        List<String> lines = new ArrayList<>(List.of(
                "| file | damage | whole | unacknowledged end cut | refused, unchanged |", "|---|---|---|---|---|"));
        table.forEach((row, outcomes) -> lines.add("| " + row + " | "
                + Stream.of(Outcome.values())
                        .map(outcome -> String.valueOf(outcomes.getOrDefault(outcome, 0)))
                        .collect(Collectors.joining(" | "))
                + " |"));
        Files.write(Path.of("target", "store-damage.md"), lines);
    }

    /** The names and contents of all files. */
    private static Map<String, String> tree(Path directory) throws IOException {
        Map<String, String> tree = new TreeMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                byte[] content = Files.readAllBytes(file);
                tree.put(file.getFileName().toString(), content.length + ":" + Arrays.hashCode(content));
            }
        }
        return tree;
    }

    /** A consistent copy of the files of an open store, whose background work may change or delete some meanwhile. */
    private static Path copyAtRest(Path from, Path to) throws IOException {
        for (int tries = 0; tries < 100; tries++) {
            try {
                Map<String, String> before = tree(from);
                TestFiles.copy(from, to);
                if (tree(from).equals(before) && tree(to).equals(before)) {
                    return to;
                }
            } catch (NoSuchFileException gone) {
                // The store deleted an obsolete log or table during the copy. Try again.
            }
            StoreFiles.delete(to);
        }
        throw new AssertionError("the files in " + from + " changed during each of 100 copies");
    }
}
