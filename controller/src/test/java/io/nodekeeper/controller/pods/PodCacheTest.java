package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.api.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

    private static String podWith(String tolerations) {
        return "{\"metadata\":{\"name\":\"p\",\"namespace\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"1\"},"
                + "\"spec\":{\"nodeName\":\"n1\",\"tolerations\":[" + tolerations
                + "]},\"status\":{\"phase\":\"Pending\"}}";
    }

    @Test
    void ofManyTolerationsOnlyTheFirstAreKept() {
        put("few", 16);
        put("more", 17);
        put("many", 30_000);

        assertThat(cache.remove("few").orElseThrow().tolerationsFor(List.of()).orElseThrow())
                .hasSize(16);
        TrackedPod many = cache.remove("many").orElseThrow();
        assertThat(many.tolerationsFor(List.of()).orElseThrow()).hasSize(16);
        // They decide about the taints that they match.
        assertThat(many.tolerationsFor(List.of(new ActiveTaint("many15", "", "", 0))))
                .isPresent();
        assertThat(many.tolerationsFor(List.of(new ActiveTaint("many16", "", "", 0))))
                .isEmpty();
        assertThat(cache.remove("more").orElseThrow().tolerationsFor(List.of(new ActiveTaint("k", "", "", 0))))
                .isEmpty();
    }

    @Test
    void tolerationsThatCanDecideNothingAreNotKept() {
        JsonObject parts = PodParts.of(Json.parseObject(podWith("{\"key\":\"a\",\"effect\":\"NoSchedule\"},"
                        .repeat(50_000)
                + "{\"key\":\"a\",\"operator\":\"Near\"},".repeat(50)
                + "{\"key\":\"aaaa\"},".repeat(50_000)
                + "{\"key\":\"b\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":9},".repeat(50)
                + "{\"key\":\"b\"}")));

        assertThat(parts.object("spec").array("tolerations")).hasToString("""
                [{"key":"aaaa"},\
                {"key":"b","operator":"Exists","effect":"NoExecute","tolerationSeconds":9}]""");
    }

    /** A page of the controller's usual heap of 512 MB, full of the largest pods. */
    @Test
    void aPageOfPodsWithHundredThousandTolerationsNeedsTheMemoryOfOne() {
        String tolerations = IntStream.range(0, 100_000)
                .mapToObj(i -> "{\"key\":\"%05d\"}".formatted(i))
                .collect(Collectors.joining(","));
        byte[] page = ("{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":["
                        + Stream.generate(() -> podWith(tolerations)).limit(10).collect(Collectors.joining(","))
                        + "]}")
                .getBytes(StandardCharsets.UTF_8);
        assertThat(page.length).isBetween(15_000_000, 16 << 20);
        List<Long> whole = new ArrayList<>();

        JsonObject list = Json.parseList(page, pod -> {
            whole.add(JsonMemory.of(pod));
            return PodParts.of(pod);
        });

        assertThat(whole).hasSize(10).allMatch(bytes -> bytes < 30_000_000);
        assertThat(list.array("items").items()).hasSize(10);
        assertThat(JsonMemory.of(list)).isLessThan(100_000);
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
                  [{"type": "Initialized", "status": "True"},
                   {"type": "Ready", "status": "False", "message": "m", "lastTransitionTime": "2026-01-01T12:00:00Z"}]}}""");
        TrackedPod whole = new PodCache().put(pod, 0).pod();

        TrackedPod parts = new PodCache().put(PodParts.of(pod), 0).pod();

        assertThat(parts).usingRecursiveComparison().ignoringFields("node").isEqualTo(whole);
        assertThat(parts.node.name).isEqualTo("n1");
        assertThat(PodParts.of(pod).toString())
                .doesNotContain("managedFields", "labels", "containers", "podIP", "Initialized", "message");
    }
}
