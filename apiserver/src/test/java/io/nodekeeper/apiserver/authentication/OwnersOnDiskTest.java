package io.nodekeeper.apiserver.authentication;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.ChangedStore;
import io.nodekeeper.apiserver.testing.SlowValues;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tokens of pods whose objects are on disk, which I/O threads must not wait for. */
class OwnersOnDiskTest {
    private static final String POD = "/api/v1/namespaces/default/pods/p";

    private final SlowValues disk = new SlowValues("/registry/pods/");
    private final Authenticator authenticator = TestServer.serviceAccountAuthenticator();
    private final TestServer server = new TestServer(disk, DefaultTolerations.DEFAULT, authenticator);
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final ApiServer threaded = server.another(withReaders(), authenticator, waiting::add);

    private String token = "";

    /** The store, whose values on disk are read by a thread for that. */
    private Store withReaders() {
        return ChangedStore.of(
                server.store,
                Map.of(
                        "load",
                        arguments -> CompletableFuture.supplyAsync(((Entry) arguments[0])::loaded, waiting::add)));
    }

    @BeforeEach
    void podWithAToken() {
        server.post("/api/v1/namespaces/default/serviceaccounts", "{\"metadata\":{\"name\":\"default\"}}");
        assertThat(server.post("/api/v1/namespaces/default/pods", TestServer.pod("p", ""))
                        .status())
                .isEqualTo(201);
        token = server.post(
                        "/api/v1/namespaces/default/serviceaccounts/default/token",
                        "{\"kind\":\"TokenRequest\",\"apiVersion\":\"authentication.k8s.io/v1\",\"spec\":{\"boundObjectRef\":"
                                + "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\"}}}")
                .json()
                .object("status")
                .text("token");
        assertThat(token).isNotEmpty();
    }

    private ApiRequest version() {
        return TestServer.request(
                User.ANONYMOUS, "GET", "/version", Map.of("authorization", "Bearer " + token), new byte[0]);
    }

    private CompletableFuture<ApiResponse> ask() {
        CompletableFuture<ApiResponse> answer = threaded.handle(version());
        server.settle();
        return answer;
    }

    private void work() {
        for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
            task.run();
        }
        server.settle();
    }

    @Test
    void podOfATokenIsReadByAnotherThreadOnceAfterEachChange() {
        int before = disk.reads();

        // when its first request comes, then another thread reads the pod
        CompletableFuture<ApiResponse> first = ask();
        assertThat(first).isNotDone();
        assertThat(disk.reads()).isEqualTo(before);
        work();
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(disk.reads()).isEqualTo(before + 1);

        // and later ones read nothing
        assertThat(ask().join().status()).isEqualTo(200);
        assertThat(disk.reads()).isEqualTo(before + 1);

        // until the pod changes
        server.patch(TestServer.MERGE, POD, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        int changed = disk.reads();
        CompletableFuture<ApiResponse> again = ask();
        assertThat(again).isNotDone();
        assertThat(disk.reads()).isEqualTo(changed);
        work();
        assertThat(again.join().status()).isEqualTo(200);
    }

    @Test
    void requestDoesNotWaitForADiskThatHangs() {
        CompletableFuture<ApiResponse> answer = ask();
        assertThat(answer).isNotDone();

        // when nothing is read for ten seconds
        server.time.advance(Duration.ofSeconds(10));
        work();

        assertThat(answer.join().status()).isEqualTo(500);
    }

    @Test
    void tokenOfADeletedPodIsRefusedAlsoIfThePodWasRemembered() {
        CompletableFuture<ApiResponse> first = ask();
        work();
        assertThat(first.join().status()).isEqualTo(200);

        server.delete(POD, "{\"gracePeriodSeconds\":0}");

        CompletableFuture<ApiResponse> late = ask();
        work();
        assertThat(late.join().status()).isEqualTo(401);
    }

    @Test
    void tokenOfAPodThatEndsIsValidForAMinute() {
        server.patch(TestServer.MERGE, POD, "{\"metadata\":{\"finalizers\":[\"example.com/f\"]}}");
        server.delete(POD, "{\"gracePeriodSeconds\":0}");

        server.time.advance(Duration.ofSeconds(59));
        CompletableFuture<ApiResponse> soon = ask();
        work();
        assertThat(soon.join().status()).isEqualTo(200);

        server.time.advance(Duration.ofSeconds(2));
        CompletableFuture<ApiResponse> late = ask();
        work();
        assertThat(late.join().status()).isEqualTo(401);
    }

    @Test
    void bodyIsCollectedWithoutADiskReadAndItsOwnerCheckedLater() {
        int before = disk.reads();

        assertThat(threaded.permitted(version())).contains("system:serviceaccounts:default");

        assertThat(disk.reads()).isEqualTo(before);
    }
}
