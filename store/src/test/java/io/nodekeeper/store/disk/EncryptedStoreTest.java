package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.AesGcmKey;
import io.nodekeeper.store.encryption.EncryptionException;
import io.nodekeeper.store.encryption.EncryptionProvider;
import io.nodekeeper.store.encryption.ResourceTransformer;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;

/** A journal with encrypted Secrets. */
class EncryptedStoreTest {
    private static final String SECRET = "/registry/secrets/default/s1";
    private static final String NODE = "/registry/minions/n1";
    /** Short values go to tables, long ones to blob files. */
    private static final List<String> VALUES = List.of("open-sesame", "open-sesame".repeat(30));

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);

    private static EncryptionProvider key(String name, String secret) {
        return new AesGcmKey(name, secret.getBytes(StandardCharsets.US_ASCII), Randoms.secure());
    }

    private static ValueTransformer secrets(EncryptionProvider... providers) {
        return new ResourceTransformer(
                List.of(new ResourceTransformer.Rule(key -> key.startsWith("/registry/secrets/"), List.of(providers))));
    }

    private IndexedStore open(ValueTransformer transformer) {
        return new IndexedStore(
                time.loop("store"),
                RocksJournal.open(
                        directory,
                        new RocksOptions(64 << 10, 2),
                        transformer,
                        ValuePlacement.BY_LENGTH,
                        RocksDB::write));
    }

    private void close(Store store) {
        store.close();
        time.advance(Duration.ZERO);
    }

    private long put(Store store, String key, String value) {
        var put = store.put(
                key,
                value.getBytes(StandardCharsets.UTF_8),
                store.get(key).map(Entry::modRevision).orElse(0L));
        time.advance(Duration.ZERO);
        return put.join().modRevision();
    }

    private static String text(Entry entry) {
        return new String(entry.value(), StandardCharsets.UTF_8);
    }

    private boolean isInAFile(String text) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                if (Files.readString(file, StandardCharsets.ISO_8859_1).contains(text)) {
                    return true;
                }
            }
        }
        return false;
    }

    private Map<String, String> tree() throws IOException {
        Map<String, String> tree = new TreeMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                tree.put(file.getFileName().toString(), Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        return tree;
    }

    @Test
    void secretIsEncryptedInAllFilesAndReadersSeeItDecrypted() throws Exception {
        ValueTransformer transformer = secrets(key("k1", "0123456789abcdef"));
        for (int run = 0; run < 2; run++) {
            Store store = open(transformer);
            for (int i = 0; i < 300; i++) {
                put(store, SECRET, VALUES.get(i % 2) + i);
                put(store, NODE, "a node " + i);
            }
            // then no log, table or blob file contains it, in its latest or its earlier version
            assertThat(isInAFile("sesame")).isFalse();
            assertThat(isInAFile("a node")).isTrue();
            close(store);
            assertThat(isInAFile("sesame")).isFalse();
        }
        Store store = open(transformer);
        assertThat(text(store.get(SECRET).orElseThrow())).isEqualTo(VALUES.get(1) + 299);
        List<String> heard = new ArrayList<>();
        store.watch("/registry/secrets/", store.revision() - 4, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                heard.add(text(event.before().orElseThrow()) + " -> "
                        + text(event.after().orElseThrow()));
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                heard.add("gone");
            }
        });
        time.advance(Duration.ZERO);
        assertThat(heard)
                .containsExactly(
                        VALUES.get(1) + 297 + " -> " + VALUES.get(0) + 298,
                        VALUES.get(0) + 298 + " -> " + VALUES.get(1) + 299);
        close(store);
        // and the copy for a snapshot is encrypted, too
        assertThat(TestFiles.recovered(directory).entries())
                .filteredOn(entry -> entry.key().equals(SECRET))
                .hasSize(1)
                .allSatisfy(entry -> assertThat(text(entry)).startsWith("k8s:enc:aesgcm:v1:k1:"));
    }

    @Test
    void wrongOrMissingKeyPreventsTheStartAndChangesNothing() throws Exception {
        Store store = open(secrets(key("k1", "0123456789abcdef")));
        put(store, SECRET, "open-sesame");
        close(store);
        Map<String, String> before = tree();
        assertThatThrownBy(() -> open(ValueTransformer.IDENTITY))
                .isInstanceOf(EncryptionException.class)
                .hasMessageContaining("k8s:enc:aesgcm:v1:k1:");
        assertThatThrownBy(() -> open(secrets(key("k2", "0123456789abcdef"))))
                .hasMessageContaining("k8s:enc:aesgcm:v1:k1:")
                .hasMessageContaining("it has [aesgcm key k2]");
        assertThatThrownBy(() -> open(secrets(key("k1", "another key, 16!"))))
                .hasMessageContaining("cannot be decrypted with key k1");
        assertThat(tree()).isEqualTo(before);
    }

    @Test
    void rewriteRemovesTheOldFormFromAllFiles() throws Exception {
        // given unencrypted secrets and secrets with an old key, in the objects and in the history
        EncryptionProvider old = key("old", "0123456789abcdef");
        EncryptionProvider fresh = key("new", "0123456789abcdef0123456789abcdef");
        Store store = open(ValueTransformer.IDENTITY);
        put(store, SECRET, "open-sesame");
        close(store);
        store = open(secrets(old, EncryptionProvider.IDENTITY));
        long last = put(store, SECRET + "2", "open-door");
        close(store);
        // when the store is rewritten
        assertThat(StoreRepair.rewrite(directory, secrets(fresh, old, EncryptionProvider.IDENTITY)))
                .isEqualTo(2);
        // then the new key is sufficient
        assertThat(isInAFile("sesame")).isFalse();
        assertThat(isInAFile("aesgcm:v1:old")).isFalse();
        store = open(secrets(fresh));
        assertThat(text(store.get(SECRET).orElseThrow())).isEqualTo("open-sesame");
        assertThat(text(store.get(SECRET + "2").orElseThrow())).isEqualTo("open-door");
        assertThat(store.revision()).isGreaterThan(last);
        close(store);
    }
}
