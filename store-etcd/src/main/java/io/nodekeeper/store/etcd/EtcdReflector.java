package io.nodekeeper.store.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event.EventType;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchResponse;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.EncryptionException;
import io.nodekeeper.store.memory.WatchCache;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists and watches etcd and applies the changes to a {@link WatchCache}, as Kubernetes' reflector does. Confined to the loop.
 *
 * <p>It starts with a list at a revision some thousand revisions back, if etcd still has that revision, and watches from there.
 * So the cache contains history from before the start, and clients can resume their watches. A watch that ends is resumed at its
 * last revision, at another member if needed. Only if that revision was compacted, the reflector lists again, and all client
 * watches end with {@code onCompacted}.
 *
 * <p>The cache is at the last revision that the watch delivered. If etcd is at a later one and the watch delivers nothing, another
 * key range may have changed. Then the reflector asks etcd whether a key in its range has changed. If not, the cache advances to
 * etcd's revision. If so, the watch is slow or stuck; a stuck one is opened again.
 */
final class EtcdReflector {
    private static final Logger log = LoggerFactory.getLogger(EtcdReflector.class);
    /** Revisions of history at the start: 5 s of a cluster with 1,000 writes a second, minutes of a smaller one. */
    private static final long HISTORY = 5_000;
    /** Pause before a retry: short against the deadline of a read, long against the cost of an attempt. */
    private static final Duration RETRY = Duration.ofMillis(500);
    /** Delay of the watch after which etcd is asked for other changes. Events usually arrive within a few milliseconds. */
    private static final Duration LATE = Duration.ofMillis(500);
    /** Pause before all is read again after a value that cannot be decrypted: it stays so until its writer replaces it. */
    private static final Duration UNREADABLE = Duration.ofSeconds(30);
    /** How much longer than a check the pause after it is, at most {@link #MAX_WAIT}: etcd reads all objects for one. */
    private static final long REST = 10;
    /** Time without an expected event after which a watch is opened again; before {@link #MAX_WAIT}, so that readers succeed. */
    private static final Duration STUCK = Duration.ofSeconds(3);
    /** Maximum wait for the cache to reach a revision. kube-apiserver's watch cache waits 3 s; a stuck watch needs more. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(5);

    private final WatchCache cache;
    private final EtcdMembers members;
    private final EtcdRequests requests;
    private final Loop loop;

    /** The number of the current watch. Responses of earlier watches are ignored. */
    private int number;

    private EtcdMember.@Nullable Feed feed;
    private @Nullable EtcdMember source;
    /** When the current watch began, ns of the loop's clock. */
    private long began;
    /** The last revision that a watch delivered, or the revision of the list. */
    private long fed;

    private long fedAt;
    private boolean checking;
    /** No check begins before, ns of the loop's clock. */
    private long checksAgainAt;
    /** Whether a check begins then. */
    private boolean resting;
    /** Whether it lists, and since when. Set by the loop only. */
    private volatile boolean loading;

    private volatile long loadingSince;
    private boolean closed;
    /** Completes after the first list. Later lists are retried after each error. */
    private final CompletableFuture<Long> started = new CompletableFuture<>();

    private final TreeMap<Long, List<CompletableFuture<Long>>> waiting = new TreeMap<>();

    EtcdReflector(WatchCache cache, EtcdMembers members, EtcdRequests requests, Loop loop) {
        this.cache = cache;
        this.members = members;
        this.requests = requests;
        this.loop = loop;
        checksAgainAt = loop.clock().nanoTime();
    }

    /**
     * Starts. Completes when the cache contains all changes that were made before this call. Fails if a value cannot be decrypted,
     * because a retry would fail again.
     */
    CompletableFuture<Long> start() {
        load(started, HISTORY);
        return started;
    }

