package io.nodekeeper.apiserver.negotiation;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.apiserver.wire.ProtobufWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Converts answers to protobuf for clients that accept only that: objects, lists, refusals and the events of watches.
 * Everything else is created and stored as JSON. Thread-safe.
 */
public final class ProtobufResponses {
    private static final String STREAM = Protobuf.MEDIA_TYPE + ";stream=watch";

    /** The bytes of JSON up to which an answer is converted on the current thread: about 2 ms of work. */
    private static final int SMALL = 64 << 10;

    /** An event and its frame. Watchers of the same objects get the same bytes one after another. */
    private record Frame(byte[] line, byte[] bytes) {}

    private volatile @Nullable Frame last;

    /**
     * {@code response}, in protobuf if {@code request} accepts nothing else and Kubernetes has a message for it.
     *
     * @param large converts a large one
     */
    public CompletableFuture<ApiResponse> of(ApiRequest request, ApiResponse response, Executor large) {
        if (!ApiResponse.JSON.equals(response.headers().get("content-type")) || !Media.onlyProtobuf(request)) {
            return CompletableFuture.completedFuture(response);
        }
        return switch (response) {
            case ApiResponse.Full full
            when full.body().length > SMALL -> CompletableFuture.supplyAsync(() -> whole(full), large);
            case ApiResponse.Full full -> CompletableFuture.completedFuture(whole(full));
            case ApiResponse.Chunked list -> CompletableFuture.completedFuture(chunked(list));
            case ApiResponse.Streamed streamed -> CompletableFuture.completedFuture(stream(streamed));
            case ApiResponse.Relayed relayed -> CompletableFuture.completedFuture(relayed);
        };
    }

    private static ApiResponse whole(ApiResponse.Full full) {
        Optional<byte[]> message =
                full.body().length == 0 ? Optional.empty() : ProtobufWriter.object(Json.parseObject(full.body()));
        return message.<ApiResponse>map(
                        bytes -> new ApiResponse.Full(full.status(), typed(full.headers(), Protobuf.MEDIA_TYPE), bytes))
                .orElse(full);
    }

    private static ApiResponse chunked(ApiResponse.Chunked large) {
        return large.chunks()
                .inProtobuf()
                .<ApiResponse>map(chunks ->
                        new ApiResponse.Chunked(large.status(), typed(large.headers(), Protobuf.MEDIA_TYPE), chunks))
                .orElse(large);
    }

    private ApiResponse stream(ApiResponse.Streamed streamed) {
        return new ApiResponse.Streamed(
                streamed.status(),
                typed(streamed.headers(), STREAM),
                sink -> streamed.start().accept(framed(sink)));
    }

    private static Map<String, String> typed(Map<String, String> headers, String type) {
        Map<String, String> typed = new HashMap<>(headers);
        typed.put("content-type", type);
        return typed;
    }

    private StreamSink framed(StreamSink sink) {
        return new StreamSink() {
            @Override
            public void writeFirst(byte[] bytes) {
                sink.writeFirst(frame(bytes));
            }

            @Override
            public void writeFirst(ResponseChunks chunks) {
                sink.writeFirst(new ResponseChunks() {
                    @Override
                    public List<byte[]> next() {
                        List<byte[]> chunk = chunks.next();
                        return chunk == NOTHING_YET
                                ? chunk
                                : chunk.stream()
                                        .map(ProtobufResponses.this::frame)
                                        .toList();
                    }

                    @Override
                    public long held() {
                        return chunks.held();
                    }
                });
            }

            @Override
            public void write(byte[] bytes) {
                sink.write(frame(bytes));
            }

            @Override
            public void write(List<byte[]> parts) {
                sink.write(parts.stream().map(ProtobufResponses.this::frame).toList());
            }

            @Override
            public void end() {
                sink.end();
            }

            @Override
            public void onClose(Runnable action) {
                sink.onClose(action);
            }
        };
    }

    private byte[] frame(byte[] line) {
        Frame known = last;
        if (known != null && known.line == line) {
            return known.bytes;
        }
        JsonObject event = Json.parseObject(line);
        byte[] bytes = ProtobufWriter.frame(event)
                .orElseThrow(() -> new IllegalStateException("no message of Kubernetes for kind "
                        + event.object("object").text("kind")));
        last = new Frame(line, bytes);
        return bytes;
    }
}
