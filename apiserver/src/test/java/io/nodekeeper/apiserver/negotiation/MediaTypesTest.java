package io.nodekeeper.apiserver.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.V1;
import io.kubernetes.client.proto.V1Coordination;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.Envelopes;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Media types of requests and responses. */
class MediaTypesTest {
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final Map<String, String> PROTOBUF = Map.of(
            "content-type", "application/vnd.kubernetes.protobuf",
            "accept", "application/vnd.kubernetes.protobuf, */*");

    private final TestServer server = new TestServer();

    private Answer send(String method, String uri, byte[] body) {
        CompletableFuture<ApiResponse> response =
                server.server.handle(TestServer.request(TestServer.ADMIN, method, uri, PROTOBUF, body));
        server.settle();
        return TestServer.answer(response);
    }

    private static byte[] lease(String version, long seconds) {
        Message lease = V1Coordination.Lease.newBuilder()
                .setMetadata(Meta.ObjectMeta.newBuilder()
                        .setName("n1")
                        .setNamespace("kube-node-lease")
                        .setResourceVersion(version)
                        .setCreationTimestamp(Meta.Time.getDefaultInstance()))
                .setSpec(V1Coordination.LeaseSpec.newBuilder()
                        .setHolderIdentity("n1")
                        .setLeaseDurationSeconds(40)
                        .setRenewTime(Meta.MicroTime.newBuilder().setSeconds(seconds)))
                .build();
        return Envelopes.of("coordination.k8s.io/v1", "Lease", lease);
    }

    @Test
    @Tag("W6")
    void leaseCanBeWrittenInProtobufAndReadInJson() {
        Answer created = send("POST", LEASES, lease("", 1_763_708_400));
        assertThat(created.status()).as(created.text()).isEqualTo(201);
        assertThat(created.headers()).containsEntry("content-type", "application/json");

        Answer renewed = send("PUT", LEASES + "/n1", lease(created.version(), 1_763_708_410));

        assertThat(renewed.status()).as(renewed.text()).isEqualTo(200);
        assertThat(renewed.headers()).containsEntry("content-type", "application/json");
        assertThat(Long.parseLong(renewed.version())).isGreaterThan(Long.parseLong(created.version()));
        assertThat(server.get(LEASES + "/n1").json().object("spec").text("renewTime"))
                .isEqualTo("2025-11-21T07:00:10.000000Z");
    }

    @Test
    @Tag("W7")
    void nodeIsTheSameInJsonAndProtobuf() {
        server.post(
                "/api/v1/nodes",
                "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"b\"}},\"status\":{\"conditions\":[{\"type\":\"Ready\","
                        + "\"status\":\"True\",\"reason\":\"KubeletReady\"}],\"capacity\":{\"cpu\":\"4\"}}}");
        Answer before = server.get("/api/v1/nodes/n1");
        V1.Node.Builder node = V1.Node.newBuilder()
                .setMetadata(Meta.ObjectMeta.newBuilder()
                        .setName("n1")
                        .setGenerateName("")
                        .setGeneration(0)
                        .putLabels("a", "b"))
                .setSpec(V1.NodeSpec.newBuilder().setPodCIDR("").setUnschedulable(false));
        node.getSpecBuilder()
                .addTaints(V1.Taint.newBuilder()
                        .setKey("node.kubernetes.io/not-ready")
                        .setValue("")
                        .setEffect("NoSchedule"));

        Answer same = send("PUT", "/api/v1/nodes/n1", Envelopes.of("v1", "Node", node.build()));
        Answer cordoned = send(
                "PUT",
                "/api/v1/nodes/n1",
                Envelopes.of(
                        "v1",
                        "Node",
                        node.setSpec(node.getSpecBuilder().setUnschedulable(true))
                                .build()));

        assertThat(same.status()).as(same.text()).isEqualTo(200);
        assertThat(same.version()).isEqualTo(before.version());
        assertThat(cordoned.json().object("spec").bool("unschedulable")).isTrue();
    }

