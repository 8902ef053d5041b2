package io.nodekeeper.apiserver.controllers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Randoms;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Evictions and the deletion of a namespace read objects in pages. */
class PagedListsTest {
    private final TestServer server = new TestServer();
    /** Sizes of the pages of each listing below a prefix. */
    private final List<Integer> pages = new ArrayList<>();

    private String watched = "none";

    private final ApiServer other = new ApiServer(
            (Store) Proxy.newProxyInstance(
                    Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                        try {
                            Object result = method.invoke(server.store, arguments);
                            if (result instanceof Listing listing && ((String) arguments[0]).startsWith(watched)) {
                                pages.add(listing.entries().size());
                            }
                            return result;
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    }),
            server.loop,
            Randoms.seeded(2),
            new Authenticator(TestServer.TOKENS),
            "127.0.0.1:6443");

    @Test
    void evictionReadsBudgetsInPages() {
        for (int i = 0; i < 100; i++) {
            Answer made = server.post(
                    "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                    "{\"metadata\":{\"name\":\"b" + (100 + i)
                            + "\"},\"spec\":{\"minAvailable\":1,\"selector\":{\"matchLabels\":{\"app\":\""
                            + (i == 99 ? "web" : "x")
                            + "\"}}}}");
            assertThat(made.status()).as(made.text()).isEqualTo(201);
        }
        server.post(
                "/api/v1/namespaces/default/pods",
                "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"web\"}},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
        server.patch(
                TestServer.MERGE,
                "/api/v1/namespaces/default/pods/p/status",
                "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
        watched = "/registry/poddisruptionbudgets/default/";

        var evicting = other.handle(TestServer.request(
                TestServer.ADMIN,
                "POST",
                "/api/v1/namespaces/default/pods/p/eviction",
                Map.of(),
                "{\"metadata\":{\"name\":\"p\"}}".getBytes(StandardCharsets.UTF_8)));
        server.settle();

        // The budget on the last page counts.
        assertThat(TestServer.answer(evicting).status()).isEqualTo(429);
        assertThat(pages).containsExactly(32, 32, 32, 4);
    }

    @Test
    void namespaceIsEmptiedInPages() {
        TestServer quiet = server;
        quiet.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"full\"}}");
        for (int i = 0; i < 100; i++) {
            quiet.post("/api/v1/namespaces/full/configmaps", "{\"metadata\":{\"name\":\"c" + (100 + i) + "\"}}");
        }
        watched = "/registry/configmaps/full/";
        other.startWithoutRoles(Duration.ofHours(1));
        quiet.settle();

        quiet.delete("/api/v1/namespaces/full", "");
        quiet.time.advance(Duration.ofMinutes(1));

        assertThat(pages).isNotEmpty().allMatch(size -> size <= 32);
        assertThat(quiet.get("/api/v1/namespaces/full").status()).isEqualTo(404);
        assertThat(quiet.get("/api/v1/namespaces/full/configmaps").names()).isEmpty();
    }
}
