package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The tables that {@code kubectl get} prints. */
class TableTest {
    private final TestServer server = new TestServer();

    private JsonObject table(String uri) {
        return server.ask(
                        TestServer.ADMIN,
                        "GET",
                        uri,
                        Map.of(
                                "accept",
                                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"),
                        "")
                .json();
    }

    private static List<String> columns(JsonObject table) {
        return table.array("columnDefinitions")
                .objects()
                .map(column -> column.text("name") + (column.number("priority").orElse(0L) == 1 ? "*" : ""))
                .toList();
    }

    private static List<String> cells(JsonObject table) {
        return table.array("rows")
                .objects()
                .map(row -> row.array("cells").toString())
                .toList();
    }

    @Test
    @Tag("W72")
    void nodes() {
        server.post("/api/v1/nodes", """
                {"metadata":{"name":"n1","labels":{"node-role.kubernetes.io/worker":"","kubernetes.io/role":"edge"}},
                 "spec":{"unschedulable":true},
                 "status":{"conditions":[{"type":"Ready","status":"True"}],
                  "addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"ExternalIP","address":"1.2.3.4"}],
                  "nodeInfo":{"kubeletVersion":"v1","osImage":"Debian","kernelVersion":"6.1","containerRuntimeVersion":"containerd://2"}}}""");
        server.post(
                "/api/v1/nodes",
                "{\"metadata\":{\"name\":\"n2\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}");
        server.node("n3");
        server.time.advance(Duration.ofSeconds(228));
        JsonObject table = table("/api/v1/nodes?limit=500");
        assertThat(table.text("kind")).isEqualTo("Table");
        assertThat(table.text("apiVersion")).isEqualTo("meta.k8s.io/v1");
        assertThat(columns(table))
                .containsExactly(
                        "Name",
                        "Status",
                        "Roles",
                        "Age",
                        "Version",
                        "Internal-IP*",
                        "External-IP*",
                        "OS-Image*",
                        "Kernel-Version*",
                        "Container-Runtime*");
        assertThat(cells(table))
                .containsExactly(
                        "[\"n1\",\"Ready,SchedulingDisabled\",\"edge,worker\",\"3m48s\",\"v1\",\"10.0.0.1\",\"1.2.3.4\",\"Debian\",\"6.1\",\"containerd://2\"]",
                        "[\"n2\",\"NotReady\",\"<none>\",\"3m48s\",\"\",\"<none>\",\"<none>\",\"<unknown>\",\"<unknown>\",\"<unknown>\"]",
                        "[\"n3\",\"Unknown\",\"<none>\",\"3m48s\",\"\",\"<none>\",\"<none>\",\"<unknown>\",\"<unknown>\",\"<unknown>\"]");
    }

    @Test
    void pods() {
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p1", "n1"));
        server.patch(
                TestServer.MERGE,
                "/api/v1/namespaces/default/pods/p1/status",
                "{\"status\":{\"phase\":\"Running\",\"podIP\":\"10.1.0.1\",\"containerStatuses\":[{\"name\":\"c\",\"ready\":true,\"restartCount\":3,\"state\":{\"running\":{}},\"lastState\":{\"terminated\":{\"exitCode\":1,\"finishedAt\":\"2026-11-21T06:55:00Z\"}}}]}}");
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p2", "n1"));
        server.delete("/api/v1/namespaces/default/pods/p2", "");
        JsonObject table = table("/api/v1/namespaces/default/pods");
        assertThat(columns(table))
                .containsExactly(
                        "Name",
                        "Ready",
                        "Status",
                        "Restarts",
                        "Age",
                        "IP*",
                        "Node*",
                        "Nominated Node*",
                        "Readiness Gates*");
        assertThat(cells(table))
                .containsExactly(
                        "[\"p1\",\"1/1\",\"Running\",\"3 (5m ago)\",\"0s\",\"10.1.0.1\",\"n1\",\"<none>\",\"<none>\"]",
                        "[\"p2\",\"0/1\",\"Terminating\",\"0\",\"0s\",\"<none>\",\"n1\",\"<none>\",\"<none>\"]");
    }

    @Test
    void eventsLeasesAndNamespaces() {
        server.post(
                "/api/v1/namespaces/default/events",
                "{\"metadata\":{\"name\":\"e1\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n1\"},\"type\":\"Normal\",\"reason\":\"NodeReady\",\"message\":\"ready\\n\",\"count\":2,\"firstTimestamp\":\"2026-11-21T06:00:00Z\",\"lastTimestamp\":\"2026-11-21T06:59:00Z\",\"source\":{\"component\":\"kubelet\",\"host\":\"n1\"}}");
        server.post(
                "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
                "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"holderIdentity\":\"me\"}}");
        assertThat(columns(table("/api/v1/events")))
                .containsExactly(
                        "Last Seen",
                        "Type",
                        "Reason",
                        "Object",
                        "Subobject*",
                        "Source*",
                        "Message",
                        "First Seen*",
                        "Count*",
                        "Name*");
        assertThat(cells(table("/api/v1/events")))
                .containsExactly(
                        "[\"60s\",\"Normal\",\"NodeReady\",\"node/n1\",\"\",\"kubelet, n1\",\"ready\",\"60m\",2,\"e1\"]");
        assertThat(cells(table("/apis/coordination.k8s.io/v1/leases"))).containsExactly("[\"n1\",\"me\",\"0s\"]");
        assertThat(cells(table("/api/v1/namespaces/default"))).containsExactly("[\"default\",\"Active\",\"0s\"]");
    }

    @Test
    void includeObjectSelectsTheObjectOfARow() {
        server.node("n1");
        assertThat(table("/api/v1/nodes")
                        .array("rows")
                        .objects()
                        .map(row -> row.object("object").text("kind")))
                .containsExactly("PartialObjectMetadata");
        assertThat(table("/api/v1/nodes?includeObject=Object")
                        .array("rows")
                        .objects()
                        .map(row -> row.object("object").text("kind")))
                .containsExactly("Node");
        assertThat(table("/api/v1/nodes?includeObject=None")
                        .array("rows")
                        .objects()
                        .map(row -> row.has("object")))
                .containsExactly(false);
        assertThat(table("/api/v1/nodes?includeObject=All").text("reason")).isEqualTo("BadRequest");
        assertThat(table("/api/v1/nodes/nope").text("kind")).isEqualTo("Status");
    }
}
