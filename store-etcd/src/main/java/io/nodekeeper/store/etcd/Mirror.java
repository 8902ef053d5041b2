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
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a window in step with etcd. Confined to the loop.
 *
 * <p>It begins with all objects as they were some thousand revisions ago, if etcd still knows, and follows everything that
 * came after: so the window's history reaches back beyond the start, and clients resume their watches. A watch that ends
 * goes on, at another member if need be, from the last revision that it brought. Only if that was compacted meanwhile does
 * the window begin anew, and who watched is told that history is gone.
 *
 * <p>How far the window is: up to the last revision that the watch brought, of any key in its range. If etcd is further
 * but the watch silent, somebody may have written keys outside of the range: then etcd is asked whether anything inside has
 * changed. If nothing has, the window is that far; else the watch is slow, or stuck and opened anew.
 */
final class Mirror {
    private static final Logger log = LoggerFactory.getLogger(Mirror.class);
    /** How many revisions of history to begin with, if there are. Chosen: 5 s of a busy cluster, minutes of others. */
    private static final long HISTORY = 5_000;
    /** Before a failed attempt is made again. Chosen. */
    private static final Duration RETRY = Duration.ofMillis(500);
    /** How late the watch may be until etcd is asked what else has happened. Chosen. */
    private static final Duration LATE = Duration.ofMillis(500);
    /** How long a watch may bring nothing of what etcd has until it is opened anew. Chosen. */
    private static final Duration STUCK = Duration.ofSeconds(3);
    /** How long who must see everything waits for the window. Kubernetes' watch cache: 3 s. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final WatchCache window;
    private final Members members;
    private final Requests requests;
    private final Loop loop;

    /** The watch under way; what earlier ones still say is not heard. */
    private int number;

    private Member.@Nullable Feed feed;
    private @Nullable Member source;
    /** The last revision that watches brought, or at which the window began. */
    private long fed;

    private long fedAt;
    private boolean checking;
    private boolean loading;
    private boolean closed;
    /** Completed once, at the start; a window that is there already tries again after an error. */
    private final CompletableFuture<Long> started = new CompletableFuture<>();

    private final TreeMap<Long, List<CompletableFuture<Long>>> waiting = new TreeMap<>();

    Mirror(WatchCache window, Members members, Requests requests, Loop loop) {
        this.window = window;
        this.members = members;
        this.requests = requests;
        this.loop = loop;
    }

    /**
     * Begins; the result comes once the window holds all that was there when this was called. It fails if a value cannot be
     * decrypted: there is no use in trying again then.
     */
    CompletableFuture<Long> start() {
        load(started, HISTORY);
        return started;
    }

