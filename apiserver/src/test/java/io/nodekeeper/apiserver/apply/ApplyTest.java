package io.nodekeeper.apiserver.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Server-side apply over the API. */
class ApplyTest {
    private static final String MAPS = "/api/v1/namespaces/default/configmaps";
    private static final String APPLY = "application/apply-patch+yaml";

    private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

    private final TestServer server = new TestServer();

    private static JsonObject json(String text) {
        return Json.parseObject(text.replace('\'', '"'));
    }

    /** An object with kubectl's annotation. */
    private static String annotated(JsonObject object, String noted) {
        return object.update(
                        "metadata", metadata -> metadata.update("annotations", all -> all.with(LAST_APPLIED, noted)))
                .toString();
    }

    private static String lastApplied(Answer answer) {
        return answer.json().object("metadata").object("annotations").text(LAST_APPLIED);
    }

    /** What kubectl makes of the owners: it takes over those Update managers that own its annotation. */
    private static JsonArray migrated(Answer answer) {
        return new JsonArray(owners(answer).stream()
                .<JsonValue>map(owner -> {
                    boolean takenOver = owner.text("operation").equals("Update")
                            && owner.object("fieldsV1")
                                    .object("f:metadata")
                                    .object("f:annotations")
                                    .has("f:" + LAST_APPLIED);
                    return takenOver ? owner.with("manager", "kubectl").with("operation", "Apply") : owner;
                })
                .toList());
    }

