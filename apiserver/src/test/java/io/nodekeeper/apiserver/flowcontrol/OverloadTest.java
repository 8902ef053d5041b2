package io.nodekeeper.apiserver.flowcontrol;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.ChangedStore;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** More concurrent requests than the server serves, in virtual time. */
class OverloadTest {
    /** Waits three seconds for a future revision. */
    private static final String SLOW = "/api/v1/nodes/n1?resourceVersion=999999";

    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

    private final TestServer server = new TestServer();

    private CompletableFuture<ApiResponse> slowly(User user) {
        return server.send(user, "GET", SLOW, Map.of(), "");
    }

    private List<CompletableFuture<ApiResponse>> slowly(User user, int count) {
        List<CompletableFuture<ApiResponse>> answers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            answers.add(slowly(user));
        }
        return answers;
    }

    @Test
    @Tag("W86")
    void concurrentReadAboveTheLimitIsRefusedInPlainText() {
        server.watch(TestServer.CONTROLLER, "/api/v1/nodes?watch=true", Map.of());
        List<CompletableFuture<ApiResponse>> slow = slowly(TestServer.CONTROLLER, 400);
        TestServer.Answer refused = server.ask(TestServer.CONTROLLER, "GET", SLOW, "");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.text()).isEqualTo("Too many requests, please try again later.");
        assertThat(refused.headers())
                .containsEntry("retry-after", "1")
                .containsEntry("content-type", "text/plain; charset=utf-8");
        // Watches and health checks do not count, and cluster administrators are never refused.
        server.watch(TestServer.CONTROLLER, "/api/v1/pods?watch=true", Map.of());
        assertThat(server.ask(TestServer.CONTROLLER, "GET", "/readyz", "").status())
                .isEqualTo(200);
        assertThat(server.get("/api/v1/nodes").status()).isEqualTo(200);
        assertThat(server.get("/metrics").text())
                .contains("apiserver_dropped_requests_total{request_kind=\"readOnly\"} 1.0");
        server.time.advance(Duration.ofSeconds(4));
        assertThat(slow).allSatisfy(answer -> assertThat(answer.join().status()).isEqualTo(504));
        assertThat(server.ask(TestServer.CONTROLLER, "GET", "/api/v1/nodes", "").status())
                .isEqualTo(200);
    }

    @Test
    @Tag("W86")
    void heartbeatsAndOtherUsersAreServedDuringAFlood() {
        server.node("n1");
        slowly(TestServer.CONTROLLER, 400);
        TestServer.Answer lease = server.ask(
                TestServer.N1,
                "POST",
                LEASES,
                "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"holderIdentity\":\"n1\",\"leaseDurationSeconds\":40}}");
        assertThat(lease.status()).as(lease.text()).isEqualTo(201);
        assertThat(server.ask(TestServer.N1, "GET", "/api/v1/nodes/n1", "").status())
                .isEqualTo(200);
        TestServer.Answer status = server.ask(
                TestServer.N1,
                "PATCH",
                "/api/v1/nodes/n1/status",
                Map.of("content-type", TestServer.STRATEGIC),
                "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
        assertThat(status.status()).as(status.text()).isEqualTo(200);
        // Another read of a node finds no seat, waits, and gets the first free one.
        CompletableFuture<ApiResponse> pods =
                server.send(TestServer.N1, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", Map.of(), "");
        server.settle();
        assertThat(pods).isNotDone();
        server.time.advance(Duration.ofSeconds(4));
        assertThat(pods.join().status()).isEqualTo(200);
    }

    /** A request for a future revision takes three seconds and costs its sender nothing. */
    @Test
    void oneNodeCannotDelayTheHeartbeatsOfOthers() {
        // given a node that asks for a future revision again and again
        server.node("n1");
        server.node("n2");
        List<CompletableFuture<ApiResponse>> slow = slowly(TestServer.N1, 5_000);

        // when another one renews its lease
        TestServer.Answer lease = server.ask(
                User.authenticated("system:node:n2", List.of("system:nodes")),
                "POST",
                LEASES,
                "{\"metadata\":{\"name\":\"n2\"},\"spec\":{\"holderIdentity\":\"n2\",\"leaseDurationSeconds\":40}}");

        // then it is served at once, and of the first one eight requests are
        assertThat(lease.status()).as(lease.text()).isEqualTo(201);
        assertThat(slow.stream().filter(answer -> !answer.isDone()).count()).isEqualTo(8);
        assertThat(slow.stream()
                        .filter(CompletableFuture::isDone)
                        .map(answer -> answer.join().status()))
                .hasSize(4_992)
                .containsOnly(429);
    }

    /** Whoever may create service accounts can be as many of them as they like, and need not even create those that they impersonate. */
    @Test
    void accountsOfANamespaceAndImpersonatedOnesShareTheirTurns() {
        // given 800 slow requests of as many service accounts of a namespace, and a user who acts as 800 others
        server.node("n1");
        readersMayRead("nodes");
        for (int i = 0; i < 800; i++) {
            slowly(User.authenticated("system:serviceaccount:ns:a" + i, List.of("readers")));
            slowly(User.authenticated("system:serviceaccount:other:b" + i, List.of("readers"))
                    .impersonatedBy(TestServer.ALICE));
        }

        // then another user's read waits for its turn instead of being refused
        CompletableFuture<ApiResponse> node =
                server.send(User.authenticated("bob", List.of("readers")), "GET", "/api/v1/nodes/n1", Map.of(), "");
        server.settle();
        assertThat(node).isNotDone();
        server.time.advance(Duration.ofSeconds(4));
        assertThat(node.join().status()).isEqualTo(200);
    }

    private void readersMayRead(String resource) {
        String rbac = "/apis/rbac.authorization.k8s.io/v1/";
        server.post(
                rbac + "clusterroles",
                "{\"metadata\":{\"name\":\"reader\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"" + resource
                        + "\"],\"verbs\":[\"get\",\"watch\"]}]}");
        server.post(
                rbac + "clusterrolebindings",
                "{\"metadata\":{\"name\":\"readers\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":"
                        + "\"ClusterRole\",\"name\":\"reader\"},\"subjects\":[{\"apiGroup\":\"rbac.authorization.k8s.io\","
                        + "\"kind\":\"Group\",\"name\":\"readers\"}]}");
        server.settle();
    }

    private int watch(User user, String uri) {
        CompletableFuture<ApiResponse> answer = server.send(user, "GET", uri, Map.of(), "");
        server.settle();
        if (answer.join() instanceof ApiResponse.Streamed streamed) {
            server.read(streamed);
        }
        return answer.join().status();
    }

    @Test
    void oneUserMayHave2000PlainWatchesOfACollectionOrFewerWithLongSelectors() {
        // given a user whose watches of one collection have reached the limit
        readersMayRead("configmaps");
        User greedy = User.authenticated("greedy", List.of("readers"));
        String maps = "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=5";
        for (int i = 0; i < 2_000; i++) {
            assertThat(watch(greedy, maps)).isEqualTo(200);
        }

        // then one more is refused, but not one of another collection, of another user or of an administrator
        assertThat(watch(greedy, maps)).isEqualTo(429);
        assertThat(watch(greedy, "/api/v1/namespaces/kube-system/configmaps?watch=true"))
                .isEqualTo(200);
        assertThat(watch(User.authenticated("bob", List.of("readers")), maps)).isEqualTo(200);
        assertThat(watch(TestServer.ADMIN, maps)).isEqualTo(200);
        assertThat(server.get("/metrics").text())
                .contains("apiserver_dropped_requests_total{request_kind=\"readOnly\"} 1.0");

        // and a watch with 200 requirements counts as 41
        User selective = User.authenticated("selective", List.of("readers"));
        String selector = "&labelSelector=" + "!a,".repeat(199) + "!a";
        int opened = 0;
        while (watch(selective, maps + selector) == 200) {
            opened++;
        }
        assertThat(opened).isEqualTo(48);
    }

    @Test
    void closedWatchMakesRoomForAnother() {
        readersMayRead("configmaps");
        User user = User.authenticated("user", List.of("readers"));
        String maps = "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=5";
        for (int i = 0; i < 10_000; i++) {
            server.watch(user, maps, Map.of()).leave();
        }
        assertThat(watch(user, maps)).isEqualTo(200);
    }

    @Test
    void watchThatWaitsForItsRevisionCountsAsARead() {
        // given 400 watches that begin at a revision to come
        readersMayRead("configmaps");
        User greedy = User.authenticated("greedy", List.of("readers"));
        String maps = "/api/v1/namespaces/default/configmaps?watch=true&sendInitialEvents=true"
                + "&resourceVersionMatch=NotOlderThan&resourceVersion=9223372036854775807";
        List<CompletableFuture<ApiResponse>> waiting = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            waiting.add(server.send(greedy, "GET", maps, Map.of(), ""));
        }
        assertThat(waiting).noneMatch(CompletableFuture::isDone);

        // when there is one more
        TestServer.Answer refused = server.ask(greedy, "GET", maps, "");

        // then it is refused, and the others end after three seconds
        assertThat(refused.status()).isEqualTo(429);
        server.time.advance(Duration.ofSeconds(4));
        assertThat(waiting)
                .allSatisfy(answer -> assertThat(answer.join().status()).isEqualTo(504));
    }

    @Test
    void watchThatIsRefusedDoesNotGoOnToWait() {
        // given 400 watches that look for a revision to come 20 times a second
        readersMayRead("configmaps");
        User greedy = User.authenticated("greedy", List.of("readers"));
        String maps = "/api/v1/namespaces/default/configmaps?watch=true&sendInitialEvents=true"
                + "&resourceVersionMatch=NotOlderThan&resourceVersion=9223372036854775807";
        for (int i = 0; i < 400; i++) {
            server.send(greedy, "GET", maps, Map.of(), "");
        }
        // when 4,000 more are refused
        for (int i = 0; i < 4_000; i++) {
            assertThat(server.ask(greedy, "GET", maps, "").status()).isEqualTo(429);
        }
        long before = server.time.executed();
        server.time.advance(Duration.ofSeconds(1));

        // then no more than the 400 look
        assertThat(server.time.executed() - before).isLessThan(10_000);
    }

    @Test
    void watchThatIsRefusedDoesNotAskTheStore() {
        // given a store of several servers that does not tell its revision, for which 400 watches wait
        List<CompletableFuture<Long>> asked = new ArrayList<>();
        ApiServer remote = server.another(
                ChangedStore.of(server.store, Map.of("alone", arguments -> false, "current", arguments -> {
                    CompletableFuture<Long> current = new CompletableFuture<>();
                    asked.add(current);
                    return current;
                })),
                new Authenticator(Map.of()),
                Runnable::run);
        for (int i = 0; i < 400; i++) {
            remote.handle(TestServer.request(
                    TestServer.CONTROLLER, "GET", "/api/v1/nodes?watch=true", Map.of(), new byte[0]));
        }
        assertThat(asked).hasSize(400);

        // when there is one more
        CompletableFuture<ApiResponse> refused = remote.handle(
                TestServer.request(TestServer.CONTROLLER, "GET", "/api/v1/nodes?watch=true", Map.of(), new byte[0]));

        // then it is refused before it asks
        assertThat(refused.join().status()).isEqualTo(429);
        assertThat(asked).hasSize(400);
    }

    /** The work of a request goes on when its client does not wait any more. */
    @Test
    void requestThatIsTooLateKeepsItsSeatWhileItsWorkGoesOn() {
        // given 400 reads that take three seconds, whose clients wait for 100 ms
        List<CompletableFuture<ApiResponse>> late = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            late.add(server.send(TestServer.CONTROLLER, "GET", SLOW + "&timeout=100ms", Map.of(), ""));
        }
        server.time.advance(Duration.ofSeconds(1));
        assertThat(late).allSatisfy(answer -> assertThat(answer.join().status()).isEqualTo(504));

        // then there is no seat for another one until they have ended
        assertThat(server.ask(TestServer.CONTROLLER, "GET", SLOW, "").status()).isEqualTo(429);
        server.time.advance(Duration.ofSeconds(3));
        assertThat(server.ask(TestServer.CONTROLLER, "GET", "/api/v1/nodes", "").status())
                .isEqualTo(200);
    }

    @Test
    void requestEndsAtTheClientsTimeout() {
        CompletableFuture<ApiResponse> answer =
                server.send(TestServer.CONTROLLER, "GET", SLOW + "&timeout=1s", Map.of(), "");
        server.time.advance(Duration.ofMillis(900));
        assertThat(answer).isNotDone();
        server.time.advance(Duration.ofMillis(400));
        TestServer.Answer late = TestServer.answer(answer);
        assertThat(late.status()).isEqualTo(504);
        assertThat(late.reason()).isEqualTo("Timeout");
        assertThat(late.message()).isEqualTo("Timeout: request did not complete within the allotted timeout");
        assertThat(server.ask(TestServer.CONTROLLER, "GET", "/api/v1/nodes?timeout=9m19s", "")
                        .status())
                .isEqualTo(200);
        assertThat(server.ask(TestServer.CONTROLLER, "GET", "/api/v1/nodes?timeout=0", "")
                        .status())
                .isEqualTo(200);
        assertThat(server.ask(TestServer.CONTROLLER, "GET", "/api/v1/nodes?timeout=soon", "")
                        .message())
                .startsWith("invalid timeout specified in the request URL");
    }

    @Test
    void requestEndsAtTheServersTimeoutIncludingItsWait() {
        ApiServer strict = new ApiServer(
                server.store,
                server.loop,
                Randoms.seeded(2),
                new Authenticator(Map.of()),
                "127.0.0.1:6443",
                DefaultTolerations.DEFAULT,
                new FlowControlOptions(1, 1, 1, 1, Duration.ofSeconds(2)),
                server.loop,
                Optional.empty());
        CompletableFuture<ApiResponse> first =
                strict.handle(TestServer.request(TestServer.CONTROLLER, "GET", SLOW, Map.of(), new byte[0]));
        server.time.advance(Duration.ofSeconds(1));
        CompletableFuture<ApiResponse> second = strict.handle(TestServer.request(
                TestServer.N1,
                "GET",
                "/api/v1/nodes?fieldSelector=metadata.name%3Dn1&timeout=900ms",
                Map.of(),
                new byte[0]));
        CompletableFuture<ApiResponse> third =
                strict.handle(TestServer.request(TestServer.ADMIN, "GET", "/api/v1/nodes", Map.of(), new byte[0]));
        server.time.advance(Duration.ofMillis(500));
        assertThat(third.join().status()).isEqualTo(200);
        assertThat(second).isNotDone();
        server.time.advance(Duration.ofSeconds(1));
        assertThat(first.join().status()).isEqualTo(504);
        assertThat(second.join().status()).isEqualTo(504);
    }
}
