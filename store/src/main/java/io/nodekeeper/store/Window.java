package io.nodekeeper.store;

import io.nodekeeper.time.Loop;
import java.util.ArrayList;
import java.util.Collection;
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
     * How much history is kept for each resource.
     *
     * @param events at most so many changes of a resource
     * @param nanos none older than this
     */
    public record Limits(int events, long nanos) {
        /** 5 min like etcd's compaction under a kube-apiserver; 100,000 as the largest of its watch caches. */
        public static final Limits DEFAULT = new Limits(100_000, 300_000_000_000L);
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
            histories.put(resource, new History(limits, Math.max(last, floor)));
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

    /** What taking {@code events}, which come next and are at least one, would forget. */
    public Plan plan(List<Event> events) {
        Map<String, Integer> counts = new HashMap<>();
        events.forEach(event -> counts.merge(resource(event.key()), 1, Integer::sum));
        long now = loop.clock().nanoTime();
        List<Event> forgotten = new ArrayList<>();
        counts.forEach((resource, count) -> {
            History history = histories.get(resource);
            if (history != null) {
                forgotten.addAll(history.stale(count, now));
            }
        });
        return new Plan(events, forgotten);
    }

    /** Makes planned changes visible. */
    public void take(Plan plan) {
        lock.writeLock().lock();
        try {
            plan.forgotten().forEach(gone -> history(resource(gone.key())).drop(gone));
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
        return histories.computeIfAbsent(resource, name -> new History(limits, floor));
    }

    /** {@code /registry/RESOURCE/} of a key or prefix. */
    static String resource(String key) {
        int second = key.indexOf('/', 1);
        int third = second < 0 ? -1 : key.indexOf('/', second + 1);
        return third < 0 ? key : key.substring(0, third + 1);
    }
}
