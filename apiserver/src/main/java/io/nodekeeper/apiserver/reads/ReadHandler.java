package io.nodekeeper.apiserver.reads;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** Answers gets and lists. Thread-safe. */
public final class ReadHandler {
    /** How long a request waits for a future revision (as in Kubernetes' watch cache). */
    private static final Duration FRESHNESS = Duration.ofSeconds(3);

    /**
     * Lists up to this many bytes of objects are sent as a whole, with their length; Kubernetes compresses larger ones.
     */
    private static final long WHOLE = 128 << 10;

    /**
     * About how many bytes of objects are examined for a page with a selector: about 200 ms of work. A page may have
     * fewer objects than its limit, or none, as in Kubernetes; the client continues with its token.
     */
    private static final long EXAMINED = 16 << 20;

    private static final Duration POLL = Duration.ofMillis(50);

    private final Store store;
    private final Loop loop;
    private final Function<User, Executor> turns;

    /** {@code turns} answers what had to wait for the state that it asks for, in the turn of its user. */
    public ReadHandler(Store store, Loop loop, Function<User, Executor> turns) {
        this.store = store;
        this.loop = loop;
        this.turns = turns;
    }

    public CompletableFuture<ApiResponse> get(
            User user, Resource resource, RequestTarget target, ApiRequest request, Media media) {
        String key = resource.key(target.namespace(), target.name());
        Optional<Long> version = ListOptions.number("resourceVersion", request.parameter("resourceVersion"));
        // A request with a version, even 0, accepts the cached state; all others see every write so far.
        CompletableFuture<Optional<Entry>> found = version.isPresent()
                ? Futures.nowOrOn(turns.apply(user), reached(version.get())).thenCompose(ready -> known(key))
                : store.read(key);
        return found.thenApply(stored -> {
            Entry entry = stored.orElseThrow(() -> ApiException.notFound(resource.type(), target.name()));
            if (media.table()) {
                JsonObject object = resource.codec().decode(entry);
                return ApiResponse.json(
                        200,
                        table(
                                resource,
                                List.of(object),
                                media,
                                true,
                                JsonObject.builder()
                                        .put("resourceVersion", Long.toString(entry.modRevision()))
                                        .build()));
            }
            return ApiResponse.json(200, resource.codec().show(entry, entry.modRevision()));
        });
    }

    /** The cached state of the object, with its value in memory. */
    private CompletableFuture<Optional<Entry>> known(String key) {
        Optional<Entry> found = store.get(key);
        return found.isEmpty()
                ? CompletableFuture.completedFuture(found)
                : store.load(found.get()).thenApply(Optional::of);
    }

    public CompletableFuture<ApiResponse> list(
            User user, Resource resource, RequestTarget target, ApiRequest request, Media media) {
        ListOptions options = ListOptions.of(resource, request);
        // Otherwise on a worker: the store's thread completes it, and all other requests would wait for the list.
        return Futures.nowOrOn(turns.apply(user), listable(options)).thenApply(ready -> {
            ListOptions.Part part = options.part(resource, target.namespace(), store.revision());
            return page(resource, target.namespace(), part.after(), part.limit(), part.at(), options, media);
        });
    }

    /**
     * Completes when the store can list the requested state. A list with a version accepts the cached state if that is
     * new enough; a list without one, or with a continue token that another server may have issued, sees every write so
     * far.
     */
    private CompletableFuture<Boolean> listable(ListOptions options) {
        return options.version().isPresent() && options.token().isEmpty()
                ? reached(options.version().get())
                : fresh();
    }

    /** Completes when lists see every write so far. */
    public CompletableFuture<Boolean> fresh() {
        return store.current().thenApply(revision -> true);
    }

    private ApiResponse page(
            Resource resource, String namespace, String after, int limit, long at, ListOptions options, Media media) {
        String prefix = resource.prefix(namespace);
        // With a selector few may match, so all are listed, once: a list counts what remains, and one of an earlier
        // revision copies the index.
        Listing listing = listing(resource, namespace, after, options.isAll() ? limit : 0, at, options);
        long revision = listing.revision();
        long remaining = listing.remaining() + listing.entries().size();
        List<Entry> items = new ArrayList<>();
        String from = after;
        long examined = 0;
        for (Entry entry : listing.entries()) {
            if (limit > 0 && (items.size() == limit || examined >= EXAMINED)) {
                break;
            }
            from = entry.key();
            remaining--;
            examined += entry.length();
            // Without a limit the objects are examined when they are shown.
            if (limit == 0 || options.matches(resource, entry)) {
                items.add(entry);
            }
        }
        JsonObject.Builder metadata = JsonObject.builder().put("resourceVersion", Long.toString(revision));
        if (remaining > 0) {
            metadata.put("continue", new ListOptions.Token(revision, from.substring(prefix.length())).encode());
            if (options.isAll()) {
                metadata.put("remainingItemCount", remaining);
            }
        }
        ApiResponse.Chunked list = new ApiResponse.Chunked(
                200,
                Map.of("content-type", ApiResponse.JSON),
                new ListChunks(
                        resource,
                        items,
                        options,
                        media,
                        metadata.build(),
                        loop.clock().wallTime()));
        long bytes = items.stream().mapToLong(Entry::length).sum();
        return bytes <= WHOLE ? list.whole() : list;
    }

    private Listing listing(
            Resource resource, String namespace, String after, int limit, long at, ListOptions options) {
        try {
            Optional<String> key = options.key(resource, namespace);
            return key.isPresent() ? one(key.get(), at) : store.list(resource.prefix(namespace), after, limit, at);
        } catch (StoreException.Compacted e) {
            throw options.tooOld();
        }
    }

    /** Only the object at {@code key}, consistent with the revision; {@code at} as in a list. */
    public Listing one(String key, long at) {
        // The key itself is the first of all keys that begin with it.
        Listing first = store.list(key, "", 1, at);
        List<Entry> found = first.entries().stream()
                .filter(entry -> entry.key().equals(key))
                .toList();
        return new Listing(first.revision(), found, 0);
    }

    /** The objects as a table; {@code columns} says whether to include the column definitions. */
    public JsonObject table(
            Resource resource, List<JsonObject> objects, Media media, boolean columns, JsonObject metadata) {
        Instant now = loop.clock().wallTime();
        return resource.table().render(objects, media, columns, metadata, now);
    }

    /** Completes when the store has reached {@code revision}; fails if that takes too long. */
    public CompletableFuture<Boolean> reached(long revision) {
        return reached(revision, FRESHNESS);
    }

    private CompletableFuture<Boolean> reached(long revision, Duration patience) {
        long current = store.revision();
        if (current >= revision) {
            return CompletableFuture.completedFuture(true);
        }
        if (patience.isNegative() || patience.isZero()) {
            return CompletableFuture.failedFuture(ListOptions.tooNew(revision, current));
        }
        return Deadlines.sleep(loop, POLL).thenCompose(woken -> reached(revision, patience.minus(POLL)));
    }
}
