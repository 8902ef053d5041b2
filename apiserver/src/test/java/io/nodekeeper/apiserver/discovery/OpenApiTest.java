package io.nodekeeper.apiserver.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** OpenAPI documents. */
class OpenApiTest {
    private static final String PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

    private final TestServer server = new TestServer();

    private String url(String path) {
        return server.get("/openapi/v3").json().object("paths").object(path).text("serverRelativeURL");
    }

    @Test
    @Tag("W9")
    void indexHasOneImmutableDocumentPerGroupVersion() {
        String url = url("apis/coordination.k8s.io/v1");
        Answer document = server.get(url + "&timeout=32s");
        Answer again = server.ask(
                TestServer.ADMIN,
                "GET",
                url,
                Map.of("if-none-match", document.headers().get("etag")),
                "");
        Answer plain = server.get("/openapi/v3/apis/coordination.k8s.io/v1");

        assertThat(url).matches("/openapi/v3/apis/coordination\\.k8s\\.io/v1\\?hash=[0-9A-F]{64}");
        assertThat(document.status()).isEqualTo(200);
        assertThat(document.headers())
                .containsEntry("content-type", "application/json")
                .containsEntry("cache-control", "public, immutable")
                .containsEntry("etag", "\"" + url.substring(url.indexOf('=') + 1) + "\"");
        assertThat(again.status()).isEqualTo(304);
        assertThat(plain.headers()).containsEntry("cache-control", "no-cache, private");
        assertThat(plain.text()).isEqualTo(document.text());
        assertThat(server.get("/openapi/v3/apis/nope/v1").status()).isEqualTo(404);
    }

    @Test
    @Tag("W9")
    void schemaHasFieldsAndMergeKeys() {
        JsonObject schemas =
                server.get(url("api/v1")).json().object("components").object("schemas");
        JsonObject node = schemas.object("io.k8s.api.core.v1.Node");
        JsonObject spec = schemas.object("io.k8s.api.core.v1.NodeSpec").object("properties");
        JsonObject status = schemas.object("io.k8s.api.core.v1.NodeStatus").object("properties");

        assertThat(node.array("x-kubernetes-group-version-kind"))
                .hasToString("[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Node\"}]");
        assertThat(node.text("description")).startsWith("A machine that runs pods.");
        assertThat(node.object("properties").fields())
                .containsOnlyKeys("apiVersion", "kind", "metadata", "spec", "status");
        assertThat(node.object("properties").object("spec"))
                .hasToString("{\"allOf\":[{\"$ref\":\"#/components/schemas/io.k8s.api.core.v1.NodeSpec\"}],"
                        + "\"description\":\"The desired state of the node.\"}");
        assertThat(spec.object("taints"))
                .hasToString(
                        "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/io.k8s.api.core.v1.Taint\"},"
                                + "\"x-kubernetes-list-type\":\"atomic\",\"description\":\"The taints of the node."
                                + " They repel pods that do not tolerate them.\"}");
        assertThat(status.object("conditions").text("x-kubernetes-patch-merge-key"))
                .isEqualTo("type");
        assertThat(status.object("conditions").text("x-kubernetes-patch-strategy"))
                .isEqualTo("merge");
        assertThat(status.object("capacity").object("additionalProperties").text("$ref"))
                .isEqualTo("#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity");
        assertThat(schemas.object("io.k8s.apimachinery.pkg.apis.meta.v1.Time").text("format"))
                .isEqualTo("date-time");
        assertThat(schemas.object("io.k8s.apimachinery.pkg.util.intstr.IntOrString")
                        .text("format"))
                .isEqualTo("int-or-string");
        assertThat(schemas.object("io.k8s.api.core.v1.Volume")
                        .object("properties")
                        .fields())
                .containsKeys("name", "emptyDir", "hostPath")
                .doesNotContainKey("volumeSource");
    }

    private static JsonObject property(JsonObject schemas, String type, String name) {
        return schemas.object(type).object("properties").object(name);
    }

    @Test
    @Tag("W9")
    void schemaSaysWhichObjectsAreOneValue() {
        JsonObject schemas =
                server.get(url("api/v1")).json().object("components").object("schemas");
        JsonObject second = server.get("/openapi/v2").json().object("definitions");
        String mapType = "x-kubernetes-map-type";

        assertThat(schemas.object("io.k8s.api.core.v1.SecretKeySelector").text(mapType))
                .isEqualTo("atomic");
        assertThat(property(schemas, "io.k8s.api.core.v1.PodSpec", "nodeSelector")
                        .text(mapType))
                .isEqualTo("atomic");
        assertThat(property(schemas, "io.k8s.api.core.v1.PersistentVolumeSpec", "claimRef")
                        .text(mapType))
                .isEqualTo("granular");
        assertThat(property(second, "io.k8s.api.policy.v1.PodDisruptionBudgetSpec", "selector")
                        .text("x-kubernetes-patch-strategy"))
                .isEqualTo("replace");
    }

