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
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store that keeps an index of all objects in memory and writes changes to a {@link Journal}. Most small values are in
 * memory. Values that are large or seldom read stay in the journal if it can read them later.
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
 * ({@link Store#putBatched}) gather for up to 10 ms before a group starts, if their rate is high enough ({@link CommitWindow}). A
 * write that is not batched starts a group at once, with all writes before it, and so does the last one of enough batched ones.
 */
public final class IndexedStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(IndexedStore.class);
    /** After this time without a sync the store is unhealthy. A sync takes milliseconds; clients time out after 10 s or more. */
    private static final Duration STALL = Duration.ofSeconds(5);
    /** The most that waits then: their requests end at a deadline of their own, and leave their writes here. */
    private static final long MOST_BEHIND = 32 << 20;
    /** What a write takes besides its value. */
    private static final int WRITE_BYTES = 512;

    /**
     * For so long after a failure of the journal the store is unhealthy, if no write succeeds before. Not until one succeeds: a balancer
     * that finds the server not ready sends none.
     */
    private static final Duration FAILED = Duration.ofSeconds(30);

    private final Loop loop;
    private final Journal journal;
    private final WatchCache cache;
    /** Whether the journal has a thread of its own; otherwise it is written on the loop. */
    private final boolean apart;

    private final Executor disk;
    /** The threads that read values from the journal. */
    private final Executor readers;

    private final StoreSpace space;
    private final ConcurrentLinkedQueue<Write> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();

    /** Whether the journal is writing a group, and since when. Set by the loop only. */
    private volatile boolean writing;

    private volatile long writingSince;
    /** Whether the last group failed, and when. Set by the loop only. */
    private volatile boolean failed;

    private volatile long failedAt;
    private volatile boolean closing;

    /** How long batched writes wait for each other. */
    private final CommitWindow window;
    /** Whether {@link #tick} takes the queue soon, so that a batched write need not wake the loop. Set by the loop only. */
    private volatile boolean deferred;
    /** Whether what is in the queue must not wait for {@link #tick}. */
    private volatile boolean urgent;
    /** About how many batched writes wait for {@link #tick}: those that arrive while a group begins may be counted twice. */
    private final AtomicInteger gathered = new AtomicInteger();

    /** About how many bytes wait in the queue since the disk has stalled. */
    private final AtomicLong behind = new AtomicLong();

    private Optional<Loop.Timer> ticker = Optional.empty();
    private long groups;
    private long changes;
    /** These numbers as of the last group, for other threads. */
    private volatile Commits commits = Commits.UNKNOWN;

    private final CompletableFuture<Void> closed = new CompletableFuture<>();

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
     * @param readers threads that read values from the journal and may block
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
        space = new StoreSpace(limits);
        window = new CommitWindow(loop.clock().nanoTime());
        cache = new WatchCache(loop, limits.history(), journal::replaced);
        Journal.Recovered kept = journal.load();
        kept.entries().forEach(space::add);
        cache.begin(kept);
        space.publish();
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
        } catch (OutOfMemoryError e) {
            return CompletableFuture.failedFuture(
                    new StoreException(entry.key() + " is not read: " + e.getMessage(), e));
        }
    }

    @Override
    public int capacity() {
        return cache.capacity();
    }

    @Override
    public Usage usage() {
        return space.usage();
    }

    @Override
    public boolean healthy() {
        return !failing() && !stalled() && !space.usage().exceeded();
    }

    /** Whether the journal has been writing one group for longer than {@link #STALL}. */
    private boolean stalled() {
        // In this order: a group may begin in between.
        return writing && loop.clock().nanoTime() - writingSince > STALL.toNanos();
    }

    private boolean failing() {
        return failed && loop.clock().nanoTime() - failedAt <= FAILED.toNanos();
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
        if (stalled()
                && behind.addAndGet(
                                WRITE_BYTES + value.map(bytes -> bytes.length).orElse(0))
                        > MOST_BEHIND) {
            done.completeExceptionally(new StoreException(
                    "the disk has not written for some seconds, and too many writes wait: " + key + " is not written",
                    null));
            return done;
        }
        queue.add(new Write(key, value, expected, batched, done));
        if (!batched) {
            urgent = true;
        } else if (deferred) {
            if (gathered.incrementAndGet() != CommitWindow.ENOUGH) {
                // The tick resets the flag before it takes the queue, so it takes this write.
                return done;
            }
            urgent = true;
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
        urgent = false;
        gathered.set(0);
        behind.set(0);
        WriteGroup group = WriteGroup.take(queue, cache.revision(), cache::get, journal::stored, space);
        space.publish();
        if (apart) {
            // What did not fit into the group is the next one.
            if (!queue.isEmpty()) {
                urgent = true;
            }
            defer(group.batched());
        }
        group.refused().forEach(refused -> refused.done().completeExceptionally(space.refusal(refused.key())));
        if (group.events().isEmpty()) {
            group.acknowledgeLosses();
            return;
        }
        WatchCache.Plan plan = cache.plan(group.kept());
        writingSince = loop.clock().nanoTime();
        writing = true;
        // An executor without a thread may have queued the task all the same. It must not write a group that was
        // refused.
        AtomicBoolean taken = new AtomicBoolean();
        try {
            disk.execute(() -> {
                if (taken.compareAndSet(false, true)) {
                    append(group, plan);
                }
            });
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            if (!taken.compareAndSet(false, true)) {
                throw e;
            }
            finish(group, plan, Optional.of(e));
        }
    }

    private void append(WriteGroup group, WatchCache.Plan plan) {
        Optional<Throwable> failure = Optional.empty();
        WriteGroup loaded = group;
        try {
            // Reads replaced values first: appending may remove their rows.
            loaded = group.withReplacedValues();
            journal.append(loaded.events(), plan.forgotten());
        } catch (Throwable e) {
            // Errors, too: without an outcome, no later group would be written.
            failure = Optional.of(e);
        }
        finish(loaded, plan, failure);
    }

    /** Hands the outcome of a group to the loop. */
    private void finish(WriteGroup group, WatchCache.Plan plan, Optional<Throwable> failure) {
        if (apart) {
            loop.execute(() -> appended(group, plan, failure));
        } else {
            appended(group, plan, failure);
        }
    }

    private void appended(WriteGroup group, WatchCache.Plan plan, Optional<Throwable> failure) {
        writing = false;
        if (failure.isPresent()) {
            refuse(group, failure.get());
        } else {
            failed = false;
            cache.apply(plan);
            space.publish();
            commits = new Commits(++groups, changes += group.events().size(), Duration.ofNanos(window.nanos()));
            if (apart && !queue.isEmpty() && isDue()) {
                // Keeps the disk busy: starts the next group before the acknowledgements of this one.
                commit();
            }
            group.acknowledge();
            cache.deliver(group.events());
        }
        if (apart) {
            proceed();
        }
    }

    private void refuse(WriteGroup group, Throwable failure) {
        failedAt = loop.clock().nanoTime();
        failed = true;
        group.kept().forEach(space::undo);
        space.publish();
        log.error(
                "the journal failed; {} writes are refused",
                group.accepted().size() + group.losses().size(),
                failure);
        group.fail(
                failure instanceof StoreException known
                        ? known
                        : new StoreException("the journal failed: " + failure, failure));
    }
}
