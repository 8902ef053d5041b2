package io.nodekeeper.apiserver.controllers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rules of roles are added up by a worker, while others change these roles. */
class RoleAggregatorTest {
    private static final String ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    private static final String RULES = "\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"%s\"],\"verbs\":[\"get\"]}]";

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final IndexedStore store = new IndexedStore(loop, Journal.NONE);
    private final Deque<Runnable> threads = new ArrayDeque<>();
    private boolean noThread;
    /** Whether there is no thread any more once the next request has one. */
    private boolean refuses;

    private final Executor workers = task -> {
        if (noThread) {
            throw new RejectedExecutionException("no thread");
        }
        threads.add(task);
    };
    private final ApiServer server = new ApiServer(
            store,
            loop,
            Randoms.seeded(1),
            new Authenticator(Map.of()),
            "127.0.0.1:6443",
            DefaultTolerations.DEFAULT,
            FlowControlOptions.DEFAULT,
            workers,
            Optional.empty());

    @BeforeEach
    void start() {
        server.start(Duration.ofHours(1));
        settle();
        send("POST", "", "{\"metadata\":{\"name\":\"part\",\"labels\":{\"x\":\"y\"}}," + RULES.formatted("pods") + "}");
        send(
                "POST",
                "",
                "{\"metadata\":{\"name\":\"sum\"},\"aggregationRule\":{\"clusterRoleSelectors\":"
                        + "[{\"matchLabels\":{\"x\":\"y\"}}]}}");
        settle();
        assertThat(sum()).contains("pods");
    }

    private void settle() {
        do {
            while (!threads.isEmpty()) {
                threads.remove().run();
            }
            time.advance(Duration.ZERO);
        } while (!threads.isEmpty());
    }

    private String sum() {
        byte[] stored = store.get(AccessResources.CLUSTER_ROLES.key("", "sum"))
                .orElseThrow()
                .value();
        return new String(stored, StandardCharsets.UTF_8);
    }

    /** Only the newest tasks run, which are those of the request: what the aggregator has to do waits. */
    private void send(String method, String path, String body) {
        CompletableFuture<ApiResponse> answer = server.handle(TestServer.request(
                TestServer.ADMIN, method, ROLES + path, Map.of(), body.getBytes(StandardCharsets.UTF_8)));
        noThread = refuses;
        while (!answer.isDone()) {
            threads.removeLast().run();
            time.advance(Duration.ZERO);
        }
        assertThat(answer.join().status()).isIn(200, 201);
    }

    @Test
    void roleThatGetsRulesOfItsOwnMeanwhileKeepsThem() {
        // given a change that is about to be added to the sum
        send(
                "PUT",
                "/part",
                "{\"metadata\":{\"name\":\"part\",\"labels\":{\"x\":\"y\"}}," + RULES.formatted("nodes") + "}");
        assertThat(threads).isNotEmpty();

        // when an administrator takes the selectors away, and with them the rights
        send("PUT", "/sum", "{\"metadata\":{\"name\":\"sum\"}," + RULES.formatted("events") + "}");
        settle();
        time.advance(Duration.ofMinutes(5));
        settle();

        assertThat(sum()).contains("events").doesNotContain("nodes").doesNotContain("pods");
    }

    @Test
    void withoutAThreadItTriesAgain() {
        refuses = true;
        send(
                "PUT",
                "/part",
                "{\"metadata\":{\"name\":\"part\",\"labels\":{\"x\":\"y\"}}," + RULES.formatted("nodes") + "}");
        assertThat(sum()).doesNotContain("nodes");

        noThread = false;
        time.advance(Duration.ofSeconds(2));
        settle();

        assertThat(sum()).contains("nodes").doesNotContain("pods");
    }
}
