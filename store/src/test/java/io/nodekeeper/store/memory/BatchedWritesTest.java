package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Batched writes to a store whose journal has a thread of its own. */
class BatchedWritesTest {
    private static final byte[] VALUE = {1};

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final VirtualTime.VirtualLoop disk = time.loop("journal");
    private final IndexedStore store = new IndexedStore(loop, disk, Journal.NONE);
    private int node;

    private CompletableFuture<Entry> renew() {
        return store.putBatched("/registry/leases/kube-node-lease/n" + node++, VALUE, 0);
    }

    /** A renewal each millisecond. */
    private void load(int millis) {
        for (int i = 0; i < millis; i++) {
            renew();
            time.advance(Duration.ofMillis(1));
        }
    }

    @Test
    void loneWriteIsCommittedAtOnce() {
        CompletableFuture<Entry> lone = renew();
        time.advance(Duration.ZERO);
        assertThat(lone).isCompleted();
    }

    @Test
    void writesThatArriveWithinTenMillisecondsShareAGroup() {
        load(500);
        assertThat(store.commits().window()).isEqualTo(Duration.ofMillis(10));
        long groups = store.commits().groups();
        load(1_000);
        assertThat(store.commits().groups() - groups).isBetween(95L, 105L);
        time.advance(Duration.ofMillis(10));
        assertThat(store.commits().changes()).isEqualTo(1_500);
        assertThat(store.list("/registry/leases/", "", 0, 0).entries()).hasSize(1_500);
    }

    @Test
    void writeUnderLoadWaitsNoLongerThanTenMilliseconds() {
        load(500);
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Entry> write = renew();
            time.advance(Duration.ofMillis(10));
            assertThat(write).isCompleted();
        }
    }

    @Test
    void otherWritesDoNotWaitAndTakeTheBatchedOnesWithThem() {
        load(500);
        CompletableFuture<Entry> batched = renew();
        CompletableFuture<Entry> urgent = store.put("/registry/pods/default/p", VALUE, 0);
        time.advance(Duration.ZERO);
        assertThat(urgent).isCompleted();
        assertThat(batched).isCompleted();
        assertThat(batched.join().modRevision()).isLessThan(urgent.join().modRevision());
    }

    @Test
    void enoughWritesForAGroupDoNotWaitForMore() {
        for (int burst = 1; burst <= 120; burst++) {
            load(500);
            time.advance(Duration.ofMillis(10));
            List<CompletableFuture<Entry>> writes = new ArrayList<>();
            for (int i = 0; i < burst; i++) {
                writes.add(renew());
            }
            time.advance(Duration.ZERO);
            assertThat(writes)
                    .as("writes at once: %d", burst)
                    .allMatch(write -> write.isDone() == (writes.size() >= 50));

            time.advance(Duration.ofMillis(10));
            assertThat(writes).allMatch(CompletableFuture::isDone);
        }
    }

    @Test
    void enoughWritesThatArriveWhileAGroupIsWrittenFollowItAtOnce() {
        load(500);
        disk.freeze();
        renew();
        time.advance(Duration.ofMillis(10));
        List<CompletableFuture<Entry>> writes = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            writes.add(renew());
        }
        time.advance(Duration.ofMillis(20));
        assertThat(writes).noneMatch(CompletableFuture::isDone);

        disk.thaw();
        time.advance(Duration.ZERO);
        assertThat(writes).allMatch(CompletableFuture::isDone);
    }

    @Test
    void deletionsDoNotWait() {
        CompletableFuture<Entry> pod = store.put("/registry/pods/default/p", VALUE, 0);
        load(500);
        CompletableFuture<Long> deleted =
                store.delete("/registry/pods/default/p", pod.join().modRevision());
        time.advance(Duration.ZERO);
        assertThat(deleted).isCompleted();
    }

    @Test
    void waitingWritesAreCommittedWhenTheStoreCloses() {
        load(500);
        CompletableFuture<Entry> waiting = renew();
        CompletableFuture<Void> closed = store.close();
        time.advance(Duration.ZERO);
        assertThat(waiting).isCompleted();
        assertThat(closed).isCompleted();
    }

    @Test
    void conflictOfABatchedWriteIsReportedWithItsGroup() {
        load(500);
        String key = "/registry/leases/kube-node-lease/n0";
        CompletableFuture<Entry> first = store.putBatched(key, VALUE, 1);
        CompletableFuture<Entry> second = store.putBatched(key, VALUE, 1);
        time.advance(Duration.ofMillis(10));
        assertThat(first).isCompleted();
        assertThat(second).isCompletedExceptionally();
    }

    @Test
    void watcherLearnsWhenTheChangesOfAGroupAreComplete() {
        load(500);
        List<String> heard = new ArrayList<>();
        store.watch("/registry/leases/", store.revision(), new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                heard.add("event");
            }

            @Override
            public void onSettled() {
                heard.add("settled");
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                throw why;
            }
        });
        time.advance(Duration.ofMillis(10));
        heard.clear();
        CompletableFuture<Entry> pod = store.put("/registry/pods/default/p", VALUE, 0);
        time.advance(Duration.ZERO);
        assertThat(pod).isCompleted();
        assertThat(heard).isEmpty();
        renew();
        renew();
        renew();
        time.advance(Duration.ofMillis(10));
        assertThat(heard).containsExactly("event", "event", "event", "settled");
    }
}
