package io.nodekeeper.apiserver.watches;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.reads.ListOptions;
import io.nodekeeper.apiserver.reads.ReadHandler;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves watches. Events are serialized on the store's loop, once for all watchers with the same form of answer. A watcher that
 * is too slow is disconnected by its sink and resumes from its last version. Thread-safe.
 */
public final class WatchHandler {
    private static final Logger log = LoggerFactory.getLogger(WatchHandler.class);
    /** About once a minute (Kubernetes). */
    private static final Duration BOOKMARK = Duration.ofSeconds(60);
    /**
     * How long before the end of the watch the last bookmark is sent, so that its reader resumes from there (as in
     * Kubernetes).
     */
    private static final Duration BEFORE_END = Duration.ofSeconds(2);
    /**
     * How long a watch without a timeout lasts: a random time from this to twice as long (Kubernetes'
     * min-request-timeout).
     */
    private static final int DEFAULT_SECONDS = 1_800;
    /** The longest watch: a day, which bounds arithmetic with timeouts; clients request minutes. */
    private static final long LONGEST_SECONDS = 86_400;

    private static final String PROTOBUF = Protobuf.MEDIA_TYPE + ";stream=watch";

    private final Store store;
    private final Loop loop;
    private final ReadHandler reads;
    private final RandomGenerator random;

    /**
     * The last event as serialized by each codec that watches need: Events have two, one for each of their APIs. Kept until all watches
     * have the changes of its group, because its objects may be large. Confined to the store's loop.
     */
    private final Map<Codec, RenderedEvent> last = new IdentityHashMap<>();

    public WatchHandler(Store store, Loop loop, ReadHandler reads, RandomGenerator random) {
        this.store = store;
        this.loop = loop;
        this.reads = reads;
        this.random = random;
    }

    public CompletableFuture<ApiResponse> open(
            Resource resource, RequestTarget target, ApiRequest request, Media media) {
        ListOptions options = ListOptions.of(resource, request);
        boolean says = request.hasParameter("sendInitialEvents");
        boolean initialEvents = request.flag("sendInitialEvents");
        if (says && !options.match().equals("NotOlderThan")) {
            throw ListOptions.invalid(
                    "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to"
                            + " NotOlderThan");
        }
        if (!says && !options.match().isEmpty()) {
            throw ListOptions.invalid(
                    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless"
                            + " sendInitialEvents is provided");
        }
        long seconds = ListOptions.number("timeoutSeconds", request.parameter("timeoutSeconds"))
                .filter(asked -> asked > 0)
                .map(asked -> Math.min(asked, LONGEST_SECONDS))
                .orElseGet(() -> (long) DEFAULT_SECONDS + random.nextInt(DEFAULT_SECONDS));
        boolean bookmarks = request.flag("allowWatchBookmarks");
        boolean objects = says ? initialEvents : options.version().orElse(0L) == 0;
        // Without bookmarks, none marks the end of the initial events either.
        boolean end = initialEvents && bookmarks;
        ApiResponse.Streamed response = new ApiResponse.Streamed(
                200,
                Map.of("content-type", media.protobuf() ? PROTOBUF : ApiResponse.JSON),
                sink -> new Stream(resource, target, options, media, sink)
                        .start(objects, bookmarks, end, Duration.ofSeconds(seconds)));
        // The initial objects are as fresh as a list's, and at least of the requested version.
        if (options.version().isEmpty()) {
            return reads.fresh().thenApply(ready -> response);
        }
        return initialEvents
                ? reads.reached(options.version().get()).thenApply(ready -> response)
                : CompletableFuture.completedFuture(response);
    }

    private RenderedEvent render(Event event, Codec codec) {
        RenderedEvent known = last.get(codec);
        if (known != null && known.isOf(event)) {
            return known;
        }
        last.values().removeIf(other -> !other.isOf(event));
        RenderedEvent rendered = new RenderedEvent(event, codec);
        last.put(codec, rendered);
        return rendered;
    }

