package io.nodekeeper.bench;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The part of an API server that a controller of healthy nodes needs: lists, watches, and its canary's way back. */
final class BenchServer implements Transport {
    private final Map<String, byte[]> lists = new HashMap<>();
    private final Map<String, StreamHandler> watches = new HashMap<>();
    private long version;

    /** Sets the items of the list at {@code path}. */
    void list(String path, StringBuilder items) {
        lists.put(
                path,
                ("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[" + items + "]}")
                        .getBytes(StandardCharsets.UTF_8));
    }

    /** The watch of {@code path}, once it is open. */
    StreamHandler watch(String path) {
        return Objects.requireNonNull(watches.get(path), path);
    }

    /** Sets the newest version. */
    void version(long newest) {
        version = newest;
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        String path = call.target().split("\\?", 2)[0];
        if (call.method().equals("PATCH") && path.contains("/leases/")) {
            String lease = new String(call.body(), StandardCharsets.UTF_8)
                    .replaceFirst(
                            "\"metadata\":\\{",
                            "\"metadata\":{\"name\":\"" + path.substring(path.lastIndexOf('/') + 1)
                                    + "\",\"namespace\":\"kube-node-lease\",\"resourceVersion\":\"" + ++version
                                    + "\",");
            watch(path.substring(0, path.lastIndexOf('/')))
                    .onLine(("{\"type\":\"MODIFIED\",\"object\":" + lease + "}").getBytes(StandardCharsets.UTF_8));
            return CompletableFuture.completedFuture(new Reply(200, lease.getBytes(StandardCharsets.UTF_8)));
        }
        byte[] list = lists.getOrDefault(
                path, "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}".getBytes(StandardCharsets.UTF_8));
        return CompletableFuture.completedFuture(new Reply(200, list));
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        watches.put(call.target().split("\\?", 2)[0], handler);
        handler.onOpen();
        return () -> handler.onEnd(Optional.empty(), Optional.empty());
    }

    @Override
    public void close() {}
}
