package io.nodekeeper.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreContract;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.AesGcmKey;
import io.nodekeeper.store.encryption.ResourceTransformer;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract with a real etcd. */
class EtcdContractTest extends StoreContract {
    @TempDir
    static Path directory;

    private static EtcdCluster cluster;

    private ShiftedLoop loop = new ShiftedLoop();

    @BeforeAll
    static void startEtcd() throws Exception {
        cluster = EtcdCluster.start(directory, 1);
    }

    @AfterAll
    static void stopEtcd() throws Exception {
        cluster.close();
    }

    private Store openStore() throws Exception {
        loop = new ShiftedLoop();
        EtcdOptions options = new EtcdOptions(cluster.servers(), Optional.empty(), "/registry", LIMITS, Duration.ZERO);
        return EtcdStore.open(options, loop).get(20, TimeUnit.SECONDS);
    }

    @Override
    protected Store begin() throws Exception {
        cluster.ctl(0, "del", "--prefix", "/registry/");
        return openStore();
    }

    @Override
    protected void settle() {
        try {
            if (store.current().handle((revision, error) -> error == null).get(10, TimeUnit.SECONDS)) {
                // Twice, so that follow-up tasks of the first round complete, too.
                loop.settle();
                loop.settle();
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    protected void pass(Duration time) {
        loop.shift(time);
    }

    @Test
    @Tag("W71")
    void objectsHistoryAndRevisionSurviveAReopening() throws Exception {
        put(N1, "a", 0);
        put(N2, "b", 0);
        put(N1, "c", 1);
        delete(N2, 2);
        store.close().get(10, TimeUnit.SECONDS);
        store = openStore();
        assertThat(store.revision() - base).isEqualTo(4);
        assertThat(list(0)).containsExactly("n1=c@1/3");
        assertThat(list(2)).containsExactly("n1=a@1/1", "n2=b@2/2");
        assertThat(watch(NODES, 1).heard)
                .containsExactly("2: - -> n2=b@2/2", "3: n1=a@1/1 -> n1=c@1/3", "4: n2=b@2/2 -> -");
        assertThat(text(put(N2, "d", 0))).isEqualTo("n2=d@5/5");
    }

    @Test
    @Tag("W71")
    void historyCompactedBeforeTheStartIsRefused() throws Exception {
        put(N1, "a", 0);
        put(N1, "b", 1);
        put(N1, "c", 2);
        cluster.ctl(0, "compact", Long.toString(at(2)));
        store.close().get(10, TimeUnit.SECONDS);
        store = openStore();
        assertThat(watch(NODES, 2).heard).containsExactly("3: n1=b@1/2 -> n1=c@1/3");
        assertThat(watch(NODES, 1).heard).containsExactly("compacted; the oldest kept is 2");
    }

    @Test
    void watchDeliversWritesOfOthers() throws Exception {
        Listener listener = watch(NODES, 0);
        cluster.ctl(0, "put", N1, "{\"kind\":\"Node\"}\n");
        settle();
        assertThat(list(0)).containsExactly("n1={\"kind\":\"Node\"}@1/1");
        put(N1, "mine", 1);
        cluster.ctl(0, "del", "--prefix", NODES);
        settle();
        assertThat(listener.heard)
                .containsExactly(
                        "1: - -> n1={\"kind\":\"Node\"}@1/1",
                        "2: n1={\"kind\":\"Node\"}@1/1 -> n1=mine@1/2",
                        "3: n1=mine@1/2 -> -");
    }

    @Test
    void watchDeliversAllChangesOfOneRevision() throws Exception {
        put(N1, "a", 0);
        put(N2, "b", 0);
        Listener before = watch(NODES, 2);
        cluster.ctl(0, "del", "--prefix", NODES);
        settle();
        Listener after = watch(NODES, 2);
        assertThat(before.heard).containsExactly("3: n1=a@1/1 -> -", "3: n2=b@2/2 -> -");
        assertThat(after.heard).isEqualTo(before.heard);
        assertThat(list(2)).containsExactly("n1=a@1/1", "n2=b@2/2");
        assertThat(watch(NODES, 3).heard).isEmpty();
    }

    @Test
    void changesOutsideTheRangeDoNotDelayReads() throws Exception {
        put(N1, "a", 0);
        // given changes outside the watched range, for which the watch delivers no events
        cluster.ctl(0, "put", "zzz", "foreign");
        cluster.ctl(0, "put", "zzz", "foreign");
        // then a fresh read does not wait for them, which would fail after five seconds, and the cache is at etcd's
        // revision
        assertThat(store.current().get(10, TimeUnit.SECONDS) - base).isEqualTo(3);
        assertThat(store.revision() - base).isEqualTo(3);
        assertThat(text(put(N1, "b", 1))).isEqualTo("n1=b@1/4");
    }

    @Test
    void changeOfTheCompactionKeyAdvancesTheRevision() throws Exception {
        put(N1, "a", 0);
        cluster.ctl(0, "put", "compact_rev_key", "5");
        settle();
        assertThat(store.revision() - base).isEqualTo(2);
        assertThat(list(0)).containsExactly("n1=a@1/1");
    }

    @Test
    void oneOfSeveralServersCompactsPerInterval() throws Exception {
        put(N1, "a", 0);
        put(N1, "b", 1);
        cluster.ctl(0, "del", "compact_rev_key");
        // given two servers that compact every second
        EtcdOptions options =
                new EtcdOptions(cluster.servers(), Optional.empty(), "/registry", LIMITS, Duration.ofSeconds(1));
        long began = System.nanoTime();
        Store one = EtcdStore.open(options, new ShiftedLoop()).get(20, TimeUnit.SECONDS);
        Store other = EtcdStore.open(options, new ShiftedLoop()).get(20, TimeUnit.SECONDS);
        // then history that is older than an interval is compacted
        String old = "--rev=" + at(1);
        while (!cluster.tryCtl(0, "get", N1, old).contains("compacted")) {
            assertThat(System.nanoTime() - began).isLessThan(60_000_000_000L);
            Thread.sleep(100);
        }
        Thread.sleep(2_000);
        // and the key was written once per interval, not once per server
        String note = cluster.ctl(0, "get", "compact_rev_key", "--write-out=json");
        long times = Long.parseLong(note.replaceAll("(?s).*\"version\":([0-9]+).*", "$1"));
        assertThat(times).isBetween(2L, (System.nanoTime() - began) / 1_000_000_000L + 2);
        one.close().get(10, TimeUnit.SECONDS);
        other.close().get(10, TimeUnit.SECONDS);
    }

    private Store openStore(String secret) throws Exception {
        ValueTransformer secrets = new ResourceTransformer(List.of(new ResourceTransformer.Rule(
                key -> key.startsWith("/registry/secrets/"),
                List.of(new AesGcmKey("k1", secret.getBytes(StandardCharsets.US_ASCII), Randoms.secure())))));
        EtcdOptions options = new EtcdOptions(cluster.servers(), Optional.empty(), "/registry", LIMITS, Duration.ZERO);
        return EtcdStore.open(options.with(secrets), new ShiftedLoop()).get(20, TimeUnit.SECONDS);
    }

    @Test
    void secretsAreEncryptedInEtcdAndDecryptedByServersWithTheKey() throws Exception {
        String key = "/registry/secrets/default/s1";
        Store one = openStore("0123456789abcdef");
        Store other = openStore("0123456789abcdef");
        CompletableFuture<String> heard = new CompletableFuture<>();
        other.watch("/registry/secrets/", other.revision(), new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                heard.complete(new String(event.after().orElseThrow().value(), StandardCharsets.UTF_8));
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                heard.completeExceptionally(why);
            }
        });
        try {
            // when one server writes a secret
            one.put(key, bytes("open-sesame"), 0).get(10, TimeUnit.SECONDS);
            // then etcd has the encrypted form, and reads and watches of other servers have the decrypted value
            String json = cluster.ctl(0, "get", key, "--write-out=json");
            byte[] stored = Base64.getDecoder().decode(json.replaceAll("(?s).*\"value\":\"([^\"]+)\".*", "$1"));
            assertThat(new String(stored, StandardCharsets.ISO_8859_1))
                    .startsWith("k8s:enc:aesgcm:v1:k1:")
                    .doesNotContain("sesame");
            assertThat(heard.get(10, TimeUnit.SECONDS)).isEqualTo("open-sesame");
            assertThat(other.read(key).get(10, TimeUnit.SECONDS).orElseThrow().value())
                    .isEqualTo(bytes("open-sesame"));
            Store later = openStore("0123456789abcdef");
            assertThat(later.get(key).orElseThrow().value()).isEqualTo(bytes("open-sesame"));
            later.close().get(10, TimeUnit.SECONDS);
            // and a server with another key, or without one, fails at the start with the reason
            assertThatThrownBy(() -> openStore("another key, 16!"))
                    .hasMessageContaining(key + " cannot be decrypted with key k1");
            assertThatThrownBy(this::openStore).hasMessageContaining(key + " is encrypted (k8s:enc:aesgcm:v1:k1:...)");
        } finally {
            // A start also reads earlier revisions, for which other tests have no key.
            cluster.ctl(0, "del", key);
            other.current().get(10, TimeUnit.SECONDS);
            cluster.ctl(0, "compact", Long.toString(other.revision()));
        }
        for (Store open : List.of(one, other)) {
            open.close().get(10, TimeUnit.SECONDS);
        }
    }
}
