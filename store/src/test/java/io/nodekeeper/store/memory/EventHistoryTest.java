package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.ValueReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;

/** The history gives back each change as it was added, whether it keeps the change itself or only its numbers. */
class EventHistoryTest {
    private static final ValueReader DISK = new Values("disk");
    private static final ValueReader OTHER = new Values("other");

    private record Values(String name) implements ValueReader {
        @Override
        public byte[] read(String key, long revision) {
            return (name + " " + key + " " + revision).getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public boolean cached(long revision) {
            return false;
        }
    }

    /** Where a version of an object has its value. */
    enum Place {
        MEMORY,
        DISK,
        OTHER
    }

    /**
     * A change of an object.
     *
     * @param step how far its revision is above that of the change before it; 0 for the same revision
     * @param object which object
     * @param before how the version before it exists, if it does
     * @param after how the version after it exists, if it does
     * @param recreated whether the version after it has another creation revision than the one before it
     * @param late whether the revision of the version after it is another one than that of the change
     * @param drops how many of the oldest changes go afterwards
     */
    record Change(
            int step,
            int object,
            Optional<Place> before,
            Optional<Place> after,
            int length,
            boolean recreated,
            boolean late,
            int drops) {}

    @Provide
    Arbitrary<List<Change>> changes() {
        Arbitrary<Boolean> seldom = Arbitraries.integers().between(0, 9).map(n -> n == 0);
        Arbitrary<Optional<Place>> place = Arbitraries.frequency(
                        Tuple.of(2, Place.MEMORY), Tuple.of(8, Place.DISK), Tuple.of(1, Place.OTHER))
                .optional(0.8);
        return Combinators.combine(
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.integers().between(0, 3),
                        place,
                        place,
                        Arbitraries.integers().between(0, 5_000),
                        seldom,
                        seldom,
                        Arbitraries.integers().between(0, 20).map(n -> n < 14 ? 0 : n - 13))
                .as(Change::new)
                .list()
                .ofMaxSize(120);
    }

    @Property(tries = 300)
    void changesAreGivenBackAsTheyWereAdded(@ForAll("changes") List<Change> changes) {
        EventHistory history = new EventHistory(0);
        Deque<Event> model = new ArrayDeque<>();
        long revision = 1;
        long start = 0;
        for (Change change : changes) {
            revision += change.step();
            Event event = event(change, revision);
            history.append(event, 10 * revision);
            model.add(event);
            for (int i = 0; i < change.drops() && !model.isEmpty(); i++) {
                history.drop();
                start = model.remove().revision();
            }
            List<Event> expected = new ArrayList<>(model);
            assertThat(history.start()).isEqualTo(start);
            assertThat(history.since(0, key -> true)).isEqualTo(expected);
            assertThat(history.since(0, key -> true).stream().map(EventHistoryTest::text))
                    .containsExactlyElementsOf(
                            expected.stream().map(EventHistoryTest::text).toList());
            assertThat(history.memory())
                    .isEqualTo(expected.stream().mapToLong(EventHistory::memory).sum());
            assertThat(history.stored())
                    .isEqualTo(expected.stream().mapToLong(EventHistory::stored).sum());
            assertThat(history.since(0, "/registry/a/1"::equals))
                    .isEqualTo(expected.stream()
                            .filter(kept -> kept.key().equals("/registry/a/1"))
                            .toList());
            for (int i = 0; i < expected.size(); i++) {
                assertThat(history.key(i)).isEqualTo(expected.get(i).key());
                assertThat(history.time(i)).isEqualTo(10 * expected.get(i).revision());
            }
        }
    }

    @Test
    void earlierChangeDoesNotKeepTheValueOfTheVersionThatALaterOneReplacedOnDisk() {
        EventHistory history = new EventHistory(0);
        Entry held = new Entry("/registry/a/x", new byte[300], 1, 1);
        Entry onDisk = Entry.stored("/registry/a/x", 300, DISK, 1, 1);
        history.add(new Event(1, "/registry/a/x", Optional.empty(), Optional.of(held)), 0);
        history.add(new Event(2, "/registry/a/x", Optional.of(onDisk), Optional.empty()), 0);

        assertThat(history.get(0).after().orElseThrow().resident()).isZero();
        assertThat(history.get(0).after().orElseThrow().value()).asString().isEqualTo("disk /registry/a/x 1");
    }

    @Test
    void keyOfADeletedObjectCountsForAsLongAsItsChangesAreKept() {
        EventHistory history = new EventHistory(0);
        String key = "/registry/roles/" + "x".repeat(100_000);
        history.add(new Event(1, key, Optional.empty(), Optional.of(Entry.stored(key, 30, DISK, 1, 1))), 0);
        history.add(new Event(2, key, Optional.of(Entry.stored(key, 30, DISK, 1, 1)), Optional.empty()), 0);

        assertThat(history.memory()).isEqualTo(2 * (160 + 2 * 100_016));
        history.drop();
        history.drop();
        assertThat(history.memory()).isZero();
    }

    @Test
    void ringBufferKeepsOrderAndTimesWhileItGrowsAndWraps() {
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
            assertThat(history.since(added - 2, key -> true))
                    .extracting(Event::revision)
                    .containsExactly(added - 1L, (long) added);
            assertThat(history.memory()).isEqualTo(186L * history.size());
            assertThat(history.stored()).isEqualTo(160L * history.size());
        }
    }

    private static Event event(int revision) {
        return new Event(revision, "/registry/a/x", Optional.empty(), Optional.empty());
    }

    private static Event event(Change change, long revision) {
        String key = "/registry/a/" + change.object();
        long created = 1 + change.object();
        Optional<Entry> before = change.before().map(place -> entry(key, place, change.length(), created, revision));
        Optional<Entry> after = change.after()
                .map(place -> entry(
                        key,
                        place,
                        change.length() + 1,
                        change.recreated() ? created + 1 : created,
                        change.late() ? revision + 1 : revision));
        return new Event(revision, key, before, after);
    }

    private static Entry entry(String key, Place place, int length, long created, long revision) {
        return switch (place) {
            case MEMORY -> new Entry(key, new byte[length], created, revision);
            case DISK -> Entry.stored(key, length, DISK, created, revision);
            case OTHER -> Entry.stored(key, length, OTHER, created, revision);
        };
    }

    private static String text(Event event) {
        return event.revision() + " " + event.key() + " " + event.before().map(EventHistoryTest::text) + " "
                + event.after().map(EventHistoryTest::text);
    }

    private static String text(Entry entry) {
        return entry + " of " + entry.createRevision() + ", " + entry.resident() + " here, read by " + entry.reader();
    }
}