    @Test
    void deleteOptionsCanBeProtobuf() {
        server.node("n1");
        Message dry = Meta.DeleteOptions.newBuilder().addDryRun("All").build();
        Message other = Meta.DeleteOptions.newBuilder()
                .setPreconditions(Meta.Preconditions.newBuilder().setUid("other"))
                .build();

        assertThat(send("DELETE", "/api/v1/nodes/n1", Envelopes.of("v1", "DeleteOptions", dry))
                        .status())
                .isEqualTo(200);
        assertThat(send("DELETE", "/api/v1/nodes/n1", Envelopes.of("v1", "DeleteOptions", other))
                        .status())
                .isEqualTo(409);
        assertThat(server.get("/api/v1/nodes/n1").status()).isEqualTo(200);
    }

    @Test
    void malformedProtobufIsABadRequest() {
        Answer json = send("POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"n1\"}}".getBytes());
        Answer pod = send("POST", "/api/v1/nodes", Envelopes.of("v1", "Pod", V1.Pod.getDefaultInstance()));

        assertThat(json.status()).isEqualTo(400);
        assertThat(json.reason()).isEqualTo("BadRequest");
        assertThat(json.message()).contains("does not appear to be a protobuf message");
        assertThat(pod.status()).isEqualTo(400);
        assertThat(pod.message()).contains("cannot be handled as a Node");
    }

