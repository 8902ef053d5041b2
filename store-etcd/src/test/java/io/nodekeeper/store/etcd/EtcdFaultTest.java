package io.nodekeeper.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.ThreadLoop;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two servers on a real etcd cluster of three members, some of which freeze or crash. */
class EtcdFaultTest {
    private static final String KEY = "/registry/minions/n1";
    private static final String NODES = "/registry/minions/";
    /** What a read may take that is repeated until it succeeds. Without a switch to another member all attempts fail. */
    private static final Duration FEW_SECONDS = Duration.ofSeconds(13);

    @TempDir
    Path directory;

    private EtcdCluster cluster;
    private final List<Store> stores = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        cluster = EtcdCluster.start(directory, 3);
    }

    @AfterEach
    void stop() throws Exception {
        try {
            for (Store store : stores) {
                store.close().get(10, TimeUnit.SECONDS);
            }
        } finally {
            cluster.close();
        }
    }

    private Store open() throws Exception {
        Store store = EtcdStore.open(
                        EtcdOptions.of(cluster.servers(), Optional.empty(), "/registry"), new ThreadLoop("store"))
                .get(20, TimeUnit.SECONDS);
        stores.add(store);
        return store;
    }

    private static Entry put(Store store, String value, long expected) throws Exception {
        return store.put(KEY, value.getBytes(StandardCharsets.UTF_8), expected).get(10, TimeUnit.SECONDS);
    }

    private static void await(String what, Duration patience, BooleanSupplier condition) throws Exception {
        long end = System.nanoTime() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(end);
            Thread.sleep(20);
        }
    }

    @Test
    void clusterThatWentBackToAnEarlierRevisionIsListedAgain() throws Exception {
        // given a store that has seen thirty changes, and a watch
        Store store = open();
        long last = put(store, "v0", 0).modRevision();
        for (int i = 1; i < 30; i++) {
            last = put(store, "v" + i, last).modRevision();
        }
        CompletableFuture<Void> ended = new CompletableFuture<>();
        store.watch(NODES, last, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {}

            @Override
            public void onCompacted(StoreException.Compacted why) {
                ended.complete(null);
            }
        });

        // when the cluster is restored to an earlier state, in which another object is written
        cluster.startOver();
        assertThat(cluster.ctl(0, "put", NODES + "n2", "restored")).contains("OK");

        // then the watch ends, and the store has what the cluster has
        ended.get(20, TimeUnit.SECONDS);
        await(
                "the restored objects",
                Duration.ofSeconds(10),
                () -> store.list(NODES, "", 0, 0).entries().stream()
                        .map(Entry::key)
                        .toList()
                        .equals(List.of(NODES + "n2")));
        assertThat(store.revision()).isLessThan(last);
        assertThat(store.current().get(10, TimeUnit.SECONDS)).isEqualTo(store.revision());
    }

    /** Retries a write until it succeeds, as clients do, and returns the entry. */
    private static Entry putSoon(Store store, String value) throws Exception {
        long end = System.nanoTime() + 20_000_000_000L;
        while (true) {
            try {
                long expected = store.read(KEY)
                        .get(10, TimeUnit.SECONDS)
                        .map(Entry::modRevision)
                        .orElse(0L);
                return put(store, value, expected);
            } catch (ExecutionException e) {
                assertThat(e.getCause()).isInstanceOf(StoreException.class);
                assertThat(System.nanoTime()).isLessThan(end);
                Thread.sleep(100);
            }
        }
    }

    /** As {@link #putSoon} for a read: without a leader all attempts of one may fail. */
    private static Entry readSoon(Store store) throws Exception {
        long end = System.nanoTime() + FEW_SECONDS.toNanos();
        while (true) {
            try {
                return store.read(KEY).get(10, TimeUnit.SECONDS).orElseThrow();
            } catch (ExecutionException e) {
                assertThat(e.getCause()).isInstanceOf(StoreException.class);
                assertThat(System.nanoTime()).isLessThan(end);
                Thread.sleep(100);
            }
        }
    }

    private static List<Long> watch(Store store, long after) {
        List<Long> heard = Collections.synchronizedList(new ArrayList<>());
        store.watch(NODES, after, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                heard.add(event.revision());
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                heard.add(-1L);
            }
        });
        return heard;
    }

    @Test
    @Tag("W60")
    void freshReadSeesTheWriteOfAnotherServer() throws Exception {
        Store one = open();
        Store other = open();
        long revision = 0;
        for (int i = 0; i < 100; i++) {
            revision = put(one, "v" + i, revision).modRevision();
            // both kinds of fresh reads
            assertThat(other.read(KEY).get(10, TimeUnit.SECONDS).orElseThrow().modRevision())
                    .isEqualTo(revision);
            assertThat(other.current().get(10, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(revision);
            assertThat(other.list(NODES, "", 0, 0).entries().getFirst().modRevision())
                    .isEqualTo(revision);
        }
    }

    @Test
    void oneOfTwoConcurrentWritesFailsWithTheCurrentObject() throws Exception {
        Store one = open();
        Store other = open();
        CompletableFuture<Entry> first = one.put(KEY, new byte[] {'1'}, 0);
        CompletableFuture<Entry> second = other.put(KEY, new byte[] {'2'}, 0);
        CompletableFuture.allOf(first, second).handle((done, error) -> done).get(10, TimeUnit.SECONDS);
        assertThat(first.isCompletedExceptionally()).isNotEqualTo(second.isCompletedExceptionally());
        CompletableFuture<Entry> lost = first.isCompletedExceptionally() ? first : second;
        CompletableFuture<Entry> won = first.isCompletedExceptionally() ? second : first;
        assertThatThrownBy(lost::join)
                .cause()
                .isInstanceOfSatisfying(
                        StoreException.Conflict.class,
                        conflict -> assertThat(conflict.actual().orElseThrow().modRevision())
                                .isEqualTo(won.join().modRevision()));
    }

    @Test
    @Tag("W61")
    void frozenMemberDelaysCallsButLosesNoEvent() throws Exception {
        // given a server that uses the first member, and a watch
        Store store = open();
        long first = put(store, "before", 0).modRevision();
        List<Long> heard = watch(store, first);
        // when that member freezes
        cluster.freeze(0);
        long began = System.nanoTime();
        long read = readSoon(store).modRevision();
        Duration reading = Duration.ofNanos(System.nanoTime() - began);
        long second = putSoon(store, "after").modRevision();
        // then reads, writes and the watch switch to another member within seconds, and no event is lost
        assertThat(read).isEqualTo(first);
        assertThat(reading).isLessThan(FEW_SECONDS);
        // gRPC itself gives a silent connection up after 15 s.
        await("the watch", Duration.ofSeconds(10), () -> heard.contains(second));
        assertThat(heard).doesNotContain(-1L).isSorted().doesNotHaveDuplicates();
        assertThat(store.healthy()).isTrue();
        // and when it thaws, nothing changes
        cluster.thaw(0);
        long third = putSoon(store, "thawed").modRevision();
        await("the watch", Duration.ofSeconds(30), () -> heard.contains(third));
    }

    @Test
    void writesContinueAtAnotherMemberAfterACrash() throws Exception {
        Store store = open();
        long first = put(store, "before", 0).modRevision();
        List<Long> heard = watch(store, first);
        cluster.kill(0);
        long began = System.nanoTime();
        long second = putSoon(store, "after").modRevision();
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));
        await("the watch", Duration.ofSeconds(15), () -> heard.contains(second));
        // and a write that was never sent was retried at another member, so it did not fail
        cluster.restart(0);
        cluster.kill(1);
        long third = putSoon(store, "again").modRevision();
        await("the watch", Duration.ofSeconds(15), () -> heard.contains(third));
        assertThat(heard).doesNotContain(-1L);
    }

    @Test
    void writesFailWithoutAQuorumAndRecover() throws Exception {
        Store store = open();
        long first = put(store, "before", 0).modRevision();
        List<Long> heard = watch(store, first);
        // when two of three members freeze
        cluster.freeze(1);
        cluster.freeze(2);
        // Both wait for their deadlines, at the same time.
        CompletableFuture<Entry> written = store.put(KEY, "lost?".getBytes(StandardCharsets.UTF_8), first);
        CompletableFuture<Long> current = store.current();
        // then a write fails with an unknown result, reads from the cache work, and the store is unhealthy
        assertThatThrownBy(() -> written.get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("/registry/minions/n1 may or may not have been written");
        assertThat(store.get(KEY)).isPresent();
        await("health", Duration.ofSeconds(10), () -> !store.healthy());
        assertThatThrownBy(() -> current.get(15, TimeUnit.SECONDS)).cause().isInstanceOf(StoreException.class);
        // and when they thaw, the store recovers
        cluster.thaw(1);
        cluster.thaw(2);
        await("health", Duration.ofSeconds(15), store::healthy);
        long second = putSoon(store, "after").modRevision();
        await("the watch", Duration.ofSeconds(30), () -> heard.contains(second));
        assertThat(heard).doesNotContain(-1L).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void compactionDuringADisconnectIsReportedToWatches() throws Exception {
        Store store = open();
        long first = put(store, "before", 0).modRevision();
        List<Long> heard = watch(store, first);
        // when all members stop, and the history is compacted before this server can reconnect
        Store other = open();
        for (int i = 0; i < 3; i++) {
            cluster.freeze(i);
        }
        await("health", Duration.ofSeconds(15), () -> !store.healthy());
        for (int i = 0; i < 3; i++) {
            cluster.thaw(i);
        }
        long second = putSoon(other, "while away").modRevision();
        cluster.ctl(0, "compact", Long.toString(second));
        // then the watch resumes or ends with onCompacted, so no event is lost silently
        await("the watch", Duration.ofSeconds(20), () -> heard.contains(second) || heard.contains(-1L));
        store.current().get(20, TimeUnit.SECONDS);
        assertThat(store.get(KEY).orElseThrow().modRevision()).isEqualTo(second);
    }
}