    /** Lists at {@code back} revisions ago, or at the oldest known revision, and watches from there. */
    private void load(CompletableFuture<Long> ready, long back) {
        if (closed) {
            return;
        }
        if (!loading) {
            loadingSince = loop.clock().nanoTime();
            loading = true;
        }
        members.read(KVGrpc.getRangeMethod(), requests.nothing())
                .thenCompose(now -> {
                    long latest = now.getHeader().getRevision();
                    long from = Math.max(1, latest - back);
                    return pages(from)
                            .exceptionallyCompose(error -> CallFailure.of(error).compacted()
                                    ? oldest(from).thenCompose(this::pages)
                                    : CompletableFuture.failedFuture(error))
                            .thenAccept(all -> {
                                begin(all);
                                expect(latest, ready);
                            });
                })
                .whenComplete((done, error) -> {
                    if (error != null) {
                        Duration pause = RETRY;
                        if (error.getCause() instanceof EncryptionException why) {
                            started.completeExceptionally(why);
                            pause = UNREADABLE;
                        }
                        log.warn(
                                "cannot read etcd, retrying: {}",
                                CallFailure.of(error).getMessage());
                        // The revision may have been compacted during the list: the next attempt lists at a later one.
                        loop.schedule(pause, () -> load(ready, back / 2));
                    }
                });
    }

    /** All objects at one revision. */
    private record Loaded(long revision, List<Entry> entries) {}

    private void begin(Loaded all) {
        loading = false;
        fed = all.revision;
        cache.begin(all.revision, all.entries);
        follow();
        arrived();
    }

    private CompletableFuture<Loaded> pages(long revision) {
        CompletableFuture<Loaded> all = new CompletableFuture<>();
        page(requests.first(), EtcdRequests.PAGE, new Loaded(revision, new ArrayList<>()), all);
        return all;
    }

    /**
     * Reads the page of {@code limit} objects from {@code first} on, and then all others. If it does not arrive in time, the objects may be
     * too large for a page of so many: a smaller one follows, and larger ones after that. 500 objects can have 750 MB.
     */
    private void page(ByteString first, int limit, Loaded so, CompletableFuture<Loaded> all) {
        Duration patience = limit > 1 ? EtcdMembers.READ : EtcdMembers.READ_IN_ALL;
        members.read(KVGrpc.getRangeMethod(), requests.page(first, limit, so.revision), patience)
                .whenComplete((page, error) -> paged(first, limit, so, all, page, error));
    }

    private void paged(
            ByteString first,
            int limit,
            Loaded so,
            CompletableFuture<Loaded> all,
            @Nullable RangeResponse page,
            @Nullable Throwable error) {
        if (page == null || error != null) {
            CallFailure failure = CallFailure.of(Objects.requireNonNull(error));
            if (failure.membersFault() && limit > 1) {
                page(first, Math.max(1, limit / 4), so, all);
            } else {
                all.completeExceptionally(failure);
            }
            return;
        }
        try {
            page.getKvsList().forEach(stored -> so.entries.add(requests.entry(stored)));
        } catch (EncryptionException e) {
            all.completeExceptionally(e);
            return;
        }
        if (page.getMore()) {
            ByteString last = page.getKvs(page.getKvsCount() - 1).getKey();
            page(EtcdRequests.next(last), Math.min(EtcdRequests.PAGE, 2 * limit), so, all);
        } else {
            all.complete(so);
        }
    }

    /** The oldest revision that etcd has, from the response to a watch at the compacted {@code unknown}. */
    private CompletableFuture<Long> oldest(long unknown) {
        CompletableFuture<Long> oldest = new CompletableFuture<>();
        EtcdMember.Feed probe = members.pick()
                .watch(
                        requests.watch(unknown),
                        response -> {
                            if (response.getCompactRevision() > 0) {
                                oldest.complete(response.getCompactRevision());
                            }
                        },
                        oldest::completeExceptionally);
        return Deadlines.within(loop, EtcdMembers.READ, "asking etcd for its oldest revision", oldest)
                .whenCompleteAsync((revision, error) -> probe.cancel(), loop);
    }

