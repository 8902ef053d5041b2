package io.nodekeeper.client;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the objects of an API server. Every call has a deadline from when it is sent, and every result completes on the client's
 * loop: with an {@link ApiException} if the server refused, with a {@link TransportException} or {@link
 * io.nodekeeper.time.DeadlineExceededException} if there was no answer. Thread-safe.
 */
public final class KubeClient {
    private final Transport transport;
    private final Loop loop;
    private final Duration timeout;
    private final CallObserver observer;
    private final Function<byte[], JsonObject> parser;

    /** A client whose results complete on {@code loop} and whose calls have the deadline {@code timeout}. */
    public KubeClient(Transport transport, Loop loop, Duration timeout) {
        this(transport, loop, timeout, CallObserver.NONE, Json::parseObject);
    }

    private KubeClient(
            Transport transport,
            Loop loop,
            Duration timeout,
            CallObserver observer,
            Function<byte[], JsonObject> parser) {
        this.transport = transport;
        this.loop = loop;
        this.timeout = timeout;
        this.observer = observer;
        this.parser = parser;
    }

    /** The loop on which results complete. */
    public Loop loop() {
        return loop;
    }

    /** The same server and loop with another deadline. */
    public KubeClient withTimeout(Duration other) {
        return new KubeClient(transport, loop, other, observer, parser);
    }

    /** The same server, loop and deadline; {@code other} receives the outcome of each call except watches. */
    public KubeClient observedBy(CallObserver other) {
        return new KubeClient(transport, loop, timeout, other, parser);
    }

    /**
     * The same server, loop and deadline. The objects that calls return have only {@code parts}, which are taken where an answer is
     * parsed, on any thread: a parsed object may take many times its bytes, and answers wait for the loop.
     */
    public KubeClient keeping(UnaryOperator<JsonObject> parts) {
        return new KubeClient(transport, loop, timeout, observer, body -> parts.apply(Json.parseObject(body)));
    }

    /** As {@link #keeping}, for the objects of lists, of which only one is in memory as a whole. */
    public KubeClient keepingOfItems(UnaryOperator<JsonObject> parts) {
        return new KubeClient(transport, loop, timeout, observer, body -> Json.parseList(body, parts));
    }

    /** Reads one object. */
    public CompletableFuture<JsonObject> get(ResourceType type, String namespace, String name) {
        return get(type, namespace, name, "");
    }

    /** Reads one object; {@code query} is percent-encoded and may be empty. */
    public CompletableFuture<JsonObject> get(ResourceType type, String namespace, String name, String query) {
        return call(() -> Call.get(type.path(namespace, name) + (query.isEmpty() ? "" : "?" + query)));
    }

    /**
     * Reads a list.
     *
     * @param namespace empty for all namespaces
     * @param query the query, percent-encoded; may be empty
     */
    public CompletableFuture<JsonObject> list(ResourceType type, String namespace, String query) {
        return call(() -> Call.get(collection(type, namespace) + (query.isEmpty() ? "" : "?" + query)));
    }

    /** Creates an object; the result is as stored. */
    public CompletableFuture<JsonObject> create(ResourceType type, String namespace, JsonObject object) {
        return call(() -> json("POST", type.path(namespace), object));
    }

    /** Replaces an object, if it is still at the {@code resourceVersion} that {@code object} carries. */
    public CompletableFuture<JsonObject> update(ResourceType type, String namespace, String name, JsonObject object) {
        return call(() -> json("PUT", type.path(namespace, name), object));
    }

    /** Replaces an object's status, as {@link #update}. */
    public CompletableFuture<JsonObject> updateStatus(
            ResourceType type, String namespace, String name, JsonObject object) {
        return call(() -> json("PUT", type.path(namespace, name) + "/status", object));
    }

    /**
     * Patches an object.
     *
     * @param subresource {@code status}, or empty for the object itself
     */
    public CompletableFuture<JsonObject> patch(
            ResourceType type,
            String namespace,
            String name,
            String subresource,
            PatchType patchType,
            JsonValue patch) {
        String below = subresource.isEmpty() ? "" : "/" + subresource;
        return call(() ->
                new Call("PATCH", type.path(namespace, name) + below, patchType.mediaType(), Json.writeBytes(patch)));
    }

    /** Deletes an object; {@code options} are DeleteOptions, may be empty. */
    public CompletableFuture<JsonObject> delete(ResourceType type, String namespace, String name, JsonObject options) {
        return call(() -> json("DELETE", type.path(namespace, name), options));
    }

    /** The HTTP status of a GET of {@code path}, whatever it is: any answer shows that the server is alive. */
    public CompletableFuture<Integer> probe(String path) {
        CompletableFuture<Integer> result = new CompletableFuture<>();
        transport
                .send(Call.get(path), loop, timeout)
                .whenComplete((reply, error) -> loop.execute(() -> {
                    if (error != null) {
                        result.completeExceptionally(Failures.cause(error));
                    } else {
                        result.complete(reply.status());
                    }
                }));
        return result;
    }

    /** Opens a watch; the handler is called on this client's loop. */
    Transport.Stream watch(ResourceType type, String namespace, String query, Transport.StreamHandler handler) {
        return transport.open(
                Call.get(collection(type, namespace) + "?watch=true" + query), new HandlerOnLoop(loop, handler));
    }

    /** Sends what {@code creation} returns; fails if that throws, because no path can have the object's name. */
    private CompletableFuture<JsonObject> call(Supplier<Call> creation) {
        CompletableFuture<JsonObject> result = new CompletableFuture<>();
        Call call;
        try {
            call = creation.get();
        } catch (IllegalArgumentException e) {
            loop.execute(() -> result.completeExceptionally(new TransportException("not sent: " + e.getMessage(), e)));
            return result;
        }
        long sent = loop.clock().nanoTime();
        transport.send(call, loop, timeout).thenApply(this::object).whenComplete((object, error) -> {
            // Measured here, because the load of the loop says nothing about the server.
            long took = loop.clock().nanoTime() - sent;
            loop.execute(() -> finish(call, sent + took, took, object, error, result));
        });
        return result;
    }

    private void finish(
            Call call,
            long now,
            long took,
            @Nullable JsonObject object,
            @Nullable Throwable error,
            CompletableFuture<JsonObject> result) {
        observer.ended(call, took, now, Optional.ofNullable(error).map(Failures::cause));
        if (error != null) {
            result.completeExceptionally(Failures.cause(error));
        } else {
            result.complete(object);
        }
    }

    private JsonObject object(Reply reply) {
        if (reply.status() / 100 != 2) {
            throw ApiException.fromBody(reply.status(), reply.body());
        }
        try {
            return parser.apply(reply.body());
        } catch (JsonException e) {
            throw new TransportException("the server's answer is not a JSON object: " + e.getMessage(), e);
        }
    }

    private static Call json(String method, String target, JsonObject object) {
        return new Call(method, target, "application/json", Json.writeBytes(object));
    }

    private static String collection(ResourceType type, String namespace) {
        return namespace.isEmpty() ? type.path() : type.path(namespace);
    }
}