    @Test
    @Tag("W90")
    void objectStoredByAKubeApiserverIsServed() {
        byte[] node = Envelopes.of(
                "v1",
                "Node",
                V1.Node.newBuilder()
                        .setMetadata(Meta.ObjectMeta.newBuilder()
                                .setName("n1")
                                .setUid("u1")
                                .setCreationTimestamp(Meta.Time.newBuilder().setSeconds(1_763_708_400)))
                        .build());
        byte[] handWritten =
                "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n2\",\"uid\":\"u2\"}}\n".getBytes();
        server.store.put(Resources.NODES.key("", "n1"), node, 0);
        server.store.put(Resources.NODES.key("", "n2"), handWritten, 0);
        server.settle();

        Answer one = server.get("/api/v1/nodes/n1");
        Answer two = server.get("/api/v1/nodes/n2");

        assertThat(one.text())
                .startsWith("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"")
                .contains("\"name\":\"n1\",\"uid\":\"u1\",\"creationTimestamp\":\"2025-11-21T07:00:00Z\"");
        assertThat(two.text())
                .startsWith("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"")
                .doesNotContain("\n");
        assertThat(server.get("/api/v1/nodes").names()).containsExactly("n1", "n2");
        assertThat(server.watch("/api/v1/nodes?watch=true").brief()).hasSize(2);
        assertThat(server.patch(TestServer.MERGE, "/api/v1/nodes/n1", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}")
                        .json()
                        .object("metadata")
                        .text("uid"))
                .isEqualTo("u1");
    }

    @Test
    @Tag("W41")
    void duplicateFieldIsRefusedWarnedOrIgnored() {
        String body = "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"providerID\":\"a\",\"providerID\":\"b\",\"foo\":1}}";

        Answer strict = server.post("/api/v1/nodes?fieldValidation=Strict&dryRun=All", body);
        Answer warned = server.post("/api/v1/nodes?fieldValidation=Warn&dryRun=All", body);
        Answer ignored = server.post("/api/v1/nodes?fieldValidation=Ignore", body);

        assertThat(strict.status()).isEqualTo(400);
        assertThat(strict.message())
                .isEqualTo("Node in version \"v1\" cannot be handled as a Node: strict decoding error: duplicate field"
                        + " \"spec.providerID\", unknown field \"spec.foo\"");
        assertThat(warned.status()).isEqualTo(201);
        assertThat(warned.headers().get("warning"))
                .isEqualTo(
                        "299 - \"duplicate field \\\"spec.providerID\\\"\"\n299 - \"unknown field \\\"spec.foo\\\"\"");
        assertThat(ignored.status()).isEqualTo(201);
        assertThat(ignored.headers()).doesNotContainKey("warning");
        assertThat(ignored.json().object("spec").text("providerID")).isEqualTo("b");
    }

    @Test
    @Tag("W41")
    void fieldValidationAppliesToPatchesAndYaml() {
        server.node("n1");
        String patch = "{\"metadata\":{\"labels\":{\"a\":\"1\",\"a\":\"2\"}}}";
        Map<String, String> yaml = Map.of("content-type", "application/yaml");
        String text = "metadata:\n  name: n2\nspec:\n  providerID: a\n  providerID: b\n";

        Answer strictPatch = server.patch(TestServer.MERGE, "/api/v1/nodes/n1?fieldValidation=Strict", patch);
        Answer patched = server.patch(TestServer.STRATEGIC, "/api/v1/nodes/n1", patch);
        Answer strictYaml = server.ask(TestServer.ADMIN, "POST", "/api/v1/nodes?fieldValidation=Strict", yaml, text);
        Answer created = server.ask(TestServer.ADMIN, "POST", "/api/v1/nodes", yaml, text);

        assertThat(strictPatch.status()).isEqualTo(422);
        assertThat(strictPatch.message()).endsWith("strict decoding error: duplicate field \"metadata.labels.a\"");
        assertThat(patched.headers()).containsEntry("warning", "299 - \"duplicate field \\\"metadata.labels.a\\\"\"");
        assertThat(patched.json().object("metadata").object("labels").text("a")).isEqualTo("2");
        assertThat(strictYaml.status()).isEqualTo(400);
        assertThat(strictYaml.message()).contains("strict decoding error: found duplicate key providerID");
        assertThat(created.status()).isEqualTo(201);
        assertThat(created.headers().get("warning")).contains("found duplicate key providerID");
        assertThat(created.json().object("spec").text("providerID")).isEqualTo("b");
    }

    private static final String METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

    private Answer get(String uri, String accept) {
        return server.ask(TestServer.ADMIN, "GET", uri, Map.of("accept", accept), "");
    }

    @Test
    void partialObjectMetadataIsServedOnRequest() {
        server.post(
                "/api/v1/nodes",
                "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"podCIDR\":\"10.0.0.0/24\"}}");

        Answer one = get("/api/v1/nodes/n1", METADATA);
        Answer list = get("/api/v1/nodes", "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io");
        TestServer.Lines watch = server.watch(TestServer.ADMIN, "/api/v1/nodes?watch=true", Map.of("accept", METADATA));
        Answer patched = server.ask(
                TestServer.ADMIN,
                "PATCH",
                "/api/v1/nodes/n1",
                Map.of("accept", METADATA, "content-type", TestServer.MERGE),
                "{\"metadata\":{\"labels\":{\"a\":\"c\"}}}");
        Answer wrong = get("/api/v1/nodes", METADATA);

        assertThat(one.json().fields()).containsOnlyKeys("kind", "apiVersion", "metadata");
        assertThat(one.json().text("kind")).isEqualTo("PartialObjectMetadata");
        assertThat(one.json().object("metadata").object("labels").text("a")).isEqualTo("b");
        assertThat(list.json().text("kind")).isEqualTo("PartialObjectMetadataList");
        assertThat(list.json().text("apiVersion")).isEqualTo("meta.k8s.io/v1beta1");
        assertThat(list.version()).isNotEmpty();
        assertThat(list.json().array("items").objects().toList().getFirst().fields())
                .containsOnlyKeys("kind", "apiVersion", "metadata");
        assertThat(watch.events)
                .extracting(event -> event.object("object").text("kind"))
                .containsExactly("PartialObjectMetadata", "PartialObjectMetadata");
        assertThat(watch.events.get(1).object("object").has("spec")).isFalse();
        assertThat(patched.json().fields()).containsOnlyKeys("kind", "apiVersion", "metadata");
        assertThat(wrong.status()).isEqualTo(406);
    }

    @Test
    void yamlIsServedIfItIsTheFirstSupportedType() {
        server.post(
                "/api/v1/nodes",
                "{\"metadata\":{\"name\":\"n1\",\"annotations\":{\"a\":\"yes\",\"b\":\"x: y\",\"c\":\"1\"}}}");

        Answer yaml = get("/api/v1/nodes/n1", "application/yaml");
        Answer first = get("/api/v1/nodes/n1", "application/json,application/yaml");
        Answer list = get("/api/v1/nodes", "text/html, application/yaml;q=0.9");
        Answer refusal = get("/api/v1/nodes/nope", "application/yaml");
        Answer back = server.ask(
                TestServer.ADMIN,
                "PUT",
                "/api/v1/nodes/n1",
                Map.of("content-type", "application/yaml", "accept", "application/yaml"),
                yaml.text());

        assertThat(yaml.headers()).containsEntry("content-type", "application/yaml");
        assertThat(yaml.text())
                .startsWith("kind: Node\napiVersion: v1\nmetadata:\n  resourceVersion: \"")
                .contains("  annotations:\n    a: \"yes\"\n    b: \"x: y\"\n    c: \"1\"\n")
                .endsWith("spec:\n  taints:\n  - key: node.kubernetes.io/not-ready\n    effect: NoSchedule\n");
        assertThat(first.headers()).containsEntry("content-type", "application/json");
        assertThat(list.text()).startsWith("kind: NodeList\napiVersion: v1\n").contains("\nitems:\n- metadata:\n    ");
        assertThat(refusal.json().text("reason")).isEqualTo("NotFound");
        assertThat(back.status()).as(back.text()).isEqualTo(200);
        assertThat(back.text()).isEqualTo(yaml.text());
    }

    @ParameterizedTest
    @Tag("W4")
    @ValueSource(
            strings = {
                "text/csv",
                "application/json;q=0",
                "application/json;as=Table;v=v9;g=meta.k8s.io",
                "application/json;as=Table;v=v1;g=other.io",
                "application/json;as=Nothing;v=v1;g=meta.k8s.io"
            })
    void unsupportedAcceptHeaderIsRefused(String accept) {
        Answer answer = get("/api/v1/nodes", accept);

        assertThat(answer.status()).isEqualTo(406);
        assertThat(answer.reason()).isEqualTo("NotAcceptable");
        assertThat(answer.message())
                .isEqualTo("only the following media types are accepted: application/json, application/yaml,"
                        + " application/vnd.kubernetes.protobuf");
        assertThat(get("/healthz", accept).status()).isEqualTo(200);
        assertThat(get("/version", accept).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @Tag("W3")
    @CsvSource(
            delimiter = '|',
            value = {
                "application/json | NodeList",
                "application/vnd.kubernetes.protobuf,application/json | NodeList",
                "application/vnd.kubernetes.protobuf, */* | NodeList",
                "application/vnd.kubernetes.protobuf;stream=watch, application/json;stream=watch | NodeList",
                "application/json;as=Table;v=v9;g=meta.k8s.io, application/json;as=Table;v=v1beta1;g=meta.k8s.io | Table",
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8 | NodeList",
                "application/* | NodeList"
            })
    void firstSupportedTypeIsServed(String accept, String kind) {
        Answer answer = get("/api/v1/nodes", accept);

        assertThat(answer.headers()).containsEntry("content-type", "application/json");
        assertThat(answer.json().text("kind")).isEqualTo(kind);
    }

    @Test
    void watchIsNotServedInYaml() {
        assertThat(get("/api/v1/nodes?watch=true", "application/yaml").status()).isEqualTo(406);
    }
}
