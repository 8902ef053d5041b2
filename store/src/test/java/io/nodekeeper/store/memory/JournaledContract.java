package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreContract;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The contract of {@link IndexedStore} with any journal. */
public abstract class JournaledContract extends StoreContract {
    protected final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T07:00:00Z"));

    protected abstract Journal journal();

    @Override
    protected Store begin() {
        return new IndexedStore(time.loop("store"), journal(), LIMITS);
    }

    @Override
    protected void settle() {
        time.advance(Duration.ZERO);
    }

    @Override
    protected void pass(Duration duration) {
        time.advance(duration);
    }

    @Test
    void writesOfOneGroupSeeEachOther() {
        // given writes that wait for the same turn of the loop
        CompletableFuture<Entry> first = store.put(N1, bytes("a"), 0);
        CompletableFuture<Entry> second = store.put(N1, bytes("b"), 1);
        CompletableFuture<Entry> late = store.put(N1, bytes("c"), 1);
        assertThat(store.revision()).isZero();
        // when they are committed
        settle();
        // then the second sees the first, and the third has a conflict
        assertThat(text(first.join())).isEqualTo("n1=a@1/1");
        assertThat(text(second.join())).isEqualTo("n1=b@1/2");
        assertThatThrownBy(late::join)
                .hasMessageContaining("/registry/minions/n1 is at revision 2, expected 1")
                .cause()
                .isInstanceOfSatisfying(
                        StoreException.Conflict.class,
                        conflict ->
                                assertThat(conflict.actual().map(this::text)).contains("n1=b@1/2"));
    }

    @Test
    void writesOfSeveralGroupsAreCommittedInOrder() {
        List<CompletableFuture<Entry>> writes = new ArrayList<>();
        for (int i = 0; i < 1_100; i++) {
            writes.add(store.put("/registry/events/default/e" + i, bytes("v"), 0));
        }
        settle();
        for (int i = 0; i < 1_100; i++) {
            assertThat(writes.get(i).join().modRevision()).isEqualTo(i + 1);
        }
    }

    @Test
    void winningWriteIsVisibleWhenTheConflictIsReported() {
        CompletableFuture<Entry> winner = store.put(N1, bytes("a"), 0);
        CompletableFuture<String> seen = store.put(N1, bytes("b"), 0)
                .handle((entry, error) -> store.get(N1).map(this::text).orElse("nothing"));
        settle();
        assertThat(winner).isCompleted();
        assertThat(seen.join()).isEqualTo("n1=a@1/1");
    }
}
