package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A journal on a full disk. The disk is a small tmpfs, which only root can mount. It is large enough for the log of one
 * write buffer and the table that the next open writes from it.
 */
class FullDiskTest {
    private static final String KEY = "/registry/minions/n1";
    private static final String ON_DISK = "/registry/events/default/e1";

    @TempDir
    Path directory;

    /** Creates values that cannot be compressed. */
    private final Random random = new Random(1);

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);

    @BeforeEach
    void mount() throws Exception {
        run("mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", directory.toString());
    }

    @AfterEach
    void unmount() throws Exception {
        run("umount", "-l", directory.toString());
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue())
                .as("%s, which takes root", List.of(command))
                .isZero();
    }

    private Store open() {
        return new IndexedStore(
                time.loop("store"),
                RocksJournal.open(directory.resolve("store"), ValueTransformer.IDENTITY, List.of("/registry/events/")));
    }

    private Entry put(Store store, int size, long expected) {
        byte[] value = new byte[size];
        random.nextBytes(value);
        CompletableFuture<Entry> put = store.put(KEY, value, expected);
        time.advance(Duration.ZERO);
        return put.join();
    }

    private void fill(String ballast) throws IOException {
        try (OutputStream out = Files.newOutputStream(directory.resolve(ballast))) {
            byte[] piece = new byte[4_096];
            while (true) {
                out.write(piece);
            }
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("No space left");
        }
    }

    /** Writes until the disk is full, and returns the last successful revision. */
    private long writeUntilItFails(Store store, long before) {
        long last = before;
        for (int i = 0; i < 64; i++) {
            try {
                last = put(store, 1_000_000, last).modRevision();
            } catch (CompletionException e) {
                assertThat(e).hasMessageContaining("No space left on device");
                return last;
            }
        }
        throw new AssertionError("64 MB were written to a disk of 48 MB that was full");
    }

    @Test
    @Tag("W85")
    void writesOnAFullDiskFailUntilSpaceIsFree() throws Exception {
        Store store = open();
        store.put(ON_DISK, new byte[100], 0);
        long last = put(store, 100, 0).modRevision();
        // when the disk is full, repeatedly, because opening the database again frees some space
        for (int round = 0; round < 3; round++) {
            fill("ballast" + round);
            last = writeUntilItFails(store, last);
            // then the store is unhealthy, and reads still work, also of what is on disk, and after more failures
            assertThat(store.healthy()).isFalse();
            assertThat(store.get(KEY).orElseThrow().modRevision()).isEqualTo(last);
            for (int failure = 0; failure < 3; failure++) {
                long expected = last;
                assertThatThrownBy(() -> put(store, 1_000_000, expected)).isInstanceOf(CompletionException.class);
                assertThat(store.get(ON_DISK).orElseThrow().resident()).isZero();
                assertThat(store.get(ON_DISK).orElseThrow().value()).hasSize(100);
            }
        }
        // and when space is free, the next write succeeds and the store is healthy
        for (int round = 0; round < 3; round++) {
            Files.delete(directory.resolve("ballast" + round));
        }
        assertThat(put(store, 200, last).modRevision()).isEqualTo(last + 1);
        assertThat(store.healthy()).isTrue();
        store.close();
        time.advance(Duration.ZERO);
        // and no failed write appears after a reopening
        Store again = open();
        assertThat(again.revision()).isEqualTo(last + 1);
        assertThat(again.get(KEY).orElseThrow().value()).hasSize(200);
        again.close();
        time.advance(Duration.ZERO);
    }
}
