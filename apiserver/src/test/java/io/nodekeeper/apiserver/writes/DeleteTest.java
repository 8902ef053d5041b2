package io.nodekeeper.apiserver.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
        assertThat(server.delete("/api/v1/nodes/n1?gracePeriodSeconds=soon", "").message())
                .isEqualTo("gracePeriodSeconds: Invalid value: \"soon\": expected a whole number");
        assertThat(server.get("/api/v1/nodes/n1").version()).isEqualTo("5");
    }

    @Test
    void orphanDependentsMayBeInTheQuery() {
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"m\"}}");

        assertThat(server.delete("/api/v1/namespaces/default/configmaps/m?orphanDependents=true", "")
                        .status())
                .isEqualTo(200);

        assertThat(server.get("/api/v1/namespaces/default/configmaps/m").text()).contains("\"orphan\"");
    }

    /** The garbage collector of a kube-controller-manager sees by the finalizer what is asked, and removes it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{\"propagationPolicy\":\"Orphan\"} | orphan",
                "{\"propagationPolicy\":\"Foreground\"} | foregroundDeletion",
                "{\"orphanDependents\":true} | orphan"
            })
    void objectWaitsForTheGarbageCollectorThatItsDeletionAsksFor(String options, String finalizer) {
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"m\"}}");

        assertThat(server.delete("/api/v1/namespaces/default/configmaps/m", options)
                        .status())
                .isEqualTo(200);

        JsonObject metadata =
                server.get("/api/v1/namespaces/default/configmaps/m").json().object("metadata");
        assertThat(metadata.has("deletionTimestamp")).isTrue();
        assertThat(metadata.array("finalizers").strings()).containsExactly(finalizer);

        // Another deletion can ask for something else.
        server.delete("/api/v1/namespaces/default/configmaps/m", "{\"propagationPolicy\":\"Background\"}");
        assertThat(server.get("/api/v1/namespaces/default/configmaps/m").status())
                .isEqualTo(404);
    }

    /** So that a controller that waits for the observed generation looks at the deletion, too. */
    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"propagationPolicy\":\"Foreground\"}", "{\"propagationPolicy\":\"Orphan\"}"})
    void firstDeletionOfAnObjectThatStaysRaisesItsGeneration(String options) {
        String maps = "/api/v1/namespaces/default/configmaps";
        server.post(maps, "{\"metadata\":{\"name\":\"with\",\"generation\":3,\"finalizers\":[\"a.b/c\"]}}");
        server.post(maps, "{\"metadata\":{\"name\":\"without\",\"finalizers\":[\"a.b/c\"]}}");

        for (String name : List.of("with", "without", "with", "without")) {
            server.delete(maps + "/" + name, options);
        }

        JsonObject with = server.get(maps + "/with").json().object("metadata");
        assertThat(with.has("deletionTimestamp")).isTrue();
        assertThat(with.number("generation")).contains(4L);
        assertThat(server.get(maps + "/without").json().object("metadata").has("generation"))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"propagationPolicy\":\"Background\"}", "{\"orphanDependents\":false}"})
    void objectWithoutFinalizersWaitsForNothingElse(String options) {
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"m\"}}");

        server.delete("/api/v1/namespaces/default/configmaps/m", options);

        assertThat(server.get("/api/v1/namespaces/default/configmaps/m").status())
                .isEqualTo(404);
    }

    @Test
    void finalizerOfTheObjectItselfHoldsUnlessTheDeletionSaysOtherwise() {
        server.post(
                "/api/v1/namespaces/default/configmaps",
                "{\"metadata\":{\"name\":\"m\",\"finalizers\":[\"a.b/c\",\"orphan\"]}}");

        server.delete("/api/v1/namespaces/default/configmaps/m", "{}");
        assertThat(server.get("/api/v1/namespaces/default/configmaps/m")
                        .json()
                        .object("metadata")
                        .array("finalizers")
                        .strings())
                .containsExactly("a.b/c", "orphan");

        server.delete("/api/v1/namespaces/default/configmaps/m", "{\"propagationPolicy\":\"Foreground\"}");
        assertThat(server.get("/api/v1/namespaces/default/configmaps/m")
                        .json()
                        .object("metadata")
                        .array("finalizers")
                        .strings())
                .containsExactly("a.b/c", "foregroundDeletion");
    }

    @Test
    @Tag("W52")
    void deletionOfACollectionTakesTheObjectsOfTheListWithThoseOptions() {
        String maps = "/api/v1/namespaces/default/configmaps";
        for (String name : List.of("a", "b", "c", "d")) {
            server.post(maps, "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{\"l\":\"" + name + "\"}}}");
        }
        JsonObject first = server.get(maps + "?limit=1").json().object("metadata");
        server.post(maps, "{\"metadata\":{\"name\":\"e\"}}");

        // given a limit, as many
        assertThat(server.delete(maps + "?limit=1&labelSelector=l%20in%20(b,c)", "")
                        .status())
                .isEqualTo(200);
        assertThat(server.get(maps).names()).containsExactly("a", "c", "d", "e");
        // given an exact version, what was there then
        server.delete(
                maps + "?limit=2&resourceVersionMatch=Exact&resourceVersion=" + first.text("resourceVersion"), "");
        assertThat(server.get(maps).names()).containsExactly("c", "d", "e");
        // given a page, what follows it, as of its revision
        server.delete(maps + "?continue=" + first.text("continue"), "");
        assertThat(server.get(maps).names()).containsExactly("e");
        // given a version that is yet to come, nothing
        assertThat(server.delete(maps + "?resourceVersionMatch=Exact&resourceVersion=999", "")
                        .status())
                .isEqualTo(504);
        assertThat(server.get(maps).names()).containsExactly("e");
    }

    /** Two passes over a namespace must not outlive it: they would empty a new one of the same name. */
    @Test
    @Tag("W50")
    void newNamespaceIsNotEmptiedBecauseAnOldOneOfItsNameWas() {
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns1\",\"finalizers\":[\"a.b/c\"]}}");
        server.post("/api/v1/namespaces/ns1/pods", TestServer.pod("p1", ""));
        server.delete("/api/v1/namespaces/ns1", "");
        server.patch(TestServer.MERGE, "/api/v1/namespaces/ns1", "{\"metadata\":{\"finalizers\":null}}");
        for (int i = 0; i < 20 && server.get("/api/v1/namespaces/ns1").status() == 200; i++) {
            server.time.advance(Duration.ofMillis(100));
        }
        assertThat(server.get("/api/v1/namespaces/ns1").status()).isEqualTo(404);

        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns1\"}}");
        server.post("/api/v1/namespaces/ns1/configmaps", "{\"metadata\":{\"name\":\"m\"}}");
        server.time.advance(Duration.ofSeconds(5));

        assertThat(server.get("/api/v1/namespaces/ns1/configmaps/m").status()).isEqualTo(200);
    }

    @Test
    @Tag("W50")
    void namespaceThatAnObjectHoldsHasOnePassASecondHoweverOftenItChanges() {
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns1\"}}");
        server.post("/api/v1/namespaces/ns1/configmaps", "{\"metadata\":{\"name\":\"m\",\"finalizers\":[\"a.b/c\"]}}");
        server.delete("/api/v1/namespaces/ns1", "");
        for (int i = 0; i < 100; i++) {
            server.patch(
                    TestServer.MERGE,
                    "/api/v1/namespaces/ns1",
                    "{\"metadata\":{\"annotations\":{\"a\":\"" + i + "\"}}}");
        }
        long before = server.time.executed();

        server.time.advance(Duration.ofSeconds(10));

        assertThat(server.time.executed() - before).isLessThan(1_000);
        server.patch(TestServer.MERGE, "/api/v1/namespaces/ns1/configmaps/m", "{\"metadata\":{\"finalizers\":null}}");
        server.time.advance(Duration.ofSeconds(3));
        assertThat(server.get("/api/v1/namespaces/ns1").status()).isEqualTo(404);
    }

    @Test
    @Tag("W50")
    void podOfADeletedNamespaceHasItsGracePeriodUntilItsNodeEndsIt() {
        server.node("n1");
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"ns1\"}}");
        server.post("/api/v1/namespaces/ns1/pods", TestServer.pod("p1", "n1"));

        server.delete("/api/v1/namespaces/ns1", "");
        server.time.advance(Duration.ofSeconds(5));

        assertThat(server.get("/api/v1/namespaces/ns1/pods/p1")
                        .json()
                        .object("metadata")
                        .number("deletionGracePeriodSeconds"))
                .contains(30L);
        assertThat(server.get("/api/v1/namespaces/ns1").status()).isEqualTo(200);

        // when its node says that it has ended
        server.delete("/api/v1/namespaces/ns1/pods/p1", "{\"gracePeriodSeconds\":0}");
        server.time.advance(Duration.ofSeconds(3));

        assertThat(server.get("/api/v1/namespaces/ns1").status()).isEqualTo(404);
    }

    @Test
    void namespaceOfTheNodesLeasesIsThereAgainAfterItsDeletion() {
        String leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
        server.post(leases, "{\"metadata\":{\"name\":\"n1\"}}");

        assertThat(server.delete("/api/v1/namespaces/kube-node-lease", "").status())
                .isEqualTo(200);
        server.time.advance(Duration.ofSeconds(5));

        assertThat(server.post(leases, "{\"metadata\":{\"name\":\"n1\"}}").status())
                .isEqualTo(201);
        server.time.advance(Duration.ofSeconds(5));
        assertThat(server.get(leases + "/n1").status()).isEqualTo(200);
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
        assertThat(server.delete("/api/v1/nodes/n1", "{\"propagationPolicy\":\"Background\"}")
                        .status())
                .isEqualTo(200);
        assertThat(server.get("/api/v1/nodes/n1").status()).isEqualTo(404);
    }
}
