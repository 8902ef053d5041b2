package io.nodekeeper.store.memory;

import io.nodekeeper.store.Changes;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.StoreKeys;
import io.nodekeeper.time.Loop;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.UnaryOperator;

/**
 * All objects in memory, the latest changes of each resource, and the open watches, as in kube-apiserver's watch cache. A
 * store serves its reads from here. A group of changes is applied in steps, so that a store can make it durable in between:
 * {@link #plan}, {@link #apply}, and {@link #deliver}, which notifies the watchers. These methods and {@link #begin} must be called
 * on the loop. Reads may come from any thread.
 *
 * <p>Lists take the read lock because they must be consistent. The loop holds the write lock only while it applies a group.
 */
public final class WatchCache {

    /**
     * How much history is kept. One resource may take half of each limit in bytes. If all resources together exceed one of
     * these, the largest resource loses its oldest changes. The group of changes that is being applied comes on top.
     *
     * @param events maximum number of changes of a resource
     * @param nanos maximum age of a change, in nanoseconds
     * @param memory maximum bytes of memory for the changes of all resources
     * @param stored maximum bytes of the versions that these changes replaced, in memory and in the journal
     */
    public record Limits(int events, long nanos, long memory, long stored) {
        /**
         * 5 minutes, the interval at which a kube-apiserver compacts etcd. 100,000 changes, the largest watch cache of a
         * kube-apiserver. An eighth of the heap. 512 MiB on disk, a quarter of the default quota of the objects.
         */
        public static final Limits DEFAULT =
                new Limits(100_000, 300_000_000_000L, Runtime.getRuntime().maxMemory() / 8, 512L << 20);

        /** Limits of count and age, with the limits in bytes of {@link #DEFAULT}. */
        public Limits(int events, long nanos) {
            this(events, nanos, Runtime.getRuntime().maxMemory() / 8, 512L << 20);
        }
    }

    /**
     * A group of changes that is not yet visible.
     *
     * @param events the changes in the form that the history keeps, ordered by revision
     * @param forgotten the changes that leave the history when the group is applied
     */
    public record Plan(List<Event> events, List<Event> forgotten) {}

    private final Loop loop;
    private final Limits limits;
    private final UnaryOperator<Entry> replaced;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final ObjectIndex index = new ObjectIndex();
    private final Map<String, EventHistory> histories = new HashMap<>();
    private final Watchers watchers = new Watchers();
    /** The start of the history of a resource that has no changes here. */
    private long floor;

    private volatile long revision;

    /** An empty cache at revision 0. Its history keeps the values of replaced versions in memory. */
    public WatchCache(Loop loop, Limits limits) {
        this(loop, limits, UnaryOperator.identity());
    }

    /** As above; {@code replaced} makes the form in which the history keeps a version that was replaced. */
    WatchCache(Loop loop, Limits limits, UnaryOperator<Entry> replaced) {
        this.loop = loop;
        this.limits = limits;
        this.replaced = replaced;
    }

    /**
     * Replaces the contents by {@code entries}, which are all objects at {@code revision}. The earlier history is unknown, so
     * all open watches end with {@code onCompacted}.
     */
    public void begin(long revision, Collection<Entry> entries) {
        lock.writeLock().lock();
        try {
            index.replace(entries);
            histories.clear();
            floor = revision;
            this.revision = revision;
        } finally {
            lock.writeLock().unlock();
        }
        watchers.cutOff(revision);
    }

    /** Starts with the objects and the history of a journal. */
    void begin(Journal.Recovered recovered) {
        recovered.entries().forEach(index::put);
        floor = recovered.floor();
        revision = recovered.revision();
        long now = loop.clock().nanoTime();
        recovered.forgotten().forEach((resource, last) -> {
            histories.put(resource, new EventHistory(Math.max(last, floor)));
        });
        recovered
                .history()
                .forEach(event -> history(StoreKeys.resource(event.key())).append(event, now));
    }

    /** The most changes of a resource that are kept. */
    public int capacity() {
        return limits.events;
    }

    /** All changes up to this revision are applied. */
    public long revision() {
        return revision;
    }

