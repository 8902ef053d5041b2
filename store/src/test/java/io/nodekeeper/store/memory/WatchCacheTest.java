package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Changes;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.ValueReader;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The exact limits of the history, and reads from it. A change costs 160 bytes and the version that it replaced; in memory also two bytes
 * for each of the 13 characters of its key.
 */
class WatchCacheTest {
    private static final long NO_BOUND = Long.MAX_VALUE;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final List<String> delivered = new ArrayList<>();

    @Test
    void historyOfAResourceIsLimitedByItsNumberOfChanges() {
        WatchCache cache = cache(3, NO_BOUND, NO_BOUND, NO_BOUND);
        for (int i = 1; i <= 3; i++) {
            assertThat(put(cache, i, "/registry/a/x", 0)).isEmpty();
        }

        assertThat(put(cache, 4, "/registry/a/x", 0)).containsExactly(1L);
        assertThat(put(cache, 5, "/registry/b/x", 0)).as("another resource").isEmpty();
    }

    @Test
    void changeLeavesTheHistoryOnlyWhenItIsOlderThanTheAge() {
        WatchCache cache = cache(10, 5_000_000_000L, NO_BOUND, NO_BOUND);
        put(cache, 1, "/registry/a/x", 0);
        time.advance(Duration.ofSeconds(5));
        assertThat(put(cache, 2, "/registry/a/x", 0)).isEmpty();

        time.advance(Duration.ofNanos(1));
        assertThat(put(cache, 3, "/registry/a/x", 0)).containsExactly(1L);
    }

    @Test
    void resourceMayTakeHalfOfTheMemory() {
        // The second change keeps the version of 40 bytes before it: 186 + 186 + 40 are half of 824.
        WatchCache fits = cache(10, NO_BOUND, 824, NO_BOUND);
        put(fits, 1, "/registry/a/x", 40);
        assertThat(put(fits, 2, "/registry/a/x", 0)).isEmpty();

        WatchCache tight = cache(10, NO_BOUND, 823, NO_BOUND);
        put(tight, 1, "/registry/a/x", 40);
        assertThat(put(tight, 2, "/registry/a/x", 0)).containsExactly(1L);
    }

    @Test
    void resourceMayTakeHalfOfTheStoredBytes() {
        WatchCache fits = cache(10, NO_BOUND, NO_BOUND, 720);
        put(fits, 1, "/registry/a/x", 40);
        assertThat(put(fits, 2, "/registry/a/x", 0)).isEmpty();

        WatchCache tight = cache(10, NO_BOUND, NO_BOUND, 719);
        put(tight, 1, "/registry/a/x", 40);
        assertThat(put(tight, 2, "/registry/a/x", 0)).containsExactly(1L);
    }

    @Test
    void largestResourceLosesHistoryWhenTheTotalIsTooLarge() {
        // Four changes of 186 or 160 bytes; no resource has more than half.
        for (boolean memory : new boolean[] {true, false}) {
            WatchCache cache = cache(10, NO_BOUND, memory ? 744 : NO_BOUND, memory ? NO_BOUND : 640);
            put(cache, 1, "/registry/a/x", 0);
            put(cache, 2, "/registry/b/x", 0);
            put(cache, 3, "/registry/b/y", 0);
            assertThat(put(cache, 4, "/registry/c/x", 0)).as("all bytes").isEmpty();

            assertThat(put(cache, 5, "/registry/d/x", 0)).containsExactly(2L);
        }
    }

    @Test
    void resourceLosesOnlyTheExcess() {
        for (boolean memory : new boolean[] {true, false}) {
            WatchCache cache = cache(10, NO_BOUND, memory ? 1_488 : NO_BOUND, memory ? NO_BOUND : 1_280);
            for (int i = 1; i <= 4; i++) {
                assertThat(put(cache, i, "/registry/a/" + i, 0)).isEmpty();
            }

            assertThat(put(cache, 5, "/registry/a/5", 0)).containsExactly(1L);
        }
    }