    /** Opens a watch from the revision after {@link #fed}. */
    private void follow() {
        if (closed) {
            return;
        }
        if (feed != null) {
            feed.cancel();
        }
        int mine = ++number;
        EtcdMember member = members.pick();
        source = member;
        began = loop.clock().nanoTime();
        fedAt = began;
        feed = member.watch(
                requests.watch(fed + 1),
                response -> loop.execute(() -> {
                    if (mine == number) {
                        heard(response);
                    }
                }),
                failure -> loop.execute(() -> {
                    if (mine == number && !closed) {
                        reopen(failure.why());
                    }
                }));
    }

    /** Opens the watch again after a pause, at another member if there is one. */
    private void reopen(String why) {
        log.info("the watch on etcd ended, opening it again: {}", why);
        int mine = ++number;
        if (source != null) {
            members.leave(source, why);
        }
        loop.schedule(RETRY, () -> {
            if (mine == number) {
                follow();
            }
        });
    }

    /**
     * Called after a switch to another member: moves the watch there. A watch that began less than {@link #RETRY} ago moves at the
     * end of that time. So members that all refuse it are not tried in turn without a pause.
     */
    void moved() {
        if (source == null || closed) {
            return;
        }
        Duration pause = RETRY.minusNanos(loop.clock().nanoTime() - began);
        if (pause.isPositive()) {
            int mine = number;
            loop.schedule(pause, () -> {
                if (mine == number) {
                    moved();
                }
            });
        } else if (source != members.pick()) {
            follow();
        }
    }

    private void heard(WatchResponse response) {
        if (response.getCompactRevision() > 0) {
            listAgain("revision " + fed + " was compacted, up to " + response.getCompactRevision());
        } else if (response.getCanceled()) {
            reopen("etcd canceled it: " + response.getCancelReason());
        } else if (response.getEventsCount() > 0) {
            try {
                take(response.getEventsList());
            } catch (EncryptionException e) {
                started.completeExceptionally(e);
                listAgain(String.valueOf(e.getMessage()));
            }
        }
    }

    /** Lists again after a gap in the history. */
    private void listAgain(String why) {
        log.warn("the history of etcd has a gap, all watches end and have to list again: {}", why);
        number++;
        if (!loading) {
            load(new CompletableFuture<>(), 0);
        }
    }

    /** Whether a list has been missing for longer than {@code limit}: no watch receives anything meanwhile. Thread-safe. */
    boolean isMissing(Duration limit) {
        return loading && loop.clock().nanoTime() - loadingSince > limit.toNanos();
    }

    /** etcd is at {@code revision} although it was at {@code known}, as after a restore: what is in the cache may be gone. */
    void wentBack(long revision, long known) {
        if (!loading && !closed && cache.revision() >= known) {
            listAgain("etcd went back from revision " + known + " to " + revision);
        }
    }

    private void take(List<io.etcd.jetcd.api.Event> happened) {
        List<Event> events = new ArrayList<>();
        Map<String, Optional<Entry>> pending = new HashMap<>();
        long last = fed;
        for (io.etcd.jetcd.api.Event each : happened) {
            KeyValue stored = each.getKv();
            if (stored.getModRevision() <= fed) {
                continue;
            }
            last = stored.getModRevision();
            if (!requests.holds(stored.getKey())) {
                continue;
            }
            if (last <= cache.revision()) {
                listAgain("revision " + last + " came after " + cache.revision() + " was delivered");
                return;
            }
            Optional<Entry> after =
                    each.getType() == EventType.PUT ? Optional.of(requests.entry(stored)) : Optional.empty();
            String key = after.map(Entry::key).orElseGet(() -> requests.key(stored.getKey()));
            Optional<Entry> before = pending.containsKey(key) ? pending.get(key) : cache.get(key);
            pending.put(key, after);
            if (before.isPresent() || after.isPresent()) {
                events.add(new Event(last, key, before, after));
            }
        }
        fed = last;
        fedAt = loop.clock().nanoTime();
        if (!events.isEmpty()) {
            cache.apply(cache.plan(events));
            cache.deliver(events);
        }
        cache.advance(last);
        arrived();
    }

