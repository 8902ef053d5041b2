package io.nodekeeper.apiserver.negotiation;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.apiserver.wire.ProtobufWriter;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Converts answers to protobuf for clients that accept only that: objects, lists and refusals. They are created as
 * JSON. A watch writes its events in protobuf itself ({@link Media.Encoding#PROTOBUF}). Thread-safe.
 */
public final class ProtobufResponses {
    /** The bytes of JSON up to which an answer is converted on the current thread: about 2 ms of work. */
    private static final int SMALL = 64 << 10;

    private ProtobufResponses() {}

    /**
     * {@code response}, in protobuf if {@code request} accepts nothing else and Kubernetes has a message for it.
     *
     * @param large converts a large one
     */
    public static CompletableFuture<ApiResponse> of(ApiRequest request, ApiResponse response, Executor large) {
        if (!ApiResponse.JSON.equals(response.headers().get("content-type")) || !Media.onlyProtobuf(request)) {
            return CompletableFuture.completedFuture(response);
        }
        return switch (response) {
            case ApiResponse.Full full
            when full.body().length > SMALL -> CompletableFuture.supplyAsync(() -> whole(full), large);
            case ApiResponse.Full full -> CompletableFuture.completedFuture(whole(full));
            case ApiResponse.Chunked list -> CompletableFuture.completedFuture(chunked(list));
            case ApiResponse.Streamed watch -> CompletableFuture.completedFuture(watch);
            case ApiResponse.Relayed relayed -> CompletableFuture.completedFuture(relayed);
        };
    }

    private static ApiResponse whole(ApiResponse.Full full) {
        Optional<byte[]> message =
                full.body().length == 0 ? Optional.empty() : ProtobufWriter.object(Json.parseObject(full.body()));
        return message.<ApiResponse>map(bytes -> new ApiResponse.Full(full.status(), typed(full.headers()), bytes))
                .orElse(full);
    }

    private static ApiResponse chunked(ApiResponse.Chunked large) {
        return large.chunks()
                .inProtobuf()
                .<ApiResponse>map(chunks -> new ApiResponse.Chunked(large.status(), typed(large.headers()), chunks))
                .orElse(large);
    }

    private static Map<String, String> typed(Map<String, String> headers) {
        Map<String, String> typed = new HashMap<>(headers);
        typed.put("content-type", Protobuf.MEDIA_TYPE);
        return typed;
    }
}
