package io.nodekeeper.store;

import java.util.List;
import java.util.Map;

/** Makes a store's changes durable. Used by one thread at a time. */
public interface Journal extends AutoCloseable {

    /** A journal that stores nothing, for tests and the simulator. */
    Journal NONE = new Journal() {
        @Override
        public Recovered load() {
            return new Recovered(0, List.of(), List.of());
        }

        @Override
        public void append(List<Event> events, List<Event> forgotten) {}

        @Override
        public void close() {}
    };

    /** Reads the durable state. */
    Recovered load();

    /**
     * Makes {@code events} durable as one atomic group, and removes {@code forgotten} from the history.
     *
     * @throws StoreException if the write failed; then the group may be durable all the same, until the next group replaces it
     */
    void append(List<Event> events, List<Event> forgotten);

    /**
     * The form in which the store keeps {@code entry}. A journal that can read values later returns an entry without the value
     * in memory if the value is large or seldom read. Any thread may read such an entry until the journal is closed.
     *
     * @param entry a version that was appended, or that the next group appends
     */
    default Entry stored(Entry entry) {
        return entry;
    }

    /**
     * The form in which the history keeps {@code entry} after a change replaced it: without the value in memory if the journal can
     * read it later. Any thread may read such an entry until the journal is closed; it is there as long as the change is in the
     * history.
     */
    default Entry replaced(Entry entry) {
        return entry;
    }

    @Override
    void close();

    /**
     * The durable state of a journal.
     *
     * @param revision the latest revision
     * @param entries the objects at that revision
     * @param history the changes that the journal keeps, ordered by revision
     * @param forgotten for each resource with compacted history, the revision of the latest change that was removed
     * @param floor the revision at which the history begins; usually 0, larger after a repair or a restore
     */
    record Recovered(long revision, List<Entry> entries, List<Event> history, Map<String, Long> forgotten, long floor) {
        /** The state of a journal that removed no history. */
        public Recovered(long revision, List<Entry> entries, List<Event> history) {
            this(revision, entries, history, Map.of(), 0);
        }
    }
}
