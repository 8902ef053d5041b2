package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.client.files.OwnerOnly;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.disk.RocksJournal;
import io.nodekeeper.store.disk.StoreRepair;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.etcd.EtcdOptions;
import io.nodekeeper.store.etcd.EtcdStore;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the store that the flags select. */
public final class OpenStore {
    /** Limit for reading a store on disk, so that a start on a disk that hangs ends. 1 GB takes seconds. */
    private static final Duration DISK_TIMEOUT = Duration.ofMinutes(5);
    /** Limit for connecting to etcd and reading all objects; 10 times what 1 GB takes on a local network. */
    private static final Duration ETCD_TIMEOUT = Duration.ofMinutes(1);

    /** Threads that read values from disk: as many as the disk is likely to serve at once without delaying the journal. */
    private static final int READERS = 2;

    /** Where the Events are: a fleet of 10,000 nodes writes 40,000 when it registers, and they are kept for an hour. */
    private static final List<String> SELDOM_READ = List.of(Resources.EVENTS.prefix(""));

    private static final Logger log = LoggerFactory.getLogger(OpenStore.class);

    /** The directories that every data directory has. */
    public static final List<String> PARTS = List.of("pki", "store");

    private OpenStore() {}

    /** Where the database of a data directory is. */
    public static Path directory(Path data) {
        return data.resolve("store");
    }

    /** Starts to open the store, which runs on {@code loop} and closes it. */
    public static CompletableFuture<Store> begin(ApiServerOptions options, Loop loop) throws IOException {
        return switch (options.store) {
            case memory -> CompletableFuture.completedFuture(new IndexedStore(loop, Journal.NONE, options.limits()));
            case rocksdb -> {
                // One thread opens, writes and closes the journal, so that a disk that hangs blocks nothing else.
                Workers disk = new Workers("journal", 1, loop);
                Path directory = directory(options.data.dir);
                ValueTransformer transformer = options.encryption.transformer();
                yield disk.call("opening the store", DISK_TIMEOUT, () -> {
                    Journal journal = open(directory, transformer, options.acceptStoreLoss);
                    // Not earlier, because a refused start must change nothing.
                    OwnerOnly.directoryAndFiles(directory);
                    return new IndexedStore(
                            loop, disk, new Workers("values", READERS, loop), journal, options.limits());
                });
            }
            case etcd -> etcd(options.etcd.options(loop.clock()).with(options.encryption.transformer()), loop);
        };
    }

    /** Repairs the store only if it turns out to be damaged: a check at each start would read all of it twice. */
    private static Journal open(Path directory, ValueTransformer transformer, boolean acceptLoss) {
        try {
            return RocksJournal.open(directory, transformer, SELDOM_READ);
        } catch (StoreException.Damaged e) {
            if (!acceptLoss) {
                throw e;
            }
            repair(directory);
            return RocksJournal.open(directory, transformer, SELDOM_READ);
        }
    }

    private static void repair(Path directory) {
        StoreRepair.Report report = StoreRepair.repair(directory);
        report.aside().ifPresent(aside -> {
            log.warn(
                    "The store was damaged ({}) and has been repaired; the damaged files are in {}",
                    report.check().problem(),
                    aside);
            report.losses().forEach(loss -> log.warn("Lost: {}", loss));
        });
    }

    private static CompletableFuture<Store> etcd(EtcdOptions options, Loop loop) {
        String members = options.servers().stream().map(Object::toString).collect(Collectors.joining(", "));
        return Deadlines.within(loop, ETCD_TIMEOUT, "reading etcd at " + members, EtcdStore.open(options, loop))
                .thenApply(store -> store);
    }
}