    /** Completes {@code future} when the cache is at {@code revision}. Fails after {@link #MAX_WAIT}. */
    void reach(long revision, CompletableFuture<Long> future) {
        expect(revision, future);
        if (future.isDone()) {
            return;
        }
        Loop.Timer end = loop.schedule(MAX_WAIT, () -> {
            future.completeExceptionally(new StoreException(
                    "etcd is at revision " + revision + ", but its watch has delivered changes up to "
                            + cache.revision() + " only",
                    null));
            waiting.computeIfPresent(revision, (wanted, futures) -> {
                futures.remove(future);
                return futures.isEmpty() ? null : futures;
            });
        });
        future.whenComplete((done, error) -> end.cancel());
    }

    /** Completes {@code future} when the cache is at {@code revision}, however long that takes. */
    private void expect(long revision, CompletableFuture<Long> future) {
        if (!loading && cache.revision() >= revision) {
            future.complete(revision);
            return;
        }
        waiting.computeIfAbsent(revision, wanted -> new ArrayList<>()).add(future);
        Loop.Timer check = loop.schedule(LATE, this::check);
        future.whenComplete((done, error) -> check.cancel());
    }

    private void arrived() {
        while (!waiting.isEmpty() && waiting.firstKey() <= cache.revision()) {
            Map.Entry<Long, List<CompletableFuture<Long>>> first = waiting.pollFirstEntry();
            first.getValue().forEach(future -> future.complete(first.getKey()));
        }
    }

    /** Asks etcd for changes in the range while a caller waits for a revision that the watch does not deliver. */
    private void check() {
        long asked = loop.clock().nanoTime();
        if (checking || loading || closed || waiting.isEmpty()) {
            return;
        }
        if (asked - checksAgainAt < 0) {
            if (!resting) {
                // Who began to wait during the rest is looked after at its end.
                resting = true;
                loop.schedule(Duration.ofNanos(checksAgainAt - asked), () -> {
                    resting = false;
                    check();
                });
            }
            return;
        }
        checking = true;
        long known = cache.revision();
        members.read(KVGrpc.getRangeMethod(), requests.changes(known)).whenComplete((answer, error) -> {
            checking = false;
            long now = loop.clock().nanoTime();
            // A failed one says nothing about how much etcd has to read.
            long rest = error == null ? Math.min(REST * (now - asked), MAX_WAIT.toNanos()) : 0;
            checksAgainAt = now + rest;
            if (error == null && !loading && cache.revision() == known) {
                checked(answer);
            }
            if (!waiting.isEmpty()) {
                loop.schedule(Duration.ofNanos(Math.max(rest, LATE.toNanos())), this::check);
            }
        });
    }

    private void checked(RangeResponse answer) {
        if (answer.getKvsCount() == 0 && answer.getCount() == cache.size()) {
            cache.advance(answer.getHeader().getRevision());
            arrived();
        } else if (loop.clock().nanoTime() - fedAt > STUCK.toNanos()) {
            log.warn("the watch on etcd delivers nothing, opening it again from revision {}", fed + 1);
            if (source != null) {
                members.leave(source, "its watch delivers nothing");
            }
            follow();
        }
    }

    void close() {
        closed = true;
        number++;
        if (feed != null) {
            feed.cancel();
        }
        List.copyOf(waiting.values())
                .forEach(futures -> List.copyOf(futures)
                        .forEach(future ->
                                future.completeExceptionally(new StoreException("the store is closed", null))));
        waiting.clear();
    }
}
