package io.nodekeeper.store;

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
 * A store that keeps an index of all objects in memory and writes changes to a {@link Journal}. Small objects are in memory
 * whole; large values stay in the journal if it can read them later.
 *
 * <p>What it holds is bounded: objects by {@link StoreLimits#quota} and, as far as they are in memory, by
 * {@link StoreLimits#heap}; history by {@link Window.Limits}. At one of the first two the store raises an alarm: writes that
 * make it larger fail with {@link StoreException.NoSpace} until deletions have taken it below 95 % of both.
 *
 * <p>Writes queue up. The store's loop takes all that wait, checks each one's expectation against the state that the ones
 * before it leave behind, numbers them, has the journal make them durable together (group commit: while one group is
 * being synced, the next gathers), and only then makes them visible, acknowledges them and tells the watchers. So nobody
 * ever sees what a crash could take back, and a slow disk makes groups larger rather than the queue longer.
 *
 * <p>The journal has a thread of its own, if one is given: a disk that stands still holds up writes and nothing else, and
 * the next group is on its way to the disk while the last one's writers and watchers hear of theirs.
 */
public final class IndexedStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(IndexedStore.class);
    /** The most changes in one group: bounds the wait of the first one. Measured elsewhere: 512 is past the knee. */
    private static final int GROUP = 512;
    /** The most bytes of values in one group, those replaced included: bounds what is in memory on its way to the disk. */
    private static final long GROUP_BYTES = 4 << 20;
    /** What an object costs in memory besides its key and value: an entry and its place in the index. */
    private static final int OBJECT = 200;
    /** A group that takes longer than this to become durable means that writes do not work. Chosen. */
    private static final Duration STALL = Duration.ofSeconds(5);

    private final Loop loop;
    private final Journal journal;
    private final Window window;
    /** Whether the journal has a thread of its own; else all happens within one turn of the loop. */
    private final boolean apart;

    private final Executor disk;
    /** Where values are read that are not in memory. */
    private final Executor readers;

    private final StoreLimits limits;

    // What all objects take, with those of the group under way; only the loop writes these.
    private long bytes;
    private long heap;
    /** Whether writes that take more space are refused. */
    private boolean exceeded;
    /** These numbers for other threads, as of the last group. */
    private volatile Usage usage = Usage.UNKNOWN;

    private final ConcurrentLinkedQueue<Write> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();

    /** Whether a group is with the journal, and since when; only the loop sets it. */
    private volatile boolean writing;

    private volatile long writingSince;
    private volatile boolean healthy = true;
    private volatile boolean closing;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private record Write(String key, Optional<byte[]> value, long expected, CompletableFuture<Event> done) {}

    /** An object after a write of the group that gathers: with its value, and as it is kept. */
    private record Pending(Optional<Entry> told, Optional<Entry> kept) {}

    /** A write that lost, told so only once what it lost against is durable: until then nobody may see that. */
    private record Loss(Write write, StoreException.Conflict conflict) {}

    /** What the journal makes durable together: changes, as they are kept and as they are told; whose they are; who lost. */
    private record Group(Window.Plan plan, List<Event> events, List<Write> accepted, List<Loss> losses) {}

    /** Opens a store on what {@code journal} kept; the store closes it. Everything runs on {@code loop}. */
    public IndexedStore(Loop loop, Journal journal) {
        this(loop, journal, Window.Limits.DEFAULT);
    }

    IndexedStore(Loop loop, Journal journal, Window.Limits limits) {
        this(loop, journal, new StoreLimits(limits, StoreLimits.DEFAULT.quota(), StoreLimits.DEFAULT.heap()));
    }

    /** As the first, within these limits. */
    public IndexedStore(Loop loop, Journal journal, StoreLimits limits) {
        this(loop, Runnable::run, Runnable::run, false, journal, limits);
    }

    /**
     * Opens a store on what {@code journal} kept; the store closes it. Writes are decided and watchers told on {@code loop}.
     *
     * @param disk where the journal is written: one thread, which may block
     */
    public IndexedStore(Loop loop, Executor disk, Journal journal) {
        this(loop, disk, disk, true, journal, StoreLimits.DEFAULT);
    }

    /**
     * As above, within limits.
     *
     * @param readers where large values are read from the journal: threads that may block
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
        window = new Window(loop, limits.history());
        Journal.Recovered kept = journal.load();
        for (Entry entry : kept.entries()) {
            bytes += bytes(entry);
            heap += heap(entry);
        }
        window.begin(kept);
        recount();
    }

    @Override
    public long revision() {
        return window.revision();
    }

    @Override
    public Optional<Entry> get(String key) {
        return window.get(key);
    }

    @Override
    public Listing list(String prefix, String after, int limit, long at) {
        return window.list(prefix, after, limit, at);
    }

    @Override
    public boolean alone() {
        return true;
    }

    @Override
    public CompletableFuture<Optional<Entry>> read(String key) {
        Optional<Entry> found = window.get(key);
        return found.isEmpty()
                ? CompletableFuture.completedFuture(found)
                : load(found.get()).thenApply(Optional::of);
    }

    @Override
    public CompletableFuture<Long> current() {
        return CompletableFuture.completedFuture(window.revision());
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
        return window.watch(prefix, after, watcher);
    }

    @Override
    public Changes changes(String prefix, long after, int count, long bytes) {
        return window.changes(prefix, after, count, bytes);
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
                    new StoreException(entry.key() + " is not read: too many reads wait for the disk already", e));
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

    /** Counts a change of what is stored; {@code sign} -1 takes it back. */
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

    /** Whether {@code event} would make the store larger than it may be, or makes it larger during an alarm. */
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
                    "the store is full: {} bytes of {}, {} of {} in memory; writes that need space are refused until"
                            + " deletions take it below 95 %",
                    bytes, limits.quota(), heap, limits.heap());
        }
        return true;
    }

    /** Ends the alarm once there is space again, and publishes the numbers. */
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

    /** Whether the journal has been at one group for too long. */
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
        if (!writing) {
            commit();
        }
        proceed();
    }

    /** Sees to it that what waits is committed, and that a store that is to be closed is closed after that. */
    private void proceed() {
        if (writing) {
            return;
        }
        if (!queue.isEmpty()) {
            if (draining.compareAndSet(false, true)) {
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
        long next = window.revision();
        long size = 0;
        Write write;
        while (events.size() < GROUP && size < GROUP_BYTES && (write = queue.poll()) != null) {
            String key = write.key;
            Pending earlier = pending.get(key);
            Optional<Entry> before = earlier == null ? window.get(key) : earlier.told;
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
        full.forEach(refused -> refused.done.completeExceptionally(noSpace(refused.key)));
        if (events.isEmpty()) {
            losses.forEach(IndexedStore::tell);
            return;
        }
        Group group = new Group(window.plan(kept), events, accepted, losses);
        writingSince = loop.clock().nanoTime();
        writing = true;
        disk.execute(() -> append(group));
    }

    /** The change with the version before it in memory, so that watchers need no disk; as it is if that cannot be read. */
    private static Event told(Event event) {
        if (event.before().isEmpty() || event.before().get().resident() > 0) {
            return event;
        }
        try {
            return new Event(event.revision(), event.key(), event.before().map(Entry::loaded), event.after());
        } catch (StoreException e) {
            log.error("what revision {} replaced cannot be read", event.revision(), e);
            return event;
        }
    }

    private void append(Group group) {
        Optional<RuntimeException> failure = Optional.empty();
        Group told = group;
        try {
            // Before the rows of what left the window go: what is replaced may be among them.
            told = new Group(
                    group.plan, group.events.stream().map(IndexedStore::told).toList(), group.accepted, group.losses);
            journal.append(told.events, group.plan.forgotten());
        } catch (RuntimeException e) {
            failure = Optional.of(e);
        }
        Optional<RuntimeException> outcome = failure;
        Group done = told;
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
            window.take(group.plan);
            recount();
            if (apart) {
                // The disk is free: it gets the next group before this one's writers and watchers hear.
                commit();
            }
            List<Event> events = group.events;
            for (int i = 0; i < events.size(); i++) {
                group.accepted.get(i).done.complete(events.get(i));
            }
            group.losses.forEach(IndexedStore::tell);
            window.tell(events);
        }
        if (apart) {
            proceed();
        }
    }

    private static void tell(Loss loss) {
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
