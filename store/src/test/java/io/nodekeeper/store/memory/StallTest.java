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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A store whose journal writes on its own thread, while the disk blocks that thread. */
class StallTest {
    private static final String KEY = "/registry/minions/n1";
    private static final String OTHER = "/registry/minions/n2";

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    /** The tasks of the disk, which run when the test calls {@link #diskWorks}. */
    private final ArrayDeque<Runnable> disk = new ArrayDeque<>();

    private final IndexedStore store = new IndexedStore(loop, disk::add, Journal.NONE);

    private void settle() {
        time.advance(Duration.ZERO);
    }

    private void diskWorks() {
        while (!disk.isEmpty()) {
            disk.remove().run();
            settle();
        }
    }

    private CompletableFuture<Entry> put(String key, long expected) {
        CompletableFuture<Entry> put = store.put(key, new byte[] {1}, expected);
        settle();
        return put;
    }

    private List<Long> watch(long after) {
        List<Long> heard = new ArrayList<>();
        store.watch("/registry/minions/", after, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                heard.add(event.revision());
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                throw why;
            }
        });
        settle();
        return heard;
    }

    @Test
    void readsAndWatchesContinueWhileWritesWait() {
        // given an object, and a disk that blocks during the write of a second one
        put(KEY, 0);
        diskWorks();
        CompletableFuture<Entry> waiting = put(OTHER, 0);
        // then reads do not see the second one, a new watch delivers the first one, and the loop is free
        assertThat(waiting).isNotDone();
        assertThat(store.get(KEY)).isPresent();
        assertThat(store.get(OTHER)).isEmpty();
        assertThat(store.list("/registry/minions/", "", 0, 0).entries()).hasSize(1);
        List<Long> heard = watch(0);
        assertThat(heard).containsExactly(1L);
        // and when the disk works again, the write completes and the watch delivers it
        diskWorks();
        assertThat(waiting).isCompleted();
        assertThat(heard).containsExactly(1L, 2L);
    }

    @Test
    void storeIsUnhealthyWhenAGroupTakesMoreThanFiveSeconds() {
        CompletableFuture<Entry> waiting = put(KEY, 0);
        time.advance(Duration.ofSeconds(5));
        assertThat(store.healthy()).isTrue();
        time.advance(Duration.ofMillis(1));
        assertThat(store.healthy()).isFalse();
        diskWorks();
        assertThat(waiting).isCompleted();
        assertThat(store.healthy()).isTrue();
    }

    @Test
    void nextGroupStartsBeforeTheWritersOfTheLastOneAreNotified() {
        List<Integer> waitingForTheDisk = new ArrayList<>();
        put(KEY, 0).thenRun(() -> waitingForTheDisk.add(disk.size()));
        CompletableFuture<Entry> second = put(KEY, 1);
        CompletableFuture<Entry> third = put(KEY, 1);
        disk.remove().run();
        settle();
        assertThat(waitingForTheDisk).containsExactly(1);
        diskWorks();
        assertThat(second.join().modRevision()).isEqualTo(2);
        assertThat(third).isCompletedExceptionally();
    }

    @Test
    void closeCompletesWhenAllWaitingWritesAreDurable() {
        CompletableFuture<Entry> first = put(KEY, 0);
        CompletableFuture<Entry> second = put(KEY, 1);
        CompletableFuture<Void> closed = store.close();
        settle();
        assertThat(closed).isNotDone();
        assertThat(put(OTHER, 0)).isCompletedExceptionally();
        diskWorks();
        assertThat(first).isCompleted();
        assertThat(second).isCompleted();
        assertThat(closed).isCompleted();
    }

    @Test
    void writesAreRefusedWhenTooManyWaitForADiskThatStalls() {
        // given a disk that has not written for six seconds
        put(KEY, 0);
        time.advance(Duration.ofSeconds(6));

        // when 40 MiB of writes arrive
        List<CompletableFuture<Entry>> puts = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            puts.add(store.put("/registry/minions/m" + i, new byte[1 << 20], 0));
        }

        // then those beyond 32 MiB fail at once, and the others wait
        assertThat(puts.subList(0, 31)).noneMatch(CompletableFuture::isDone);
        assertThat(puts.subList(32, 40)).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(puts.getLast().exceptionNow())
                .hasMessageContaining("too many writes wait: /registry/minions/m39 is not written");

        // and when the disk works again, they are written, and new ones are accepted
        diskWorks();
        settle();
        diskWorks();
        assertThat(puts.subList(0, 31)).allMatch(done -> done.isDone() && !done.isCompletedExceptionally());
        CompletableFuture<Entry> later = put("/registry/minions/m39", 0);
        diskWorks();
        assertThat(later).isCompleted();
    }
}
