package io.nodekeeper.apiserver.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.kinds.PodStrategy;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Further deletions of a pod whose grace period is running. */
class GracePeriodTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private final TestServer server = new TestServer();

    @Test
    @Tag("W45")
    void furtherDeletionOnlyShortensTheGracePeriodWhichCountsFromTheFirst() {
        server.post(PODS, TestServer.pod("p1", "n1"));
        server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":60}");
        server.time.advance(Duration.ofSeconds(20));

        // given no period, nothing changes, whatever the pod asks for
        Answer same = server.delete(PODS + "/p1", "{\"propagationPolicy\":\"Orphan\"}");
        assertThat(same.version()).isEqualTo("6");
        assertThat(same.json().object("metadata").text("deletionTimestamp")).isEqualTo("2026-11-21T07:01:00Z");
        assertThat(same.json().object("metadata").has("finalizers")).isFalse();
        assertThat(server.delete(PODS, "").status()).isEqualTo(200);
        assertThat(server.get(PODS + "/p1").version()).isEqualTo("6");

        // given a shorter one, it ends that long after the first deletion
        JsonObject shorter = server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":45}")
                .json()
                .object("metadata");
        assertThat(shorter.text("deletionTimestamp")).isEqualTo("2026-11-21T07:00:45Z");
        assertThat(shorter.number("deletionGracePeriodSeconds")).contains(45L);
        assertThat(server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":45}").version())
                .isEqualTo("7");
    }

    @Test
    @Tag("W45")
    void onlyTheBeginningOfTheGracePeriodRaisesTheGeneration() {
        server.post(PODS, TestServer.pod("p1", "n1").replace("\"name\":\"p1\"", "\"name\":\"p1\",\"generation\":1"));

        assertThat(server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":60}")
                        .json()
                        .object("metadata")
                        .number("generation"))
                .contains(2L);
        assertThat(server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":45}")
                        .json()
                        .object("metadata")
                        .number("generation"))
                .contains(2L);
    }

    @Test
    @Tag("W45")
    void terminatedPodInItsGracePeriodWaitsForItsNode() {
        server.post(PODS, TestServer.pod("p1", "n1"));
        server.delete(PODS + "/p1", "");
        server.patch(TestServer.MERGE, PODS + "/p1/status", "{\"status\":{\"phase\":\"Succeeded\"}}");

        server.delete(PODS + "/p1", "");
        assertThat(server.get(PODS + "/p1").status()).isEqualTo(200);

        server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":0}");
        assertThat(server.get(PODS + "/p1").status()).isEqualTo(404);
    }

    /** As kubectl delete --cascade=foreground, and then --force, which always asks for Background. */
    @Test
    @Tag("W43")
    void propagationPolicyOfTheDeletionThatShortensCounts() {
        server.post(PODS, TestServer.pod("p1", "n1"));
        server.delete(PODS + "/p1", "{\"propagationPolicy\":\"Foreground\"}");
        assertThat(server.get(PODS + "/p1").json().object("metadata").array("finalizers"))
                .hasToString("[\"foregroundDeletion\"]");

        server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":0,\"propagationPolicy\":\"Background\"}");

        assertThat(server.get(PODS + "/p1").status()).isEqualTo(404);
    }

    @Test
    @Tag("W43")
    void podWithAFinalizerStaysAfterItsGracePeriodWasCutToNothing() {
        server.post(PODS, TestServer.pod("p1", "n1"));
        server.patch(TestServer.MERGE, PODS + "/p1", "{\"metadata\":{\"finalizers\":[\"a.b/c\"]}}");
        server.delete(PODS + "/p1", "");
        server.time.advance(Duration.ofSeconds(10));

        server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":0}");
        // which a later deletion does not extend
        server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":30}");

        JsonObject metadata = server.get(PODS + "/p1").json().object("metadata");
        assertThat(metadata.text("deletionTimestamp")).isEqualTo("2026-11-21T07:00:00Z");
        assertThat(metadata.number("deletionGracePeriodSeconds")).contains(0L);
        server.patch(TestServer.MERGE, PODS + "/p1", "{\"metadata\":{\"finalizers\":null}}");
        assertThat(server.get(PODS + "/p1").status()).isEqualTo(404);
    }

    @Test
    @Tag("W45")
    void negativeGracePeriodIsOneSecond() {
        server.post(PODS, TestServer.pod("body", "n1"));
        server.post(PODS, TestServer.pod("query", "n1"));

        Answer body = server.delete(PODS + "/body", "{\"gracePeriodSeconds\":-1}");
        Answer query = server.delete(PODS + "/query?gracePeriodSeconds=-30", "");

        for (Answer answer : List.of(body, query)) {
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            JsonObject metadata = answer.json().object("metadata");
            assertThat(metadata.number("deletionGracePeriodSeconds")).contains(1L);
            assertThat(metadata.text("deletionTimestamp")).isEqualTo("2026-11-21T07:00:01Z");
        }
    }

    /** Such a pod is refused today, but an older API server may have stored it. */
    @Test
    @Tag("W45")
    void negativeGracePeriodOfAStoredPodIsOneSecond() {
        JsonObject pod = Json.parseObject("{\"spec\":{\"nodeName\":\"n1\",\"terminationGracePeriodSeconds\":-5}}");

        assertThat(new PodStrategy().graceSeconds(pod, Optional.empty())).isEqualTo(1);
    }

    @Test
    @Tag("W50")
    void deletionOfTheNamespaceLeavesTheGracePeriodAsItIs() {
        server.node("n1");
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns1\"}}");
        server.post("/api/v1/namespaces/ns1/pods", TestServer.pod("p1", "n1"));
        server.delete("/api/v1/namespaces/ns1/pods/p1", "{\"gracePeriodSeconds\":60}");

        server.delete("/api/v1/namespaces/ns1", "");
        server.time.advance(Duration.ofSeconds(5));

        assertThat(server.get("/api/v1/namespaces/ns1/pods/p1")
                        .json()
                        .object("metadata")
                        .text("deletionTimestamp"))
                .isEqualTo("2026-11-21T07:01:00Z");
    }
}
