package io.nodekeeper.store;

import io.nodekeeper.time.Loop;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Every object in memory with the latest changes of each resource and whoever watches them: what a store answers reads
 * from. Changes come in two steps, so that a store may make them durable in between: {@link #plan}, then {@link #take};
 * the watchers hear with {@link #tell}. These and {@link #begin} belong on the loop; reads may come from any thread.
 *
 * <p>Readers take the lock only for lists, which must be whole; the loop holds it only while it takes a group of changes.
 */
public final class Window {

    /**
     * How much history is kept. Of the two bounds in bytes a resource may take half; when all resources together reach
     * one, the one that takes most loses its oldest changes. A group of changes that is being taken comes on top.
     *
     * @param events at most so many changes of a resource
     * @param nanos none older than this
     * @param memory bytes of memory for the changes of all resources
     * @param stored bytes of the versions that all these changes replaced, wherever they are kept
     */
    public record Limits(int events, long nanos, long memory, long stored) {
        /**
         * 5 min like etcd's compaction under a kube-apiserver; 100,000 as the largest of its watch caches; an eighth of the
         * heap, and 512 MiB on disk, which is a quarter of what the objects themselves may take by default.
         */
        public static final Limits DEFAULT =
                new Limits(100_000, 300_000_000_000L, Runtime.getRuntime().maxMemory() / 8, 512L << 20);

        /** These limits of count and age, with the bytes of {@link #DEFAULT}. */
        public Limits(int events, long nanos) {
            this(events, nanos, Runtime.getRuntime().maxMemory() / 8, 512L << 20);
        }
    }

    /**
     * Changes that are about to be taken.
     *
     * @param events the changes, in order
     * @param forgotten the changes that leave the window for them
     */
    public record Plan(List<Event> events, List<Event> forgotten) {}

    private final Loop loop;
    private final Limits limits;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final ConcurrentSkipListMap<String, Entry> index = new ConcurrentSkipListMap<>();
    private final Map<String, History> histories = new HashMap<>();
    private final Watchers watchers = new Watchers();
    /** Where the history of a resource begins of which nothing is kept. */
    private long floor;

    private volatile long revision;

    /** An empty window at revision 0. */
    public Window(Loop loop, Limits limits) {
        this.loop = loop;
        this.limits = limits;
    }

    /**
     * Begins anew with {@code entries}, which are all there is at {@code revision}. Nothing is known of what was before, so
     * every watch so far is told that its history is gone.
     */
    public void begin(long revision, Collection<Entry> entries) {
        lock.writeLock().lock();
        try {
            index.clear();
            entries.forEach(entry -> index.put(entry.key(), entry));
            histories.clear();
            floor = revision;
            this.revision = revision;
        } finally {
            lock.writeLock().unlock();
        }
        watchers.cutOff(revision);
    }

    /** Begins with what a journal kept: the objects, and the latest changes that led to them. */
    void begin(Journal.Recovered recovered) {
        recovered.entries().forEach(entry -> index.put(entry.key(), entry));
        floor = recovered.floor();
        revision = recovered.revision();
        long now = loop.clock().nanoTime();
        recovered.forgotten().forEach((resource, last) -> {
            histories.put(resource, new History(Math.max(last, floor)));
        });
        recovered.history().forEach(event -> history(resource(event.key())).add(event, now));
    }

    /** The revision up to which all changes were taken. */
    public long revision() {
        return revision;
    }

    /** How many objects there are; counts them. */
    public int size() {
        return index.size();
    }

    /** The object at {@code key}. */
    public Optional<Entry> get(String key) {
        return Optional.ofNullable(index.get(key));
    }

    /** See {@link Store#list}. */
    public Listing list(String prefix, String after, int limit, long at) {
        lock.readLock().lock();
        try {
            if (at > revision) {
                throw new StoreException("revision " + at + " is yet to come; the latest is " + revision, null);
            }
            var below = index.subMap(prefix, true, prefix + Character.MAX_VALUE, false);
            Collection<Entry> found;
            if (at == 0 || at == revision) {
                found = (after.isEmpty() ? below : below.tailMap(after, false)).values();
            } else {
                TreeMap<String, Entry> then = new TreeMap<>(below);
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
            History history = histories.get(resource(prefix));
            long start = history == null ? floor : history.start();
            if (after < start) {
                watcher.onCompacted(new StoreException.Compacted(after, start));
                return;
            }
            if (history != null) {
                history.since(after).stream()
                        .filter(event -> subscription.covers(event.key()))
                        .forEach(subscription::offer);
            }
            watchers.add(subscription);
        });
        return () -> loop.execute(() -> watchers.remove(subscription));
    }

    /**
     * Part of the history: the changes after {@code after} of {@code target}, as in {@link #watch}. At least one if there is
     * any, at most {@code count} and not many more than {@code bytes} of objects; changes of one revision stay together.
     *
     * @throws StoreException.Compacted if they are not all kept
     */
    public Changes changes(String target, long after, int count, long bytes) {
        lock.readLock().lock();
        try {
            History history = histories.get(resource(target));
            long start = history == null ? floor : history.start();
            if (after < start) {
                throw new StoreException.Compacted(after, start);
            }
            List<Event> found = new ArrayList<>();
            long size = 0;
            for (int i = history == null ? 0 : history.after(after); history != null && i < history.size(); i++) {
                Event event = history.get(i);
                if (!Watchers.covers(target, event.key())) {
                    continue;
                }
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

    /** What taking {@code events}, which come next and are at least one, would forget. */
    public Plan plan(List<Event> events) {
        Map<String, Trim> trims = new HashMap<>();
        for (Event event : events) {
            trims.computeIfAbsent(resource(event.key()), this::trim).expect(event);
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
            // A tenth at once: who writes most shall not have each write sort all resources.
            int some = Math.max(1, largest.get().left() / 10);
            for (int i = 0; i < some; i++) {
                largest.get().drop(all);
            }
        }
        List<Event> forgotten = new ArrayList<>();
        trims.values().forEach(trim -> trim.dropped(forgotten));
        return new Plan(events, forgotten);
    }

    private Trim trim(String resource) {
        return new Trim(histories.getOrDefault(resource, new History(floor)));
    }

    /** Bytes of history, in memory and where values are stored. */
    private static final class Bytes {
        private long memory;
        private long stored;

        private void add(long moreMemory, long moreStored) {
            memory += moreMemory;
            stored += moreStored;
        }
    }

    /** What a resource's history is about to lose: its oldest changes, {@code dropped} in number. */
    private static final class Trim {
        private final History history;
        private final Bytes coming = new Bytes();
        private final Bytes gone = new Bytes();
        private int count;
        private int dropped;

        private Trim(History history) {
            this.history = history;
        }

        private void expect(Event event) {
            coming.add(History.memory(event), History.stored(event));
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
            gone.add(History.memory(event), History.stored(event));
            all.add(-History.memory(event), -History.stored(event));
        }

        private void dropped(List<Event> forgotten) {
            for (int i = 0; i < dropped; i++) {
                forgotten.add(history.get(i));
            }
        }
    }

    /** Makes planned changes visible. */
    public void take(Plan plan) {
        lock.writeLock().lock();
        try {
            plan.forgotten().forEach(gone -> history(resource(gone.key())).drop());
            long now = loop.clock().nanoTime();
            for (Event event : plan.events()) {
                event.after().ifPresentOrElse(entry -> index.put(event.key(), entry), () -> index.remove(event.key()));
                history(resource(event.key())).add(event, now);
            }
            revision = plan.events().getLast().revision();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Tells the watchers of changes that were taken. */
    public void tell(List<Event> events) {
        events.forEach(watchers::offer);
    }

    /** From now on the window is at {@code revision}: nothing in it changed since. */
    public void advance(long revision) {
        this.revision = Math.max(this.revision, revision);
    }

    /** Takes {@code state} back to revision {@code at}, change by change. */
    private void undo(TreeMap<String, Entry> state, String prefix, long at) {
        History history = histories.get(resource(prefix));
        long start = history == null ? floor : history.start();
        if (at < start) {
            throw new StoreException.Compacted(at, start);
        }
        if (history == null) {
            return;
        }
        for (Event event : history.since(at).reversed()) {
            if (event.key().startsWith(prefix)) {
                event.before().ifPresentOrElse(entry -> state.put(event.key(), entry), () -> state.remove(event.key()));
            }
        }
    }

    private History history(String resource) {
        return histories.computeIfAbsent(resource, name -> new History(floor));
    }

    /** {@code /registry/RESOURCE/} of a key or prefix. */
    static String resource(String key) {
        int second = key.indexOf('/', 1);
        int third = second < 0 ? -1 : key.indexOf('/', second + 1);
        return third < 0 ? key : key.substring(0, third + 1);
    }
}
