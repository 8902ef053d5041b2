package io.nodekeeper.apiserver.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The audit log: one event for each request, without secrets. */
class AuditTest {
    private final List<JsonObject> lines = new ArrayList<>();
    private boolean failing;

    private final TestServer server = new TestServer(new AuditLog.Out() {
        @Override
        public void write(List<byte[]> written) throws IOException {
            if (failing) {
                throw new IOException("the disk is full");
            }
            written.forEach(line -> lines.add(Json.parseObject(line)));
        }

        @Override
        public void close() {}
    });

    private JsonObject last() {
        server.settle();
        return lines.getLast();
    }

    @Test
    @Tag("W84")
    void eventHasUserVerbObjectAndOutcome() {
        ApiRequest request = new ApiRequest(
                "DELETE",
                "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1",
                Map.of(),
                Map.of("user-agent", "kubectl/v1.32", "audit-id", "id-1"),
                new byte[0],
                Optional.of(ClientCertificate.of(User.authenticated("alice", "7", List.of("devs"), Map.of()))),
                "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1?gracePeriodSeconds=0",
                "192.0.2.7");
        server.server.handle(request);
        assertThat(last())
                .hasToString(
                        "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\"Metadata\",\"auditID\":\"id-1\",\"stage\":\"ResponseComplete\","
                                + "\"requestURI\":\"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1?gracePeriodSeconds=0\",\"verb\":\"delete\","
                                + "\"user\":{\"username\":\"alice\",\"uid\":\"7\",\"groups\":[\"devs\",\"system:authenticated\"]},\"sourceIPs\":[\"192.0.2.7\"],\"userAgent\":\"kubectl/v1.32\","
                                + "\"objectRef\":{\"resource\":\"leases\",\"namespace\":\"kube-node-lease\",\"name\":\"n1\",\"apiGroup\":\"coordination.k8s.io\",\"apiVersion\":\"v1\"},"
                                + "\"responseStatus\":{\"metadata\":{},\"status\":\"Failure\",\"reason\":\"Forbidden\",\"message\":\"leases.coordination.k8s.io \\\"n1\\\" is forbidden: User \\\"alice\\\" cannot delete resource \\\"leases\\\" in API group \\\"coordination.k8s.io\\\" in the namespace \\\"kube-node-lease\\\"\",\"code\":403},"
                                + "\"requestReceivedTimestamp\":\"2026-11-21T07:00:00.000000Z\",\"stageTimestamp\":\"2026-11-21T07:00:00.000000Z\","
                                + "\"annotations\":{\"authorization.k8s.io/decision\":\"forbid\",\"authorization.k8s.io/reason\":\"\"}}");
    }

    @Test
    @Tag("W84")
    void eventHasTheBindingAndTheNameOfTheCreatedObject() {
        server.ask(TestServer.CONTROLLER, "GET", "/api/v1/nodes", "");
        assertThat(last().object("annotations").text("authorization.k8s.io/reason"))
                .isEqualTo(
                        "RBAC: allowed by ClusterRoleBinding \"system:kube-controller-manager\" of ClusterRole \"system:kube-controller-manager\" to User \"system:kube-controller-manager\"");
        server.post("/api/v1/nodes", "{\"metadata\":{\"generateName\":\"n-\"}}");
        assertThat(last().object("objectRef").text("name")).startsWith("n-").hasSize(7);
        assertThat(last().object("responseStatus")).hasToString("{\"metadata\":{},\"code\":201}");
    }

    @Test
    void eventOfAnAnswerInProtobufHasTheNameAndTheReason() {
        Map<String, String> protobuf = Map.of("accept", Protobuf.MEDIA_TYPE, "content-type", "application/json");

        server.ask(TestServer.ADMIN, "POST", "/api/v1/nodes", protobuf, "{\"metadata\":{\"generateName\":\"n-\"}}");
        assertThat(last().object("objectRef").text("name")).startsWith("n-").hasSize(7);

        server.ask(TestServer.ADMIN, "GET", "/api/v1/nothings", protobuf, "");
        assertThat(last().object("responseStatus").text("reason")).isEqualTo("NotFound");
        server.ask(TestServer.ADMIN, "GET", "/api/v1/nodes/none", protobuf, "");
        assertThat(last().object("responseStatus").text("message")).isEqualTo("nodes \"none\" not found");
    }

    @Test
    void watchHasOneEventAtItsStartAndOneAtItsEnd() {
        TestServer.Lines watch = server.watch("/api/v1/nodes?watch=true");
        assertThat(last().text("stage")).isEqualTo("ResponseStarted");
        assertThat(last().text("verb")).isEqualTo("watch");
        int begun = lines.size();
        watch.leave();
        assertThat(last().text("stage")).isEqualTo("ResponseComplete");
        assertThat(lines).hasSize(begun + 1);
    }

