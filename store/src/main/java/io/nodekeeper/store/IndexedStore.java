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
import java.util.concurrent.atomic.AtomicBoolean;
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
 * <p>The journal has a thread of its own, if one is given: a disk that stands still holds up writes and nothing else, and
 * the next group is on its way to the disk while the last one's writers and watchers hear of theirs.
 */
public final class IndexedStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(IndexedStore.class);
    /** The most changes in one group: bounds the wait of the first one. Measured elsewhere: 512 is past the knee. */
    private static final int GROUP = 512;
    /** A group that takes longer than this to become durable means that writes do not work. Chosen. */
    private static final Duration STALL = Duration.ofSeconds(5);

    private final Loop loop;
    private final Journal journal;
    private final Window window;
    /** Whether the journal has a thread of its own; else all happens within one turn of the loop. */
    private final boolean apart;

    private final Executor disk;

    private final ConcurrentLinkedQueue<Write> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();

    /** Whether a group is with the journal, and since when; only the loop sets it. */
    private volatile boolean writing;

    private volatile long writingSince;
    private volatile boolean healthy = true;
    private volatile boolean closing;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private record Write(String key, Optional<byte[]> value, long expected, CompletableFuture<Event> done) {}

    /** A write that lost, told so only once what it lost against is durable: until then nobody may see that. */
    private record Loss(Write write, StoreException.Conflict conflict) {}

    /** What the journal makes durable together: changes, whose they are, and who lost. */
    private record Group(Window.Plan plan, List<Write> accepted, List<Loss> losses) {}

    /** Opens a store on what {@code journal} kept; the store closes it. Everything runs on {@code loop}. */
    public IndexedStore(Loop loop, Journal journal) {
        this(loop, journal, Window.Limits.DEFAULT);
    }

    IndexedStore(Loop loop, Journal journal, Window.Limits limits) {
        this(loop, Runnable::run, false, journal, limits);
    }

    /**
     * Opens a store on what {@code journal} kept; the store closes it. Writes are decided and watchers told on {@code loop}.
     *
     * @param disk where the journal is written: one thread, which may block
     */
    public IndexedStore(Loop loop, Executor disk, Journal journal) {
        this(loop, disk, true, journal, Window.Limits.DEFAULT);
    }

    private IndexedStore(Loop loop, Executor disk, boolean apart, Journal journal, Window.Limits limits) {
        this.loop = loop;
        this.disk = disk;
        this.apart = apart;
        this.journal = journal;
        window = new Window(loop, limits);
        window.begin(journal.load());
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
        return CompletableFuture.completedFuture(window.get(key));
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
    public boolean healthy() {
        return healthy && !stalled();
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
        List<Event> events = new ArrayList<>();
        Map<String, Optional<Entry>> pending = new HashMap<>();
        long next = window.revision();
        Write write;
        while (events.size() < GROUP && (write = queue.poll()) != null) {
            String key = write.key;
            Optional<Entry> before = pending.containsKey(key) ? pending.get(key) : window.get(key);
            if (before.map(Entry::modRevision).orElse(0L) != write.expected) {
                losses.add(new Loss(write, new StoreException.Conflict(key, write.expected, before)));
                continue;
            }
            long mine = ++next;
            // All versions of an object share one string.
            String shared = before.map(Entry::key).orElse(key);
            Optional<Entry> after = write.value.map(value ->
                    new Entry(shared, value, before.map(Entry::createRevision).orElse(mine), mine));
            pending.put(shared, after);
            events.add(new Event(mine, shared, before, after));
            accepted.add(write);
        }
        if (events.isEmpty()) {
            losses.forEach(IndexedStore::tell);
            return;
        }
        Group group = new Group(window.plan(events), accepted, losses);
        writingSince = loop.clock().nanoTime();
        writing = true;
        disk.execute(() -> append(group));
    }

    private void append(Group group) {
        Optional<RuntimeException> failure = Optional.empty();
        try {
            journal.append(group.plan.events(), group.plan.forgotten());
        } catch (RuntimeException e) {
            failure = Optional.of(e);
        }
        Optional<RuntimeException> outcome = failure;
        if (apart) {
            loop.execute(() -> appended(group, outcome));
        } else {
            appended(group, outcome);
        }
    }

    private void appended(Group group, Optional<RuntimeException> failure) {
        writing = false;
        if (failure.isPresent()) {
            refuse(group, failure.get());
        } else {
            healthy = true;
            window.take(group.plan);
            if (apart) {
                // The disk is free: it gets the next group before this one's writers and watchers hear.
                commit();
            }
            List<Event> events = group.plan.events();
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
        log.error("the journal failed; {} writes are refused", group.accepted.size() + group.losses.size(), failure);
        StoreException why = failure instanceof StoreException known
                ? known
                : new StoreException("the journal failed: " + failure, failure);
        group.accepted.forEach(refused -> refused.done.completeExceptionally(why));
        group.losses.forEach(loss -> loss.write.done.completeExceptionally(why));
    }
}
