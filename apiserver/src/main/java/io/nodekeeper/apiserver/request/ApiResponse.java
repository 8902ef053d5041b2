package io.nodekeeper.apiserver.request;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The answer to an {@link ApiRequest}. */
public sealed interface ApiResponse {
    /** The media type of JSON. */
    String JSON = "application/json";

    /** The HTTP status. */
    int status();

    /** Whether the request was refused or failed. */
    default boolean isRefusal() {
        return status() >= 400;
    }

    /** The headers without those of the connection; a value of several lines means as many headers of that name. */
    Map<String, String> headers();

    /** A complete answer; the body must not be changed. */
    record Full(int status, Map<String, String> headers, byte[] body) implements ApiResponse {}

    /** A streaming answer: {@code start} is called once, with the sink to write to, after the headers were sent. */
    record Streamed(int status, Map<String, String> headers, Consumer<StreamSink> start) implements ApiResponse {}

    /** A large answer that is produced while it is read. */
    record Chunked(int status, Map<String, String> headers, ResponseChunks chunks) implements ApiResponse {
        /** Reads all chunks into a complete answer. */
        public Full whole() {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            for (List<byte[]> chunk = chunks.next(); !chunk.isEmpty(); chunk = chunks.next()) {
                chunk.forEach(body::writeBytes);
            }
            return new Full(status, headers, body.toByteArray());
        }
    }

    /**
     * An answer that a node gives.
     *
     * @param status the one that the client gets if the node does what it is asked for
     * @param answered called once with what the client gets; without the body if that is the node's
     * @param ended called once after that, when the connection to the node has ended
     */
    record Relayed(int status, Map<String, String> headers, NodeCall call, Consumer<Full> answered, Runnable ended)
            implements ApiResponse {

        /** An answer that nothing waits for. */
        public Relayed(int status, NodeCall call) {
            this(status, Map.of(), call, answer -> {}, () -> {});
        }

        /** The same answer, which calls these, too. */
        public Relayed and(Consumer<Full> alsoAnswered, Runnable alsoEnded) {
            return new Relayed(status, headers, call, answered.andThen(alsoAnswered), () -> {
                ended.run();
                alsoEnded.run();
            });
        }
    }

    /** An answer without headers and without a body. */
    static Full empty(int status) {
        return new Full(status, Map.of(), new byte[0]);
    }

    /** An answer in JSON. */
    static Full json(int status, byte[] body) {
        return new Full(status, Map.of("content-type", JSON), body);
    }

    /** An answer in JSON. */
    static Full json(int status, JsonObject body) {
        return json(status, Json.writeBytes(body));
    }

    /** An answer in plain text. */
    static Full text(int status, String text) {
        return new Full(
                status, Map.of("content-type", "text/plain; charset=utf-8"), text.getBytes(StandardCharsets.UTF_8));
    }

    /** The refusal of an overloaded server (Kubernetes' text). */
    static Full tooMany() {
        return new Full(
                429,
                Map.of("content-type", "text/plain; charset=utf-8", "retry-after", "1"),
                "Too many requests, please try again later.".getBytes(StandardCharsets.UTF_8));
    }

    /** A refusal. */
    static Full refusal(ApiException refused) {
        return json(refused.code(), refused.toStatus());
    }

    /** The fields of a {@code Status} that says that the request succeeded. */
    static JsonObject.Builder success() {
        return JsonObject.builder()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("metadata", JsonObject.EMPTY)
                .put("status", "Success");
    }
}
