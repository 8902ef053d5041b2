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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The exact bounds of what a window keeps, and what it tells of it. A change costs 160 bytes and the version before. */
class WatchCacheTest {
    private static final long NO_BOUND = Long.MAX_VALUE;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final List<String> told = new ArrayList<>();

    @Test
    void resourceKeepsAsManyChangesAsItMay() {
        WatchCache window = window(3, NO_BOUND, NO_BOUND, NO_BOUND);
        for (int i = 1; i <= 3; i++) {
            assertThat(put(window, i, "/registry/a/x", 0)).isEmpty();
        }

        assertThat(put(window, 4, "/registry/a/x", 0)).containsExactly(1L);
        assertThat(put(window, 5, "/registry/b/x", 0)).as("another resource").isEmpty();
    }

    @Test
    void changeIsForgottenWhenItIsOlderThanTheAgeAndNotBefore() {
        WatchCache window = window(10, 5_000_000_000L, NO_BOUND, NO_BOUND);
        put(window, 1, "/registry/a/x", 0);
        time.advance(Duration.ofSeconds(5));
        assertThat(put(window, 2, "/registry/a/x", 0)).isEmpty();

        time.advance(Duration.ofNanos(1));
        assertThat(put(window, 3, "/registry/a/x", 0)).containsExactly(1L);
    }

    @Test
    void resourceMayTakeHalfOfTheMemory() {
        // The second change keeps the version of 40 bytes before it: 160 + 160 + 40 are half of 720.
        WatchCache fits = window(10, NO_BOUND, 720, NO_BOUND);
        put(fits, 1, "/registry/a/x", 40);
        assertThat(put(fits, 2, "/registry/a/x", 0)).isEmpty();

        WatchCache tight = window(10, NO_BOUND, 719, NO_BOUND);
        put(tight, 1, "/registry/a/x", 40);
        assertThat(put(tight, 2, "/registry/a/x", 0)).containsExactly(1L);
    }

    @Test
    void resourceMayTakeHalfOfWhatIsStored() {
        WatchCache fits = window(10, NO_BOUND, NO_BOUND, 720);
        put(fits, 1, "/registry/a/x", 40);
        assertThat(put(fits, 2, "/registry/a/x", 0)).isEmpty();

        WatchCache tight = window(10, NO_BOUND, NO_BOUND, 719);
        put(tight, 1, "/registry/a/x", 40);
        assertThat(put(tight, 2, "/registry/a/x", 0)).containsExactly(1L);
    }

    @Test
    void resourceThatTakesMostGivesWhenAllTogetherTakeTooMuch() {
        // Four changes of 160 bytes, of which no resource has more than half.
        for (boolean memory : new boolean[] {true, false}) {
            WatchCache window = window(10, NO_BOUND, memory ? 640 : NO_BOUND, memory ? NO_BOUND : 640);
            put(window, 1, "/registry/a/x", 0);
            put(window, 2, "/registry/b/x", 0);
            put(window, 3, "/registry/b/y", 0);
            assertThat(put(window, 4, "/registry/c/x", 0)).as("640 bytes").isEmpty();

            assertThat(put(window, 5, "/registry/d/x", 0)).containsExactly(2L);
        }
    }

    @Test
    void resourceLosesNoMoreThanWhatIsTooMuch() {
        for (boolean memory : new boolean[] {true, false}) {
            WatchCache window = window(10, NO_BOUND, memory ? 1_280 : NO_BOUND, memory ? NO_BOUND : 1_280);
            for (int i = 1; i <= 4; i++) {
                assertThat(put(window, i, "/registry/a/" + i, 0)).isEmpty();
            }

            assertThat(put(window, 5, "/registry/a/5", 0)).containsExactly(1L);
        }
    }

    @Test
    void boundThatIsReachedSaysWhichResourceTakesMost() {
        // The resource a takes 320 bytes of memory and of disk; b 160 of memory, and 360 of disk.
        WatchCache stored = window(10, NO_BOUND, 640, 839);
        fill(stored);
        assertThat(put(stored, 4, "/registry/c/x", 0)).as("840 bytes on disk").containsExactly(3L);

        WatchCache memory = window(10, NO_BOUND, 959, NO_BOUND);
        fill(memory);
        put(memory, 4, "/registry/c/x", 0);
        put(memory, 5, "/registry/d/x", 0);
        assertThat(put(memory, 6, "/registry/e/x", 0)).as("960 bytes of memory").containsExactly(1L);
    }