    @Test
    void largestResourceIsThatOfTheExceededLimit() {
        // The resource a takes 372 bytes of memory and 320 of disk; b 186 of memory, and 360 of disk.
        WatchCache stored = cache(10, NO_BOUND, 744, 839);
        fill(stored);
        assertThat(put(stored, 4, "/registry/c/x", 0)).as("840 bytes on disk").containsExactly(3L);

        WatchCache memory = cache(10, NO_BOUND, 1_115, NO_BOUND);
        fill(memory);
        put(memory, 4, "/registry/c/x", 0);
        put(memory, 5, "/registry/d/x", 0);
        assertThat(put(memory, 6, "/registry/e/x", 0))
                .as("1,116 bytes of memory")
                .containsExactly(1L);
    }

    private static void fill(WatchCache cache) {
        put(cache, 1, "/registry/a/x", 0);
        put(cache, 2, "/registry/a/y", 0);
        Entry before = Entry.stored("/registry/b/x", 200, new NoValues(), 1, 1);
        cache.apply(cache.plan(List.of(new Event(3, "/registry/b/x", Optional.of(before), Optional.empty()))));
    }

    private record NoValues() implements ValueReader {
        @Override
        public byte[] read(String key, long revision) {
            throw new AssertionError(key);
        }

        @Override
        public boolean cached(long revision) {
            return false;
        }
    }

    @Test
    void otherThreadsReadAfterEachChange() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(cache, 1, "/registry/a/x", 0);
        assertThat(elsewhere(cache)).isEqualTo(1);

