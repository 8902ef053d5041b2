package io.nodekeeper.apiserver.flowcontrol;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.ChangedStore;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.store.Store;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What parses many or large objects, or may read the disk, runs neither on the thread that received the request nor on the store's.
 * What the workers should run waits here until {@link #work}.
 */
class WorkerThreadsTest {
    private static final String NODES = "/api/v1/nodes";
    private static final String EVENTS = "/api/v1/namespaces/default/events";
    private static final User OTHER = User.authenticated("other", List.of(User.MASTERS));

    private final TestServer server = new TestServer();
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private final ApiServer threaded = serverOf(server.store);
    /** A server whose store answers later on its own thread, as etcd does. */
    private final ApiServer remote = serverOf(remote(server));

    private int lists;
    private int answered;

    private ApiServer serverOf(Store store) {
        return server.another(store, new Authenticator(Map.of()), waiting::add);
    }

    /** The store of {@code server}, which tells its revision only after a while, and whose lists are counted. */
    private Store remote(TestServer server) {
        return ChangedStore.of(
                server.store,
                Map.of(
                        "list",
                        arguments -> {
                            lists++;
                            return server.store.list(
                                    (String) arguments[0], (String) arguments[1], (int) arguments[2], (long)
                                            arguments[3]);
                        },
                        "current",
                        arguments -> {
                            CompletableFuture<Long> current = new CompletableFuture<>();
                            server.loop.execute(() -> current.complete(server.store.revision()));
                            return current;
                        }));
    }

    private CompletableFuture<ApiResponse> send(ApiServer to, String method, String uri) {
        return send(to, method, uri, "");
    }

    private CompletableFuture<ApiResponse> send(ApiServer to, String method, String uri, String body) {
        CompletableFuture<ApiResponse> answer = to.handle(
                TestServer.request(TestServer.ADMIN, method, uri, Map.of(), body.getBytes(StandardCharsets.UTF_8)));
        server.settle();
        return answer;
    }

    /** Runs what waits for a worker now, and not what comes of it. */
    private void step() {
        for (int left = waiting.size(); left > 0; left--) {
            waiting.remove().run();
        }
        server.settle();
    }

    /** Runs all that waits for a worker. */
    private void work() {
        while (!waiting.isEmpty()) {
            step();
        }
    }

    /** Runs so many tasks that wait for a worker, with what comes of them. */
    private void work(int tasks) {
        for (int done = 0; done < tasks; done++) {
            waiting.remove().run();
            server.settle();
        }
    }

    private static void assertAnswered(CompletableFuture<ApiResponse> answer, int status) {
        assertThat(answer).isCompletedWithValueMatching(done -> done.status() == status, "is " + status);
    }

    @ParameterizedTest
    @CsvSource({
        "GET, " + NODES,
        "GET, " + NODES + "?resourceVersion=0",
        "GET, " + NODES + "?limit=1",
        "GET, " + NODES + "?limit=1&labelSelector=a%3Db",
        "GET, " + NODES + "?fieldSelector=metadata.name%3Dn1",
        "GET, " + NODES + "?fieldSelector=metadata.name%3D%3Dn1&limit=1",
        "GET, " + NODES + "?fieldSelector=metadata.name%3D&limit=1",
        "GET, " + NODES + "?fieldSelector=metadata.name%3Da/b&limit=1",
        "GET, " + NODES + "?fieldSelector=metadata.name!%3Dn1",
        "GET, /api/v1/events?fieldSelector=metadata.name%3De&limit=1",
        "GET, /api/v1/namespaces/default/events?fieldSelector=metadata.name%3De",
        "DELETE, /api/v1/namespaces/default/events?fieldSelector=metadata.name%3De",
        "DELETE, /api/v1/namespaces/default/pods",
    })
    void collectionIsHandledByAWorker(String method, String uri) {
        server.node("n1");

        CompletableFuture<ApiResponse> answer = send(threaded, method, uri);

        assertThat(answer).isNotDone();
        work();
        assertAnswered(answer, 200);
    }

    @ParameterizedTest
    @CsvSource({"200000, true", "300000, false"})
    void getOfAnObjectIsAnsweredAtOnceUnlessACopyOfItTakesLong(int bytes, boolean atOnce) {
        server.post(
                "/api/v1/namespaces/default/configmaps",
                "{\"metadata\":{\"name\":\"m\"},\"data\":{\"k\":\"" + "x".repeat(bytes) + "\"}}");

        CompletableFuture<ApiResponse> answer = send(threaded, "GET", "/api/v1/namespaces/default/configmaps/m");

        assertThat(answer.isDone()).isEqualTo(atOnce);
        work();
        assertAnswered(answer, 200);
    }

    /** A short request may be about a large object. */
    @ParameterizedTest
    @ValueSource(strings = {"eviction", "binding"})
    void requestAboutALargePodIsHandledByAWorker(String subresource) {
        server.node("n1");
        server.post(
                "/api/v1/namespaces/default/pods",
                "{\"metadata\":{\"name\":\"p\",\"annotations\":{\"a\":\"" + "x".repeat(20_000)
                        + "\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
        String body = subresource.equals("binding")
                ? "{\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}"
                : "{\"metadata\":{\"name\":\"p\"}}";

        CompletableFuture<ApiResponse> answer =
                send(threaded, "POST", "/api/v1/namespaces/default/pods/p/" + subresource, body);

        assertThat(answer).isNotDone();
        work();
        assertAnswered(answer, 201);
    }

    /** A small pod on a node whose object is large. */
    private void podOnALargeNode() {
        server.node("n1");
        server.patch(
                TestServer.MERGE,
                NODES + "/n1",
                "{\"metadata\":{\"annotations\":{\"a\":\"" + "x".repeat(20_000) + "\"}}}");
        server.patch(
                TestServer.MERGE,
                NODES + "/n1/status",
                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.1\"}]}}");
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p", "n1"));
        server.patch(
                TestServer.MERGE, "/api/v1/namespaces/default/pods/p/status", "{\"status\":{\"phase\":\"Running\"}}");
    }

    @Test
    void largeNodeOfALogIsReadByAWorker() {
        podOnALargeNode();

        CompletableFuture<ApiResponse> answer = send(threaded, "GET", "/api/v1/namespaces/default/pods/p/log");

        assertThat(answer).isNotDone();
        work();
        assertAnswered(answer, 200);
    }

    @Test
    void largeNodeThatIsAskedForTheUsageOfAPodIsReadByAWorker() {
        // given a server that asks nodes
        podOnALargeNode();
        List<String> asked = new ArrayList<>();
        threaded.readNodes((call, most) -> {
            asked.add(call.host());
            return new CompletableFuture<>();
        });

        // when the usage of the pod is asked for
        send(threaded, "GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/p");

        // then its node is asked once a worker has read where it is
        assertThat(asked).isEmpty();
        step();
        assertThat(asked).containsExactly("10.0.0.1");
    }

    /** A check of its signature may take long. */
    @Test
    void requestForACertificateIsCheckedByAWorker() {
        String pem = CertificateRequest.sign(EcKeys.newKey(), "n", "o", List.of(), List.of());
        String body =
                "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"signerName\":\"a.b/c\",\"usages\":[\"client auth\"],\"request\":\""
                        + Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)) + "\"}}";

        CompletableFuture<ApiResponse> answer =
                send(threaded, "POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", body);

        assertThat(answer).isNotDone();
        work();
        assertAnswered(answer, 201);
    }

    @Test
    void listOfOneObjectDoesNotWaitForListsOfMany() {
        // given as many lists of many objects as are made at once, and one more
        server.node("n1");
        List<CompletableFuture<ApiResponse>> many =
                List.of(send(threaded, "GET", NODES), send(threaded, "GET", NODES), send(threaded, "GET", NODES));

        // when a list of one object follows, and a thread is free
        CompletableFuture<ApiResponse> one = send(threaded, "GET", NODES + "?fieldSelector=metadata.name%3Dn1");
        waiting.removeLast().run();

        assertAnswered(one, 200);
        assertThat(many).noneMatch(CompletableFuture::isDone);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                NODES + "?resourceVersion=%s",
                NODES + "?resourceVersion=%s&resourceVersionMatch=Exact&limit=1&labelSelector=a%%3Db",
                NODES + "?resourceVersion=%s&fieldSelector=metadata.name%%3Dn1",
                NODES + "/n1?resourceVersion=%s",
            })
    void answerThatWaitedForARevisionIsMadeByAWorker(String uri) {
        server.node("n1");
        CompletableFuture<ApiResponse> answer = send(threaded, "GET", uri.formatted(server.store.revision() + 1));
        work();

        server.node("n2");
        server.time.advance(Duration.ofMillis(100));

        assertThat(answer).isNotDone();
        work();
        assertAnswered(answer, 200);
    }

    @ParameterizedTest
    @CsvSource({"GET, " + NODES, "DELETE, " + NODES, "GET, /api/v1/events?limit=1&labelSelector=a%3Db"})
    void answerThatWaitedForTheStoreIsMadeByAWorker(String method, String uri) {
        // given a worker that has begun, and waits for the store
        CompletableFuture<ApiResponse> answer = send(remote, method, uri);
        step();

        // then the store's thread leaves the rest to a worker
        assertThat(answer).isNotDone();
        work();
        assertAnswered(answer, 200);
    }

    /** Sends {@code left} requests of {@code user} to {@code threaded}, each once the one before it is answered. */
    private void oneAfterTheOther(User user, String method, String uri, byte[] body, int left) {
        if (left > 0) {
            threaded.handle(TestServer.request(user, method, uri, Map.of("content-type", TestServer.MERGE), body))
                    .whenComplete((answer, error) -> {
                        answered += error == null && answer.status() == 200 ? 1 : 0;
                        oneAfterTheOther(user, method, uri, body, left - 1);
                    });
        }
    }

    @Test
    @Tag("W86")
    void nobodyKeepsTheThreadsThoughListsAndLargeBodiesAlwaysWait() {
        // given two users, of whom always three lists and three large bodies wait
        byte[] large = ("{\"metadata\":{\"annotations\":{\"a\":\"" + "x".repeat(100_000) + "\"}}}")
                .getBytes(StandardCharsets.UTF_8);
        server.node("n1");
        for (int i = 0; i < 3; i++) {
            oneAfterTheOther(TestServer.ADMIN, "GET", NODES, new byte[0], 500);
            oneAfterTheOther(OTHER, "PATCH", NODES + "/n1?dryRun=All", large, 500);
        }

        // when somebody asks for a document, which a worker makes
        CompletableFuture<ApiResponse> document = send(threaded, "GET", "/openapi/v2");
        step();

        // then they wait for one request in each place of the two queues
        assertAnswered(document, 200);
        assertThat(answered).isBetween(1, 4);
        work();
        assertThat(answered).isEqualTo(3_000);
    }

    @ParameterizedTest
    @Tag("W86")
    @CsvSource({"GET, " + EVENTS, "DELETE, " + EVENTS, "GET, /apis/metrics.k8s.io/v1beta1/nodes"})
    void answersThatWaitedForTheStoreAreMadeInTurns(String method, String uri) {
        // given a user whose 50 requests have waited for the store, and wait for a worker now
        server.node("n1");
        List<CompletableFuture<ApiResponse>> many = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            many.add(remote.handle(TestServer.request(TestServer.ADMIN, method, uri, Map.of(), new byte[0])));
        }
        while (!waiting.isEmpty()) {
            waiting.remove().run();
        }
        server.settle();

        // when another user has one
        CompletableFuture<ApiResponse> one =
                remote.handle(TestServer.request(OTHER, method, uri, Map.of(), new byte[0]));
        work(10);

        // then it is answered while most of the others still wait
        assertAnswered(one, 200);
        assertThat(many).filteredOn(CompletableFuture::isDone).hasSizeLessThan(10);
        work();
        assertThat(many).allMatch(CompletableFuture::isDone);
    }

    @Test
    @Tag("W86")
    void writesThatLostAreDecidedAgainInTurns() {
        // given a user whose 50 patches were decided on the same state, and another one with two
        server.node("n1");
        server.node("n2");
        List<CompletableFuture<ApiResponse>> many = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            many.add(patch(TestServer.ADMIN, "n1", "l" + i));
        }
        List<CompletableFuture<ApiResponse>> few = List.of(patch(OTHER, "n2", "first"), patch(OTHER, "n2", "second"));
        server.settle();

        // when some of those that lost are decided again
        work(10);

        // then the other user does not wait for all of the first one's
        assertThat(few).allSatisfy(answer -> assertAnswered(answer, 200));
        assertThat(many).filteredOn(CompletableFuture::isDone).hasSizeLessThan(12);
        work();
        assertThat(many).allSatisfy(answer -> assertAnswered(answer, 200));
    }

    @Test
    @Tag("W86")
    void getsThatWaitedForARevisionAreAnsweredInTurns() {
        // given a user whose 50 gets wait for a revision, as that of another user does
        server.node("n1");
        String uri = NODES + "/n1?resourceVersion=" + (server.store.revision() + 1);
        List<CompletableFuture<ApiResponse>> many = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            many.add(threaded.handle(TestServer.request(TestServer.ADMIN, "GET", uri, Map.of(), new byte[0])));
        }
        CompletableFuture<ApiResponse> one =
                threaded.handle(TestServer.request(OTHER, "GET", uri, Map.of(), new byte[0]));

        // when it is reached
        server.node("n2");
        server.time.advance(Duration.ofMillis(100));
        work(10);

        // then the other user does not wait for all of the first one's
        assertAnswered(one, 200);
        assertThat(many).filteredOn(CompletableFuture::isDone).hasSizeLessThan(10);
        work();
        assertThat(many).allSatisfy(answer -> assertAnswered(answer, 200));
    }

    @Test
    void writeThatLostIsDecidedAgainByAWorker() {
        // given two patches without a version that are decided on the same state
        server.node("n1");
        CompletableFuture<ApiResponse> first = patch(TestServer.ADMIN, "n1", "first");
        CompletableFuture<ApiResponse> second = patch(TestServer.ADMIN, "n1", "second");
        server.settle();

        // then one is written, and the other one waits for a worker
        assertAnswered(first, 200);
        assertThat(second).isNotDone();
        work();
        assertAnswered(second, 200);
        assertThat(server.get(NODES + "/n1")
                        .json()
                        .object("metadata")
                        .object("labels")
                        .has("first"))
                .isTrue();
    }

    private CompletableFuture<ApiResponse> patch(User user, String node, String label) {
        String body = "{\"metadata\":{\"labels\":{\"" + label + "\":\"1\"}}}";
        return threaded.handle(TestServer.request(
                user,
                "PATCH",
                NODES + "/" + node,
                Map.of("content-type", TestServer.MERGE),
                body.getBytes(StandardCharsets.UTF_8)));
    }

    /** A list of the store walks over all objects, and at an earlier revision it copies the index. */
    @Test
    void pageWithASelectorListsTheStoreOnceHoweverFewMatch() {
        for (int i = 0; i < 100; i++) {
            server.node("n" + i);
        }
        int before = lists;
        CompletableFuture<ApiResponse> answer = send(remote, "GET", NODES + "?limit=1&labelSelector=a%3Db");
        work();

        assertAnswered(answer, 200);
        assertThat(lists - before).isEqualTo(1);
    }

    /** However often a watch is opened and closed, the threads that heartbeats need do not walk over the objects. */
    @Test
    void watchListsTheStoreInItsReadersTurn() {
        server.node("n1");
        CompletableFuture<ApiResponse> answer = send(remote, "GET", NODES + "?watch=true");
        work();
        ApiResponse.Streamed watch = (ApiResponse.Streamed) answer.join();
        int before = lists;
        List<Runnable> turns = new ArrayList<>();
        List<String> read = new ArrayList<>();

        watch.start().accept(new StreamSink() {
            @Override
            public void writeFirst(byte[] bytes) {
                read.add(new String(bytes, StandardCharsets.UTF_8));
            }

            @Override
            public void inTurn(Runnable work) {
                turns.add(work);
            }

            @Override
            public void write(byte[] bytes) {}

            @Override
            public void end() {}

            @Override
            public void onClose(Runnable action) {}
        });

        assertThat(lists).isEqualTo(before);
        assertThat(turns).hasSize(1);
        turns.getFirst().run();
        assertThat(lists).isEqualTo(before + 1);
        assertThat(read).singleElement().asString().contains("\"ADDED\"", "\"n1\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"metadata.name", "spec.color%3Dred,metadata.name%3Dn1"})
    void wrongSelectorIsRefusedByAWorker(String selector) {
        CompletableFuture<ApiResponse> answer = send(threaded, "GET", NODES + "?fieldSelector=" + selector);

        assertThat(answer).isNotDone();
        work();
        assertAnswered(answer, 400);
    }
}
