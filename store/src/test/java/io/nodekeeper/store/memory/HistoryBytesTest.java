package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Changes;
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
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** The limits of the history in bytes, for each resource and for all together. */
class HistoryBytesTest {
    private static final long ALL = 40_000;
    private static final List<String> RESOURCES = List.of("a", "b", "c", "d");

    /** A write: the resource, the object and the size of its new value; -1 deletes it. */
    record Change(int resource, int object, int size) {}

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);

    private IndexedStore store(int events, long memory, long stored) {
        return new IndexedStore(
                time.loop("store"), Journal.NONE, new WatchCache.Limits(events, Long.MAX_VALUE, memory, stored));
    }

    private void settle() {
        time.advance(Duration.ZERO);
    }

    @Provide
    Arbitrary<List<List<Change>>> groups() {
        Arbitrary<Change> change = Combinators.combine(
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.integers().between(-1, 6_000))
                .as(Change::new);
        return change.list().ofMinSize(1).ofMaxSize(4).list().ofMaxSize(40);
    }

    @Property(tries = 200)
    void neitherAResourceNorAllOfThemKeepMoreThanTheirBytes(@ForAll("groups") List<List<Change>> groups) {
        IndexedStore store = store(1_000, Long.MAX_VALUE, ALL);
        for (List<Change> group : groups) {
            long before = store.revision();
            group.forEach(change -> write(store, change));
            settle();
            long coming = cost(changesSince(store, before));
            long all = 0;
            for (String resource : RESOURCES) {
                long kept = cost(kept(store, resource));
                assertThat(kept).isLessThanOrEqualTo(ALL / 2 + coming);
                all += kept;
            }
            assertThat(all).isLessThanOrEqualTo(ALL + coming);
        }
    }

    @Property(tries = 100)
    void pagesOfTheHistoryEqualTheEventsOfAWatch(@ForAll("groups") List<List<Change>> groups) {
        IndexedStore store = store(1_000, Long.MAX_VALUE, ALL);
        for (List<Change> group : groups) {
            group.forEach(change -> write(store, change));
            settle();
        }
        for (String resource : RESOURCES) {
            String prefix = "/registry/" + resource + "/";
            long start = start(store, resource);
            List<Event> told = new ArrayList<>();
            store.watch(prefix, start, new Store.Watcher() {
                @Override
                public void onEvent(Event event) {
                    told.add(event);
                }

                @Override
                public void onCompacted(StoreException.Compacted why) {
                    throw why;
                }
            });
            settle();
            List<Event> parts = new ArrayList<>();
            Changes part;
            long at = start;
            do {
                part = store.changes(prefix, at, 3, 5_000);
                assertThat(part.events().size()).isLessThanOrEqualTo(3);
                parts.addAll(part.events());
                at = part.through();
            } while (part.more());
            assertThat(parts).isEqualTo(told);
            assertThat(at).isEqualTo(store.revision());
        }
    }

    @Test
    void resourceWithManyWritesDoesNotShortenTheHistoryOfAnother() {
        // given a quiet resource with two changes
        IndexedStore store = store(100_000, 10_000, Long.MAX_VALUE);
        write(store, new Change(0, 0, 100));
        settle();
        write(store, new Change(0, 0, 100));
        settle();
        // when another one has more changes than fit
        for (int i = 0; i < 500; i++) {
            write(store, new Change(1, 0, 300));
            settle();
        }
        // then watches of the quiet one can resume from its start, those of the busy one only from the latest changes
        assertThat(store.changes("/registry/a/", 0, 10, 1_000).events()).hasSize(2);
        assertThat(kept(store, "b")).hasSizeBetween(5, 5_000 / 486 + 1);
        assertThatThrownBy(() -> store.changes("/registry/b/", 2, 1, 1)).isInstanceOf(StoreException.Compacted.class);
    }

    private void write(IndexedStore store, Change change) {
        String key = "/registry/" + RESOURCES.get(change.resource) + "/" + change.object;
        Optional<Entry> now = store.get(key);
        long expected = now.map(Entry::modRevision).orElse(0L);
        if (change.size >= 0) {
            store.put(key, new byte[change.size], expected);
        } else if (now.isPresent()) {
            store.delete(key, expected);
        }
    }

    private List<Event> kept(IndexedStore store, String resource) {
        return store.changes("/registry/" + resource + "/", start(store, resource), 10_000, Long.MAX_VALUE)
                .events();
    }

    /** The revision from which all changes of a resource are kept. */
    private static long start(IndexedStore store, String resource) {
        try {
            store.changes("/registry/" + resource + "/", 0, 1, 1);
            return 0;
        } catch (StoreException.Compacted e) {
            return e.oldest();
        }
    }

    private static List<Event> changesSince(IndexedStore store, long revision) {
        List<Event> all = new ArrayList<>();
        for (String resource : RESOURCES) {
            all.addAll(store.changes(
                            "/registry/" + resource + "/",
                            Math.max(revision, start(store, resource)),
                            10_000,
                            Long.MAX_VALUE)
                    .events());
        }
        return all;
    }

    /** What changes cost where values are stored: the versions that they replaced, and 160 bytes each. */
    private static long cost(List<Event> events) {
        return events.stream()
                .mapToLong(event -> 160 + event.before().map(Entry::length).orElse(0))
                .sum();
    }
}
