package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
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
        int few = cache.sizes().get("shared lists");
        put("long", 17);
        put("longer", 30_000);

        assertThat(cache.sizes()).containsEntry("shared lists", few);
        assertThat(cache.remove("longer").orElseThrow().tolerations).hasSize(30_000);
    }
}