    private static void fill(WatchCache window) {
        put(window, 1, "/registry/a/x", 0);
        put(window, 2, "/registry/a/y", 0);
        Entry before = Entry.stored("/registry/b/x", 200, new NoValues(), 1, 1);
        window.take(window.plan(List.of(new Event(3, "/registry/b/x", Optional.of(before), Optional.empty()))));
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
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(window, 1, "/registry/a/x", 0);
        assertThat(elsewhere(window)).isEqualTo(1);

        window.begin(5, List.of());
        assertThat(elsewhere(window)).isZero();
    }

    private static int elsewhere(WatchCache window) {
        return CompletableFuture.supplyAsync(
                        () -> list(window, "/registry/a/", 0).size())
                .orTimeout(30, TimeUnit.SECONDS)
                .join();
    }

    @Test
    void tenthOfTheLargestResourceGoesAtOnce() {
        WatchCache window = window(1_000, NO_BOUND, 160 * 60, NO_BOUND);
        for (int i = 1; i <= 30; i++) {
            put(window, i, "/registry/a/" + i, 0);
        }
        for (int i = 31; i <= 59; i++) {
            put(window, i, "/registry/b/" + i, 0);
        }
        put(window, 60, "/registry/c/x", 0);

        assertThat(put(window, 61, "/registry/c/y", 0)).containsExactly(1L, 2L, 3L);
    }

    @Test
    void listOfAnEarlierRevisionIsWhatThereWas() {
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(window, 1, "/registry/a/x", 1);
        put(window, 2, "/registry/a/x", 2);
        delete(window, 3, "/registry/a/x");
        put(window, 4, "/registry/b/x", 4);

        assertThat(list(window, "/registry/a/", 0)).isEmpty();
        assertThat(list(window, "/registry/a/", 1)).containsExactly("/registry/a/x@1 (1 bytes)");
        assertThat(list(window, "/registry/a/", 2)).containsExactly("/registry/a/x@2 (2 bytes)");
        assertThat(list(window, "/registry/a/", 3)).isEmpty();
        assertThat(list(window, "/registry/b/", 3)).isEmpty();
        assertThat(list(window, "/registry/c/", 1)).isEmpty();
        assertThat(window.list("/registry/a/", "", 0, 0).revision()).isEqualTo(4);
        assertThat(window.list("/registry/a/", "", 0, 2).revision()).isEqualTo(2);
        assertThatThrownBy(() -> list(window, "/registry/a/", 5))
                .isInstanceOf(StoreException.class)
                .hasMessage("revision 5 is in the future; the latest is 4");
    }

    @Test
    void pageTellsHowManyRemain() {
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        for (int i = 1; i <= 3; i++) {
            put(window, i, "/registry/a/" + i, 0);
        }

        Listing page = window.list("/registry/a/", "", 2, 0);
        assertThat(page.entries()).hasSize(2);
        assertThat(page.remaining()).isEqualTo(1);
        assertThat(window.list("/registry/a/", "/registry/a/2", 2, 0).entries())
                .extracting(Entry::key)
                .containsExactly("/registry/a/3");
        assertThat(window.list("/registry/a/", "/registry/a/1", 0, 2).entries())
                .extracting(Entry::key)
                .containsExactly("/registry/a/2");
        assertThat(window.size()).isEqualTo(3);
    }

