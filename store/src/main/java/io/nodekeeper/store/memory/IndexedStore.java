package io.nodekeeper.store.memory;

import io.nodekeeper.store.Changes;
import io.nodekeeper.store.Commits;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.Usage;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store that keeps an index of all objects in memory and writes changes to a {@link Journal}. Small values are in memory.
 * Large values stay in the journal if it can read them later.
 *
 * <p>Memory and disk are bounded: objects by {@link StoreLimits#quota} and {@link StoreLimits#heap}, history by
 * {@link WatchCache.Limits}. When one of the first two is reached, the store raises an alarm: writes that make it larger fail with
 * {@link StoreException.NoSpace} until deletions have reduced it below 95 % of both limits.
 *
 * <p>Writes are committed in groups. The loop takes all queued writes, compares the expected revision of each one with the
 * state after the earlier ones, and assigns revisions. The journal makes the group durable. Only then the changes become
 * visible, the writes are acknowledged and the watchers are notified. So no client sees a change that a crash can undo. While
 * one group is being synced, the next one gathers: a slow disk makes the groups larger.
 *
 * <p>The journal may have a thread of its own. Then a disk that does not respond blocks writes only, and the next group is
 * being written while the acknowledgements of the last one are sent. With such a journal, batched writes
 * ({@link Store#putBatched}) gather for up to 5 ms before a group starts, if their rate is high enough ({@link CommitWindow}). A
 * write that is not batched starts a group at once, with all writes before it.
 */
public final class IndexedStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(IndexedStore.class);
    /** Maximum changes in one group, which bounds the latency of the first one. Larger groups hardly raise the rate. */
    private static final int GROUP = 512;
    /** Maximum bytes of values in one group, replaced values included, which bounds the memory of a group being written. */
    private static final long GROUP_BYTES = 4 << 20;
    /** Bytes of memory that an object costs besides its key and value: the entry and its node in the index. */
    private static final int OBJECT = 200;
    /** After this time without a sync the store is unhealthy. A sync takes milliseconds; clients time out after 10 s or more. */
    private static final Duration STALL = Duration.ofSeconds(5);

    private final Loop loop;
    private final Journal journal;
    private final WatchCache cache;
    /** Whether the journal has a thread of its own; otherwise it is written on the loop. */
    private final boolean apart;

    private final Executor disk;
    /** The threads that read values from the journal. */
    private final Executor readers;

    private final StoreLimits limits;

    // Bytes of all objects, including the group that is being written. Written by the loop only.
    private long bytes;
    private long heap;
    /** Whether the store refuses writes that take more space. */
    private boolean exceeded;
    /** These numbers as of the last group, for other threads. */
    private volatile Usage usage = Usage.UNKNOWN;

    private final ConcurrentLinkedQueue<Write> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();

    /** Whether the journal is writing a group, and since when. Set by the loop only. */
    private volatile boolean writing;

    private volatile long writingSince;
    private volatile boolean healthy = true;
    private volatile boolean closing;

    /** How long batched writes wait for each other. */
    private final CommitWindow window;
    /** Whether {@link #tick} takes the queue soon, so that a batched write need not wake the loop. Set by the loop only. */
    private volatile boolean deferred;
    /** Whether a write in the queue must not wait for {@link #tick}. */
    private volatile boolean urgent;

    private Optional<Loop.Timer> ticker = Optional.empty();
    private long groups;
    private long changes;
    /** These numbers as of the last group, for other threads. */
    private volatile Commits commits = Commits.UNKNOWN;

    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private record Write(
            String key, Optional<byte[]> value, long expected, boolean batched, CompletableFuture<Event> done) {}

    /** An object after a write of the current group: with its value in memory, and in the form that the store keeps. */
    private record Pending(Optional<Entry> full, Optional<Entry> kept) {}

    /** A write with a conflict. It fails only after the write that it conflicts with is durable, because the failure reveals it. */
    private record Loss(Write write, StoreException.Conflict conflict) {}

    /** A group of writes: its changes as kept and as delivered to watchers, the accepted writes, and those with a conflict. */
    private record Group(WatchCache.Plan plan, List<Event> events, List<Write> accepted, List<Loss> losses) {}

    /** Opens a store with the state of {@code journal}, which the store closes. Everything runs on {@code loop}. */
    public IndexedStore(Loop loop, Journal journal) {
        this(loop, journal, WatchCache.Limits.DEFAULT);
    }

    IndexedStore(Loop loop, Journal journal, WatchCache.Limits limits) {
        this(loop, journal, new StoreLimits(limits, StoreLimits.DEFAULT.quota(), StoreLimits.DEFAULT.heap()));
    }

    /** As {@link #IndexedStore(Loop, Journal)}, with these limits. */
    public IndexedStore(Loop loop, Journal journal, StoreLimits limits) {
        this(loop, Runnable::run, Runnable::run, false, journal, limits);
    }

    /**
     * Opens a store with the state of {@code journal}, which the store closes. Decides writes and notifies watchers on
     * {@code loop}.
     *
     * @param disk writes the journal; one thread, which may block
     */
    public IndexedStore(Loop loop, Executor disk, Journal journal) {
        this(loop, disk, disk, true, journal, StoreLimits.DEFAULT);
    }

    /**
     * As {@link #IndexedStore(Loop, Executor, Journal)}, with these limits.
     *
     * @param readers threads that read large values from the journal and may block
     */
    public IndexedStore(Loop loop, Executor disk, Executor readers, Journal journal, StoreLimits limits) {
        this(loop, disk, readers, true, journal, limits);
    }

    private IndexedStore(
            Loop loop, Executor disk, Executor readers, boolean apart, Journal journal, StoreLimits limits) {
        this.loop = loop;
        this.disk = disk;
        this.readers = readers;
        this.apart = apart;
        this.journal = journal;
        this.limits = limits;
        window = new CommitWindow(loop.clock().nanoTime());
        cache = new WatchCache(loop, limits.history());
        Journal.Recovered kept = journal.load();
        for (Entry entry : kept.entries()) {
            bytes += bytes(entry);
            heap += heap(entry);
        }
        cache.begin(kept);
        recount();
    }

    @Override
    public long revision() {
        return cache.revision();
    }

    @Override
    public Optional<Entry> get(String key) {
        return cache.get(key);
    }

    @Override
    public Listing list(String prefix, String after, int limit, long at) {
        return cache.list(prefix, after, limit, at);
    }

    @Override
    public boolean alone() {
        return true;
    }

    @Override
    public CompletableFuture<Optional<Entry>> read(String key) {
        Optional<Entry> found = cache.get(key);
        return found.isEmpty()
                ? CompletableFuture.completedFuture(found)
                : load(found.get()).thenApply(Optional::of);
    }

    @Override
    public CompletableFuture<Long> current() {
        return CompletableFuture.completedFuture(cache.revision());
    }

    @Override
    public CompletableFuture<Entry> put(String key, byte[] value, long expected) {
        return submit(key, Optional.of(value), expected, false)
                .thenApply(event -> event.after().orElseThrow());
    }

    @Override
    public CompletableFuture<Entry> putBatched(String key, byte[] value, long expected) {
        return submit(key, Optional.of(value), expected, apart)
                .thenApply(event -> event.after().orElseThrow());
    }

    @Override
    public Commits commits() {
        return commits;
    }

    @Override
    public CompletableFuture<Long> delete(String key, long expected) {
        return submit(key, Optional.empty(), expected, false).thenApply(Event::revision);
    }

    @Override
    public Watch watch(String prefix, long after, Watcher watcher) {
        return cache.watch(prefix, after, watcher);
    }

    @Override
    public Changes changes(String prefix, long after, int count, long bytes) {
        return cache.changes(prefix, after, count, bytes);
    }

    @Override
    public CompletableFuture<Entry> load(Entry entry) {
        if (entry.atHand()) {
            try {
                return CompletableFuture.completedFuture(entry.loaded());
            } catch (StoreException e) {
                return CompletableFuture.failedFuture(e);
            }
        }
        try {
            return CompletableFuture.supplyAsync(entry::loaded, readers);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedFuture(
                    new StoreException(entry.key() + " is not read: too many reads of large values are queued", e));
        }
    }

    @Override
    public Usage usage() {
        return usage;
    }

    @Override
    public boolean healthy() {
        return healthy && !stalled() && !usage.exceeded();
    }

    private static long bytes(Entry entry) {
        return entry.key().length() + (long) entry.length();
    }

    private static long heap(Entry entry) {
        return OBJECT + entry.key().length() + (long) entry.resident();
    }

    /** Adds the change of size of {@code event} to the totals; {@code sign} -1 undoes that. */
    private void count(Event event, int sign) {
        event.before().ifPresent(before -> {
            bytes -= sign * bytes(before);
            heap -= sign * heap(before);
        });
        event.after().ifPresent(after -> {
            bytes += sign * bytes(after);
            heap += sign * heap(after);
        });
    }

    /** Whether {@code event} would exceed a limit, or makes the store larger during an alarm. */
    private boolean tooLarge(Event event) {
        if (event.after().isEmpty()) {
            return false;
        }
        long moreBytes = bytes(event.after().get())
                - event.before().map(IndexedStore::bytes).orElse(0L);
        long moreHeap = heap(event.after().get())
                - event.before().map(IndexedStore::heap).orElse(0L);
        if (moreBytes <= 0 && moreHeap <= 0) {
            return false;
        }
        if (!exceeded && bytes + moreBytes <= limits.quota() && heap + moreHeap <= limits.heap()) {
            return false;
        }
        if (!exceeded) {
            exceeded = true;
            log.error(
                    "the store is full: {} bytes of {}, {} of {} in memory; refusing writes that need space until"
                            + " deletions reduce it below 95 %",
                    bytes, limits.quota(), heap, limits.heap());
        }
        return true;
    }

    /** Ends the alarm when the store is below 95 % of its limits, and publishes the totals. */
    private void recount() {
        if (exceeded && bytes <= limits.quota() * 0.95 && heap <= limits.heap() * 0.95) {
            exceeded = false;
            log.info("the store has space again: {} bytes of {}", bytes, limits.quota());
        }
        usage = new Usage(bytes, limits.quota(), exceeded);
    }

    private StoreException noSpace(String key) {
        return new StoreException.NoSpace(
                "etcdserver: mvcc: database space exceeded: " + key + " is not written; the store" + " has " + bytes
                        + " bytes of " + limits.quota() + ", " + heap + " of " + limits.heap() + " in memory");
    }

    /** Whether the journal has been writing one group for longer than {@link #STALL}. */
    private boolean stalled() {
        long since = writingSince;
        return writing && loop.clock().nanoTime() - since > STALL.toNanos();
    }

    @Override
    public CompletableFuture<Void> close() {
        loop.execute(() -> {
            closing = true;
            proceed();
        });
        return closed;
    }

    private CompletableFuture<Event> submit(String key, Optional<byte[]> value, long expected, boolean batched) {
        CompletableFuture<Event> done = new CompletableFuture<>();
        if (closing) {
            done.completeExceptionally(new StoreException("the store is closed: " + key + " is not written", null));
            return done;
        }
        queue.add(new Write(key, value, expected, batched, done));
        if (!batched) {
            urgent = true;
        } else if (deferred) {
            // The tick resets the flag before it takes the queue, so it takes this write.
            return done;
        }
        if (draining.compareAndSet(false, true)) {
            loop.execute(this::drain);
        }
        return done;
    }

    private void drain() {
        draining.set(false);
        if (!writing && isDue()) {
            commit();
        }
        proceed();
    }

    /** Whether queued writes need not wait for more. */
    private boolean isDue() {
        return urgent || !deferred || closing;
    }

    /** The wait of batched writes is over. */
    private void tick() {
        ticker = Optional.empty();
        deferred = false;
        if (!writing && !queue.isEmpty()) {
            commit();
        }
        proceed();
    }

    /** Lets the batched writes that arrive from now on wait, if their rate is high enough. */
    private void defer(int batched) {
        ticker.ifPresent(Loop.Timer::cancel);
        window.committed(batched, loop.clock().nanoTime());
        long wait = window.nanos();
        ticker = wait == 0 ? Optional.empty() : Optional.of(loop.schedule(Duration.ofNanos(wait), this::tick));
        deferred = wait > 0;
    }

    /** Starts the commit of queued writes. If there are none and the store is closing, closes the journal. */
    private void proceed() {
        if (writing) {
            return;
        }
        if (!queue.isEmpty()) {
            if (isDue() && draining.compareAndSet(false, true)) {
                loop.execute(this::drain);
            }
        } else if (closing && !closed.isDone()) {
            disk.execute(() -> {
                try {
                    journal.close();
                    closed.complete(null);
                } catch (RuntimeException e) {
                    closed.completeExceptionally(e);
                } finally {
                    loop.close();
                }
            });
        }
    }

    private void commit() {
        List<Write> accepted = new ArrayList<>();
        List<Loss> losses = new ArrayList<>();
        List<Event> kept = new ArrayList<>();
        List<Event> events = new ArrayList<>();
        List<Write> full = new ArrayList<>();
        Map<String, Pending> pending = new HashMap<>();
        long next = cache.revision();
        long size = 0;
        int batched = 0;
        Write write;
        urgent = false;
        while (events.size() < GROUP && size < GROUP_BYTES && (write = queue.poll()) != null) {
            batched += write.batched ? 1 : 0;
            String key = write.key;
            Pending earlier = pending.get(key);
            Optional<Entry> before = earlier == null ? cache.get(key) : earlier.full;
            if (before.map(Entry::modRevision).orElse(0L) != write.expected) {
                losses.add(new Loss(write, new StoreException.Conflict(key, write.expected, before)));
                continue;
            }
            long mine = next + 1;
            // All versions of an object share one string.
            String shared = before.map(Entry::key).orElse(key);
            Optional<Entry> after = write.value.map(value ->
                    new Entry(shared, value, before.map(Entry::createRevision).orElse(mine), mine));
            Event event = new Event(mine, shared, before, after);
            Event keeping =
                    new Event(mine, shared, earlier == null ? before : earlier.kept, after.map(journal::stored));
            if (tooLarge(keeping)) {
                full.add(write);
                continue;
            }
            next = mine;
            count(keeping, 1);
            size += after.map(Entry::length).orElse(0)
                    + before.map(Entry::length).orElse(0);
            pending.put(shared, new Pending(after, keeping.after()));
            events.add(event);
            kept.add(keeping);
            accepted.add(write);
        }
        recount();
        if (apart) {
            // What did not fit into the group is the next one.
            if (!queue.isEmpty()) {
                urgent = true;
            }
            defer(batched);
        }
        full.forEach(refused -> refused.done.completeExceptionally(noSpace(refused.key)));
        if (events.isEmpty()) {
            losses.forEach(IndexedStore::fail);
            return;
        }
        Group group = new Group(cache.plan(kept), events, accepted, losses);
        writingSince = loop.clock().nanoTime();
        writing = true;
        disk.execute(() -> append(group));
    }

    /** The change with its replaced version in memory, so that watchers need no disk read; unchanged if the read fails. */
    private static Event withReplacedValue(Event event) {
        if (event.before().isEmpty() || event.before().get().resident() > 0) {
            return event;
        }
        try {
            return new Event(event.revision(), event.key(), event.before().map(Entry::loaded), event.after());
        } catch (StoreException e) {
            log.error("cannot read the version that revision {} replaced", event.revision(), e);
            return event;
        }
    }

    private void append(Group group) {
        Optional<RuntimeException> failure = Optional.empty();
        Group loaded = group;
        try {
            // Reads replaced values first: appending may remove their rows.
            List<Event> events =
                    group.events.stream().map(IndexedStore::withReplacedValue).toList();
            loaded = new Group(group.plan, events, group.accepted, group.losses);
            journal.append(events, group.plan.forgotten());
        } catch (RuntimeException e) {
            failure = Optional.of(e);
        }
        Optional<RuntimeException> outcome = failure;
        Group done = loaded;
        if (apart) {
            loop.execute(() -> appended(done, outcome));
        } else {
            appended(done, outcome);
        }
    }

    private void appended(Group group, Optional<RuntimeException> failure) {
        writing = false;
        if (failure.isPresent()) {
            refuse(group, failure.get());
        } else {
            healthy = true;
            cache.apply(group.plan);
            recount();
            commits = new Commits(++groups, changes += group.events.size(), Duration.ofNanos(window.nanos()));
            if (apart && !queue.isEmpty() && isDue()) {
                // Keeps the disk busy: starts the next group before the acknowledgements of this one.
                commit();
            }
            List<Event> events = group.events;
            for (int i = 0; i < events.size(); i++) {
                group.accepted.get(i).done.complete(events.get(i));
            }
            group.losses.forEach(IndexedStore::fail);
            cache.deliver(events);
        }
        if (apart) {
            proceed();
        }
    }

    private static void fail(Loss loss) {
        loss.write.done.completeExceptionally(loss.conflict);
    }

    private void refuse(Group group, RuntimeException failure) {
        healthy = false;
        group.plan.events().forEach(event -> count(event, -1));
        recount();
        log.error("the journal failed; {} writes are refused", group.accepted.size() + group.losses.size(), failure);
        StoreException why = failure instanceof StoreException known
                ? known
                : new StoreException("the journal failed: " + failure, failure);
        group.accepted.forEach(refused -> refused.done.completeExceptionally(why));
        group.losses.forEach(loss -> loss.write.done.completeExceptionally(why));
    }
}
