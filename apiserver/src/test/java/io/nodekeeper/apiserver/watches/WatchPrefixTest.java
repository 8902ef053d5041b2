package io.nodekeeper.apiserver.watches;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Lines;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The deprecated watch paths {@code /api/v1/watch/...}. */
class WatchPrefixTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private final TestServer server = new TestServer();

    private static String name(JsonObject event) {
        return event.object("object").object("metadata").text("name");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            /api/v1/watch/nodes                                                  | n1 n2
            /api/v1/watch/nodes/n2                                               | n2
            /api/v1/watch/nodes/none                                             | ''
            /api/v1/watch/nodes?watch=false                                      | n1 n2
            /api/v1/watch/nodes?fieldSelector=metadata.name%3Dn1                 | n1
            /api/v1/watch/pods                                                   | p1 p2 p1
            /api/v1/watch/namespaces/default/pods                                | p1 p2
            /api/v1/watch/namespaces/default/pods/p2                             | p2
            /api/v1/watch/namespaces/default/pods/p2?fieldSelector=spec.nodeName%3Dn1 | ''
            /api/v1/watch/namespaces/default                                     | default
            /apis/coordination.k8s.io/v1/watch/leases                            | l1
            /apis/coordination.k8s.io/v1/watch/namespaces/default/leases/l1      | l1
            """)
    void watchPathCoversACollectionOrOneObject(String uri, String names) {
        server.node("n1");
        server.node("n2");
        server.post(PODS, TestServer.pod("p1", "n1"));
        server.post(PODS, TestServer.pod("p2", "n2"));
        server.post(PODS.replace("default", "kube-system"), TestServer.pod("p1", "n1"));
        server.post("/apis/coordination.k8s.io/v1/namespaces/default/leases", "{\"metadata\":{\"name\":\"l1\"}}");

        Lines watch = server.watch(TestServer.ADMIN, uri, Map.of());

        List<String> found = watch.events.stream().map(WatchPrefixTest::name).toList();
        assertThat(String.join(" ", found)).isEqualTo(names);
    }

    @Test
    void changesAreDelivered() {
        Lines watch = server.watch(TestServer.ADMIN, "/api/v1/watch/nodes/n1?resourceVersion=0", Map.of());
        server.node("n1");
        server.node("n2");

        assertThat(watch.events).hasSize(1);
        assertThat(watch.events.getFirst().text("type")).isEqualTo("ADDED");
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /api/v1/watch/nodes/n1/status, 404",
        "GET, /api/v1/watch/unknown, 404",
        "GET, /api/v1/watch, 404",
        "GET, /api/v1/watch/bindings, 405",
        "POST, /api/v1/watch/nodes, 405",
        "DELETE, /api/v1/watch/nodes/n1, 405",
        "GET, /api/v1/watch/nodes/n1?fieldSelector=metadata.name%3Dn2, 400"
    })
    void watchPathServesNothingElse(String method, String uri, int status) {
        assertThat(server.ask(TestServer.ADMIN, method, uri, Map.of(), "{}").status())
                .isEqualTo(status);
    }

    @Test
    void verbOfTheWatchPathIsWatch() {
        assertThat(server.ask(TestServer.ALICE, "GET", "/api/v1/watch/namespaces/a/pods/p", Map.of(), "")
                        .message())
                .isEqualTo(
                        "pods \"p\" is forbidden: User \"alice\" cannot watch resource \"pods\" in API group \"\" in the"
                                + " namespace \"a\"");
    }
}
