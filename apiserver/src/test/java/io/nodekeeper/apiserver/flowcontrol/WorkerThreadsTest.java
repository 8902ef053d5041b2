package io.nodekeeper.apiserver.flowcontrol;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No list or deletion of a collection runs on the thread that received it, or on the store's: it may parse many objects,
 * or read the disk. What the workers should run waits here until {@link #work}.
 */
class ListThreadsTest {
    private static final String NODES = "/api/v1/nodes";

    private final TestServer server = new TestServer();
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final ApiServer threaded = new ApiServer(
            server.store,
            server.loop,
            Randoms.seeded(2),
            new Authenticator(Map.of()),
            "127.0.0.1:6443",
            DefaultTolerations.DEFAULT,
            FlowControlOptions.DEFAULT,
            waiting::add,
            Optional.empty());

    private CompletableFuture<ApiResponse> send(String method, String uri) {
        CompletableFuture<ApiResponse> answer =
                threaded.handle(TestServer.request(TestServer.ADMIN, method, uri, Map.of(), new byte[0]));
        server.settle();
        return answer;
    }

    /** Runs all that waits for a worker. */
    private void work() {
        for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
            task.run();
        }
        server.settle();
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

        CompletableFuture<ApiResponse> answer = send(method, uri);

        assertThat(answer).isNotDone();
        work();
        assertThat(answer).isCompletedWithValueMatching(done -> done.status() == 200, "is 200");
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
        CompletableFuture<ApiResponse> answer = send("GET", uri.formatted(server.store.revision() + 1));
        work();

        server.node("n2");
        server.time.advance(Duration.ofMillis(100));

        assertThat(answer).isNotDone();
        work();
        assertThat(answer).isCompletedWithValueMatching(done -> done.status() == 200, "is 200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"metadata.name", "spec.color%3Dred,metadata.name%3Dn1"})
    void wrongSelectorIsRefusedByAWorker(String selector) {
        CompletableFuture<ApiResponse> answer = send("GET", NODES + "?fieldSelector=" + selector);

        assertThat(answer).isNotDone();
        work();
        assertThat(answer).isCompletedWithValueMatching(done -> done.status() == 400, "is 400");
    }
}