    /** Only one kind of volume and only one strategy make sense: kubectl says which fields stay. */
    @Test
    @Tag("W9")
    void schemaSaysWhichObjectsKeepNamedFieldsOnly() {
        JsonObject second = server.get("/openapi/v2").json().object("definitions");
        String strategy = "x-kubernetes-patch-strategy";

        assertThat(property(second, "io.k8s.api.core.v1.PodSpec", "volumes").text(strategy))
                .isEqualTo("merge,retainKeys");
        assertThat(property(second, "io.k8s.api.apps.v1.DeploymentSpec", "strategy")
                        .text(strategy))
                .isEqualTo("retainKeys");
    }

    @Test
    @Tag("W9")
    void operationsHaveTheirParameters() {
        JsonObject paths = server.get(url("api/v1")).json().object("paths");
        JsonObject patch = paths.object("/api/v1/nodes/{name}").object("patch");
        JsonObject get =
                paths.object("/api/v1/namespaces/{namespace}/pods/{name}").object("get");

        assertThat(patch.text("x-kubernetes-action")).isEqualTo("patch");
        assertThat(patch.object("x-kubernetes-group-version-kind"))
                .hasToString("{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Node\"}");
        assertThat(patch.array("parameters").objects().map(parameter -> parameter.text("name")))
                .contains("dryRun", "fieldManager", "fieldValidation", "force");
        assertThat(get.object("responses")
                        .object("200")
                        .object("content")
                        .object("application/json")
                        .object("schema")
                        .text("$ref"))
                .isEqualTo("#/components/schemas/io.k8s.api.core.v1.Pod");
        assertThat(paths.object("/api/v1/nodes").fields()).containsKeys("get", "post", "delete");
        assertThat(paths.object("/api/v1/nodes/{name}/status").fields()).containsKeys("get", "put", "patch");
        assertThat(paths.fields()).containsKeys("/api/v1/pods", "/api/v1/namespaces/{namespace}/pods");
    }

    @Test
    @Tag("W8")
    void allReferencesResolve() {
        for (String path :
                server.get("/openapi/v3").json().object("paths").fields().keySet()) {
            JsonObject document = server.get(url(path)).json();
            for (String reference : references(document)) {
                String name = reference.substring("#/components/schemas/".length());
                assertThat(document.object("components")
                                .object("schemas")
                                .object(name)
                                .fields())
                        .as(path + " " + reference)
                        .isNotEmpty();
            }
        }
        JsonObject second = server.get("/openapi/v2").json();
        assertThat(second.text("swagger")).isEqualTo("2.0");
        assertThat(references(second)).isNotEmpty();
        for (String reference : references(second)) {
            assertThat(second.object("definitions")
                            .object(reference.substring("#/definitions/".length()))
                            .fields())
                    .as(reference)
                    .isNotEmpty();
        }
    }

    private static List<String> references(JsonValue value) {
        List<String> found = new ArrayList<>();
        if (value instanceof JsonObject object) {
            if (object.has("$ref")) {
                found.add(object.text("$ref"));
            }
            object.fields().values().forEach(item -> found.addAll(references(item)));
        } else if (value instanceof JsonArray array) {
            array.items().forEach(item -> found.addAll(references(item)));
        }
        return found;
    }

    @Test
    @Tag("W8")
    void versionTwoIsServedInProtobuf() throws Exception {
        Answer answer = server.ask(TestServer.ADMIN, "GET", "/openapi/v2", Map.of("accept", PROTOBUF), "");

        assertThat(answer.headers().get("content-type"))
                .isEqualTo("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
        // Document: 1 swagger, 2 info, 8 paths, 9 definitions; a definition is a pair of name and schema.
        List<byte[]> definitions = fields(fields(answer.bytes(), 9).getFirst(), 1);
        List<String> names = new ArrayList<>();
        for (byte[] definition : definitions) {
            names.add(new String(fields(definition, 1).getFirst()));
        }
        JsonObject json = server.get("/openapi/v2").json();
        assertThat(new String(fields(answer.bytes(), 1).getFirst())).isEqualTo("2.0");
        assertThat(names)
                .containsExactlyElementsOf(json.object("definitions").fields().keySet());
        assertThat(fields(fields(answer.bytes(), 8).getFirst(), 2))
                .hasSameSizeAs(json.object("paths").fields().keySet());
        assertThat(server.ask(TestServer.ADMIN, "GET", "/openapi/v2", Map.of("accept", "text/csv"), "")
                        .status())
                .isEqualTo(406);
    }

    /** The fields of a message with this number. */
    private static List<byte[]> fields(byte[] message, int number) throws IOException {
        List<byte[]> found = new ArrayList<>();
        CodedInputStream in = CodedInputStream.newInstance(message);
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (WireFormat.getTagFieldNumber(tag) == number) {
                found.add(in.readByteArray());
            } else {
                in.skipField(tag);
            }
        }
        return found;
    }
}
