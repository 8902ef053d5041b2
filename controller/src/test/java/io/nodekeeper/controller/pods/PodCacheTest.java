package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What the cache keeps of pods. */
class PodCacheTest {
    private final PodCache cache = new PodCache();

    private void put(String name, int tolerations) {
        String list = IntStream.range(0, tolerations)
                .mapToObj(i -> "{\"key\":\"" + name + i + "\",\"operator\":\"Exists\"}")
                .collect(Collectors.joining(",", "[", "]"));
        cache.put(
                Json.parseObject("{\"metadata\":{\"name\":\"" + name + "\",\"namespace\":\"a\",\"uid\":\"" + name
                        + "\",\"resourceVersion\":\"1\"},\"spec\":{\"nodeName\":\"n1\",\"tolerations\":" + list + "}}"),
                0);
    }

    @Test
    void longListsOfTolerationsEndWithTheirPods() {
        put("short", 16);
        Map<String, Integer> few = cache.sizes();
        put("long", 17);
        put("longer", 30_000);

        assertThat(cache.sizes().get("shared lists")).isEqualTo(few.get("shared lists"));
        assertThat(cache.remove("longer").orElseThrow().tolerations).hasSize(30_000);
    }

    @Test
    void partsOfAPodAreWhatTheCacheReads() {
        JsonObject pod = Json.parseObject("""
                {"metadata": {"name": "p", "namespace": "a", "uid": "u", "resourceVersion": "7",
                  "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-02T00:00:00Z",
                  "managedFields": [{"manager": "m"}], "labels": {"a": "b"}},
                 "spec": {"nodeName": "n1", "tolerations": [{"key": "k", "operator": "Exists"}],
                  "containers": [{"name": "c", "image": "i"}]},
                 "status": {"phase": "Failed", "reason": "Evicted", "podIP": "10.0.0.1", "conditions":
                  [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T12:00:00Z"}]}}""");
        TrackedPod whole = new PodCache().put(pod, 0).pod();

        TrackedPod parts = new PodCache().put(PodCache.parts(pod), 0).pod();

        assertThat(parts).usingRecursiveComparison().ignoringFields("node").isEqualTo(whole);
        assertThat(parts.node.name).isEqualTo("n1");
        assertThat(PodCache.parts(pod).toString()).doesNotContain("managedFields", "labels", "containers", "podIP");
    }
}
