package io.nodekeeper.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.memory.WatchCache;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of all stores. Revisions are relative to the revision at the start of the test, so that a store with
 * earlier contents can be tested, too.
 */
public abstract class StoreContract {
    protected static final String N1 = "/registry/minions/n1";
    protected static final String N2 = "/registry/minions/n2";
    protected static final String N10 = "/registry/minions/n10";
    protected static final String NODES = "/registry/minions/";
    protected static final String LEASE = "/registry/leases/kube-node-lease/n1";

    /** The history limits of the stores under test: four changes and a minute. */
    protected static final WatchCache.Limits LIMITS = new WatchCache.Limits(4, 60_000_000_000L);

    /** The store under test; empty at the start of each test. */
    protected Store store;

    /** The revision of the store at the start of the test. */
    protected long base;

    /** Opens an empty store. */
    protected abstract Store begin() throws Exception;

    /** Waits until all requests are complete and all events are delivered. */
    protected abstract void settle();

    /** Advances the clock. */
    protected abstract void pass(Duration time);

    @BeforeEach
    void open() throws Exception {
        store = begin();
        base = store.revision();
    }

    @AfterEach
    protected void close() {
        CompletableFuture<Void> closed = store.close();
        settle();
        closed.join();
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The revision {@code number} after the start of the test; 0 stays 0. */
    protected long at(long number) {
        return number == 0 ? 0 : base + number;
    }

    protected String text(Entry entry) {
        return entry.key().substring(entry.key().lastIndexOf('/') + 1) + "="
                + new String(entry.value(), StandardCharsets.UTF_8) + "@" + (entry.createRevision() - base) + "/"
                + (entry.modRevision() - base);
    }

    protected String text(Event event) {
        return event.revision() - base + ": " + event.before().map(this::text).orElse("-") + " -> "
                + event.after().map(this::text).orElse("-");
    }

    /** Starts a write that expects the object {@code at} a revision. */
    protected CompletableFuture<Entry> begin(String key, String value, long expected) {
        return store.put(key, bytes(value), at(expected));
    }

    protected Entry put(String key, String value, long expected) {
        CompletableFuture<Entry> done = begin(key, value, expected);
        settle();
        Entry entry = done.join();
        settle();
        return entry;
    }

    protected long delete(String key, long expected) {
        CompletableFuture<Long> done = store.delete(key, at(expected));
        settle();
        long revision = done.join();
        settle();
        return revision - base;
    }

    /** The nodes {@code at} a revision; 0 for the latest. */
    protected List<String> list(long revision) {
        return store.list(NODES, "", 0, at(revision)).entries().stream()
                .map(this::text)
                .toList();
    }

    /** Collects the events of a watch as text. */
    protected final class Listener implements Store.Watcher {
        public final List<String> heard = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void onEvent(Event event) {
            heard.add(text(event));
        }

        @Override
        public void onCompacted(StoreException.Compacted why) {
            heard.add("compacted; the oldest kept is " + (why.oldest() - base));
        }
    }

    /** Watches from the revision {@code after} the start of the test. */
    protected Listener watch(String prefix, long after) {
        Listener listener = new Listener();
        store.watch(prefix, base + after, listener);
        settle();
        return listener;
    }

    @Test
    void allResourcesShareOneSequenceOfRevisions() {
        // given an empty store
        assertThat(store.revision()).isEqualTo(base);
        // when objects of two resources are created, updated and deleted
        Entry created = put(N1, "a", 0);
        Entry lease = put(LEASE, "x", 0);
        Entry changed = put(N1, "b", 1);
        long removed = delete(LEASE, 2);
        // then each change has the next revision, and an update keeps the create revision
        assertThat(List.of(text(created), text(lease), text(changed)))
                .containsExactly("n1=a@1/1", "n1=x@2/2", "n1=b@1/3");
        assertThat(removed).isEqualTo(4);
        assertThat(store.revision() - base).isEqualTo(4);
        assertThat(store.get(N1).map(this::text)).contains("n1=b@1/3");
        assertThat(store.get(LEASE)).isEmpty();
    }

    @Test
    void writeThatExpectsAnotherRevisionIsRefused() {
        put(N1, "a", 0);
        assertThatThrownBy(() -> put(N1, "b", 0))
                .hasCauseInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("/registry/minions/n1 is at revision " + at(1) + ", expected 0");
        assertThatThrownBy(() -> put(N2, "b", 7)).hasMessageContaining("n2 is at revision 0, expected " + at(7));
        assertThatThrownBy(() -> delete(N1, 7))
                .hasMessageContaining("n1 is at revision " + at(1) + ", expected " + at(7));
        assertThat(store.revision() - base).isEqualTo(1);
        assertThat(list(0)).containsExactly("n1=a@1/1");
    }

    @Test
    void recreatedObjectHasANewCreateRevision() {
        put(N1, "a", 0);
        delete(N1, 1);
        assertThat(text(put(N1, "b", 0))).isEqualTo("n1=b@3/3");
    }

    @Test
    void conflictHasTheCurrentObject() {
        put(N1, "a", 0);
        CompletableFuture<Entry> lost = begin(N1, "b", 0);
        settle();
        assertThatThrownBy(lost::join)
                .cause()
                .isInstanceOfSatisfying(
                        StoreException.Conflict.class,
                        conflict ->
                                assertThat(conflict.actual().map(this::text)).contains("n1=a@1/1"));
    }

    @Test
    @Tag("W60")
    void readsReturnAcknowledgedWrites() {
        // given an acknowledged write
        put(N1, "a", 0);
        // when it is read, or listed after current()
        CompletableFuture<Optional<Entry>> read = store.read(N1);
        CompletableFuture<Optional<Entry>> absent = store.read(N2);
        CompletableFuture<List<String>> listed = store.current().thenApply(revision -> list(0));
        settle();
        // then the write is visible
        assertThat(read.join().map(this::text)).contains("n1=a@1/1");
        assertThat(absent.join()).isEmpty();
        assertThat(listed.join()).containsExactly("n1=a@1/1");
    }

    @Test
    void listIsOrderedByKeyAndLimitedToThePrefix() {
        put(N2, "b", 0);
        put(N10, "c", 0);
        put(N1, "a", 0);
        put("/registry/minionsx/n1", "other", 0);
        assertThat(list(0)).containsExactly("n1=a@3/3", "n10=c@2/2", "n2=b@1/1");
        assertThat(store.list(NODES, "", 0, 0).revision() - base).isEqualTo(4);
    }

    @Test
    @Tag("W53")
    void pagesOfAListShowOneRevision() {
        put(N1, "a", 0);
        put(N10, "b", 0);
        put(N2, "c", 0);
        // given the first page
        Listing first = store.list(NODES, "", 1, 0);
        assertThat(first.entries().stream().map(this::text)).containsExactly("n1=a@1/1");
        assertThat(first.remaining()).isEqualTo(2);
        // when the list changes
        put(N10, "changed", 2);
        delete(N2, 3);
        put("/registry/minions/n15", "new", 0);
        // then the next pages show the revision of the first page
        Listing second = store.list(NODES, N1, 1, first.revision());
        assertThat(second.entries().stream().map(this::text)).containsExactly("n10=b@2/2");
        assertThat(second.remaining()).isEqualTo(1);
        assertThat(second.revision() - base).isEqualTo(3);
        Listing third = store.list(NODES, N10, 1, first.revision());
        assertThat(third.entries().stream().map(this::text)).containsExactly("n2=c@3/3");
        assertThat(third.remaining()).isZero();
    }

    @Test
    void listAtARevisionInTheHistoryShowsThatState() {
        put(N1, "a", 0);
        put(LEASE, "x", 0);
        put(N1, "b", 1);
        delete(N1, 3);
        assertThat(list(1)).containsExactly("n1=a@1/1");
        assertThat(list(2)).containsExactly("n1=a@1/1");
        assertThat(list(3)).containsExactly("n1=b@1/3");
        assertThat(list(4)).isEmpty();
        assertThatThrownBy(() -> list(5)).hasMessage("revision " + at(5) + " is in the future; the latest is " + at(4));
    }

    @Test
    void historyIsLimitedByItsNumberOfChanges() {
        // given a history of at most four changes and six changes
        for (int i = 0; i < 6; i++) {
            put(N1, "v" + i, i);
        }
        // then lists and watches can start at the second change or later
        assertThat(list(2)).containsExactly("n1=v1@1/2");
        assertThatThrownBy(() -> list(1))
                .isInstanceOfSatisfying(
                        StoreException.Compacted.class,
                        compacted -> assertThat(compacted.oldest() - base).isEqualTo(2));
        assertThat(watch(NODES, 2).heard).hasSize(4);
        assertThat(watch(NODES, 1).heard).containsExactly("compacted; the oldest kept is 2");
    }

    @Test
    void nextChangeRemovesHistoryThatIsTooOld() {
        put(N1, "a", 0);
        put(N1, "b", 1);
        pass(Duration.ofSeconds(61));
        put(N1, "c", 2);
        assertThat(list(2)).containsExactly("n1=b@1/2");
        assertThatThrownBy(() -> list(1)).isInstanceOf(StoreException.Compacted.class);
    }

    @Test
    void resourceWithManyChangesDoesNotShortenTheHistoryOfAnother() {
        put(N1, "a", 0);
        for (int i = 0; i < 10; i++) {
            put(LEASE, "v", i == 0 ? 0 : i + 1);
        }
        assertThat(watch(NODES, 0).heard).containsExactly("1: - -> n1=a@1/1");
    }

    @Test
    @Tag("W61")
    void watchDeliversEachLaterChangeOnceAndInOrder() {
        put(N1, "a", 0);
        put(N2, "b", 0);
        Listener listener = watch(NODES, 1);
        put(N1, "c", 1);
        put(LEASE, "x", 0);
        delete(N2, 2);
        assertThat(listener.heard).containsExactly("2: - -> n2=b@2/2", "3: n1=a@1/1 -> n1=c@1/3", "5: n2=b@2/2 -> -");
    }

    @Test
    void watchOfAKeyDeliversOnlyChangesOfThatKey() {
        Listener listener = watch(N1, 0);
        put(N10, "x", 0);
        put(N1, "a", 0);
        assertThat(listener.heard).containsExactly("2: - -> n1=a@2/2");
        assertThat(watch(N1, 0).heard).containsExactly("2: - -> n1=a@2/2");
    }

    @Test
    void watchFromAFutureRevisionDeliversOnlyChangesAfterIt() {
        Listener listener = watch(NODES, 2);
        put(N1, "a", 0);
        put(N1, "b", 1);
        put(N1, "c", 2);
        assertThat(listener.heard).containsExactly("3: n1=b@1/2 -> n1=c@1/3");
    }

    @Test
    void watchThatFailsOrIsCancelledDoesNotAffectOthers() {
        Listener cancelled = new Listener();
        Store.Watch watch = store.watch(NODES, base, cancelled);
        store.watch(NODES, base, new Store.Watcher() {
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
        CompletableFuture<Entry> waiting = begin(N1, "a", 0);
        CompletableFuture<Void> closed = store.close();
        settle();
        closed.join();
        assertThat(text(waiting.join())).isEqualTo("n1=a@1/1");
        assertThat(store.put(N2, bytes("b"), 0))
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withMessageContaining("the store is closed: /registry/minions/n2 is not written");
    }
}
