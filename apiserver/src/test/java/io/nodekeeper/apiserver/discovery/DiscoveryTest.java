package io.nodekeeper.apiserver.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Discovery documents. */
class DiscoveryTest {
    private static final String V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    private static final String V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

    private final TestServer server = new TestServer();

    private Answer get(String path, String accept) {
        return server.ask(TestServer.ADMIN, "GET", path, Map.of("accept", accept), "");
    }

    private static JsonObject named(JsonObject document, String array, String field, String name) {
        return document.array(array)
                .objects()
                .filter(entry -> entry.text(field).equals(name))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @Tag("W2")
    @CsvSource({"/api,v2", "/api,v2beta1", "/apis,v2", "/apis/,v2beta1"})
    void aggregatedDocumentHasTheAcceptedVersion(String path, String version) {
        String accept = version.equals("v2") ? V2 + "," + V2BETA1 + ",application/json" : V2BETA1 + ",application/json";

        Answer answer = get(path, accept);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers().get("content-type"))
                .isEqualTo("application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList");
        assertThat(answer.json().text("kind")).isEqualTo("APIGroupDiscoveryList");
        assertThat(answer.json().text("apiVersion")).isEqualTo("apidiscovery.k8s.io/" + version);
    }

    @Test
    @Tag("W2")
    void aggregatedDocumentEqualsTheSingleDocuments() {
        JsonObject group =
                get("/api", V2).json().array("items").objects().toList().getFirst();
        JsonObject version = named(group, "versions", "version", "v1");
        JsonObject nodes = named(version, "resources", "resource", "nodes");
        JsonObject lease = named(
                get("/apis", V2)
                        .json()
                        .array("items")
                        .objects()
                        .filter(item -> item.object("metadata").text("name").equals("coordination.k8s.io"))
                        .findFirst()
                        .orElseThrow()
                        .array("versions")
                        .objects()
                        .toList()
                        .getFirst(),
                "resources",
                "resource",
                "leases");

        assertThat(version.text("freshness")).isEqualTo("Current");
        assertThat(nodes)
                .hasToString(
                        "{\"resource\":\"nodes\",\"responseKind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Node\"},"
                                + "\"scope\":\"Cluster\",\"singularResource\":\"node\",\"verbs\":[\"create\",\"delete\","
                                + "\"deletecollection\",\"get\",\"list\",\"patch\",\"update\",\"watch\"],\"shortNames\":[\"no\"],"
                                + "\"subresources\":[{\"subresource\":\"status\",\"responseKind\":{\"group\":\"\","
                                + "\"version\":\"v1\",\"kind\":\"Node\"},\"verbs\":[\"get\",\"patch\",\"update\"]},"
                                + "{\"subresource\":\"proxy\",\"responseKind\":{\"group\":\"\",\"version\":\"v1\","
                                + "\"kind\":\"NodeProxyOptions\"},\"verbs\":[\"create\",\"delete\",\"get\","
                                + "\"patch\",\"update\"]}]}");
        assertThat(lease.text("scope")).isEqualTo("Namespaced");
        assertThat(lease.object("responseKind").text("group")).isEqualTo("coordination.k8s.io");
        List<String> resources = server.get("/api/v1")
                .json()
                .array("resources")
                .objects()
                .map(entry -> entry.text("name"))
                .filter(name -> !name.contains("/"))
                .toList();
        assertThat(version.array("resources").objects().map(entry -> entry.text("resource")))
                .containsExactlyElementsOf(resources);
    }

    @Test
    @Tag("W2")
    void knownDocumentIsNotModified() {
        Answer first = get("/apis", V2);
        Answer second = server.ask(
                TestServer.ADMIN,
                "GET",
                "/apis",
                Map.of("accept", V2, "if-none-match", first.headers().get("etag")),
                "");

        assertThat(first.headers().get("etag")).matches("\"[0-9A-F]{64}\"");
        assertThat(second.status()).isEqualTo(304);
        assertThat(second.bytes()).isEmpty();
    }

    @Test
    void unspecificAcceptHeaderGetsTheShortLists() {
        JsonObject core = server.get("/api").json();
        JsonObject groups = get("/apis/", "application/json, */*").json();
        JsonObject group = server.get("/apis/coordination.k8s.io/").json();

        assertThat(core.text("kind")).isEqualTo("APIVersions");
        assertThat(core.array("versions").strings()).containsExactly("v1");
        assertThat(groups.text("kind")).isEqualTo("APIGroupList");
        assertThat(named(groups, "groups", "name", "coordination.k8s.io").object("preferredVersion"))
                .hasToString("{\"groupVersion\":\"coordination.k8s.io/v1\",\"version\":\"v1\"}");
        assertThat(group.text("kind")).isEqualTo("APIGroup");
        assertThat(group.text("name")).isEqualTo("coordination.k8s.io");
        assertThat(get("/apis", "application/json;as=APIGroupDiscoveryList;v=v9;g=apidiscovery.k8s.io")
                        .status())
                .isEqualTo(406);
    }

    @Test
    void resourcesAndSubresourcesAreSeparateEntries() {
        JsonObject core = server.get("/api/v1/").json();

        assertThat(core.text("groupVersion")).isEqualTo("v1");
        assertThat(named(core, "resources", "name", "pods").text("singularName"))
                .isEqualTo("pod");
        assertThat(named(core, "resources", "name", "pods").array("categories").strings())
                .contains("all");
        assertThat(named(core, "resources", "name", "nodes/status"))
                .hasToString("{\"name\":\"nodes/status\",\"singularName\":\"\",\"namespaced\":false,\"kind\":\"Node\","
                        + "\"verbs\":[\"get\",\"patch\",\"update\"]}");
        assertThat(server.get("/").json().array("paths").strings())
                .contains("/api/v1", "/apis/coordination.k8s.io/v1", "/openapi/v3", "/healthz");
    }
}
