package io.nodekeeper.store.etcd;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.nodekeeper.store.Changes;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.memory.WatchCache;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store on an etcd cluster, with kube-apiserver's keys. etcd holds all state, so several servers, kube-apiservers included, may
 * use one cluster at the same time. Thread-safe.
 *
 * <p>Revisions are etcd's. Reads are served from a {@link WatchCache} that follows etcd. A read that must be up to date first asks
 * etcd for its revision; one request serves all reads that wait. A write is one transaction on condition that the object is at
 * the expected revision. A write without a response is not retried, because it may have been made: then the retry would fail with
 * a conflict against the first attempt, and a caller that handles the conflict would apply its change twice. So it fails with an
 * error that says that the result is unknown.
 */
public final class EtcdStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(EtcdStore.class);
    /** Deadline of a write: an election of etcd takes 1 to 2 s, and the write follows it. */
    private static final Duration WRITE = Duration.ofSeconds(5);
    /** Interval of health checks: one cheap request, and five in a row fit into {@link #STALL}. */
    private static final Duration PULSE = Duration.ofSeconds(1);
    /** Time without a response after which the cluster is unhealthy; the same as for the local journal. */
    private static final Duration STALL = Duration.ofSeconds(5);

    /** Time after a refusal for lack of space in which the cluster counts as unhealthy; then writes may try again. */
    private static final Duration FULL = Duration.ofSeconds(30);

    private final Loop loop;
    private final EtcdRequests requests;
    private final WatchCache cache;
    private final EtcdMembers members;
    private final EtcdReflector reflector;
    private final Compactor compactor;

    private volatile long answered;
    /** Whether etcd refused the last object for lack of space. etcd does not report when it has space again. */
    private volatile boolean full;

    /** When that was, ns of the loop's clock. */
    private volatile long refused;

    /** Callers that wait for etcd's current revision. Confined to the loop. */
    private List<CompletableFuture<Long>> asking = new ArrayList<>();

    private boolean asked;

    private final AtomicInteger writing = new AtomicInteger();
    private volatile boolean closing;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private EtcdStore(EtcdOptions options, Loop loop) {
        this.loop = loop;
        requests = new EtcdRequests(options.prefix(), options.transformer());
        cache = new WatchCache(loop, options.limits());
        members = new EtcdMembers(options, loop, this::moved);
        reflector = new EtcdReflector(cache, members, requests, loop);
        compactor = new Compactor(members, loop, options.compaction());
        answered = loop.clock().nanoTime();
    }

    /**
     * Connects to a cluster. Completes when all objects have been read, however long that takes. A caller that gives up closes
     * {@code loop}.
     *
     * @param loop completes results and notifies watchers; the store closes it
     */
    public static CompletableFuture<EtcdStore> open(EtcdOptions options, Loop loop) {
        EtcdStore store = new EtcdStore(options, loop);
        CompletableFuture<EtcdStore> open = new CompletableFuture<>();
        loop.execute(() -> store.reflector.start().whenComplete((revision, error) -> {
            if (error == null) {
                store.compactor.start();
                store.pulse();
                open.complete(store);
            } else {
                open.completeExceptionally(error);
            }
        }));
        return open;
    }

    private void moved() {
        reflector.moved();
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
    public Listing list(String prefix, String after, int limit, long revision) {
        return cache.list(prefix, after, limit, revision);
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
    public boolean alone() {
        return false;
    }

    @Override
    public CompletableFuture<Optional<Entry>> read(String key) {
        if (closing) {
            return isClosed(key + " is not read");
        }
        return failingClearly(
                members.read(KVGrpc.getRangeMethod(), requests.one(key)).thenApply(answer -> {
                    heard();
                    return answer.getKvsList().stream().findFirst().map(requests::entry);
                }),
                failure -> new StoreException(key + " cannot be read: " + failure.getMessage(), failure));
    }

    @Override
    public CompletableFuture<Long> current() {
        if (closing) {
            return isClosed("its revision is not read");
        }
        CompletableFuture<Long> current = new CompletableFuture<>();
        loop.execute(() -> {
            asking.add(current);
            ask();
        });
        return current;
    }

    /** Asks for etcd's revision. The response serves the callers that were waiting when the request was sent. */
    private void ask() {
        if (asked || asking.isEmpty()) {
            return;
        }
        asked = true;
        List<CompletableFuture<Long>> mine = asking;
        asking = new ArrayList<>();
        long known = cache.revision();
        members.read(KVGrpc.getRangeMethod(), requests.nothing()).whenComplete((answer, error) -> {
            asked = false;
            // Consistent, so it includes what was known before.
            if (error == null && answer.getHeader().getRevision() < known) {
                reflector.wentBack(answer.getHeader().getRevision(), known);
            }
            ask();
            if (error == null) {
                heard();
                mine.forEach(future -> reflector.reach(answer.getHeader().getRevision(), future));
            } else {
                StoreException why = new StoreException("etcd's revision cannot be read: " + error.getMessage(), error);
                mine.forEach(future -> future.completeExceptionally(why));
            }
        });
    }

    @Override
    public CompletableFuture<Entry> put(String key, byte[] value, long expected) {
        // The response to an update has no create revision. Usually the cache has it.
        Optional<Long> created = expected == 0
                ? Optional.of(0L)
                : cache.get(key)
                        .filter(entry -> entry.modRevision() == expected)
                        .map(Entry::createRevision);
        return write(key, expected, requests.put(key, value, expected, created.isEmpty()), answer -> {
            // A deletion would succeed without space, too.
            full = false;
            long revision = answer.getHeader().getRevision();
            long since = created.orElseGet(
                    () -> answer.getResponses(0).getResponsePut().getPrevKv().getCreateRevision());
            return new Entry(key, value, since == 0 ? revision : since, revision);
        });
    }

    @Override
    public CompletableFuture<Long> delete(String key, long expected) {
        return write(
                key,
                expected,
                requests.delete(key, expected),
                answer -> answer.getHeader().getRevision());
    }

    private <T> CompletableFuture<T> write(
            String key, long expected, TxnRequest request, Function<TxnResponse, T> made) {
        writing.incrementAndGet();
        if (closing) {
            written();
            return isClosed(key + " is not written");
        }
        CompletableFuture<T> result = failingClearly(
                members.write(KVGrpc.getTxnMethod(), request, WRITE).thenApply(answer -> {
                    heard();
                    if (answer.getSucceeded()) {
                        return made.apply(answer);
                    }
                    List<KeyValue> found =
                            answer.getResponses(0).getResponseRange().getKvsList();
                    throw new StoreException.Conflict(
                            key, expected, found.stream().findFirst().map(requests::entry));
                }),
                failure -> {
                    if (failure.full()) {
                        full = true;
                        refused = loop.clock().nanoTime();
                    }
                    return new StoreException(
                            failure.harmless()
                                    ? key + " is not written: " + failure.getMessage()
                                    : key + " may or may not have been written: " + failure.getMessage(),
                            failure);
                });
        return result.whenComplete((done, error) -> written());
    }

    private static <T> CompletableFuture<T> isClosed(String consequence) {
        return CompletableFuture.failedFuture(new StoreException("the store is closed: " + consequence, null));
    }

    private static <T> CompletableFuture<T> failingClearly(
            CompletableFuture<T> call, Function<CallFailure, StoreException> say) {
        return call.exceptionallyCompose(error -> {
            Throwable cause = error.getCause() instanceof StoreException known ? known : error;
            return CompletableFuture.failedFuture(
                    cause instanceof StoreException ? cause : say.apply(CallFailure.of(error)));
        });
    }

    private void heard() {
        answered = loop.clock().nanoTime();
    }

    /** Checks the cluster regularly, so that health, the member in use and the cache are current without requests. */
    private void pulse() {
        current().whenComplete((revision, error) -> {
            if (error != null) {
                log.warn("etcd does not respond in time: {}", error.getMessage());
            }
            loop.schedule(PULSE, this::pulse);
        });
    }

    @Override
    public int capacity() {
        return cache.capacity();
    }

    @Override
    public boolean healthy() {
        long now = loop.clock().nanoTime();
        return !(full && now - refused <= FULL.toNanos())
                && now - answered <= STALL.toNanos()
                && !reflector.isMissing(STALL);
    }

    @Override
    public CompletableFuture<Void> close() {
        closing = true;
        writing.incrementAndGet();
        written();
        return closed;
    }

    /** Called at the end of each write. The last one of a closing store closes the connections. */
    private void written() {
        if (writing.decrementAndGet() == 0 && closing) {
            loop.execute(() -> {
                reflector.close();
                members.close();
                loop.close();
                closed.complete(null);
            });
        }
    }
}