    /**
     * One watch, with its options and its progress. Until it is live it is produced in chunks, by one thread at a time;
     * then it is confined to the loop.
     */
    private final class Stream implements Store.Watcher, WatchChunks.Script {
        private final Resource resource;
        private final Codec codec;
        private final RequestTarget target;
        private final ListOptions options;
        private final Media media;
        private final StreamSink sink;
        private final boolean plain;
        private boolean columnsSent;
        /** The revision up to which everything was sent when the watch went live; before that, the requested one. */
        private long floor;

        private boolean wantsBookmarks;
        private boolean wantsEnd;
        /** When it ends, in nanoseconds of the loop's clock. */
        private long ends;
        /** The objects at the start of the watch, which the reader requested, of any size. */
        private long asked;
        /** Whether it has ended because a change could not be shown. */
        private boolean failed;
        /** The lines of changes that were committed together; at most as many as a group of the store has. */
        private List<byte[]> pending = new ArrayList<>();

        private Stream(Resource resource, RequestTarget target, ListOptions options, Media media, StreamSink sink) {
            this.resource = resource;
            this.codec = resource.codec();
            this.target = target;
            this.options = options;
            this.media = media;
            this.sink = sink;
            // A watch of one object without a namespace is a watch of a single key: no other object must be examined.
            this.plain = options.labels().isAll()
                    && (options.fields().isAll()
                            || (key().isPresent() && options.fields().terms().size() == 1));
        }

        private Optional<String> key() {
            return options.key(resource, target.namespace());
        }

        private void start(boolean objects, boolean bookmarks, boolean end, Duration timeout) {
            String watched = key().orElseGet(() -> resource.prefix(target.namespace()));
            wantsBookmarks = bookmarks;
            wantsEnd = end;
            ends = loop.clock().nanoTime() + timeout.toNanos();
            Loop.Timer last = loop.schedule(timeout, sink::end);
            sink.onClose(last::cancel);
            if (objects && key().isPresent()) {
                begin(watched, reads.one(key().get(), 0));
            } else if (objects) {
                // A list of the store walks over all objects.
                sink.inTurn(() -> begin(watched, store.list(watched, "", 0, 0)));
            } else {
                floor = options.version().filter(version -> version > 0).orElseGet(store::revision);
                sink.writeFirst(new WatchChunks(store, watched, floor, this));
            }
        }

        private void begin(String watched, Listing now) {
            floor = now.revision();
            sink.writeFirst(new WatchChunks(store, watched, now, this));
        }

        @Override
        public List<byte[]> added(Entry entry) {
            return changed(new Event(entry.modRevision(), entry.key(), Optional.empty(), Optional.of(entry)));
        }

        @Override
        public List<byte[]> initialEventsEnd(long revision) {
            return wantsEnd ? List.of(bookmark(revision, true)) : List.of();
        }

        @Override
        public List<byte[]> changed(Event event) {
            return shown(event, new RenderedEvent(event, codec)).map(List::of).orElse(List.of());
        }

        @Override
        public List<byte[]> expired(StoreException why) {
            return List.of(
                    why instanceof StoreException.Compacted compacted
                            ? tooOld(compacted)
                            : expired("a change after revision " + floor + " cannot be read"));
        }

        @Override
        public void end() {
            sink.end();
        }

        @Override
        public void live(long revision) {
            floor = revision;
            asked = store.revision();
            Store.Watch watch = store.watch(key().orElseGet(() -> resource.prefix(target.namespace())), revision, this);
            Ticker ticker = new Ticker(wantsBookmarks);
            sink.onClose(() -> {
                watch.cancel();
                ticker.stop();
            });
        }

        @Override
        public void onEvent(Event event) {
            if (failed) {
                return;
            }
            try {
                shown(event, render(event, codec)).ifPresent(line -> tell(event, line));
            } catch (RuntimeException e) {
                // The client would never learn of this change: it has to list again.
                log.warn(
                        "a watch ends: revision {} of {} cannot be shown: {}",
                        event.revision(),
                        event.key(),
                        e.toString());
                failed = true;
                flush();
                sink.write(expired("the change of revision " + event.revision() + " cannot be read"));
                sink.end();
            }
        }