    @Test
    void earlierRevisionThanTheHistoryIsRefusedEverywhere() {
        WatchCache window = window(1, NO_BOUND, NO_BOUND, NO_BOUND);
        put(window, 1, "/registry/a/x", 0);
        put(window, 2, "/registry/a/x", 0);

        assertThat(list(window, "/registry/a/", 1)).hasSize(1);
        assertThat(window.changes("/registry/a/", 1, 10, 1_000).events()).hasSize(1);
        put(window, 3, "/registry/a/x", 0);
        assertThatThrownBy(() -> list(window, "/registry/a/", 1)).isInstanceOf(StoreException.Compacted.class);
        assertThatThrownBy(() -> window.changes("/registry/a/", 1, 10, 1_000))
                .isInstanceOf(StoreException.Compacted.class);
        watch(window, "/registry/a/", 1);
        watch(window, "/registry/a/", 2);
        assertThat(told).containsExactly("compacted 1", "3");
    }

    @Test
    void windowThatBeginsAtARevisionKnowsNothingOfWhatWasBefore() {
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(window, 1, "/registry/a/x", 0);
        watch(window, "/registry/a/", 1);

        window.begin(9, List.of(new Entry("/registry/b/y", new byte[3], 5, 8)));

        assertThat(told).containsExactly("compacted 1");
        tell(window, 10, "/registry/a/z");
        assertThat(told).as("that watch is over").hasSize(1);
        assertThat(window.get("/registry/a/x")).isEmpty();
        assertThat(window.get("/registry/b/y")).isPresent();
        assertThat(window.revision()).isEqualTo(10);
        assertThatThrownBy(() -> window.changes("/registry/a/", 8, 10, 1_000))
                .isInstanceOf(StoreException.Compacted.class);
        assertThat(window.changes("/registry/a/", 9, 10, 1_000).events()).hasSize(1);
        assertThatThrownBy(() -> list(window, "/registry/b/", 8)).isInstanceOf(StoreException.Compacted.class);
    }

    @Test
    void recoveredWindowGoesOnWhereTheJournalEnded() {
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        Entry entry = new Entry("/registry/a/x", new byte[3], 5, 5);
        Event event = new Event(5, "/registry/a/x", Optional.empty(), Optional.of(entry));

        window.begin(new Journal.Recovered(
                6, List.of(entry), List.of(event), Map.of("/registry/a/", 4L, "/registry/b/", 1L), 2));

        assertThat(window.revision()).isEqualTo(6);
        assertThat(window.get("/registry/a/x")).contains(entry);
        assertThat(window.changes("/registry/a/", 4, 10, 1_000).events()).containsExactly(event);
        assertThatThrownBy(() -> window.changes("/registry/a/", 3, 10, 1_000))
                .isInstanceOf(StoreException.Compacted.class);
        assertThatThrownBy(() -> window.changes("/registry/b/", 1, 10, 1_000))
                .isInstanceOf(StoreException.Compacted.class);
        assertThat(window.changes("/registry/b/", 2, 10, 1_000).through()).isEqualTo(6);
    }

    @Test
    void partOfTheHistoryHasAtLeastOneChangeAndEndsAtItsBounds() {
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(window, 1, "/registry/a/x", 50);
        put(window, 2, "/registry/a/y", 50);
        put(window, 3, "/registry/a/z", 50);

        assertThat(part(window, 0, 1, 1_000)).isEqualTo("[1] through 1, more");
        assertThat(part(window, 0, 2, 1_000)).isEqualTo("[1, 2] through 2, more");
        assertThat(part(window, 0, 3, 1_000)).isEqualTo("[1, 2, 3] through 3");
        assertThat(part(window, 0, 9, 1)).isEqualTo("[1] through 1, more");
        assertThat(part(window, 0, 9, 50)).isEqualTo("[1] through 1, more");
        assertThat(part(window, 0, 9, 51)).isEqualTo("[1, 2] through 2, more");
        assertThat(part(window, 2, 9, 1_000)).isEqualTo("[3] through 3");
        assertThat(part(window, 3, 9, 1_000)).isEqualTo("[] through 3");
        assertThat(part(window, 7, 9, 1_000)).isEqualTo("[] through 7");
    }

    @Test
    void changesOfOneRevisionStayTogether() {
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        WatchCache.Plan plan = window.plan(List.of(
                event(window, 1, "/registry/a/x", 5),
                event(window, 1, "/registry/a/y", 5),
                event(window, 2, "/registry/a/z", 5)));
        window.take(plan);

        assertThat(part(window, 0, 1, 1_000)).isEqualTo("[1, 1] through 1, more");
    }