    /** Reads all objects as they were {@code back} revisions ago, or as early as is known, and follows from there. */
    private void load(CompletableFuture<Long> ready, long back) {
        if (closed) {
            return;
        }
        loading = true;
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
                                reach(latest, ready);
                            });
                })
                .whenComplete((done, error) -> {
                    if (error != null) {
                        if (error.getCause() instanceof EncryptionException why) {
                            started.completeExceptionally(why);
                        }
                        log.warn(
                                "etcd cannot be read: {}", CallFailure.of(error).getMessage());
                        // Compacted while it was read: the next attempt wants less.
                        loop.schedule(RETRY, () -> load(ready, back / 2));
                    }
                });
    }

    /** All objects at a revision. */
    private record Objects(long revision, List<Entry> entries) {}

    private void begin(Objects all) {
        loading = false;
        fed = all.revision;
        window.begin(all.revision, all.entries);
        follow();
        arrived();
    }

    private CompletableFuture<Objects> pages(long revision) {
        CompletableFuture<Objects> all = new CompletableFuture<>();
        page(requests.first(), new Objects(revision, new ArrayList<>()), all);
        return all;
    }

    private void page(ByteString first, Objects so, CompletableFuture<Objects> all) {
        members.read(KVGrpc.getRangeMethod(), requests.page(first, so.revision)).whenComplete((page, error) -> {
            if (error != null) {
                all.completeExceptionally(error);
                return;
            }
            try {
                page.getKvsList().forEach(stored -> so.entries.add(requests.entry(stored)));
            } catch (EncryptionException e) {
                all.completeExceptionally(e);
                return;
            }
            if (page.getMore()) {
                page(Requests.next(page.getKvs(page.getKvsCount() - 1).getKey()), so, all);
            } else {
                all.complete(so);
            }
        });
    }

    /** The oldest revision that etcd knows, given one that it does not: it tells whoever wants to watch from there. */
    private CompletableFuture<Long> oldest(long unknown) {
        CompletableFuture<Long> oldest = new CompletableFuture<>();
        Member.Feed probe = members.pick()
                .watch(
                        requests.watch(unknown),
                        response -> {
                            if (response.getCompactRevision() > 0) {
                                oldest.complete(response.getCompactRevision());
                            }
                        },
                        oldest::completeExceptionally);
        return Deadlines.within(loop, Members.READ, "asking etcd for its oldest revision", oldest)
                .whenCompleteAsync((revision, error) -> probe.cancel(), loop);
    }

    /** Watches from where the last watch ended. */
    private void follow() {
        if (closed) {
            return;
        }
        if (feed != null) {
            feed.cancel();
        }
        int mine = ++number;
        Member member = members.pick();
        source = member;
        fedAt = loop.clock().nanoTime();
        feed = member.watch(
                requests.watch(fed + 1),
                response -> loop.execute(() -> {
                    if (mine == number) {
                        heard(response);
                    }
                }),
                failure -> loop.execute(() -> {
                    if (mine == number && !closed) {
                        log.info("the watch on etcd ended and is opened anew: {}", failure.why());
                        members.leave(member, failure.why());
                        loop.schedule(RETRY, () -> {
                            if (mine == number) {
                                follow();
                            }
                        });
                    }
                }));
    }

    /** Another member is used from now on: it is watched, too. */
    void moved() {
        if (source != null && source != members.pick()) {
            follow();
        }
    }

    private void heard(WatchResponse response) {
        if (response.getCompactRevision() > 0) {
            anew("revision " + fed + " was compacted, up to " + response.getCompactRevision());
        } else if (response.getCanceled()) {
            log.info("the watch on etcd was ended and is opened anew: {}", response.getCancelReason());
            number++;
            loop.schedule(RETRY, this::follow);
        } else if (response.getEventsCount() > 0) {
            try {
                take(response.getEventsList());
            } catch (EncryptionException e) {
                started.completeExceptionally(e);
                anew(String.valueOf(e.getMessage()));
            }
        }
    }

    /** What happened since cannot be told: all begins anew. */
    private void anew(String why) {
        log.warn("the history of etcd has a gap, and whoever watches has to begin anew: {}", why);
        number++;
        if (!loading) {
            load(new CompletableFuture<>(), 0);
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
            if (last <= window.revision()) {
                anew("revision " + last + " came after " + window.revision() + " was told");
                return;
            }
            Optional<Entry> after =
                    each.getType() == EventType.PUT ? Optional.of(requests.entry(stored)) : Optional.empty();
            String key = after.map(Entry::key).orElseGet(() -> requests.key(stored.getKey()));
            Optional<Entry> before = pending.containsKey(key) ? pending.get(key) : window.get(key);
            pending.put(key, after);
            if (before.isPresent() || after.isPresent()) {
                events.add(new Event(last, key, before, after));
            }
        }
        fed = last;
        fedAt = loop.clock().nanoTime();
        if (!events.isEmpty()) {
            window.take(window.plan(events));
            window.tell(events);
        }
        window.advance(last);
        arrived();
    }

    /** Completes {@code future} once the window is at {@code revision}; fails if that takes too long. */
    void reach(long revision, CompletableFuture<Long> future) {
        if (!loading && window.revision() >= revision) {
            future.complete(revision);
            return;
        }
        waiting.computeIfAbsent(revision, wanted -> new ArrayList<>()).add(future);
        Loop.Timer check = loop.schedule(LATE, this::check);
        Loop.Timer end = loop.schedule(PATIENCE, () -> {
            future.completeExceptionally(new StoreException(
                    "etcd is at revision " + revision + ", but its watch has brought those up to " + window.revision()
                            + " only",
                    null));
            waiting.getOrDefault(revision, new ArrayList<>()).remove(future);
        });
        future.whenComplete((done, error) -> {
            check.cancel();
            end.cancel();
        });
    }

    private void arrived() {
        while (!waiting.isEmpty() && waiting.firstKey() <= window.revision()) {
            Map.Entry<Long, List<CompletableFuture<Long>>> first = waiting.pollFirstEntry();
            first.getValue().forEach(future -> future.complete(first.getKey()));
        }
    }

    /** Somebody waits for a revision that the watch does not bring: has anything happened that concerns us? */
    private void check() {
        if (checking || loading || closed || waiting.isEmpty()) {
            return;
        }
        checking = true;
        long known = window.revision();
        members.read(KVGrpc.getRangeMethod(), requests.changes(known)).whenComplete((answer, error) -> {
            checking = false;
            if (error == null && !loading && window.revision() == known) {
                checked(answer);
            }
            if (!waiting.isEmpty()) {
                loop.schedule(LATE, this::check);
            }
        });
    }

    private void checked(RangeResponse answer) {
        if (answer.getKvsCount() == 0 && answer.getCount() == window.size()) {
            window.advance(answer.getHeader().getRevision());
            arrived();
        } else if (loop.clock().nanoTime() - fedAt > STUCK.toNanos()) {
            log.warn("the watch on etcd brings nothing, and is opened anew from revision {}", fed + 1);
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
