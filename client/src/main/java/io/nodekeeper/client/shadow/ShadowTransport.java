package io.nodekeeper.client.shadow;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Simulates writes without sending them: lists, reads and watches go to the real server; writes get the answer that the
 * server would have given, and later reads include them, until a real change of the same part of the object. A {@link
 * Witness} receives each withheld write and each real change that a watch sends. Only GET requests are ever sent.
 * Thread-safe.
 *
 * <p>Two things differ from a real server: the answer to a write has the last real {@code resourceVersion} with a
 * suffix, because there is no new one; and agents do not react to writes that they cannot see.
 */
public final class ShadowTransport implements Transport {
    /** Receives withheld writes and real changes. Called on any thread; must not block. */
    public interface Witness {
        /**
         * A write was withheld; not called for a write that the server would have refused.
         *
         * @param plural the resource, as in paths
         * @param before the object that the writer saw; empty if it would be created
         * @param after the object after the write; empty if it would be deleted
         */
        void kept(Call call, String plural, JsonObject before, JsonObject after);

        /** A list or a watch sent {@code object}; {@code type} is the event's type or {@code LISTED}. */
        void happened(String type, String plural, JsonObject object);

        /** A list of all objects of a resource begins; its objects follow, over all pages. */
        default void listing(String plural) {}

        /** The last page of that list was received. */
        default void listed(String plural) {}
    }

    private final Transport real;
    private final Clock clock;
    private final Witness witness;
    private final List<Shown> streams = new CopyOnWriteArrayList<>();
    private final Object lock = new Object();
    private final Shadows shadows = new Shadows();
    private final ShadowWrites writes;
    private long answers;

    /** The shadow of {@code real}; {@code clock} gives the time of deletions. */
    public ShadowTransport(Transport real, Clock clock, Witness witness) {
        this.real = real;
        this.clock = clock;
        this.witness = witness;
        this.writes = new ShadowWrites();
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        return send(call, real::send);
    }