    @Test
    void watchHearsWhatWasMissedAndWhatComesUntilItEnds() {
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(window, 1, "/registry/a/x", 0);
        put(window, 2, "/registry/a/y", 0);
        Store.Watch watch = watch(window, "/registry/a/x", 0);
        tell(window, 3, "/registry/a/x");
        tell(window, 4, "/registry/a/y");

        watch.cancel();
        time.advance(Duration.ZERO);
        tell(window, 5, "/registry/a/x");

        assertThat(told).containsExactly("1", "3");
    }

    @Test
    void revisionNeverGoesBack() {
        WatchCache window = window(10, NO_BOUND, NO_BOUND, NO_BOUND);
        put(window, 5, "/registry/a/x", 0);

        window.advance(4);
        assertThat(window.revision()).isEqualTo(5);
        window.advance(6);
        assertThat(window.revision()).isEqualTo(6);
    }

    @Test
    void ringKeepsItsOrderAndTimesWhileItGrowsAndTurns() {
        EventHistory history = new EventHistory(0);
        int added = 0;
        for (int round = 0; round < 6; round++) {
            for (int i = 0; i < 11; i++) {
                added++;
                history.add(event(added), 10L * added);
            }
            for (int i = 0; i < 5; i++) {
                history.drop();
            }
            int first = 5 * (round + 1) + 1;
            assertThat(history.size()).isEqualTo(added - first + 1);
            assertThat(history.start()).isEqualTo(first - 1);
            assertThat(history.get(0).revision()).isEqualTo(first);
            assertThat(history.time(0)).isEqualTo(10L * first);
            assertThat(history.get(history.size() - 1).revision()).isEqualTo(added);
            assertThat(history.time(history.size() - 1)).isEqualTo(10L * added);
            assertThat(history.after(first)).isEqualTo(1);
            assertThat(history.after(added)).isEqualTo(history.size());
            assertThat(history.since(added - 2)).extracting(Event::revision).containsExactly(added - 1L, (long) added);
            assertThat(history.memory()).isEqualTo(160L * history.size());
            assertThat(history.stored()).isEqualTo(160L * history.size());
        }
    }

    private WatchCache window(int events, long nanos, long memory, long stored) {
        return new WatchCache(loop, new WatchCache.Limits(events, nanos, memory, stored));
    }

    private static Event event(int revision) {
        return new Event(revision, "/registry/a/x", Optional.empty(), Optional.empty());
    }

    private static Event event(WatchCache window, long revision, String key, int size) {
        return new Event(
                revision, key, window.get(key), Optional.of(new Entry(key, new byte[size], revision, revision)));
    }

    /** Takes a change; the revisions that are forgotten for it. */
    private static List<Long> put(WatchCache window, long revision, String key, int size) {
        WatchCache.Plan plan = window.plan(List.of(event(window, revision, key, size)));
        window.take(plan);
        return plan.forgotten().stream().map(Event::revision).toList();
    }

    private static void delete(WatchCache window, long revision, String key) {
        window.take(window.plan(List.of(new Event(revision, key, window.get(key), Optional.empty()))));
    }

    private static void tell(WatchCache window, long revision, String key) {
        WatchCache.Plan plan = window.plan(List.of(event(window, revision, key, 0)));
        window.take(plan);
        window.tell(plan.events());
    }

    private static List<String> list(WatchCache window, String prefix, long at) {
        return window.list(prefix, "", 0, at).entries().stream()
                .map(Entry::toString)
                .toList();
    }

    private static String part(WatchCache window, long after, int count, long bytes) {
        Changes part = window.changes("/registry/a/", after, count, bytes);
        return part.events().stream().map(Event::revision).toList() + " through " + part.through()
                + (part.more() ? ", more" : "");
    }

    private Store.Watch watch(WatchCache window, String target, long after) {
        Store.Watch watch = window.watch(target, after, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                told.add(Long.toString(event.revision()));
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                told.add("compacted " + after);
            }
        });
        time.advance(Duration.ZERO);
        return watch;
    }
}
