package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.VirtualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** A process that writes, reads, checks, copies or repairs more data than fits into its heap. */
final class SmallHeap {
    private static final int WRITES = 600;
    private static final int OBJECTS = 300;
    private static final int SIZE = 240 << 10;

    private SmallHeap() {}

    /** The class path of the process. */
    static List<String> classpath() {
        return Stream.of(
                        SmallHeap.class,
                        IndexedStore.class,
                        VirtualTime.class,
                        org.rocksdb.RocksDB.class,
                        org.slf4j.Logger.class,
                        org.jspecify.annotations.Nullable.class)
                .map(type -> Path.of(type.getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .getPath())
                        .toString())
                .distinct()
                .toList();
    }

    public static void main(String[] args) {
        Path directory = Path.of(args[1]);
        switch (args[0]) {
            case "check" -> {
                StoreCheck check = StoreCheck.of(directory);
                require(check.state() == StoreCheck.State.WHOLE, check.toString());
                require(check.objects() == OBJECTS, "objects: " + check.objects());
            }
            case "snapshot" -> {
                try (StoreReading reading = StoreReading.open(directory)) {
                    Journal.Recovered recovered = reading.recovered();
                    require(recovered.entries().size() == OBJECTS, "objects");
                    recovered.entries().forEach(entry -> require(entry.value().length == SIZE, entry.key()));
                }
            }
            case "repair" ->
                require(StoreRepair.repair(directory).objects() == OBJECTS, "objects of the repaired store");
            case "rewrite" ->
                require(StoreRepair.rewrite(directory, ValueTransformer.IDENTITY) == OBJECTS, "objects written again");
            default -> useStore(args[0].equals("write"), directory);
        }
    }

    /** Opens the store, writes if {@code write}, and reads all. */
    private static void useStore(boolean write, Path directory) {
        VirtualTime time = new VirtualTime(Instant.EPOCH);
        IndexedStore store = new IndexedStore(time.loop("store"), RocksJournal.open(directory));
        if (write) {
            for (int i = 0; i < WRITES; i++) {
                String key = key(i % OBJECTS);
                byte[] value = new byte[SIZE];
                value[0] = (byte) i;
                store.put(key, value, store.get(key).map(Entry::modRevision).orElse(0L));
                time.advance(Duration.ZERO);
            }
        }
        require(store.revision() == WRITES, "revision " + store.revision());
        for (int i = 0; i < OBJECTS; i++) {
            byte[] value = store.get(key(i)).orElseThrow().value();
            require(value.length == SIZE && value[0] == (byte) (i + OBJECTS), key(i));
        }
        long before = WRITES - 1;
        require(
                store.changes("/registry/configmaps/", before, 10, SIZE)
                                .events()
                                .size()
                        == 1,
                "history");
        store.close();
        time.advance(Duration.ZERO);
    }

    private static String key(int object) {
        return "/registry/configmaps/default/c" + object;
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError("unexpected: " + what);
        }
    }
}
