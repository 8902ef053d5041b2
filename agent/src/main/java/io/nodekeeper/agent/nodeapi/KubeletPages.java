package io.nodekeeper.agent.nodeapi;

import io.nodekeeper.agent.stats.RunningPod;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The pages that only the node's API has, under a kubelet's paths, and those that the agent has elsewhere, too. To be called
 * on the agent's loop.
 */
public final class KubeletPages implements Pages {
    private final Pages others;
    private final JsonObject config;
    private final Supplier<byte[]> probes;
    private final Supplier<List<RunningPod>> running;

    /**
     * Pages.
     *
     * @param others answers all other paths
     * @param config the page {@code /configz}
     * @param probes the counts of probes in Prometheus' format
     * @param running the pods that the runtime runs; makes no call
     */
    public KubeletPages(Pages others, JsonObject config, Supplier<byte[]> probes, Supplier<List<RunningPod>> running) {
        this.others = others;
        this.config = config;
        this.probes = probes;
        this.running = running;
    }

    @Override
    public CompletableFuture<Page> get(String path, String query) {
        return switch (path) {
            case "/configz" -> CompletableFuture.completedFuture(Page.json(config));
            case "/metrics/probes" ->
                CompletableFuture.completedFuture(
                        new Page(200, "text/plain; version=0.0.4; charset=utf-8", probes.get()));
            case "/runningpods/" -> CompletableFuture.completedFuture(Page.json(pods(running.get())));
            // The agent writes its log in its own thread, and the loop that answers is the one that runs pods.
            case "/healthz/log", "/healthz/syncloop" -> others.get("/healthz/ping", "");
            default -> others.get(path, query);
        };
    }

    private static JsonObject pods(List<RunningPod> running) {
        return JsonObject.builder()
                .put("kind", "PodList")
                .put("apiVersion", "v1")
                .put("metadata", JsonObject.EMPTY)
                .put(
                        "items",
                        JsonArray.of(running.stream().map(KubeletPages::pod).toArray(JsonObject[]::new)))
                .build();
    }

    private static JsonObject pod(RunningPod pod) {
        JsonObject[] containers = pod.containers().stream()
                .map(container ->
                        JsonObject.builder().put("name", container.name()).build())
                .toArray(JsonObject[]::new);
        return JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", pod.name())
                                .put("namespace", pod.namespace())
                                .put("uid", pod.uid())
                                .build())
                .put(
                        "spec",
                        JsonObject.builder()
                                .put("containers", JsonArray.of(containers))
                                .build())
                .put("status", JsonObject.EMPTY)
                .build();
    }
}