        cache.begin(5, List.of());
        assertThat(elsewhere(cache)).isZero();
    }

    @Test
    void objectThatStaysIsFoundWhileTheContentsAreReplaced() {
        // given an object that the new contents have, too, and one that they have not
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(cache, 1, "/registry/a/stays", 0);
        put(cache, 2, "/registry/a/goes", 0);
        List<Entry> contents = List.of(
                new Entry("/registry/a/new", new byte[3], 5, 5), new Entry("/registry/a/stays", new byte[3], 1, 1));

        // when they are taken up one by one
        cache.begin(9, new AbstractCollection<>() {
            @Override
            public Iterator<Entry> iterator() {
                return contents.stream()
                        .peek(each -> assertThat(cache.get("/registry/a/stays")).isPresent())
                        .iterator();
            }

            @Override
            public int size() {
                return contents.size();
            }
        });

        // then it was found at each moment, and the other one is gone
        assertThat(list(cache, "/registry/a/", 0))
                .containsExactly("/registry/a/new@5 (3 bytes)", "/registry/a/stays@1 (3 bytes)");
        assertThat(cache.get("/registry/a/goes")).isEmpty();
    }

    private static int elsewhere(WatchCache cache) {
        return CompletableFuture.supplyAsync(
                        () -> list(cache, "/registry/a/", 0).size())
                .orTimeout(30, TimeUnit.SECONDS)
                .join();
    }

    @Test
    void tenthOfTheLargestHistoryIsDroppedAtOnce() {
        // Room for 60 changes; 50 of them are of keys with one character more.
        WatchCache cache = cache(1_000, NO_BOUND, 186 * 60 + 2 * 50, NO_BOUND);
        for (int i = 1; i <= 30; i++) {
            put(cache, i, "/registry/a/" + i, 0);
        }
        for (int i = 31; i <= 59; i++) {
            put(cache, i, "/registry/b/" + i, 0);
        }
        put(cache, 60, "/registry/c/x", 0);

        assertThat(put(cache, 61, "/registry/c/y", 0)).containsExactly(1L, 2L, 3L);
    }

    @Test
    void listOfAnEarlierRevisionShowsThatState() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(cache, 1, "/registry/a/x", 1);
        put(cache, 2, "/registry/a/x", 2);
        delete(cache, 3, "/registry/a/x");
        put(cache, 4, "/registry/b/x", 4);

        assertThat(list(cache, "/registry/a/", 0)).isEmpty();
        assertThat(list(cache, "/registry/a/", 1)).containsExactly("/registry/a/x@1 (1 bytes)");
        assertThat(list(cache, "/registry/a/", 2)).containsExactly("/registry/a/x@2 (2 bytes)");
        assertThat(list(cache, "/registry/a/", 3)).isEmpty();
        assertThat(list(cache, "/registry/b/", 3)).isEmpty();
        assertThat(list(cache, "/registry/c/", 1)).isEmpty();
        assertThat(cache.list("/registry/a/", "", 0, 0).revision()).isEqualTo(4);
        assertThat(cache.list("/registry/a/", "", 0, 2).revision()).isEqualTo(2);
        assertThatThrownBy(() -> list(cache, "/registry/a/", 5))
                .isInstanceOf(StoreException.class)
                .hasMessage("revision 5 is in the future; the latest is 4");
    }

    @Test
    void pageHasTheNumberOfRemainingObjects() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        for (int i = 1; i <= 3; i++) {
            put(cache, i, "/registry/a/" + i, 0);
        }

        Listing page = cache.list("/registry/a/", "", 2, 0);
        assertThat(page.entries()).hasSize(2);
        assertThat(page.remaining()).isEqualTo(1);
        assertThat(cache.list("/registry/a/", "/registry/a/2", 2, 0).entries())
                .extracting(Entry::key)
                .containsExactly("/registry/a/3");
        assertThat(cache.list("/registry/a/", "/registry/a/1", 0, 2).entries())
                .extracting(Entry::key)
                .containsExactly("/registry/a/2");
        assertThat(cache.size()).isEqualTo(3);
    }

    @Test
    void revisionBeforeTheHistoryIsRefusedEverywhere() {
        WatchCache cache = cache(1, NO_BOUND, NO_BOUND, NO_BOUND);
        put(cache, 1, "/registry/a/x", 0);
        put(cache, 2, "/registry/a/x", 0);

        assertThat(list(cache, "/registry/a/", 1)).hasSize(1);
        assertThat(cache.changes("/registry/a/", 1, 10, 1_000).events()).hasSize(1);
        put(cache, 3, "/registry/a/x", 0);
        assertThatThrownBy(() -> list(cache, "/registry/a/", 1)).isInstanceOf(StoreException.Compacted.class);
        assertThatThrownBy(() -> cache.changes("/registry/a/", 1, 10, 1_000))
                .isInstanceOf(StoreException.Compacted.class);
        watch(cache, "/registry/a/", 1);
        watch(cache, "/registry/a/", 2);
        assertThat(delivered).containsExactly("compacted 1", "3");
    }

    @Test
    void replacedContentsHaveNoEarlierHistory() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(cache, 1, "/registry/a/x", 0);
        watch(cache, "/registry/a/", 1);

        cache.begin(9, List.of(new Entry("/registry/b/y", new byte[3], 5, 8)));

        assertThat(delivered).containsExactly("compacted 1");
        deliver(cache, 10, "/registry/a/z");
        assertThat(delivered).as("that watch has ended").hasSize(1);
        assertThat(cache.get("/registry/a/x")).isEmpty();
        assertThat(cache.get("/registry/b/y")).isPresent();
        assertThat(cache.revision()).isEqualTo(10);
        assertThatThrownBy(() -> cache.changes("/registry/a/", 8, 10, 1_000))
                .isInstanceOf(StoreException.Compacted.class);
        assertThat(cache.changes("/registry/a/", 9, 10, 1_000).events()).hasSize(1);
        assertThatThrownBy(() -> list(cache, "/registry/b/", 8)).isInstanceOf(StoreException.Compacted.class);
    }

    @Test
    void cacheContinuesWithTheHistoryOfTheJournal() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        Entry entry = new Entry("/registry/a/x", new byte[3], 5, 5);
        Event event = new Event(5, "/registry/a/x", Optional.empty(), Optional.of(entry));

        cache.begin(new Journal.Recovered(
                6, List.of(entry), List.of(event), Map.of("/registry/a/", 4L, "/registry/b/", 1L), 2));

        assertThat(cache.revision()).isEqualTo(6);
        assertThat(cache.get("/registry/a/x")).contains(entry);
        assertThat(cache.changes("/registry/a/", 4, 10, 1_000).events()).containsExactly(event);
        assertThatThrownBy(() -> cache.changes("/registry/a/", 3, 10, 1_000))
                .isInstanceOf(StoreException.Compacted.class);
        assertThatThrownBy(() -> cache.changes("/registry/b/", 1, 10, 1_000))
                .isInstanceOf(StoreException.Compacted.class);
        assertThat(cache.changes("/registry/b/", 2, 10, 1_000).through()).isEqualTo(6);
    }

    @Test
    void pageOfTheHistoryHasAtLeastOneChangeAndEndsAtItsLimits() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(cache, 1, "/registry/a/x", 50);
        put(cache, 2, "/registry/a/y", 50);
        put(cache, 3, "/registry/a/z", 50);

        assertThat(part(cache, 0, 1, 1_000)).isEqualTo("[1] through 1, more");
        assertThat(part(cache, 0, 2, 1_000)).isEqualTo("[1, 2] through 2, more");
        assertThat(part(cache, 0, 3, 1_000)).isEqualTo("[1, 2, 3] through 3");
        assertThat(part(cache, 0, 9, 1)).isEqualTo("[1] through 1, more");
        assertThat(part(cache, 0, 9, 50)).isEqualTo("[1] through 1, more");
        assertThat(part(cache, 0, 9, 51)).isEqualTo("[1, 2] through 2, more");
        assertThat(part(cache, 2, 9, 1_000)).isEqualTo("[3] through 3");
        assertThat(part(cache, 3, 9, 1_000)).isEqualTo("[] through 3");
        assertThat(part(cache, 7, 9, 1_000)).isEqualTo("[] through 7");
    }

    @Test
    void changesOfOneRevisionStayTogether() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        WatchCache.Plan plan = cache.plan(List.of(
                event(cache, 1, "/registry/a/x", 5),
                event(cache, 1, "/registry/a/y", 5),
                event(cache, 2, "/registry/a/z", 5)));
        cache.apply(plan);

        assertThat(part(cache, 0, 1, 1_000)).isEqualTo("[1, 1] through 1, more");
    }

    @Test
    void watchDeliversPastAndNewChangesUntilItIsCancelled() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(cache, 1, "/registry/a/x", 0);
        put(cache, 2, "/registry/a/y", 0);
        Store.Watch watch = watch(cache, "/registry/a/x", 0);
        deliver(cache, 3, "/registry/a/x");
        deliver(cache, 4, "/registry/a/y");

        watch.cancel();
        time.advance(Duration.ZERO);
        deliver(cache, 5, "/registry/a/x");

        assertThat(delivered).containsExactly("1", "3");
    }

    @Test
    void revisionNeverGoesBack() {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(cache, 5, "/registry/a/x", 0);

        cache.advance(4);
        assertThat(cache.revision()).isEqualTo(5);
        cache.advance(6);
        assertThat(cache.revision()).isEqualTo(6);
    }

    /** A watcher that throws {@code failure} at the changes of {@code revision}, and at the end of its group if that is 0. */
    private Store.Watcher failing(long revision, Throwable failure) {
        return new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                if (event.revision() == revision) {
                    sneak(failure);
                }
                delivered.add("failing: " + event.revision());
            }

            @Override
            public void onSettled() {
                if (revision == 0) {
                    sneak(failure);
                }
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                delivered.add("failing: " + why.getMessage());
            }
        };
    }

    private static void sneak(Throwable failure) {
        switch (failure) {
            case Error error -> throw error;
            case RuntimeException exception -> throw exception;
            default -> throw new AssertionError(failure);
        }
    }

    static Stream<Throwable> failures() {
        return Stream.of(new IllegalStateException("a fault"), new OutOfMemoryError("none left"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void watchOfAWatcherThatFailsEndsSoThatItsUserListsAgain(Throwable failure) {
        // given a watcher that fails at revision 2, between two that do not
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        watch(cache, "/registry/a/", 0);
        cache.watch("/registry/a/", 0, failing(2, failure));
        watch(cache, "/registry/a/", 0);

        // when three changes come
        deliver(cache, 1, "/registry/a/x");
        deliver(cache, 2, "/registry/a/x");
        deliver(cache, 3, "/registry/a/x");

        // then it learns that it missed something, and the others missed nothing
        assertThat(delivered)
                .containsExactly(
                        "1",
                        "failing: 1",
                        "1",
                        "2",
                        "failing: revision 0 is gone; the oldest kept is 2",
                        "2",
                        "3",
                        "3");
    }

    @ParameterizedTest
    @MethodSource("failures")
    void watchOfAWatcherThatFailsAtTheEndOfAGroupEnds(Throwable failure) {
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        cache.watch("/registry/a/", 0, failing(0, failure));
        time.advance(Duration.ZERO);

        deliver(cache, 1, "/registry/a/x");
        deliver(cache, 2, "/registry/a/x");

        assertThat(delivered).containsExactly("failing: 1", "failing: revision 0 is gone; the oldest kept is 1");
    }

    @ParameterizedTest
    @MethodSource("failures")
    void watchOfAWatcherThatFailsAtOldChangesDoesNotBegin(Throwable failure) {
        // given three changes
        WatchCache cache = cache(10, NO_BOUND, NO_BOUND, NO_BOUND);
        deliver(cache, 1, "/registry/a/x");
        deliver(cache, 2, "/registry/a/x");
        deliver(cache, 3, "/registry/a/x");

        // when a watch resumes before them, whose watcher fails at the second one
        cache.watch("/registry/a/", 0, failing(2, failure));
        time.advance(Duration.ZERO);
        deliver(cache, 4, "/registry/a/x");

        // then
        assertThat(delivered).containsExactly("failing: 1", "failing: revision 0 is gone; the oldest kept is 2");
    }

    private WatchCache cache(int events, long nanos, long memory, long stored) {
        return new WatchCache(loop, new WatchCache.Limits(events, nanos, memory, stored));
    }

    private static Event event(WatchCache cache, long revision, String key, int size) {
        return new Event(
                revision, key, cache.get(key), Optional.of(new Entry(key, new byte[size], revision, revision)));
    }

    /** Applies a change, and returns the revisions that leave the history. */
    private static List<Long> put(WatchCache cache, long revision, String key, int size) {
        WatchCache.Plan plan = cache.plan(List.of(event(cache, revision, key, size)));
        cache.apply(plan);
        return plan.forgotten().stream().map(Event::revision).toList();
    }

    private static void delete(WatchCache cache, long revision, String key) {
        cache.apply(cache.plan(List.of(new Event(revision, key, cache.get(key), Optional.empty()))));
    }

    private static void deliver(WatchCache cache, long revision, String key) {
        WatchCache.Plan plan = cache.plan(List.of(event(cache, revision, key, 0)));
        cache.apply(plan);
        cache.deliver(plan.events());
    }

    private static List<String> list(WatchCache cache, String prefix, long at) {
        return cache.list(prefix, "", 0, at).entries().stream()
                .map(Entry::toString)
                .toList();
    }

    private static String part(WatchCache cache, long after, int count, long bytes) {
        Changes part = cache.changes("/registry/a/", after, count, bytes);
        return part.events().stream().map(Event::revision).toList() + " through " + part.through()
                + (part.more() ? ", more" : "");
    }

    private Store.Watch watch(WatchCache cache, String target, long after) {
        Store.Watch watch = cache.watch(target, after, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                delivered.add(Long.toString(event.revision()));
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                delivered.add("compacted " + after);
            }
        });
        time.advance(Duration.ZERO);
        return watch;
    }
}