        /** What the watcher gets of a change, if it is selected, or was. */
        private Optional<byte[]> shown(Event event, RenderedEvent rendered) {
            // Without a selection, no object has to be parsed for this.
            boolean was = plain ? event.before().isPresent() : isSelected(rendered.before());
            boolean is = plain ? event.after().isPresent() : isSelected(rendered.after());
            if (!was && !is) {
                return Optional.empty();
            }
            // The object left the selection or was deleted: send its last selected content with the revision of that
            // change.
            String type = !is ? RenderedEvent.DELETED : was ? "MODIFIED" : "ADDED";
            RenderedEvent.View view = new RenderedEvent.View(resource.type(), media, type, beginsTable());
            return Optional.of(
                    media.whole()
                            ? rendered.whole(view)
                            : rendered.partial(view, object -> part(object, event.revision(), view.columns())));
        }

        private boolean isSelected(Optional<JsonObject> object) {
            return object.isPresent() && options.matches(resource, object.get());
        }

        private void tell(Event event, byte[] line) {
            if (event.revision() <= asked) {
                sink.writeFirst(line);
            } else {
                pending.add(line);
            }
        }

        @Override
        public void onSettled() {
            if (!last.isEmpty()) {
                last.clear();
            }
            flush();
        }

        private void flush() {
            List<byte[]> lines = pending;
            if (!lines.isEmpty()) {
                pending = new ArrayList<>();
                sink.write(lines);
            }
        }

        @Override
        public void onCompacted(StoreException.Compacted why) {
            failed = true;
            try {
                sink.write(tooOld(why));
            } finally {
                // Also without memory for the message: no bookmark may say that the client has seen what it missed.
                sink.end();
            }
        }

        private byte[] tooOld(StoreException.Compacted why) {
            return expired("too old resource version: " + floor + " (" + why.oldest() + ")");
        }

        private byte[] expired(String why) {
            return RenderedEvent.written("ERROR", new ApiException(410, "Expired", why).toStatus(), media);
        }

        /** Whether the next line has the columns of a table: only the first of a watch, as in Kubernetes. */
        private boolean beginsTable() {
            boolean columns = media.table() && !columnsSent;
            columnsSent |= columns;
            return columns;
        }

        /** The part of {@code object} that the client wants. */
        private JsonObject part(JsonObject object, long revision, boolean columns) {
            if (!media.table()) {
                return media.metadataOf(object);
            }
            JsonObject metadata = JsonObject.builder()
                    .put("resourceVersion", Long.toString(revision))
                    .build();
            return reads.table(resource, List.of(object), media, columns, metadata);
        }

        private String kind() {
            return switch (media.form()) {
                case OBJECT -> resource.type().kind();
                case TABLE -> "Table";
                case METADATA -> "PartialObjectMetadata";
            };
        }

        private byte[] bookmark(long revision, boolean initialEventsEnd) {
            JsonObject.Builder metadata = JsonObject.builder().put("resourceVersion", Long.toString(revision));
            if (initialEventsEnd) {
                metadata.put(
                        "annotations",
                        JsonObject.builder()
                                .put("k8s.io/initial-events-end", "true")
                                .build());
            }
            JsonObject object = JsonObject.builder()
                    .put("kind", kind())
                    .put("apiVersion", media.whole() ? resource.type().apiVersion() : media.apiVersion())
                    .put("metadata", metadata.build())
                    .build();
            return RenderedEvent.written("BOOKMARK", object, media);
        }

        /** Sends bookmarks, so that the version of a watch without events stays recent. */
        private final class Ticker {
            private Loop.@Nullable Timer timer;
            private volatile boolean stopped;

            private Ticker(boolean wanted) {
                if (wanted) {
                    arm();
                }
            }

            private void arm() {
                long left = ends - loop.clock().nanoTime() - BEFORE_END.toNanos();
                if (left <= 0) {
                    return;
                }
                Duration wait = left < BOOKMARK.toNanos() ? Duration.ofNanos(left) : BOOKMARK;
                timer = loop.schedule(wait, () -> {
                    if (!stopped) {
                        // On the store's loop, so every change up to its revision has been passed to this watch.
                        sink.write(bookmark(Math.max(floor, store.revision()), false));
                        arm();
                    }
                });
            }

            private void stop() {
                stopped = true;
                Loop.Timer waiting = timer;
                if (waiting != null) {
                    waiting.cancel();
                }
            }
        }
    }
}
