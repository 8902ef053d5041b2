package io.nodekeeper.agent.pods.objects;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The Services of namespaces, read when a container starts and not watched. Containers that start within a second share a
 * read. Confined to its client's loop.
 */
public final class ServiceLists {
    /** Services of the core group. */
    public static final ResourceType SERVICES = new ResourceType("", "v1", "services", "Service", true);

    /** How old a list may be: as new as the other objects that a container's start reads. */
    private static final Duration AGE = Duration.ofSeconds(1);
    /** Services of one read; the server's answer has some hundred KB then. */
    private static final int PAGE = 500;
    /** The most Services of a namespace. With more, their variables exceed what Linux gives to a process (2 MiB). */
    private static final int MOST = 5_000;

    private final KubeClient client;
    /** By namespace. Bounded by the namespaces of containers that start within {@link #AGE}. */
    private final Map<String, Listed> lists = new LinkedHashMap<>();

    /** A read that began at {@code sent}, monotonic ns. */
    private record Listed(long sent, CompletableFuture<List<JsonObject>> read) {}

    /** Lists of what {@code client} reads. */
    public ServiceLists(KubeClient client) {
        this.client = client;
    }

    /** The Services of {@code namespace}: of each its name, address and ports. */
    public CompletableFuture<List<JsonObject>> in(String namespace) {
        long now = client.loop().clock().nanoTime();
        lists.values().removeIf(list -> now - list.sent > AGE.toNanos());
        Listed list = lists.get(namespace);
        if (list == null || list.read.isCompletedExceptionally()) {
            list = new Listed(now, page(namespace, "", new ArrayList<>()));
            lists.put(namespace, list);
        }
        return list.read.copy();
    }

    private CompletableFuture<List<JsonObject>> page(String namespace, String token, List<JsonObject> found) {
        String from = token.isEmpty() ? "" : "&continue=" + URLEncoder.encode(token, StandardCharsets.UTF_8);
        return client.list(SERVICES, namespace, "limit=" + PAGE + from).thenCompose(answer -> {
            answer.array("items").objects().map(ServiceLists::kept).forEach(found::add);
            if (found.size() > MOST) {
                return CompletableFuture.failedFuture(new IllegalStateException("namespace \"" + namespace
                        + "\" must have at most " + MOST + " services for pods with enableServiceLinks, got more"));
            }
            String next = answer.object("metadata").text("continue");
            return next.isEmpty()
                    ? CompletableFuture.completedFuture(List.copyOf(found))
                    : page(namespace, next, found);
        });
    }

    private static JsonObject kept(JsonObject service) {
        JsonObject spec = service.object("spec");
        JsonArray ports = spec.array("ports");
        return JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", service.object("metadata").text("name"))
                                .build())
                .put(
                        "spec",
                        JsonObject.builder()
                                .put("clusterIP", spec.text("clusterIP"))
                                .put("ports", ports)
                                .build())
                .build();
    }
}
