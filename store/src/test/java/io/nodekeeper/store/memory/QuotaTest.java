package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.Usage;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A full store refuses only writes that take more space, until space is free. */
class QuotaTest {
    private static final String BIG = "/registry/configmaps/default/";
    private static final String LEASE = "/registry/leases/kube-node-lease/n1";

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);

    private IndexedStore store(long quota, long heap) {
        return new IndexedStore(
                time.loop("store"), Journal.NONE, new StoreLimits(WatchCache.Limits.DEFAULT, quota, heap));
    }

    private CompletableFuture<Entry> put(IndexedStore store, String key, int size) {
        CompletableFuture<Entry> put = store.put(
                key, new byte[size], store.get(key).map(Entry::modRevision).orElse(0L));
        time.advance(Duration.ZERO);
        return put;
    }

    private void delete(IndexedStore store, String key) {
        CompletableFuture<Long> deleted =
                store.delete(key, store.get(key).orElseThrow().modRevision());
        time.advance(Duration.ZERO);
        deleted.join();
    }

    @Test
    void writesThatTakeSpaceAreRefusedUntilDeletionsFreeSome() {
        // given a store of 100 kB with a lease and 9 objects of 10.7 kB
        IndexedStore store = store(100_000, Long.MAX_VALUE);
        put(store, LEASE, 300).join();
        for (int i = 0; i < 9; i++) {
            put(store, BIG + i, 10_700).join();
        }
        // when a write exceeds the quota
        CompletableFuture<Entry> refused = put(store, BIG + "more", 10_000);
        // then it fails with etcd's error, and so do all further writes that take space
        assertThatThrownBy(refused::join)
                .hasCauseInstanceOf(StoreException.NoSpace.class)
                .hasMessageContaining("etcdserver: mvcc: database space exceeded")
                .hasMessageContaining("of 100000");
        assertThat(put(store, BIG + "tiny", 1)).isCompletedExceptionally();
        assertThat(store.usage().exceeded()).isTrue();
        assertThat(store.healthy()).isFalse();
        // but leases can be renewed, and objects can shrink and be deleted
        put(store, LEASE, 300).join();
        assertThat(put(store, BIG + "8", 9_000)).isCompleted();
        delete(store, BIG + "7");
        // and then writes succeed again
        put(store, BIG + "more", 10_000).join();
        assertThat(store.healthy()).isTrue();
    }

    @Test
    void refusedWriteUsesNoRevisionAndNoQuota() {
        IndexedStore store = store(1_000, Long.MAX_VALUE);
        put(store, BIG + 1, 100).join();
        long bytes = store.usage().bytes();
        assertThat(put(store, BIG + 2, 2_000)).isCompletedExceptionally();
        assertThat(store.usage().bytes()).isEqualTo(bytes);
        assertThat(store.revision()).isEqualTo(1);
        delete(store, BIG + 1);
        assertThat(store.usage()).isEqualTo(new Usage(0, 1_000, false));
        assertThat(put(store, BIG + 2, 900).join().modRevision()).isEqualTo(3);
    }

    @Test
    void manySmallObjectsAreLimitedByTheirMemory() {
        IndexedStore store = store(Long.MAX_VALUE, 100_000);
        int stored = 0;
        while (!put(store, BIG + stored, 0).isCompletedExceptionally()) {
            stored++;
        }
        // each object has a key of some 31 characters and 250 bytes of the index
        assertThat(stored).isBetween(340, 370);
    }
}
