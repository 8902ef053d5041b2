package io.nodekeeper.apiserver.nodecalls;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.NodeCall;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the server asks a pod's node for. */
class PodCallsTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private final TestServer server = new TestServer();

    @BeforeEach
    void podsOnANode() {
        server.node("n1");
        server.patch(TestServer.MERGE, "/api/v1/nodes/n1/status", """
                {"status":{"addresses":[{"type":"Hostname","address":"n1"},{"type":"InternalIP","address":"10.0.0.7"}],
                           "daemonEndpoints":{"kubeletEndpoint":{"Port":10350}}}}""");
        server.post(PODS, TestServer.pod("web", "n1"));
        server.post(
                PODS,
                "{\"metadata\":{\"name\":\"two\"},\"spec\":{\"nodeName\":\"n1\",\"initContainers\":[{\"name\":\"i\",\"image\":"
                        + "\"x\"}],\"containers\":[{\"name\":\"a\",\"image\":\"x\"},{\"name\":\"b\",\"image\":\"x\"}]}}");
    }

    @ParameterizedTest
    @CsvSource({
        "web/log, /containerLogs/default/web/c",
        "two/log?container=b, /containerLogs/default/two/b",
        "two/log?container=i, /containerLogs/default/two/i",
        "web/log?follow=true&previous=false&timestamps=1, /containerLogs/default/web/c?follow=true&timestamps=true",
        "web/log?tailLines=3&limitBytes=9&sinceSeconds=7,"
                + " /containerLogs/default/web/c?sinceSeconds=7&tailLines=3&limitBytes=9",
        "web/log?sinceTime=2026-01-01T00:00:00Z, /containerLogs/default/web/c?sinceTime=2026-01-01T00%3A00%3A00Z"
    })
    void aLogIsAskedForWithAllOptions(String uri, String target) {
        assertThat(relayed("GET", uri).call())
                .isEqualTo(new NodeCall("10.0.0.7", 10_350, target, false, true, "admin"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | web/exec?command=sh&command=-c&command=a%20b%26c&stdin=true&stdout=true&stderr=true"
                        + " | /exec/default/web/c?input=1&output=1&error=1&command=sh&command=-c&command=a%20b%26c",
                "GET | two/exec?container=a&command=ls | /exec/default/two/a?output=1&error=1&command=ls",
                "POST | web/attach?stdin=true&stdout=true&tty=true | /attach/default/web/c?input=1&output=1&tty=1",
                "POST | web/portforward | /portForward/default/web",
                "GET | web/portforward?ports=80 | /portForward/default/web?port=80"
            })
    void aStreamIsAskedForInAKubeletsWords(String method, String uri, String target) {
        assertThat(relayed(method, uri).call())
                .isEqualTo(new NodeCall("10.0.0.7", 10_350, target, true, true, "admin"));
    }

    @Test
    void aCallerMaySkipTheCheckOfTheNodesCertificate() {
        assertThat(relayed("GET", "web/log?insecureSkipTLSVerifyBackend=true")
                        .call()
                        .verified())
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "two/log | 400 | a container name must be specified for pod two, choose one of: [a b] or one of the"
                        + " init containers: [i]",
                "two/exec?command=ls | 400 | a container name must be specified for pod two, choose one of: [a b] or one"
                        + " of the init containers: [i]",
                "web/log?container=x | 400 | container x is not valid for pod web",
                "none/log | 404 | pods \"none\" not found",
                "web/log?tailLines=-1 | 422 | PodLogOptions \"web\" is invalid: tailLines: Invalid value: -1: must be"
                        + " greater than or equal to 0",
                "web/log?limitBytes=0 | 422 | PodLogOptions \"web\" is invalid: limitBytes: Invalid value: 0: must be"
                        + " greater than 0"
            })
    void whatIsWrongIsRefused(String uri, int status, String message) {
        Answer answer = server.get(PODS + "/" + uri);

        assertThat(answer.message()).isEqualTo(message);
        assertThat(answer.status()).isEqualTo(status);
    }

    @Test
    void theContainerIsCheckedBeforeTheNodeIsRead() {
        server.post(PODS, TestServer.pod("lost", "n9"));

        assertThat(server.get(PODS + "/lost/log?container=x").message())
                .isEqualTo("container x is not valid for pod lost");
        assertThat(server.get(PODS + "/lost/exec?container=x&command=ls").message())
                .isEqualTo("container x is not valid for pod lost");
        assertThat(server.get(PODS + "/lost/log").message()).isEqualTo("nodes \"n9\" not found");
    }

    @Test
    void aPodWithoutANodeHasAnEmptyLogAndNoStreams() {
        server.post(PODS, TestServer.pod("waiting", ""));

        assertThat(server.get(PODS + "/waiting/log").status()).isEqualTo(204);
        assertThat(server.get(PODS + "/waiting/exec?command=ls").message())
                .isEqualTo("pod waiting does not have a host assigned");
    }

    @Test
    void aNodeWithoutAnAddressCannotBeReached() {
        server.patch(TestServer.MERGE, "/api/v1/nodes/n1/status", """
                {"status":{"addresses":[{"type":"InternalIP","address":"evil.example.com"}]}}""");

        assertThat(server.get(PODS + "/web/log").message())
                .isEqualTo("pod web cannot be reached: the status of node n1 has no address of type InternalIP or"
                        + " ExternalIP");
    }

    @Test
    void eachSubresourceHasItsOwnRight() {
        User alice = TestServer.ALICE;

        assertThat(server.ask(alice, "GET", PODS + "/web/log", "").message())
                .contains("cannot get resource \"pods/log\"");
        assertThat(server.ask(alice, "POST", PODS + "/web/exec?command=ls", "").message())
                .contains("cannot create resource \"pods/exec\"");
        assertThat(server.ask(alice, "GET", PODS + "/web/exec?command=ls", "").message())
                .contains("cannot get resource \"pods/exec\"");
        assertThat(server.ask(alice, "POST", PODS + "/web/portforward", "").message())
                .contains("cannot create resource \"pods/portforward\"");
    }

    @Test
    void otherMethodsAreNotAllowed() {
        assertThat(server.put(PODS + "/web/exec", "{}").status()).isEqualTo(405);
        assertThat(server.post(PODS + "/web/log", "{}").status()).isEqualTo(405);
        assertThat(server.ask(TestServer.ADMIN, "HEAD", PODS + "/web/exec", "").status())
                .isEqualTo(405);
    }

    private ApiResponse.Relayed relayed(String method, String uri) {
        var response = server.send(TestServer.ADMIN, method, PODS + "/" + uri, Map.of(), "");
        server.settle();
        assertThat(response).isCompleted();
        assertThat(response.join()).isInstanceOf(ApiResponse.Relayed.class);
        return (ApiResponse.Relayed) response.join();
    }
}