    private static String map(String data) {
        return "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"},\"data\":" + data + "}";
    }

    private Answer apply(String manager, String body) {
        return server.patch(APPLY, MAPS + "/m?fieldManager=" + manager, body);
    }

    private static List<JsonObject> owners(Answer answer) {
        return answer.json().object("metadata").array("managedFields").objects().toList();
    }

    @Test
    @Tag("W39")
    void applyCreatesAMissingObjectAndIsIdempotent() {
        Answer created = server.patch(
                APPLY,
                MAPS + "/m?fieldManager=m1&fieldValidation=Strict&force=false",
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  labels: {l: x}\ndata:\n  a: \"1\"\n");
        assertThat(created.status()).as(created.text()).isEqualTo(201);
        assertThat(owners(created))
                .singleElement()
                .hasToString(
                        "{\"manager\":\"m1\",\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"time\":\"2026-11-21T07:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\"f:a\":{}},\"f:metadata\":{\"f:labels\":{\"f:l\":{}}}}}");
        server.time.advance(Duration.ofSeconds(5));
        Answer again = apply(
                "m1",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\",\"labels\":{\"l\":\"x\"}},\"data\":{\"a\":\"1\"}}");
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json()).isEqualTo(created.json());
    }

    /** Applies a pod with a priority that only system pods may have. */
    private Answer applyUrgentPod(String metadata) {
        return server.patch(
                APPLY,
                "/api/v1/namespaces/default/pods/p?fieldManager=m",
                "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{" + metadata + "},\"spec\":{"
                        + "\"priority\":2000001000,\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    }

    /** Admission of new objects depends on whether the object is there, not on what the client says about it. */
    @Test
    void newObjectThatClaimsAUidIsNotCreated() {
        Answer refused = applyUrgentPod("\"name\":\"p\",\"uid\":\"u\"");

        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.message())
                .isEqualTo(
                        "Operation cannot be fulfilled on pods \"p\": uid mismatch: the provided object specified uid u,"
                                + " and no existing object was found");
        assertThat(server.get("/api/v1/namespaces/default/pods/p").status()).isEqualTo(404);
    }

    @Test
    void newPodIsAdmittedAsIfItWereCreated() {
        server.post("/api/v1/namespaces/default/serviceaccounts", "{\"metadata\":{\"name\":\"default\"}}");
        Answer refused = applyUrgentPod("\"name\":\"p\"");

        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.message()).contains("priority");
    }

    @Test
    @Tag("W39")
    void secondManagerHasAConflictUnlessItForces() {
        apply("m1", map("{\"a\":\"1\",\"b\":\"1\"}"));
        Answer refused = apply("m2", map("{\"a\":\"2\"}"));
        assertThat(refused.json())
                .hasToString(
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"Apply failed with 1 conflict: conflict with \\\"m1\\\": .data.a\",\"reason\":\"Conflict\",\"details\":{\"causes\":[{\"reason\":\"FieldManagerConflict\",\"message\":\"conflict with \\\"m1\\\"\",\"field\":\".data.a\"}]},\"code\":409}");
        assertThat(apply("m2", map("{\"a\":\"2\",\"b\":\"2\"}")).message())
                .isEqualTo("Apply failed with 2 conflicts: conflicts with \"m1\":\n- .data.a\n- .data.b");
        Answer forced = server.patch(APPLY, MAPS + "/m?fieldManager=m2&force=true", map("{\"a\":\"2\"}"));
        assertThat(forced.status()).isEqualTo(200);
        assertThat(forced.json().object("data")).hasToString("{\"a\":\"2\",\"b\":\"1\"}");
        assertThat(owners(forced).getFirst().object("fieldsV1")).hasToString("{\"f:data\":{\"f:b\":{}}}");
        assertThat(owners(forced).getLast().object("fieldsV1")).hasToString("{\"f:data\":{\"f:a\":{}}}");
        // The first manager cannot remove a field that it no longer owns.
        assertThat(apply("m1", map("{}")).json().object("data")).hasToString("{\"a\":\"2\"}");
    }

    /** Owners that an older version of the server or a client recorded. */
    @Test
    @Tag("W39")
    void ownerOfAPartOfASelectorOwnsTheWhole() {
        String uri = "/api/v1/namespaces/default/services/s";
        String service = "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"s\"},"
                + "\"spec\":{\"ports\":[{\"port\":80}],\"selector\":{\"a\":\"1\"}}}";
        server.patch(APPLY, uri + "?fieldManager=m1", service);
        Answer stored = server.patch(
                TestServer.JSON_PATCH,
                uri,
                "[{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[{\"manager\":\"m1\","
                        + "\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"time\":\"2026-11-21T07:00:00Z\","
                        + "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\"f:selector\":{\"f:a\":{}}}}}]}]");

        assertThat(owners(stored).getFirst().object("fieldsV1")).hasToString("{\"f:spec\":{\"f:selector\":{}}}");
        assertThat(server.patch(APPLY, uri + "?fieldManager=m2", service.replace("\"a\"", "\"b\""))
                        .message())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"m1\": .spec.selector");
        assertThat(server.patch(APPLY, uri + "?fieldManager=m2&force=true", service.replace("\"a\"", "\"b\""))
                        .json()
                        .object("spec")
                        .object("selector"))
                .hasToString("{\"b\":\"1\"}");
    }

    @Test
    @Tag("W39")
    void updateOwnsTheFieldsItWrites() {
        apply("m1", map("{\"a\":\"1\",\"b\":\"1\"}"));
        Answer patched = server.patch(TestServer.MERGE, MAPS + "/m?fieldManager=editor", "{\"data\":{\"a\":\"9\"}}");
        assertThat(owners(patched)).hasSize(2);
        assertThat(owners(patched).getLast())
                .hasToString(
                        "{\"manager\":\"editor\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-11-21T07:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\"f:a\":{}}}}");
        assertThat(apply("m1", map("{\"a\":\"1\",\"b\":\"1\"}")).message())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.a");
        Answer put = server.ask(
                TestServer.ADMIN,
                "PUT",
                MAPS + "/m",
                Map.of("user-agent", "tool/v1 (x)"),
                "{\"metadata\":{\"name\":\"m\"},\"data\":{\"a\":\"9\",\"c\":\"3\"}}");
        assertThat(owners(put).stream().map(owner -> owner.text("manager"))).containsExactly("editor", "tool");
    }

    @Test
    @Tag("W39")
    void ownersAreRecordedFromTheFirstApply() {
        server.post(MAPS, map("{\"a\":\"1\",\"b\":\"1\"}"));
        assertThat(server.patch(TestServer.MERGE, MAPS + "/m", "{\"data\":{\"a\":\"2\"}}")
                        .json()
                        .object("metadata")
                        .has("managedFields"))
                .isFalse();
        assertThat(apply("m1", map("{\"a\":\"3\"}")).message())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"earlier-writers\" using v1: .data.a");
        Answer shared = apply("m1", map("{\"a\":\"2\",\"c\":\"3\"}"));
        assertThat(owners(shared).stream().map(owner -> owner.text("manager")))
                .containsExactly("m1", "earlier-writers");
        assertThat(apply("m1", map("{}")).json().object("data")).hasToString("{\"a\":\"2\",\"b\":\"1\"}");
    }

    @Test
    @Tag("W39")
    void kubectlTakesOverFieldsOfClientSideApply() {
        String noted = map("{\"a\":\"1\"}").replace("\"", "\\\"");
        server.post(
                MAPS,
                "{\"metadata\":{\"name\":\"m\",\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":\""
                        + noted + "\"}},\"data\":{\"a\":\"1\",\"other\":\"1\"}}");
        Answer first = apply("kubectl", map("{\"a\":\"2\"}"));
        assertThat(first.status()).as(first.text()).isEqualTo(200);
        Answer second = apply("kubectl-last-applied", annotated(json(map("{}")).without("data"), lastApplied(first)));
        assertThat(second.status()).as(second.text()).isEqualTo(200);
        assertThat(apply("kubectl", map("{\"other\":\"2\"}")).status()).isEqualTo(409);
        assertThat(server.get(MAPS + "/m").json().object("data")).hasToString("{\"a\":\"2\",\"other\":\"1\"}");
    }

    @Test
    @Tag("W39")
    void patchCanReplaceManagedFieldsAsInKubectlsMigration() {
        server.post(MAPS, map("{\"a\":\"1\",\"b\":\"1\"}"));
        Answer applied = apply("kubectl", map("{\"a\":\"1\",\"b\":\"1\"}"));
        assertThat(owners(applied)).hasSize(2);
        Answer migrated = server.patch(
                TestServer.JSON_PATCH,
                MAPS + "/m",
                "[{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":["
                        + owners(applied).getFirst()
                        + "]},{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\""
                        + applied.version() + "\"}]");
        assertThat(migrated.status()).as(migrated.text()).isEqualTo(200);
        assertThat(owners(migrated)).hasSize(1);
        assertThat(apply("kubectl", map("{\"b\":\"1\"}")).json().object("data")).hasToString("{\"b\":\"1\"}");
    }

    @Test
    @Tag("W39")
    void statusHasItsOwnManagers() {
        server.node("n1");
        String status =
                "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},\"spec\":{\"unschedulable\":true},"
                        + "\"status\":{\"conditions\":[{\"type\":\"X\",\"status\":\"True\"}]}}";
        Answer applied = server.patch(APPLY, "/api/v1/nodes/n1/status?fieldManager=s", status);
        assertThat(applied.status()).as(applied.text()).isEqualTo(200);
        assertThat(applied.json().object("spec").has("unschedulable")).isFalse();
        assertThat(owners(applied).getFirst())
                .hasToString(
                        "{\"manager\":\"s\",\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"time\":\"2026-11-21T07:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{\"f:conditions\":{\"k:{\\\"type\\\":\\\"X\\\"}\":{\".\":{},\"f:status\":{},\"f:type\":{}}}}},\"subresource\":\"status\"}");
        Answer spec = server.patch(APPLY, "/api/v1/nodes/n1?fieldManager=s", status);
        assertThat(spec.json().object("spec").bool("unschedulable")).isTrue();
        // The same manager with another subresource is another owner, so it removes nothing there.
        assertThat(spec.json().object("status").array("conditions").items()).hasSize(1);
        assertThat(server.patch(APPLY, "/api/v1/nodes/gone/status?fieldManager=s", status.replace("n1", "gone"))
                        .status())
                .isEqualTo(404);
    }

    @Test
    @Tag("W39")
    @Tag("W30")
    void dryRunAppliesNothing() {
        Answer created = server.patch(APPLY, MAPS + "/m?fieldManager=m1&dryRun=All", map("{\"a\":\"1\"}"));
        assertThat(created.status()).isEqualTo(201);
        assertThat(created.version()).isEmpty();
        assertThat(server.get(MAPS + "/m").status()).isEqualTo(404);
        apply("m1", map("{\"a\":\"1\"}"));
        Answer changed = server.patch(APPLY, MAPS + "/m?fieldManager=m1&dryRun=All", map("{\"a\":\"2\"}"));
        assertThat(changed.json().object("data")).hasToString("{\"a\":\"2\"}");
        assertThat(server.get(MAPS + "/m").json().object("data")).hasToString("{\"a\":\"1\"}");
    }

    @Test
    @Tag("W39")
    void invalidApplyRequestsAreRefused() {
        assertThat(server.patch(APPLY, MAPS + "/m", map("{}")).message())
                .isEqualTo(
                        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch");
        assertThat(apply("m1", "{\"kind\":\"ConfigMap\"}").json())
                .hasToString(
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"Incorrect version specified in apply patch. Specified patch version: , expected: v1\",\"reason\":\"BadRequest\",\"code\":400}");
        assertThat(apply("m1", "{\"apiVersion\":\"v1\"}").status()).isEqualTo(400);
        assertThat(apply("m1", "a: [").status()).isEqualTo(400);
        assertThat(apply(
                                "m1",
                                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"managedFields\":[{\"manager\":\"x\"}]}}")
                        .message())
                .isEqualTo("metadata.managedFields must be nil");
        assertThat(apply("x".repeat(129), map("{}")).status()).isEqualTo(422);
        for (String force : List.of("force=true", "force=false", "force=", "force")) {
            Answer refused = server.patch(TestServer.MERGE, MAPS + "/m?" + force, "{}");
            assertThat(refused.status()).as(force).isEqualTo(422);
            assertThat(refused.message())
                    .isEqualTo(
                            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch");
        }
        assertThat(server.get(MAPS).names()).isEmpty();
    }

    @Test
    @Tag("W39")
    void forceNeedsNoValue() {
        apply("m1", map("{\"a\":\"1\"}"));

        Answer forced = server.patch(APPLY, MAPS + "/m?fieldManager=m2&force", map("{\"a\":\"2\"}"));

        assertThat(forced.status()).isEqualTo(200);
        assertThat(forced.json().object("data")).hasToString("{\"a\":\"2\"}");
    }

    @Test
    @Tag("W39")
    @Tag("W41")
    void unknownFieldsAreReported() {
        String body = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"},\"odd\":1}";
        Answer strict = server.patch(APPLY, MAPS + "/m?fieldManager=m1&fieldValidation=Strict", body);
        assertThat(strict.status()).isEqualTo(422);
        assertThat(strict.message()).contains("strict decoding error: unknown field \"odd\"");
        assertThat(apply("m1", body).headers().get("warning")).contains("unknown field");
    }

    @Test
    @Tag("W39")
    @Tag("W37")
    void resourceVersionAndValidationApplyToApply() {
        apply("m1", map("{}"));
        String stale =
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\",\"resourceVersion\":\"1\"}}";
        assertThat(apply("m1", stale).message())
                .startsWith("Operation cannot be fulfilled on configmaps \"m\": the object has been modified");
        assertThat(apply("m1", map("{\"a b\":\"1\"}")).status()).isEqualTo(422);
        assertThat(apply("m1", map("{}").replace("\"m\"", "\"other\"")).status())
                .isEqualTo(400);
    }

    /** The requests of {@code kubectl apply --server-side} after a client-side apply. */
    @Test
    void kubectlsMigrationKeepsWhatOtherClientsWrote() {
        // given a Deployment of a client-side apply, that others scaled and gave a finalizer
        String uri = "/apis/apps/v1/namespaces/default/deployments";
        JsonObject manifest = json("{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d'},'spec':{"
                + "'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{"
                + "'containers':[{'name':'c','image':'i'},{'name':'old','image':'i'}]}}}}");
        Answer created = server.post(uri, annotated(manifest, manifest.toString()));
        assertThat(created.status()).as(created.text()).isEqualTo(201);
        server.patch(
                TestServer.MERGE,
                uri + "/d",
                "{\"metadata\":{\"finalizers\":[\"example.com/f\"]},\"spec\":{\"replicas\":3}}");

        // when kubectl applies a manifest with one container less, and migrates
        String next = manifest.toString().replace(",{\"name\":\"old\",\"image\":\"i\"}", "");
        Answer applied = server.patch(APPLY, uri + "/d?fieldManager=kubectl", next);
        assertThat(applied.status()).as(applied.text()).isEqualTo(200);
        Answer noted = server.patch(
                APPLY,
                uri + "/d?fieldManager=kubectl-last-applied",
                annotated(manifest.without("spec"), lastApplied(applied)));
        assertThat(noted.status()).as(noted.text()).isEqualTo(200);
        Answer migrated = server.patch(
                TestServer.JSON_PATCH,
                uri + "/d?fieldManager=kubectl",
                "[{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":" + migrated(noted)
                        + "},{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"" + noted.version()
                        + "\"}]");
        assertThat(migrated.status()).as(migrated.text()).isEqualTo(200);
        Answer last = server.patch(APPLY, uri + "/d?fieldManager=kubectl", next);

        // then only the container of the old manifest is gone
        assertThat(last.status()).as(last.text()).isEqualTo(200);
        assertThat(last.json().object("metadata").array("finalizers")).hasToString("[\"example.com/f\"]");
        JsonObject spec = last.json().object("spec");
        assertThat(spec.number("replicas")).contains(3L);
        assertThat(spec.object("template")
                        .object("spec")
                        .array("containers")
                        .objects()
                        .map(container -> container.text("name")))
                .containsExactly("c");
        assertThat(owners(last).stream().map(owner -> owner.text("manager")))
                .containsExactlyInAnyOrder("kubectl", "kubectl-last-applied", "earlier-writers");
    }

    @Test
    void annotationOfTheClientSideApplyFollowsTheServerSideApply() {
        JsonObject manifest = json(map("{'a':'1'}"));
        server.post(MAPS, annotated(manifest, manifest.toString()));

        assertThat(lastApplied(apply("other", map("{\"b\":\"1\"}")))).isEqualTo(manifest.toString());
        String next = map("{\"a\":\"2\"}");
        assertThat(json(lastApplied(apply("kubectl", next)))).isEqualTo(json(next));
        // More than annotations may have.
        Answer large = apply("kubectl", map("{\"a\":\"" + "x".repeat(262_144) + "\"}"));
        assertThat(large.json()
                        .object("metadata")
                        .object("annotations")
                        .has("kubectl.kubernetes.io/last-applied-configuration"))
                .isFalse();
    }

    @Test
    void objectWithoutTheAnnotationOfTheClientSideApplyGetsNone() {
        apply("kubectl", map("{\"a\":\"1\"}"));

        Answer again = apply("kubectl", map("{\"a\":\"2\"}"));

        assertThat(again.json().object("metadata").has("annotations")).isFalse();
    }

    @Test
    void givenManagerMayHaveASlash() {
        Answer applied = apply("example.com%2Ftool", map("{\"a\":\"1\"}"));

        assertThat(owners(applied).getFirst().text("manager")).isEqualTo("example.com/tool");
    }
}
