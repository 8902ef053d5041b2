package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
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
 * A journal on a disk without room. The disk is a small tmpfs, which takes root to mount; it can hold a write buffer's log
 * and what that becomes when the journal is opened anew.
 */
class FullDiskTest {
    private static final String KEY = "/registry/minions/n1";

    @TempDir
    Path directory;

    /** Values that do not get smaller by compression. */
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
        return new IndexedStore(time.loop("store"), RocksJournal.open(directory.resolve("store")));
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

    /** Writes what the database has still room for; returns the last revision that was made. */
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
    void writesFailClearlyAndGoOnWhenThereIsRoomAgain() throws Exception {
        Store store = open();
        long last = put(store, 100, 0).modRevision();
        // when the disk is full, again and again: the database makes a little room for itself when it is opened anew
        for (int round = 0; round < 3; round++) {
            fill("ballast" + round);
            last = writeUntilItFails(store, last);
            // then health is red, and what was there is still read
            assertThat(store.healthy()).isFalse();
            assertThat(store.get(KEY).orElseThrow().modRevision()).isEqualTo(last);
        }
        // and when there is room again it heals with the next write
        for (int round = 0; round < 3; round++) {
            Files.delete(directory.resolve("ballast" + round));
        }
        assertThat(put(store, 200, last).modRevision()).isEqualTo(last + 1);
        assertThat(store.healthy()).isTrue();
        store.close();
        time.advance(Duration.ZERO);
        // and nothing of what failed comes back
        Store again = open();
        assertThat(again.revision()).isEqualTo(last + 1);
        assertThat(again.get(KEY).orElseThrow().value()).hasSize(200);
        again.close();
        time.advance(Duration.ZERO);
    }
}