    @Override
    public CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
        return send(call, get -> real.send(get, timer, deadline));
    }

    private CompletableFuture<Reply> send(Call call, Function<Call, CompletableFuture<Reply>> reader) {
        ShadowTarget target = ShadowTarget.of(call.target());
        if (call.method().equals("GET")) {
            return mapped(reader.apply(call), reply -> read(target, reply));
        }
        if (call.method().equals("POST")) {
            return CompletableFuture.completedFuture(created(call, target));
        }
        return mapped(reader.apply(Call.get(target.object())), reply -> written(call, target, reply));
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        if (!call.method().equals("GET")) {
            throw new IllegalArgumentException(call + " cannot be watched; expected GET");
        }
        Shown shown = new Shown(ShadowTarget.of(call.target()), handler);
        streams.add(shown);
        Stream stream = real.open(call, shown);
        return () -> {
            streams.remove(shown);
            stream.cancel();
        };
    }

    @Override
    public void close() {
        real.close();
    }

    private Reply read(ShadowTarget target, Reply reply) {
        boolean list = target.name().isEmpty();
        missing(target, reply);
        if (reply.status() != 200 || !(list || isCovered(target))) {
            return reply;
        }
        JsonObject object = Json.parseObject(reply.body());
        if (!list) {
            return look(target, target.object(), object)
                    .map(seen -> reply(200, seen))
                    .orElseGet(() -> refusal(gone(target)));
        }
        List<JsonObject> items = object.array("items").objects().toList();
        boolean whole = target.namespace().isEmpty() && !target.isSelective();
        if (whole && target.parameter("continue").isEmpty()) {
            witness.listing(target.plural());
        }
        items.forEach(item -> witness.happened("LISTED", target.plural(), item));
        if (whole && object.object("metadata").text("continue").isEmpty()) {
            witness.listed(target.plural());
        }
        synchronized (lock) {
            shadows.listed(target, object);
        }
        if (!isCovered(target)) {
            return reply;
        }
        List<JsonValue> seen = items.stream()
                .flatMap(item -> look(target, target.object(item.object("metadata")), item).stream())
                .<JsonValue>map(item -> item)
                .toList();
        return reply(200, object.with("items", new JsonArray(seen)));
    }

    /** Forgets the shadow of an object that the server no longer has. */
    private void missing(ShadowTarget target, Reply reply) {
        if (reply.status() == 404 && target.subresource().isEmpty()) {
            synchronized (lock) {
                shadows.forget(target, target.object());
            }
        }
    }

    /** The number of objects that have a shadow. */
    public int shadows() {
        synchronized (lock) {
            return shadows.size();
        }
    }

    private boolean isCovered(ShadowTarget target) {
        synchronized (lock) {
            return shadows.cover(target.plural());
        }
    }

    private Optional<JsonObject> look(ShadowTarget target, String path, JsonObject object) {
        synchronized (lock) {
            return shadows.apply(target, path, object);
        }
    }

    private Reply created(Call call, ShadowTarget target) {
        JsonObject body = body(call);
        witness.kept(call, target.plural(), JsonObject.EMPTY, body);
        return reply(201, body);
    }

    private Reply written(Call call, ShadowTarget target, Reply found) {
        if (found.status() != 200) {
            // The read was of the object, without a subresource.
            missing(ShadowTarget.of(target.object()), found);
            return found;
        }
        JsonObject object = Json.parseObject(found.body());
        try {
            return kept(call, target, object);
        } catch (ApiException refused) {
            return refusal(refused);
        }
    }

    private Reply kept(Call call, ShadowTarget target, JsonObject object) {
        JsonObject before;
        Optional<JsonObject> after;
        String version;
        synchronized (lock) {
            before = shadows.apply(target, target.object(), object).orElseThrow(() -> gone(target));
            after = writes.apply(call, target, before, body(call), clock.wallTime());
            after.ifPresentOrElse(wanted -> shadows.put(target, object, wanted), () -> shadows.delete(target, object));
            version = before.object("metadata").text("resourceVersion") + "." + ++answers;
        }
        witness.kept(call, target.plural(), before, after.orElse(JsonObject.EMPTY));
        // A watch sends the real version, with which watchers compare states.
        String type = after.isPresent() ? "MODIFIED" : "DELETED";
        JsonObject event = JsonObject.EMPTY.with("type", type).with("object", after.orElse(before));
        streams.stream()
                .filter(stream -> stream.target.contains(target, after.orElse(before)))
                .forEach(stream -> stream.tell(Json.writeBytes(event)));
        if (call.method().equals("DELETE")) {
            return reply(
                    200,
                    JsonObject.builder()
                            .put("kind", "Status")
                            .put("apiVersion", "v1")
                            .put("status", "Success")
                            .build());
        }
        return reply(
                200, after.orElse(before).update("metadata", metadata -> metadata.with("resourceVersion", version)));
    }

    private static JsonObject body(Call call) {
        return call.body().length == 0 ? JsonObject.EMPTY : Json.parseObject(call.body());
    }

    private static ApiException gone(ShadowTarget target) {
        return new ApiException(404, "NotFound", target.plural() + " \"" + target.name() + "\" not found");
    }

    private static Reply reply(int status, JsonObject body) {
        return new Reply(status, Json.writeBytes(body));
    }

    private static Reply refusal(ApiException refused) {
        return reply(refused.code(), refused.toStatus());
    }

    /** As thenApply, but cancelling the result cancels the call. */
    private static CompletableFuture<Reply> mapped(CompletableFuture<Reply> call, UnaryOperator<Reply> change) {
        CompletableFuture<Reply> result = call.thenApply(change);
        Futures.onCancel(result, () -> call.cancel(true));
        return result;
    }

    /** A watch, line by line: the real events with the withheld writes, and events of the withheld writes. */
    private final class Shown implements StreamHandler {
        private final ShadowTarget target;
        private final StreamHandler handler;
        /** The version of the last real event, at first that of the request: from there a watcher resumes. */
        private String position;

        private boolean isOpen;

        private Shown(ShadowTarget target, StreamHandler handler) {
            this.target = target;
            this.handler = handler;
            this.position = target.parameter("resourceVersion");
        }

        @Override
        public synchronized void onOpen() {
            isOpen = true;
            handler.onOpen();
        }

        @Override
        public synchronized void onLine(byte[] line) {
            handler.onLine(shown(line));
        }

        @Override
        public CompletableFuture<Void> drained() {
            return handler.drained();
        }

        @Override
        public synchronized void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
            streams.remove(this);
            isOpen = false;
            handler.onEnd(refusal, why);
        }

        private synchronized void tell(byte[] line) {
            if (!isOpen) {
                return;
            }
            handler.onLine(line);
            if (!position.isEmpty()) {
                // The event's version is that of a read: real events before it may not have been delivered yet.
                JsonObject at = JsonObject.EMPTY.with("metadata", JsonObject.EMPTY.with("resourceVersion", position));
                handler.onLine(Json.writeBytes(
                        JsonObject.EMPTY.with("type", "BOOKMARK").with("object", at)));
            }
        }

        private byte[] shown(byte[] line) {
            JsonObject event;
            try {
                event = Json.parseObject(line);
            } catch (JsonException e) {
                // The next read reports it.
                return line;
            }
            String version = event.object("object").object("metadata").text("resourceVersion");
            position = version.isEmpty() ? position : version;
            String type = event.text("type");
            if (!List.of("ADDED", "MODIFIED", "DELETED").contains(type)) {
                return line;
            }
            JsonObject object = event.object("object");
            witness.happened(type, target.plural(), object);
            String path = target.object(object.object("metadata"));
            if (type.equals("DELETED")) {
                synchronized (lock) {
                    shadows.forget(target, path);
                }
                return line;
            }
            Optional<JsonObject> seen = look(target, path, object);
            if (seen.isEmpty()) {
                return Json.writeBytes(event.with("type", "DELETED"));
            }
            return seen.get() == object ? line : Json.writeBytes(event.with("object", seen.get()));
        }
    }
}
