package io.nodekeeper.apiserver.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Deletion: finalizers, grace periods, preconditions, namespaces, expiry. */
class DeleteTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private final TestServer server = new TestServer();

    @Test
    @Tag("W42")
    void deletedNodeIsGone() {
        JsonObject node = server.node("n1");
        Answer answer = server.delete("/api/v1/nodes/n1", "{\"propagationPolicy\":\"Background\"}");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json())
                .hasToString(
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"details\":{\"name\":\"n1\",\"kind\":\"nodes\",\"uid\":\""
                                + node.object("metadata").text("uid") + "\"}}");
        assertThat(server.get("/api/v1/nodes/n1").status()).isEqualTo(404);
        assertThat(server.delete("/api/v1/nodes/n1", "").message()).isEqualTo("nodes \"n1\" not found");
    }

    @Test
    @Tag("W31")
    void dryRunInTheBodyDeletesNothing() {
        server.node("n1");
        assertThat(server.delete("/api/v1/nodes/n1", "{\"dryRun\":[\"All\"]}").status())
                .isEqualTo(200);
        assertThat(server.get("/api/v1/nodes/n1").status()).isEqualTo(200);
        assertThat(server.delete("/api/v1/nodes/n1", "{\"dryRun\":[\"Some\"]}").status())
                .isEqualTo(422);
        assertThat(server.get("/api/v1/nodes/n1").status()).isEqualTo(200);
    }

    @Test
    void malformedDeleteOptionsDeleteNothing() {
        server.node("n1");
        for (String options : List.of(
                "{\"gracePeriodSeconds\":\"0\"}",
                "{\"preconditions\":\"x\"}",
                "{\"preconditions\":{\"uid\":7}}",
                "{\"dryRun\":\"All\"}",
                "{\"kind\":\"Node\"}",
                "[]",
                "{")) {
            assertThat(server.delete("/api/v1/nodes/n1", options).status())
                    .as(options)
                    .isEqualTo(400);
        }
        assertThat(server.delete("/api/v1/nodes/n1", "{\"gracePeriodSeconds\":-1}")
                        .status())
                .isEqualTo(422);
        assertThat(server.get("/api/v1/nodes/n1").version()).isEqualTo("5");
    }

    @Test
    @Tag("W43")
    void finalizersKeepAnObjectUntilTheyAreCleared() {
        server.post("/api/v1/nodes", "{\"metadata\":{\"name\":\"n1\",\"finalizers\":[\"a.b/c\"]}}");
        TestServer.Lines watch = server.watch("/api/v1/nodes?watch=true&resourceVersion=5");
        JsonObject kept = server.delete("/api/v1/nodes/n1", "").json();
        assertThat(kept.text("kind")).isEqualTo("Node");
        assertThat(kept.object("metadata").text("deletionTimestamp")).isEqualTo("2026-11-21T07:00:00Z");
        assertThat(kept.object("metadata").number("deletionGracePeriodSeconds")).contains(0L);
        assertThat(server.delete("/api/v1/nodes/n1", "").version()).isEqualTo("6");
        Answer added = server.patch(
                TestServer.MERGE, "/api/v1/nodes/n1", "{\"metadata\":{\"finalizers\":[\"a.b/c\",\"x.y/z\"]}}");
        assertThat(added.status()).isEqualTo(422);
        assertThat(added.message())
                .isEqualTo(
                        "Node \"n1\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"x.y/z\"}");
        // A dry run that removes the last finalizer does not delete the object.
        assertThat(server.patch(TestServer.MERGE, "/api/v1/nodes/n1?dryRun=All", "{\"metadata\":{\"finalizers\":null}}")
                        .status())
                .isEqualTo(200);
        assertThat(server.get("/api/v1/nodes/n1").status()).isEqualTo(200);
        assertThat(server.patch(TestServer.MERGE, "/api/v1/nodes/n1", "{\"metadata\":{\"finalizers\":null}}")
                        .status())
                .isEqualTo(200);
        assertThat(server.get("/api/v1/nodes/n1").status()).isEqualTo(404);
        assertThat(watch.brief()).containsExactly("MODIFIED n1@6", "DELETED n1@7");
    }

    @Test
    @Tag("W44")
    void preconditionsMustHold() {
        JsonObject node = server.node("n1");
        String uid = node.object("metadata").text("uid");
        Answer wrong = server.delete("/api/v1/nodes/n1", "{\"preconditions\":{\"uid\":\"zzz\"}}");
        assertThat(wrong.status()).isEqualTo(409);
        assertThat(wrong.message())
                .isEqualTo(
                        "Operation cannot be fulfilled on Node \"n1\": the UID in the precondition (zzz) does not match the"
                                + " UID in record (" + uid
                                + "). The object might have been deleted and then recreated");
        assertThat(wrong.json().object("details").text("kind")).isEqualTo("Node");
        assertThat(server.delete("/api/v1/nodes/n1", "{\"preconditions\":{\"resourceVersion\":\"1\"}}")
                        .message())
                .isEqualTo(
                        "Operation cannot be fulfilled on Node \"n1\": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (5). The object might have been deleted and then recreated");
        assertThat(server.delete(
                                "/api/v1/nodes/n1",
                                "{\"preconditions\":{\"uid\":\"" + uid + "\",\"resourceVersion\":\"5\"}}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    @Tag("W45")
    void podOnANodeGetsItsGracePeriod() {
        server.post(PODS, TestServer.pod("p1", "n1"));
        JsonObject pod = server.delete(PODS + "/p1", "").json();
        assertThat(pod.object("metadata").text("deletionTimestamp")).isEqualTo("2026-11-21T07:00:30Z");
        assertThat(pod.object("metadata").number("deletionGracePeriodSeconds")).contains(30L);
        // A longer grace period is ignored, a shorter one counts.
        assertThat(server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":60}").version())
                .isEqualTo("6");
        assertThat(server.delete(PODS + "/p1?gracePeriodSeconds=10", "")
                        .json()
                        .object("metadata")
                        .text("deletionTimestamp"))
                .isEqualTo("2026-11-21T07:00:10Z");
        assertThat(server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":0}")
                        .json()
                        .text("kind"))
                .isEqualTo("Pod");
        assertThat(server.get(PODS + "/p1").status()).isEqualTo(404);
    }

    @Test
    void hugeGracePeriodIsLimited() {
        server.post(PODS, TestServer.pod("p1", "n1"));
        JsonObject pod = server.delete(PODS + "/p1", "{\"gracePeriodSeconds\":9223372036854775807}")
                .json();
        assertThat(pod.object("metadata").text("deletionTimestamp")).isEqualTo("2094-12-09T10:14:07Z");
    }

    @Test
    @Tag("W46")
    void unassignedPodIsDeletedAtOnceAndReturned() {
        server.post(PODS, TestServer.pod("p1", ""));
        JsonObject pod = server.delete(PODS + "/p1", "").json();
        assertThat(pod.text("kind")).isEqualTo("Pod");
        assertThat(server.get(PODS + "/p1").status()).isEqualTo(404);
    }

    @Test
    @Tag("W50")
    void deletedNamespaceIsEmptiedAndThenRemoved() {
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns1\"}}");
        server.post("/api/v1/namespaces/ns1/pods", TestServer.pod("p1", "n1"));
        server.post(
                "/api/v1/namespaces/ns1/pods",
                "{\"metadata\":{\"name\":\"p2\",\"finalizers\":[\"a.b/c\"]},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
        // when it is deleted
        Answer deleted = server.delete("/api/v1/namespaces/ns1", "");
        assertThat(deleted.json().object("status").text("phase")).isEqualTo("Terminating");
        // then its objects are deleted, those with finalizers are terminating, and no object can be created
        assertThat(server.get("/api/v1/namespaces/ns1/pods").names()).containsExactly("p2");
        assertThat(server.get("/api/v1/namespaces/ns1/pods/p2")
                        .json()
                        .object("metadata")
                        .has("deletionTimestamp"))
                .isTrue();
        Answer refused = server.post("/api/v1/namespaces/ns1/pods", TestServer.pod("p3", ""));
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.json().object("details"))
                .hasToString(
                        "{\"causes\":[{\"reason\":\"NamespaceTerminating\",\"message\":\"namespace ns1 is being terminated\",\"field\":\"metadata.namespace\"}]}");
        server.time.advance(Duration.ofSeconds(5));
        assertThat(server.get("/api/v1/namespaces/ns1").status()).isEqualTo(200);
        // and after the last finalizer is removed, the namespace is removed, too
        server.patch(TestServer.MERGE, "/api/v1/namespaces/ns1/pods/p2", "{\"metadata\":{\"finalizers\":null}}");
        server.time.advance(Duration.ofSeconds(2));
        assertThat(server.get("/api/v1/namespaces/ns1").status()).isEqualTo(404);
        assertThat(server.get("/api/v1/namespaces/ns1/pods").names()).isEmpty();
    }

    @Test
    @Tag("W50")
    void namespaceWaitsForItsFinalizersAfterItIsEmptied() {
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns1\",\"finalizers\":[\"a.b/c\"]}}");
        server.post("/api/v1/namespaces/ns1/pods", TestServer.pod("p1", ""));
        server.delete("/api/v1/namespaces/ns1", "");
        server.time.advance(Duration.ofSeconds(5));
        assertThat(server.get("/api/v1/namespaces/ns1").status()).isEqualTo(200);
        server.patch(TestServer.MERGE, "/api/v1/namespaces/ns1", "{\"metadata\":{\"finalizers\":null}}");
        server.time.advance(Duration.ofSeconds(2));
        assertThat(server.get("/api/v1/namespaces/ns1").status()).isEqualTo(404);
        assertThat(server.get("/api/v1/pods").names()).isEmpty();
    }

    @Test
    @Tag("W51")
    void systemNamespacesCannotBeDeleted() {
        for (String name : List.of("default", "kube-system", "kube-public")) {
            Answer answer = server.delete("/api/v1/namespaces/" + name, "");
            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.message())
                    .isEqualTo("namespaces \"" + name + "\" is forbidden: this namespace may not be deleted");
        }
        JsonObject namespace = server.get("/api/v1/namespaces/default").json();
        assertThat(namespace.object("metadata").object("labels"))
                .hasToString("{\"kubernetes.io/metadata.name\":\"default\"}");
        assertThat(namespace.object("spec")).hasToString("{\"finalizers\":[\"kubernetes\"]}");
        assertThat(namespace.object("status")).hasToString("{\"phase\":\"Active\"}");
    }

    @Test
    @Tag("W52")
    void collectionIsDeletedByLabels() {
        for (int i = 0; i < 4; i++) {
            server.post(
                    "/api/v1/nodes",
                    "{\"metadata\":{\"name\":\"n" + i + "\",\"labels\":{\"even\":\"" + (i % 2 == 0) + "\"}}}");
        }
        assertThat(server.delete("/api/v1/nodes?labelSelector=even%3Dtrue&dryRun=All", "")
                        .json()
                        .text("status"))
                .isEqualTo("Success");
        assertThat(server.get("/api/v1/nodes").names()).hasSize(4);
        server.delete("/api/v1/nodes?labelSelector=even%3Dtrue", "");
        assertThat(server.get("/api/v1/nodes").names()).containsExactly("n1", "n3");
    }

    @Test
    @Tag("W89")
    void eventsExpireAndAnUpdateRestartsTheirTtl() {
        String events = "/api/v1/namespaces/default/events";
        for (String name : List.of("e1", "e2")) {
            server.post(
                    events,
                    "{\"metadata\":{\"name\":\"" + name
                            + "\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n1\"}}");
        }
        TestServer.Lines watch = server.watch(events + "?watch=true&resourceVersion=6&timeoutSeconds=86400");
        server.time.advance(Duration.ofMinutes(59));
        assertThat(server.patch(TestServer.MERGE, events + "/e2", "{\"count\":2}")
                        .status())
                .isEqualTo(200);
        server.time.advance(Duration.ofSeconds(70));
        assertThat(server.get(events).names()).containsExactly("e2");
        assertThat(watch.brief()).containsExactly("MODIFIED e2@7", "DELETED e1@8");
        server.time.advance(Duration.ofHours(1));
        assertThat(server.get(events).names()).isEmpty();
    }

    @Test
    @Tag("W44")
    void propagationPolicyIsValidated() {
        server.node("n1");
        assertThat(server.delete("/api/v1/nodes/n1", "{\"propagationPolicy\":\"Sometimes\"}")
                        .message())
                .isEqualTo(
                        "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Sometimes\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
        assertThat(server.delete("/api/v1/nodes/n1", "{\"propagationPolicy\":\"Orphan\",\"orphanDependents\":true}")
                        .status())
                .isEqualTo(422);
        assertThat(server.delete("/api/v1/nodes/n1", "{\"propagationPolicy\":\"Foreground\"}")
                        .status())
                .isEqualTo(200);
        assertThat(server.get("/api/v1/nodes/n1").status()).isEqualTo(404);
    }
}