    /** The number of objects. */
    public int size() {
        return index.size();
    }

    /** The object at {@code key}. */
    public Optional<Entry> get(String key) {
        return index.get(key);
    }

    /** See {@link Store#list}. */
    public Listing list(String prefix, String after, int limit, long at) {
        lock.readLock().lock();
        try {
            if (at > revision) {
                throw new StoreException("revision " + at + " is in the future; the latest is " + revision, null);
            }
            NavigableMap<String, ObjectIndex.Place> below = index.below(prefix);
            Iterable<Entry> found;
            if (at == 0 || at == revision) {
                Collection<ObjectIndex.Place> places = (after.isEmpty() ? below : below.tailMap(after, false)).values();
                found = () -> places.stream().map(ObjectIndex.Place::entry).iterator();
            } else {
                TreeMap<String, Entry> then = new TreeMap<>();
                below.forEach((key, place) -> then.put(key, place.entry()));
                undo(then, prefix, at);
                found = (after.isEmpty() ? then : then.tailMap(after, false)).values();
            }
            List<Entry> page = new ArrayList<>();
            long remaining = 0;
            for (Entry entry : found) {
                if (limit == 0 || page.size() < limit) {
                    page.add(entry);
                } else {
                    remaining++;
                }
            }
            return new Listing(at == 0 ? revision : at, page, remaining);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** See {@link Store#watch}. */
    public Store.Watch watch(String prefix, long after, Store.Watcher watcher) {
        Watchers.Subscription subscription = new Watchers.Subscription(prefix, after, watcher);
        loop.execute(() -> {
            EventHistory history = histories.get(StoreKeys.resource(prefix));
            long start = history == null ? floor : history.start();
            if (after < start) {
                watcher.onCompacted(new StoreException.Compacted(after, start));
                return;
            }
            if (history != null) {
                history.since(after, subscription::covers).forEach(subscription::offer);
                subscription.settle();
            }
            if (!subscription.ended()) {
                watchers.add(subscription);
            }
        });
        return () -> loop.execute(() -> watchers.remove(subscription));
    }

    /**
     * One page of the changes of {@code target} after revision {@code after}; see {@link Store#changes}.
     *
     * @throws StoreException.Compacted if the history no longer contains all these changes
     */
    public Changes changes(String target, long after, int count, long bytes) {
        lock.readLock().lock();
        try {
            EventHistory history = histories.get(StoreKeys.resource(target));
            long start = history == null ? floor : history.start();
            if (after < start) {
                throw new StoreException.Compacted(after, start);
            }
            List<Event> found = new ArrayList<>();
            long size = 0;
            for (int i = history == null ? 0 : history.after(after); history != null && i < history.size(); i++) {
                // Before the change is made: a watch of one object may pass over 100,000 changes of others.
                if (!Watchers.covers(target, history.key(i))) {
                    continue;
                }
                Event event = history.get(i);
                if (!found.isEmpty()
                        && (found.size() >= count || size >= bytes)
                        && event.revision() > found.getLast().revision()) {
                    return new Changes(found, found.getLast().revision(), true);
                }
                found.add(event);
                size += event.after().or(event::before).map(Entry::length).orElse(0);
            }
            return new Changes(found, Math.max(after, revision), false);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Determines which changes leave the history when {@code events}, at least one, are applied. Changes nothing. */
    public Plan plan(List<Event> events) {
        List<Event> kept = events.stream().map(this::kept).toList();
        Map<String, Trim> trims = new HashMap<>();
        for (Event event : kept) {
            trims.computeIfAbsent(StoreKeys.resource(event.key()), this::trim).expect(event);
        }
        long now = loop.clock().nanoTime();
        Bytes all = new Bytes();
        histories.forEach((resource, history) -> all.add(history.memory(), history.stored()));
        for (Trim trim : trims.values()) {
            all.add(trim.coming.memory, trim.coming.stored);
            while (trim.isStale(now, limits)) {
                trim.drop(all);
            }
        }
        while (all.memory > limits.memory() || all.stored > limits.stored()) {
            histories.keySet().forEach(resource -> trims.computeIfAbsent(resource, this::trim));
            boolean memory = all.memory > limits.memory();
            Optional<Trim> largest = trims.values().stream()
                    .filter(Trim::mayDrop)
                    .max(Comparator.comparingLong(trim -> memory ? trim.memory() : trim.stored()));
            if (largest.isEmpty()) {
                break;
            }
            // Drops a tenth at once, so that not every write has to search for the largest resource.
            int some = Math.max(1, largest.get().left() / 10);
            for (int i = 0; i < some; i++) {
                largest.get().drop(all);
            }
        }
        List<Event> forgotten = new ArrayList<>();
        trims.values().forEach(trim -> trim.dropped(forgotten));
        return new Plan(kept, forgotten);
    }

    private Event kept(Event event) {
        return event.before().isEmpty()
                ? event
                : new Event(event.revision(), event.key(), event.before().map(replaced), event.after());
    }

    private Trim trim(String resource) {
        return new Trim(histories.getOrDefault(resource, new EventHistory(floor)));
    }

    /** Bytes of history in memory and where values are stored. */
    private static final class Bytes {
        private long memory;
        private long stored;

        private void add(long moreMemory, long moreStored) {
            memory += moreMemory;
            stored += moreStored;
        }
    }

    /** The oldest changes of one resource that a plan removes: the first {@code dropped} ones. */
    private static final class Trim {
        private final EventHistory history;
        private final Bytes coming = new Bytes();
        private final Bytes gone = new Bytes();
        private int count;
        private int dropped;

        private Trim(EventHistory history) {
            this.history = history;
        }

        private void expect(Event event) {
            coming.add(EventHistory.memory(event), EventHistory.stored(event));
            count++;
        }

        private long memory() {
            return history.memory() + coming.memory - gone.memory;
        }

        private long stored() {
            return history.stored() + coming.stored - gone.stored;
        }

        private int left() {
            return history.size() - dropped;
        }

        private boolean mayDrop() {
            return left() > 0;
        }

        private boolean isStale(long now, Limits limits) {
            return mayDrop()
                    && (left() + count > limits.events()
                            || now - history.time(dropped) > limits.nanos()
                            || memory() > limits.memory() / 2
                            || stored() > limits.stored() / 2);
        }

        private void drop(Bytes all) {
            Event event = history.get(dropped++);
            gone.add(EventHistory.memory(event), EventHistory.stored(event));
            all.add(-EventHistory.memory(event), -EventHistory.stored(event));
        }

        private void dropped(List<Event> forgotten) {
            for (int i = 0; i < dropped; i++) {
                forgotten.add(history.get(i));
            }
        }
    }

    /** Applies a plan: makes its changes visible to reads. */
    public void apply(Plan plan) {
        lock.writeLock().lock();
        try {
            plan.forgotten()
                    .forEach(gone -> history(StoreKeys.resource(gone.key())).drop());
            long now = loop.clock().nanoTime();
            for (Event event : plan.events()) {
                event.after().ifPresentOrElse(index::put, () -> index.remove(event.key()));
                history(StoreKeys.resource(event.key())).add(event, now);
            }
            revision = plan.events().getLast().revision();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Notifies the watchers of changes that were applied. */
    public void deliver(List<Event> events) {
        events.forEach(watchers::offer);
        watchers.settle();
    }

    /** Raises the revision to {@code revision} after a check that no object changed since. */
    public void advance(long revision) {
        this.revision = Math.max(this.revision, revision);
    }

    /** Undoes the changes after revision {@code at} in {@code state}. */
    private void undo(TreeMap<String, Entry> state, String prefix, long at) {
        EventHistory history = histories.get(StoreKeys.resource(prefix));
        long start = history == null ? floor : history.start();
        if (at < start) {
            throw new StoreException.Compacted(at, start);
        }
        if (history == null) {
            return;
        }
        for (Event event : history.since(at, key -> key.startsWith(prefix)).reversed()) {
            event.before().ifPresentOrElse(entry -> state.put(event.key(), entry), () -> state.remove(event.key()));
        }
    }

    private EventHistory history(String resource) {
        return histories.computeIfAbsent(resource, name -> new EventHistory(floor));
    }
}
