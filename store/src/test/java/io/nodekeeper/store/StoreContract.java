package io.nodekeeper.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every store does, whatever its journal. */
abstract class StoreContract {
    static final String N1 = "/registry/minions/n1";
    static final String N2 = "/registry/minions/n2";
    static final String N10 = "/registry/minions/n10";
    static final String NODES = "/registry/minions/";
    static final String LEASE = "/registry/leases/kube-node-lease/n1";

    final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T07:00:00Z"));
    IndexedStore store;

    abstract Journal journal();

    @BeforeEach
    void open() {
        store = new IndexedStore(time.loop("store"), journal(), new History.Limits(4, 60_000_000_000L));
    }

    @AfterEach
    void close() {
        store.close();
        settle();
    }

    void settle() {
        time.advance(Duration.ZERO);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(Entry entry) {
        return entry.key().substring(entry.key().lastIndexOf('/') + 1) + "="
                + new String(entry.value(), StandardCharsets.UTF_8) + "@" + entry.createRevision() + "/"
                + entry.modRevision();
    }

    static String text(Event event) {
        return event.revision() + ": " + event.before().map(StoreContract::text).orElse("-") + " -> "
                + event.after().map(StoreContract::text).orElse("-");
    }

    Entry put(String key, String value, long expected) {
        CompletableFuture<Entry> done = store.put(key, bytes(value), expected);
        settle();
        return done.join();
    }

    long delete(String key, long expected) {
        CompletableFuture<Long> done = store.delete(key, expected);
        settle();
        return done.join();
    }

    List<String> list(long revision) {
        return store.list(NODES, "", 0, revision).entries().stream()
                .map(StoreContract::text)
                .toList();
    }

    /** Collects what a watch hears, one line each. */
    static final class Listener implements Store.Watcher {
        final List<String> heard = new ArrayList<>();

        @Override
        public void onEvent(Event event) {
            heard.add(text(event));
        }

        @Override
        public void onCompacted(StoreException.Compacted why) {
            heard.add("compacted: " + why.getMessage());
        }
    }

    Listener watch(String prefix, long after) {
        Listener listener = new Listener();
        store.watch(prefix, after, listener);
        settle();
        return listener;
    }

    @Test
    void numbersEveryChangeOfEveryKindWithOneCount() {
        // given an empty store
        assertThat(store.revision()).isZero();
        // when objects of two kinds are created, changed and removed
        Entry created = put(N1, "a", 0);
        Entry lease = put(LEASE, "x", 0);
        Entry changed = put(N1, "b", 1);
        long removed = delete(LEASE, 2);
        // then each change has the next revision, and the creation is remembered
        assertThat(List.of(text(created), text(lease), text(changed)))
                .containsExactly("n1=a@1/1", "n1=x@2/2", "n1=b@1/3");
        assertThat(removed).isEqualTo(4);
        assertThat(store.revision()).isEqualTo(4);
        assertThat(store.get(N1).map(StoreContract::text)).contains("n1=b@1/3");
        assertThat(store.get(LEASE)).isEmpty();
    }

    @Test
    void refusesAWriteThatExpectsAnotherRevision() {
        put(N1, "a", 0);
        assertThatThrownBy(() -> put(N1, "b", 0))
                .hasCauseInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("/registry/minions/n1 is at revision 1, expected 0");
        assertThatThrownBy(() -> put(N2, "b", 7)).hasMessageContaining("n2 is at revision 0, expected 7");
        assertThatThrownBy(() -> delete(N1, 7)).hasMessageContaining("n1 is at revision 1, expected 7");
        assertThat(store.revision()).isEqualTo(1);
        assertThat(list(0)).containsExactly("n1=a@1/1");
    }

    @Test
    void anObjectThatComesBackIsANewOne() {
        put(N1, "a", 0);
        delete(N1, 1);
        assertThat(text(put(N1, "b", 0))).isEqualTo("n1=b@3/3");
    }

    @Test
    void writesOfOneGroupBuildOnEachOther() {
        // given writes that all wait for the same turn of the loop
        CompletableFuture<Entry> first = store.put(N1, bytes("a"), 0);
        CompletableFuture<Entry> second = store.put(N1, bytes("b"), 1);
        CompletableFuture<Entry> late = store.put(N1, bytes("c"), 1);
        assertThat(store.revision()).isZero();
        // when they are committed
        settle();
        // then the second sees the first, and the third came too late for both
        assertThat(text(first.join())).isEqualTo("n1=a@1/1");
        assertThat(text(second.join())).isEqualTo("n1=b@1/2");
        assertThatThrownBy(late::join)
                .hasMessageContaining("/registry/minions/n1 is at revision 2, expected 1")
                .cause()
                .isInstanceOfSatisfying(
                        StoreException.Conflict.class,
                        conflict -> assertThat(conflict.actual().map(StoreContract::text))
                                .contains("n1=b@1/2"));
    }

    @Test
    void aLoserSeesTheWinnersStateAsSoonAsItHearsOfItsLoss() {
        CompletableFuture<Entry> winner = store.put(N1, bytes("a"), 0);
        CompletableFuture<String> seen = store.put(N1, bytes("b"), 0)
                .handle((entry, error) -> store.get(N1).map(StoreContract::text).orElse("nothing"));
        settle();
        assertThat(winner).isCompleted();
        assertThat(seen.join()).isEqualTo("n1=a@1/1");
    }

    @Test
    void commitsMoreThanOneGroupsWorthInOrder() {
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
    void listsInTheOrderOfKeysAndOnlyBelowThePrefix() {
        put(N2, "b", 0);
        put(N10, "c", 0);
        put(N1, "a", 0);
        put("/registry/minionsx/n1", "other", 0);
        assertThat(list(0)).containsExactly("n1=a@3/3", "n10=c@2/2", "n2=b@1/1");
        assertThat(store.list(NODES, "", 0, 0).revision()).isEqualTo(4);
    }

    @Test
    @Tag("W53")
    void pagesThroughOneRevisionWhateverIsWrittenMeanwhile() {
        put(N1, "a", 0);
        put(N10, "b", 0);
        put(N2, "c", 0);
        // given the first page
        Listing first = store.list(NODES, "", 1, 0);
        assertThat(first.entries().stream().map(StoreContract::text)).containsExactly("n1=a@1/1");
        assertThat(first.remaining()).isEqualTo(2);
        // when the list changes
        put(N10, "changed", 2);
        delete(N2, 3);
        put("/registry/minions/n15", "new", 0);
        // then the next pages are as of the first
        Listing second = store.list(NODES, N1, 1, first.revision());
        assertThat(second.entries().stream().map(StoreContract::text)).containsExactly("n10=b@2/2");
        assertThat(second.remaining()).isEqualTo(1);
        assertThat(second.revision()).isEqualTo(3);
        Listing third = store.list(NODES, N10, 1, first.revision());
        assertThat(third.entries().stream().map(StoreContract::text)).containsExactly("n2=c@3/3");
        assertThat(third.remaining()).isZero();
    }

    @Test
    void listsWhatWasThereAtEachRevisionStillKept() {
        put(N1, "a", 0);
        put(LEASE, "x", 0);
        put(N1, "b", 1);
        delete(N1, 3);
        assertThat(list(1)).containsExactly("n1=a@1/1");
        assertThat(list(2)).containsExactly("n1=a@1/1");
        assertThat(list(3)).containsExactly("n1=b@1/3");
        assertThat(list(4)).isEmpty();
        assertThatThrownBy(() -> list(5)).hasMessage("revision 5 is yet to come; the latest is 4");
    }

    @Test
    void forgetsHistoryBeyondItsCount() {
        // given a history of at most four changes and six changes
        for (int i = 0; i < 6; i++) {
            put(N1, "v" + i, i);
        }
        // then the state after the second is the oldest known, for lists and watches
        assertThat(list(2)).containsExactly("n1=v1@1/2");
        assertThatThrownBy(() -> list(1))
                .isInstanceOfSatisfying(
                        StoreException.Compacted.class,
                        compacted -> assertThat(compacted.oldest()).isEqualTo(2));
        assertThat(watch(NODES, 2).heard).hasSize(4);
        assertThat(watch(NODES, 1).heard).containsExactly("compacted: revision 1 is gone; the oldest kept is 2");
    }

    @Test
    void forgetsHistoryBeyondItsAgeWithTheNextChange() {
        put(N1, "a", 0);
        put(N1, "b", 1);
        time.advance(Duration.ofSeconds(61));
        put(N1, "c", 2);
        assertThat(list(2)).containsExactly("n1=b@1/2");
        assertThatThrownBy(() -> list(1)).isInstanceOf(StoreException.Compacted.class);
    }

    @Test
    void aBusyKindDoesNotPushOutAQuietOnesHistory() {
        put(N1, "a", 0);
        for (int i = 0; i < 10; i++) {
            put(LEASE, "v", i == 0 ? 0 : i + 1);
        }
        assertThat(watch(NODES, 0).heard).containsExactly("1: - -> n1=a@1/1");
    }

    @Test
    @Tag("W61")
    void aWatchHearsEveryChangeAfterItsRevisionOnceAndInOrder() {
        put(N1, "a", 0);
        put(N2, "b", 0);
        Listener listener = watch(NODES, 1);
        store.put(N1, bytes("c"), 1);
        store.put(LEASE, bytes("x"), 0);
        store.delete(N2, 2);
        settle();
        assertThat(listener.heard).containsExactly("2: - -> n2=b@2/2", "3: n1=a@1/1 -> n1=c@1/3", "5: n2=b@2/2 -> -");
    }

    @Test
    void aWatchOfOneKeyHearsOnlyOfThatKey() {
        Listener listener = watch(N1, 0);
        put(N10, "x", 0);
        put(N1, "a", 0);
        assertThat(listener.heard).containsExactly("2: - -> n1=a@2/2");
        assertThat(watch(N1, 0).heard).containsExactly("2: - -> n1=a@2/2");
    }

    @Test
    void aWatchFromTheFutureIsSilentUntilThen() {
        Listener listener = watch(NODES, 2);
        put(N1, "a", 0);
        put(N1, "b", 1);
        put(N1, "c", 2);
        assertThat(listener.heard).containsExactly("3: n1=b@1/2 -> n1=c@1/3");
    }

    @Test
    void aCancelledWatchHearsNothingMoreAndAFailingOneHarmsNobody() {
        Listener cancelled = new Listener();
        Store.Watch watch = store.watch(NODES, 0, cancelled);
        store.watch(NODES, 0, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                throw new IllegalStateException("a fault of this watcher");
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {}
        });
        Listener other = watch(NODES, 0);
        put(N1, "a", 0);
        watch.cancel();
        watch.cancel();
        settle();
        put(N1, "b", 1);
        assertThat(cancelled.heard).containsExactly("1: - -> n1=a@1/1");
        assertThat(other.heard).containsExactly("1: - -> n1=a@1/1", "2: n1=a@1/1 -> n1=b@1/2");
    }

    @Test
    void refusesWritesOnceClosed() {
        CompletableFuture<Entry> waiting = store.put(N1, bytes("a"), 0);
        CompletableFuture<Void> closed = store.close();
        settle();
        assertThat(closed).isCompleted();
        assertThat(text(waiting.join())).isEqualTo("n1=a@1/1");
        assertThat(store.put(N2, bytes("b"), 0))
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withMessageContaining("the store is closed: /registry/minions/n2 is not written");
    }
}
