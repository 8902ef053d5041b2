package io.nodekeeper.apiserver.nodecalls;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.NodeCall;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests reach a node's API through the server, and how. */
class NodeProxyTest {
    private static final String PROXY = "/api/v1/nodes/n1/proxy";

    private final TestServer server = new TestServer();

    @BeforeEach
    void aNode() {
        server.node("n1");
        address("10.0.0.7");
    }

    @ParameterizedTest
    @CsvSource({
        "/api/v1/nodes/n1/proxy, /",
        "/api/v1/nodes/n1/proxy/, /",
        "/api/v1/nodes/n1/proxy/stats/summary, /stats/summary",
        "/api/v1/nodes/n1/proxy/runningpods/, /runningpods/",
        "/api/v1/nodes/n1:10350/proxy/pods, /pods",
        "/api/v1/nodes/n1/proxy/logs/?query=a%2Fb&x=..%2f.., /logs/?query=a%2Fb&x=..%2f..",
        "/api/v1/nodes/n1/proxy/logs/a%20b+c, /logs/a%20b+c"
    })
    void thePathAndTheQueryStayAsTheyWereSent(String uri, String target) {
        NodeCall call = relayed("GET", uri, Map.of(), "").call();

        assertThat(call.host()).isEqualTo("10.0.0.7");
        assertThat(call.port()).isEqualTo(10_350);
        assertThat(call.target()).isEqualTo(target);
        assertThat(call.upgrade()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/../pods",
                "/stats/../pods",
                "/./pods",
                "/%2e%2e/pods",
                "/stats%2f..%2fpods",
                "/stats%2Fsummary",
                "/stats%5Csummary",
                "//10.0.0.8/pods",
                "/stats//summary",
                "/stats/%00",
                "/stats/%0d%0aHost:x",
                "/stats/%zz"
            })
    void aPathWithTwoMeaningsIsRefused(String path) {
        Answer answer = server.get(PROXY + path);

        assertThat(answer.status()).as(answer.text()).isEqualTo(400);
    }

    @Test
    void aUriWithAHostIsRefused() {
        ApiRequest plain = TestServer.request(TestServer.ADMIN, "GET", PROXY + "/pods", Map.of(), new byte[0]);
        var answer = server.server.handle(new ApiRequest(
                plain.method(),
                plain.path(),
                plain.query(),
                plain.headers(),
                plain.body(),
                plain.certificate(),
                "http://10.0.0.8" + PROXY + "/pods",
                ""));
        server.settle();

        assertThat(answer.join().status()).isEqualTo(400);
    }

    @Test
    void onlyTheHeadersOfTheContentArePassedOn() {
        NodeCall call = relayed(
                        "POST",
                        PROXY + "/run/x",
                        Map.of(
                                "content-type", "text/plain",
                                "accept", "text/html",
                                "authorization", "Bearer secret",
                                "cookie", "a=b"),
                        "body")
                .call();

        NodeCall.Passed passed = call.passed().orElseThrow();
        assertThat(passed.headers())
                .containsOnly(Map.entry("content-type", "text/plain"), Map.entry("accept", "text/html"));
        assertThat(new String(passed.body(), StandardCharsets.UTF_8)).isEqualTo("body");
    }

    @Test
    void theProtocolChangesWithPostOnly() {
        Map<String, String> upgrade = Map.of("upgrade", "SPDY/3.1", "connection", "Upgrade");

        assertThat(relayed("POST", PROXY + "/exec/default/web/c", upgrade, "")
                        .call()
                        .upgrade())
                .isTrue();
        assertThat(server.ask(TestServer.ADMIN, "GET", PROXY + "/exec/default/web/c", upgrade, "")
                        .message())
                .startsWith("an upgrade through a node's proxy requires the method POST, got GET");
    }

    @Test
    void eachMethodNeedsItsVerbOfTheSubresource() {
        for (Map.Entry<String, String> verb : Map.of(
                        "GET", "get",
                        "POST", "create",
                        "PUT", "update",
                        "PATCH", "patch",
                        "DELETE", "delete")
                .entrySet()) {
            Answer answer = server.ask(TestServer.ALICE, verb.getKey(), PROXY + "/pods", "");

            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.message()).contains("cannot " + verb.getValue() + " resource \"nodes/proxy\"");
        }
        assertThat(server.ask(TestServer.N1, "GET", PROXY + "/pods", "").status())
                .isEqualTo(403);
        assertThat(server.ask(TestServer.ADMIN, "HEAD", PROXY + "/pods", "").status())
                .isEqualTo(405);
        assertThat(server.ask(TestServer.ADMIN, "OPTIONS", PROXY + "/pods", "").status())
                .isEqualTo(405);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "0.0.0.0", "224.0.0.1", "999.1.1.1"})
    void anAddressThatIsNoNodesIsNotUsed(String address) {
        address(address);

        assertThat(server.get(PROXY + "/pods").message())
                .isEqualTo("node n1 cannot be reached: the status of node n1 has no address of type InternalIP or"
                        + " ExternalIP");
    }

    @Test
    void onlyClientsOfThisMachineReachALoopbackAddress() {
        address("127.0.0.1");
        ApiRequest plain = TestServer.request(TestServer.ADMIN, "GET", PROXY + "/pods", Map.of(), new byte[0]);

        assertThat(from("10.1.2.3", plain).status()).isEqualTo(400);
        assertThat(from("127.0.0.1", plain)).isInstanceOf(ApiResponse.Relayed.class);
    }

    @Test
    void anotherPortThanThatOfTheNodesApiIsRefused() {
        assertThat(server.get("/api/v1/nodes/n1:22/proxy/").message())
                .isEqualTo("the proxy reaches only the API of node n1 at port 10350, got \"22\"");
        assertThat(server.get("/api/v1/nodes/n2/proxy/").status()).isEqualTo(404);
    }

    @Test
    void aRequestThatAServerSentToANodeIsRefused() {
        Answer answer = server.ask(TestServer.ADMIN, "GET", "/api/v1/secrets", Map.of("x-nodekeeper-relayed", "1"), "");

        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.message())
                .startsWith("this request comes from an API server that takes this server for a node");
    }

    private ApiResponse from(String source, ApiRequest request) {
        var answer = server.server.handle(new ApiRequest(
                request.method(),
                request.path(),
                request.query(),
                request.headers(),
                request.body(),
                request.certificate(),
                request.uri(),
                source));
        server.settle();
        return answer.join();
    }

    private void address(String address) {
        server.patch(TestServer.MERGE, "/api/v1/nodes/n1/status", """
                {"status":{"addresses":[{"type":"InternalIP","address":"%s"}],
                           "daemonEndpoints":{"kubeletEndpoint":{"Port":10350}}}}""".formatted(address));
    }

    private ApiResponse.Relayed relayed(String method, String uri, Map<String, String> headers, String body) {
        var response = server.send(TestServer.ADMIN, method, uri, headers, body);
        server.settle();
        assertThat(response.join()).isInstanceOf(ApiResponse.Relayed.class);
        return (ApiResponse.Relayed) response.join();
    }
}