    @Test
    void requestThatANodeAnswersHasTheStatusOfThatAnswer() {
        // given a request for a command in a pod
        server.node("n1");
        server.patch(
                TestServer.MERGE,
                "/api/v1/nodes/n1/status",
                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.7\"}]}}");
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("web", "n1"));
        server.settle();
        int before = lines.size();
        ApiResponse.Relayed exec = (ApiResponse.Relayed) server.send(
                        TestServer.ADMIN, "POST", "/api/v1/namespaces/default/pods/web/exec?command=ls", Map.of(), "")
                .join();
        server.settle();
        assertThat(lines).hasSize(before);

        // when the node refuses
        exec.answered().accept(ApiResponse.refusal(new ApiException(404, "NotFound", "no such container")));
        assertThat(last().text("stage")).isEqualTo("ResponseStarted");
        exec.ended().run();

        // then both lines say so
        assertThat(last().text("stage")).isEqualTo("ResponseComplete");
        assertThat(lines.subList(before, lines.size()))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line.object("responseStatus"))
                        .hasToString("{\"metadata\":{},\"status\":\"Failure\",\"reason\":\"NotFound\","
                                + "\"message\":\"no such container\",\"code\":404}"));
    }

    @Test
    void eventOfAnImpersonatedRequestHasBothUsers() {
        server.ask(TestServer.ADMIN, "GET", "/api/v1/nodes", Map.of("impersonate-user", "bob"), "");
        assertThat(last().object("user").text("username")).isEqualTo("admin");
        assertThat(last().object("impersonatedUser").text("username")).isEqualTo("bob");
    }

    @Test
    void eventOfAnUnauthenticatedRequestHasNoUser() {
        server.ask(User.ANONYMOUS, "GET", "/api/v1/nodes", Map.of("authorization", "Bearer wrong-secret"), "");
        assertThat(last().object("user").isEmpty()).isTrue();
        assertThat(last().object("responseStatus").number("code")).contains(401L);
        assertThat(last().toString()).doesNotContain("wrong-secret");
    }

    @Test
    void eventHasNoBodies() {
        server.post("/apis/authentication.k8s.io/v1/tokenreviews", "{\"spec\":{\"token\":\"good-token\"}}");
        assertThat(last().toString()).doesNotContain("good-token");
        server.post(
                "/api/v1/namespaces/default/secrets",
                "{\"metadata\":{\"name\":\"Bad_Name\"},\"stringData\":{\"password\":\"hunter2\"}}");
        assertThat(last().object("responseStatus"))
                .hasToString("{\"metadata\":{},\"status\":\"Failure\",\"reason\":\"Invalid\",\"code\":422}");
        server.post(
                "/api/v1/namespaces/default/secrets",
                "{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"password\":\"hunter2\"}}");
        assertThat(last().toString()).contains("\"name\":\"s\"").doesNotContain("hunter2");
    }

    @Test
    void lostEventsAreCountedAndDelayNoRequest() {
        failing = true;
        assertThat(server.get("/version").status()).isEqualTo(200);
        server.settle();
        failing = false;
        assertThat(server.get("/metrics").text()).contains("apiserver_audit_error_total 1.0");
        // while the log cannot write, ten thousand events wait and the others are lost
        for (int i = 0; i < 10_100; i++) {
            server.send(TestServer.ADMIN, "GET", "/version", Map.of(), "");
        }
        server.settle();
        assertThat(server.get("/metrics").text())
                .contains("apiserver_audit_error_total 101.0")
                .contains("authentication_attempts{result=\"success\"}");
    }

    @Test
    void waitingEventsHoldAtMostSixteenMebibytes() {
        // given a log whose thread does not run
        VirtualTime time = new VirtualTime(Instant.EPOCH);
        Loop loop = time.loop("audit");
        AuditLog log = new AuditLog(loop, new AuditLog.Out() {
            @Override
            public void write(List<byte[]> written) {
                lines.add(JsonObject.EMPTY);
            }

            @Override
            public void close() {}
        });
        // when requests of 1 MiB with responses of 1 MiB arrive
        for (int i = 0; i < 100; i++) {
            ApiRequest request = TestServer.request(
                    TestServer.ADMIN, "POST", "/api/v1/namespaces/default/configmaps", Map.of(), new byte[1 << 20]);
            RequestInfo info = RequestInfo.of("POST", request.path(), false);
            new AuditTrail(log, loop.clock(), request, info, "id")
                    .logged(new ApiResponse.Full(201, Map.of(), new byte[1 << 20]));
        }
        // then only as many events wait as the limit allows, without the bodies of the requests
        assertThat(log.taken()).isEqualTo(15);
        assertThat(log.lost()).isEqualTo(85);
        // and written events free the queue
        time.advance(Duration.ZERO);
        ApiRequest small = TestServer.request(TestServer.ADMIN, "GET", "/healthz", Map.of(), new byte[0]);
        new AuditTrail(log, loop.clock(), small, RequestInfo.of("GET", "/healthz", false), "id")
                .logged(new ApiResponse.Full(200, Map.of(), new byte[8 << 20]));
        assertThat(log.taken()).isEqualTo(16);
    }
}
