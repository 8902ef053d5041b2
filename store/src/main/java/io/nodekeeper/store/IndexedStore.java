package io.nodekeeper.store;

import io.nodekeeper.time.Loop;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store that holds every object in memory and writes changes to a {@link Journal}.
 *
 * <p>Writes queue up. The store's loop takes all that wait, checks each one's expectation against the state that the ones
 * before it leave behind, numbers them, has the journal make them durable together (group commit: while one group is
 * being synced, the next gathers), and only then makes them visible, acknowledges them and tells the watchers. So nobody
 * ever sees what a crash could take back, and a slow disk makes groups larger rather than the queue longer.
 *
 * <p>Readers take the lock only for lists, which must be whole; the loop holds it only while it applies a group.
 */
public final class IndexedStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(IndexedStore.class);
    /** The most changes in one group: bounds the wait of the first one. Measured elsewhere: 512 is past the knee. */
    private static final int GROUP = 512;

    private final Loop loop;
    private final Journal journal;
    private final History.Limits limits;

    private final ConcurrentLinkedQueue<Write> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final ConcurrentSkipListMap<String, Entry> index = new ConcurrentSkipListMap<>();
    private final Map<String, History> histories = new HashMap<>();
    private volatile long revision;
    private volatile boolean healthy = true;
    private volatile boolean closing;

    private final Watchers watchers = new Watchers();

    private record Write(String key, Optional<byte[]> value, long expected, CompletableFuture<Event> done) {}

    /** Opens a store on what {@code journal} kept; the store closes it. Writes and watchers run on {@code loop}. */
    public IndexedStore(Loop loop, Journal journal) {
        this(loop, journal, History.Limits.DEFAULT);
    }

    IndexedStore(Loop loop, Journal journal, History.Limits limits) {
        this.loop = loop;
        this.journal = journal;
        this.limits = limits;
        Journal.Recovered recovered = journal.load();
        revision = recovered.revision();
        recovered.entries().forEach(entry -> index.put(entry.key(), entry));
        long now = loop.clock().nanoTime();
        for (Event event : recovered.history()) {
            histories
                    .computeIfAbsent(resource(event.key()), resource -> new History(limits, event.revision() - 1))
                    .add(event, now);
        }
    }

    @Override
    public long revision() {
        return revision;
    }

    @Override
    public Optional<Entry> get(String key) {
        return Optional.ofNullable(index.get(key));
    }

    @Override
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

    @Override
    public CompletableFuture<Entry> put(String key, byte[] value, long expected) {
        return submit(key, Optional.of(value), expected)
                .thenApply(event -> event.after().orElseThrow());
    }

    @Override
    public CompletableFuture<Long> delete(String key, long expected) {
        return submit(key, Optional.empty(), expected).thenApply(Event::revision);
    }

    @Override
    public Watch watch(String prefix, long after, Watcher watcher) {
        Watchers.Subscription subscription = new Watchers.Subscription(prefix, after, watcher);
        loop.execute(() -> {
            History history = histories.get(resource(prefix));
            long start = history == null ? 0 : history.start();
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

    @Override
    public boolean healthy() {
        return healthy;
    }

    @Override
    public CompletableFuture<Void> close() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.execute(() -> {
            closing = true;
            while (!queue.isEmpty()) {
                commit();
            }
            journal.close();
            loop.close();
            closed.complete(null);
        });
        return closed;
    }

    private CompletableFuture<Event> submit(String key, Optional<byte[]> value, long expected) {
        CompletableFuture<Event> done = new CompletableFuture<>();
        if (closing) {
            done.completeExceptionally(new StoreException("the store is closed: " + key + " is not written", null));
            return done;
        }
        queue.add(new Write(key, value, expected, done));
        if (draining.compareAndSet(false, true)) {
            loop.execute(this::drain);
        }
        return done;
    }

    private void drain() {
        draining.set(false);
        commit();
        if (!queue.isEmpty() && draining.compareAndSet(false, true)) {
            loop.execute(this::drain);
        }
    }

    /** A write that lost, told so only once what it lost against is durable: until then nobody may see that. */
    private record Loss(Write write, StoreException.Conflict conflict) {
        void tell() {
            write.done.completeExceptionally(conflict);
        }
    }

    private void commit() {
        List<Write> accepted = new ArrayList<>();
        List<Loss> losses = new ArrayList<>();
        List<Event> events = new ArrayList<>();
        Map<String, Optional<Entry>> pending = new HashMap<>();
        long next = revision;
        Write write;
        while (events.size() < GROUP && (write = queue.poll()) != null) {
            String key = write.key;
            Optional<Entry> before = pending.containsKey(key) ? pending.get(key) : get(key);
            if (before.map(Entry::modRevision).orElse(0L) != write.expected) {
                losses.add(new Loss(write, new StoreException.Conflict(key, write.expected, before)));
                continue;
            }
            long mine = ++next;
            Optional<Entry> after = write.value.map(value ->
                    new Entry(key, value, before.map(Entry::createRevision).orElse(mine), mine));
            pending.put(key, after);
            events.add(new Event(mine, key, before, after));
            accepted.add(write);
        }
        if (!events.isEmpty()) {
            Map<String, List<Event>> stale = stale(events);
            try {
                journal.append(
                        events, stale.values().stream().flatMap(List::stream).toList());
            } catch (RuntimeException e) {
                refuse(accepted, losses, e);
                return;
            }
            healthy = true;
            apply(events, stale);
        }
        for (int i = 0; i < events.size(); i++) {
            accepted.get(i).done.complete(events.get(i));
        }
        losses.forEach(Loss::tell);
        events.forEach(watchers::offer);
    }

    private void refuse(List<Write> accepted, List<Loss> losses, RuntimeException failure) {
        healthy = false;
        log.error("the journal failed; {} writes are refused", accepted.size() + losses.size(), failure);
        StoreException why = failure instanceof StoreException known
                ? known
                : new StoreException("the journal failed: " + failure, failure);
        accepted.forEach(refused -> refused.done.completeExceptionally(why));
        losses.forEach(loss -> loss.write.done.completeExceptionally(why));
    }

    /** What each resource's history forgets when {@code coming} are added. */
    private Map<String, List<Event>> stale(List<Event> coming) {
        Map<String, Integer> counts = new HashMap<>();
        coming.forEach(event -> counts.merge(resource(event.key()), 1, Integer::sum));
        long now = loop.clock().nanoTime();
        Map<String, List<Event>> stale = new HashMap<>();
        counts.forEach((resource, count) -> {
            History history = histories.get(resource);
            if (history != null) {
                stale.put(resource, history.stale(count, now));
            }
        });
        return stale;
    }

    private void apply(List<Event> events, Map<String, List<Event>> stale) {
        lock.writeLock().lock();
        try {
            stale.forEach((resource, gone) -> history(resource).drop(gone.size()));
            long now = loop.clock().nanoTime();
            for (Event event : events) {
                event.after().ifPresentOrElse(entry -> index.put(event.key(), entry), () -> index.remove(event.key()));
                history(resource(event.key())).add(event, now);
            }
            revision = events.getLast().revision();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Takes {@code state} back to revision {@code at}, change by change. */
    private void undo(TreeMap<String, Entry> state, String prefix, long at) {
        History history = histories.get(resource(prefix));
        long start = history == null ? 0 : history.start();
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
        return histories.computeIfAbsent(resource, name -> new History(limits, 0));
    }

    /** {@code /registry/RESOURCE/} of a key or prefix. */
    private static String resource(String key) {
        int second = key.indexOf('/', 1);
        int third = second < 0 ? -1 : key.indexOf('/', second + 1);
        return third < 0 ? key : key.substring(0, third + 1);
    }
}
