package io.nodekeeper.apiserver.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.ChangedStore;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Writes that create an object if it is absent, while others create and delete it between their decision and the store. */
class CreationRaceTest {
    private static final String MAP = "/api/v1/namespaces/default/configmaps/m";
    private static final String EVENT = "/api/v1/namespaces/default/events/e";
    private static final String LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    private static final String APPLY = "application/apply-patch+yaml";

    private final TestServer cluster = new TestServer();
    /** The writes of others that come first: before the next write of this server, before the one after it. */
    private final Deque<Runnable> others = new ArrayDeque<>();

    private final ApiServer server = cluster.another(
            ChangedStore.of(cluster.store, Map.of("put", arguments -> {
                if (!others.isEmpty()) {
                    others.remove().run();
                }
                return cluster.store.put((String) arguments[0], (byte[]) arguments[1], (long) arguments[2]);
            })),
            new Authenticator(Map.of()),
            Runnable::run);

    private Answer ask(String method, String uri, String type, String body) {
        CompletableFuture<ApiResponse> answer = server.handle(TestServer.request(
                TestServer.ADMIN, method, uri, Map.of("content-type", type), body.getBytes(StandardCharsets.UTF_8)));
        cluster.settle();
        return TestServer.answer(answer);
    }

    private Answer apply(String data) {
        return ask("PATCH", MAP + "?fieldManager=mine", APPLY, map(data));
    }

    private Answer put(String uri, String body) {
        return ask("PUT", uri, "application/json", body);
    }

    private void appliedByAnother(String data) {
        cluster.send(TestServer.ADMIN, "PATCH", MAP + "?fieldManager=theirs", Map.of("content-type", APPLY), map(data));
    }

    private void sentByAnother(String method, String uri, String body) {
        cluster.send(TestServer.ADMIN, method, uri, Map.of(), body);
    }

    private static String map(String data) {
        return "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"},\"data\":" + data + "}";
    }

    private static String event(String reason) {
        return "{\"metadata\":{\"name\":\"e\",\"namespace\":\"default\"},\"involvedObject\":{\"namespace\":\"default\"},"
                + "\"reason\":\"" + reason + "\"}";
    }

    private static String lease(String holder) {
        return "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":\"" + holder + "\"}}";
    }

    @Test
    @Tag("W39")
    void applyIsMergedIntoAnObjectThatAnotherOneCreatesMeanwhile() {
        others.add(() -> appliedByAnother("{\"b\":\"2\"}"));

        Answer answer = apply("{\"a\":\"1\"}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(answer.json().object("data")).hasToString("{\"b\":\"2\",\"a\":\"1\"}");
        assertThat(answer.json()
                        .object("metadata")
                        .array("managedFields")
                        .objects()
                        .map(owner -> owner.text("manager")))
                .containsExactlyInAnyOrder("theirs", "mine");
    }

    @Test
    @Tag("W39")
    void applyConflictsWithTheOwnerOfAnObjectThatIsCreatedMeanwhile() {
        others.add(() -> appliedByAnother("{\"a\":\"2\"}"));

        assertThat(apply("{\"a\":\"1\"}").message())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"theirs\": .data.a");
    }

    @Test
    @Tag("W39")
    void applyCreatesAnObjectThatIsDeletedMeanwhile() {
        JsonObject old = cluster.patch(APPLY, MAP + "?fieldManager=theirs", map("{\"b\":\"2\"}"))
                .json();
        others.add(() -> sentByAnother("DELETE", MAP, ""));

        Answer answer = apply("{\"a\":\"1\"}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.json().object("data")).hasToString("{\"a\":\"1\"}");
        assertThat(answer.json().object("metadata").text("uid"))
                .isNotEqualTo(old.object("metadata").text("uid"));
    }

    @Test
    @Tag("W39")
    void applyFollowsAnObjectThatIsCreatedAndDeletedMeanwhile() {
        others.add(() -> appliedByAnother("{\"b\":\"2\"}"));
        others.add(() -> sentByAnother("DELETE", MAP, ""));

        Answer answer = apply("{\"a\":\"1\"}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.json().object("data")).hasToString("{\"a\":\"1\"}");
    }

    @Test
    @Tag("W39")
    void applyThatNamesTheUidOfAnObjectThatIsDeletedMeanwhileIsAConflict() {
        String uid = cluster.patch(APPLY, MAP + "?fieldManager=mine", map("{\"a\":\"1\"}"))
                .json()
                .object("metadata")
                .text("uid");
        others.add(() -> sentByAnother("DELETE", MAP, ""));

        Answer answer = ask(
                "PATCH",
                MAP + "?fieldManager=mine",
                APPLY,
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\",\"uid\":\"" + uid
                        + "\"},\"data\":{\"a\":\"2\"}}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(409);
        assertThat(answer.message()).endsWith("and no existing object was found");
        assertThat(cluster.get(MAP).status()).isEqualTo(404);
    }

    @Test
    @Tag("W21")
    void updateReplacesAnEventThatAnotherOneCreatesMeanwhile() {
        others.add(() -> sentByAnother("PUT", EVENT, event("Theirs")));

        Answer answer = put(EVENT, event("Mine"));

        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(cluster.get(EVENT).json().text("reason")).isEqualTo("Mine");
    }

    @Test
    @Tag("W21")
    void updateOfALeaseNeedsAVersionIfAnotherOneCreatesItMeanwhile() {
        others.add(() -> sentByAnother("PUT", LEASE, lease("theirs")));

        Answer answer = put(LEASE, lease("mine"));

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(cluster.get(LEASE).json().object("spec").text("holderIdentity"))
                .isEqualTo("theirs");
    }

    @Test
    @Tag("W21")
    void updateCreatesAnEventThatIsDeletedMeanwhile() {
        cluster.put(EVENT, event("Old"));
        others.add(() -> sentByAnother("DELETE", EVENT, ""));

        Answer answer = put(EVENT, event("New"));

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(cluster.get(EVENT).json().text("reason")).isEqualTo("New");
    }
}
