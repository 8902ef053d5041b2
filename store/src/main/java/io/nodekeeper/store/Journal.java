package io.nodekeeper.store;

import java.util.List;
import java.util.Map;

/** Where a store's changes survive the process. Used by one thread. */
public interface Journal extends AutoCloseable {

    /** A journal that keeps nothing: for tests and the simulator. */
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

    /** Reads back what was kept. */
    Recovered load();

    /**
     * Makes {@code events} durable, all or none, and forgets the history of {@code forgotten}.
     *
     * @throws StoreException if it could not; then none of them is kept
     */
    void append(List<Event> events, List<Event> forgotten);

    /**
     * The same version for keeping: a journal that can read values later gives an entry that leaves its value in the
     * journal if it is large. Such an entry may be read by any thread until the journal is closed.
     *
     * @param entry a version that was appended, or is about to be
     */
    default Entry stored(Entry entry) {
        return entry;
    }

    @Override
    void close();

    /**
     * What a journal knows.
     *
     * @param revision the latest revision
     * @param entries the objects as of that revision
     * @param history the changes still kept, in the order of revisions
     * @param forgotten for each resource that has lost some of its history the latest change that was lost
     * @param floor the revision at which history began: of what was before nothing is known but the objects; 0 usually
     */
    record Recovered(long revision, List<Entry> entries, List<Event> history, Map<String, Long> forgotten, long floor) {
        /** What a journal knows that has forgotten nothing. */
        public Recovered(long revision, List<Entry> entries, List<Event> history) {
            this(revision, entries, history, Map.of(), 0);
        }
    }
}
