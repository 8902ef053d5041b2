package io.nodekeeper.apiserver.reads;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Discovery, negotiation, gets and lists. */
class ReadTest {
    private final TestServer server = new TestServer();

    /** It is for watches: only they have initial events. */
    @Test
    void listIgnoresTheWishForInitialEvents() {
        server.node("n1");

        Answer list = server.get("/api/v1/nodes?resourceVersionMatch=Exact&sendInitialEvents=true");

        assertThat(list.status()).as(list.text()).isEqualTo(200);
        assertThat(list.names()).containsExactly("n1");
        assertThat(server.delete("/api/v1/nodes?resourceVersionMatch=Exact&sendInitialEvents=true", "")
                        .status())
                .isEqualTo(200);
    }

    @Test
    @Tag("W3")
    void responseIsJsonWithoutAnAcceptHeader() {
        Answer answer = server.get("/api/v1/nodes");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers())
                .containsEntry("content-type", "application/json")
                .containsEntry("cache-control", "no-cache, private")
                .containsKey("audit-id");
        assertThat(answer.text())
                .isEqualTo(
                        "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"4\"},\"items\":[]}");
    }

    @Test
    void responseHasTheAuditIdOfTheRequest() {
        assertThat(server.ask(TestServer.ADMIN, "GET", "/version", Map.of("audit-id", "abc"), "")
                        .headers())
                .containsEntry("audit-id", "abc");
    }

    @ParameterizedTest
    @Tag("W4")
    @ValueSource(strings = {"text/csv", "application/json;as=Table;v=v9"})
    void unsupportedMediaTypesAreRefused(String accept) {
        Answer answer = server.ask(TestServer.ADMIN, "GET", "/api/v1/nodes", Map.of("accept", accept), "");
        assertThat(answer.status()).isEqualTo(406);
        assertThat(answer.reason()).isEqualTo("NotAcceptable");
        assertThat(answer.message())
                .isEqualTo("only the following media types are accepted: application/json, application/yaml,"
                        + " application/vnd.kubernetes.protobuf");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json, */*",
                "application/vnd.kubernetes.protobuf,application/json",
                "application/vnd.kubernetes.protobuf, */*",
                "*/*",
                "application/json;q=0.9"
            })
    void responseIsJsonIfItIsAccepted(String accept) {
        Answer answer = server.ask(TestServer.ADMIN, "GET", "/api/v1/nodes", Map.of("accept", accept), "");
        assertThat(answer.json().text("kind")).isEqualTo("NodeList");
    }

    @Test
    @Tag("W10")
    void errorDistinguishesUnknownGroupsAndResources() {
        Answer group = server.get("/apis/nope/v1");
        assertThat(group.status()).isEqualTo(404);
        assertThat(group.text()).isEqualTo("404 page not found\n");
        assertThat(server.get("/apis/nope/v1/things").text()).isEqualTo("404 page not found\n");
        Answer resource = server.get("/api/v1/foos");
        assertThat(resource.status()).isEqualTo(404);
        assertThat(resource.json())
                .hasToString(
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                                + "\"message\":\"the server could not find the requested resource\",\"reason\":\"NotFound\",\"details\":{},\"code\":404}");
    }

    @Test
    void discoveryListsGroupsAndResources() {
        assertThat(server.get("/api").json())
                .hasToString(
                        "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":\"127.0.0.1:6443\"}]}");
        assertThat(server.get("/apis/").text())
                .startsWith("{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{")
                .contains(
                        "{\"name\":\"coordination.k8s.io\",\"versions\":[{\"groupVersion\":\"coordination.k8s.io/v1\",\"version\":\"v1\"}],\"preferredVersion\":{\"groupVersion\":\"coordination.k8s.io/v1\",\"version\":\"v1\"}}");
        assertThat(server.get("/apis/coordination.k8s.io").json().text("kind")).isEqualTo("APIGroup");
        assertThat(server.get("/apis/coordination.k8s.io/v1").json())
                .hasToString(
                        "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"coordination.k8s.io/v1\",\"resources\":[{\"name\":\"leases\",\"singularName\":\"lease\",\"namespaced\":true,\"kind\":\"Lease\",\"verbs\":[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"update\",\"watch\"]}]}");
        assertThat(server.get("/api/v1").json().array("resources").objects().map(entry -> entry.text("name")))
                .contains(
                        "nodes",
                        "nodes/status",
                        "pods",
                        "pods/status",
                        "events",
                        "namespaces",
                        "namespaces/status",
                        "serviceaccounts",
                        "serviceaccounts/token",
                        "secrets",
                        "configmaps",
                        "services");
        assertThat(server.get("/version").json().text("major")).isEqualTo("1");
        assertThat(server.get("/").json().array("paths").strings()).contains("/api/v1", "/readyz");
    }

    @ParameterizedTest
    @Tag("W11")
    @CsvSource({"/healthz, 200", "/livez, 200", "/readyz, 200", "/readyz/etcd, 403", "/readyz/ping, 403"})
    void anonymousUserReadsHealthButNotItsChecks(String path, int status) {
        assertThat(server.ask(User.ANONYMOUS, "GET", path, "").status()).isEqualTo(status);
        Answer answer = server.get(path);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo("ok");
    }

    @Test
    @Tag("W11")
    void anonymousUserCannotDiscoverAndInvalidTokensAreRefused() {
        assertThat(server.ask(User.ANONYMOUS, "GET", "/version", "").status()).isEqualTo(200);
        Answer api = server.ask(User.ANONYMOUS, "GET", "/api", "");
        assertThat(api.status()).isEqualTo(403);
        assertThat(api.message()).isEqualTo("forbidden: User \"system:anonymous\" cannot get path \"/api\"");
        assertThat(api.headers()).containsEntry("x-content-type-options", "nosniff");
        for (String path : List.of("/healthz", "/version", "/api", "/api/v1/nodes", "/nope")) {
            for (String header : List.of("Bearer wrong", "Bearer", "Bearer ", "Basic YTpi", "good-token")) {
                Answer wrong = server.ask(User.ANONYMOUS, "GET", path, Map.of("authorization", header), "");
                assertThat(wrong.status()).as("%s %s", header, path).isEqualTo(401);
                assertThat(wrong.message()).isEqualTo("Unauthorized");
            }
        }
        assertThat(server.ask(User.ANONYMOUS, "GET", "/api/v1/nodes", Map.of("authorization", "bearer good-token"), "")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void invalidImpersonationIsRefused() {
        Answer asBob = server.ask(TestServer.ADMIN, "GET", "/api/v1/nodes", Map.of("impersonate-user", "bob"), "");
        assertThat(asBob.message()).startsWith("nodes is forbidden: User \"bob\" cannot list");
        Answer refused = server.ask(TestServer.ALICE, "GET", "/api/v1/nodes", Map.of("impersonate-user", "bob"), "");
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.message())
                .isEqualTo(
                        "users \"bob\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope");
    }

    @Test
    @Tag("W14")
    void readinessNamesTheFailedCheck() {
        assertThat(server.get("/readyz?verbose").text())
                .isEqualTo("[+]ping ok\n[+]etcd ok\n[+]shutdown ok\nreadyz check passed\n");
        server.server.stopping();
        Answer stopping = server.get("/readyz");
        assertThat(stopping.status()).isEqualTo(500);
        assertThat(stopping.text())
                .isEqualTo("[+]ping ok\n[+]etcd ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n");
        assertThat(server.get("/readyz?exclude=shutdown").text()).isEqualTo("ok");
        assertThat(server.get("/readyz?exclude=shutdown&exclude=etcd&verbose").text())
                .isEqualTo("[+]ping ok\nreadyz check passed\n");
        assertThat(server.get("/readyz/etcd").text()).isEqualTo("ok");
        assertThat(server.get("/readyz/store").text()).isEqualTo("ok");
        assertThat(server.get("/livez").status()).isEqualTo(200);
        assertThat(server.get("/readyz/nope").status()).isEqualTo(404);
        assertThat(server.get("/healthzz").status()).isEqualTo(404);
    }

    @Test
    @Tag("W14")
    void diskFailureFailsWritesAndReadiness() {
        // given a server whose journal starts to fail
        boolean[] failing = {false};
        TestServer broken = new TestServer(new Journal() {
            @Override
            public Recovered load() {
                return new Recovered(0, List.of(), List.of());
            }

            @Override
            public void append(List<Event> events, List<Event> forgotten) {
                if (failing[0]) {
                    throw new StoreException("no space left on device", null);
                }
            }

            @Override
            public void close() {}
        });
        failing[0] = true;
        // when an object is written
        Answer answer = broken.post("/api/v1/nodes", "{\"metadata\":{\"name\":\"n1\"}}");
        // then the error says so, and the readiness check fails
        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.message()).isEqualTo("Internal error occurred: no space left on device");
        assertThat(broken.get("/readyz").status()).isEqualTo(500);
        assertThat(broken.get("/readyz").text()).contains("[-]etcd failed: reason withheld");
        assertThat(broken.get("/api/v1/nodes/n1").status()).isEqualTo(404);
        failing[0] = false;
        broken.node("n1");
        assertThat(broken.get("/readyz").status()).isEqualTo(200);
    }

    @Test
    void otherMethodsAndPathsAreRefused() {
        server.node("n1");
        record Case(String method, String uri, int code) {}
        for (Case wrong : List.of(
                new Case("POST", "/api/v1/nodes/n1", 405),
                new Case("PUT", "/api/v1/nodes", 405),
                new Case("PATCH", "/api/v1/nodes", 405),
                new Case("DELETE", "/api/v1/namespaces", 405),
                new Case("DELETE", "/api/v1/pods", 405),
                new Case("POST", "/api/v1/pods", 405),
                new Case("DELETE", "/api/v1/nodes/n1/status", 405),
                new Case("BREW", "/api/v1/nodes", 405),
                new Case("POST", "/version", 405),
                new Case("GET", "/api/v1/nodes/n1/nope", 404),
                new Case("GET", "/api/v1/nodes/n1/status/x", 404),
                new Case("GET", "/api/v1/pods/p1", 404),
                new Case("GET", "/api/v1/namespaces/default/nodes", 404),
                new Case("GET", "/api/v1/namespaces/default/events/e/status", 404),
                new Case("GET", "/api/v2/nodes", 404),
                new Case("GET", "/nope", 404))) {
            assertThat(server.ask(TestServer.ADMIN, wrong.method, wrong.uri, "").status())
                    .as(wrong.toString())
                    .isEqualTo(wrong.code);
        }
        assertThat(server.put("/api/v1/nodes", "").message())
                .isEqualTo("the server does not allow this method on the requested resource");
    }

    @Test
    void getOfOneObjectIgnoresTheWatchParameter() {
        server.node("n1");
        server.node("n2");
        Answer answer = server.get("/api/v1/nodes/n1?watch=true");
        assertThat(answer.json().text("kind")).isEqualTo("Node");
    }

    @Test
    void itemsOfAListHaveNoKind() {
        server.node("n1");
        JsonObject item = server.get("/api/v1/nodes")
                .json()
                .array("items")
                .objects()
                .findFirst()
                .orElseThrow();
        assertThat(item.fields().keySet()).containsExactly("metadata", "spec");
        assertThat(item.object("metadata").text("resourceVersion")).isEqualTo("5");
    }

    @Test
    @Tag("W53")
    void pagesShowOneRevisionAndTheRemainingCount() {
        server.node("a");
        server.node("b");
        server.node("c");
        Answer first = server.get("/api/v1/nodes?limit=1");
        assertThat(first.names()).containsExactly("a");
        JsonObject metadata = first.json().object("metadata");
        assertThat(metadata.number("remainingItemCount")).contains(2L);
        // when the list changes between the pages
        server.node("bb");
        server.delete("/api/v1/nodes/c", "");
        Answer second = server.get("/api/v1/nodes?limit=1&continue=" + metadata.text("continue"));
        assertThat(second.names()).containsExactly("b");
        assertThat(second.json().object("metadata").number("remainingItemCount"))
                .contains(1L);
        Answer third = server.get("/api/v1/nodes?limit=1&continue="
                + second.json().object("metadata").text("continue"));
        assertThat(third.names()).containsExactly("c");
        assertThat(third.json().object("metadata").fields().keySet()).containsExactly("resourceVersion");
        assertThat(List.of(second.version(), third.version())).containsOnly(first.version());
    }

    @Test
    @Tag("W53")
    void pagesWithASelectorRespectTheLimit() {
        for (int i = 0; i < 9; i++) {
            server.post(
                    "/api/v1/nodes",
                    "{\"metadata\":{\"name\":\"n" + i + "\",\"labels\":{\"odd\":\"" + (i % 2 == 1) + "\"}}}");
        }
        String uri = "/api/v1/nodes?limit=2&labelSelector=odd%3Dtrue";
        Answer first = server.get(uri);
        assertThat(first.names()).containsExactly("n1", "n3");
        assertThat(first.json().object("metadata").has("remainingItemCount")).isFalse();
        Answer second =
                server.get(uri + "&continue=" + first.json().object("metadata").text("continue"));
        assertThat(second.names()).containsExactly("n5", "n7");
    }

    @Test
    @Tag("W54")
    void listFromTheCacheHasOnePage() {
        server.node("a");
        server.node("b");
        Answer answer = server.get("/api/v1/nodes?resourceVersion=0&limit=1");
        assertThat(answer.names()).containsExactly("a", "b");
        assertThat(answer.json().object("metadata").has("continue")).isFalse();
    }

    @Test
    @Tag("W56")
    void readOfAFutureRevisionWaitsThreeSeconds() {
        CompletableFuture<ApiResponse> list =
                server.send(TestServer.ADMIN, "GET", "/api/v1/nodes?resourceVersion=999", Map.of(), "");
        CompletableFuture<ApiResponse> soon =
                server.send(TestServer.ADMIN, "GET", "/api/v1/nodes?resourceVersion=5", Map.of(), "");
        server.time.advance(Duration.ofSeconds(2));
        assertThat(list).isNotDone();
        server.node("n1");
        server.time.advance(Duration.ofSeconds(2));
        assertThat(TestServer.answer(soon).names()).containsExactly("n1");
        Answer answer = TestServer.answer(list);
        assertThat(answer.status()).isEqualTo(504);
        assertThat(answer.headers()).containsEntry("retry-after", "1");
        assertThat(answer.json())
                .hasToString(
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"Timeout: Too large resource version: 999, current: 5\",\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too large resource version\"}],\"retryAfterSeconds\":1},\"code\":504}");
    }

    /** As in Kubernetes, for clients from before resourceVersionMatch. */
    @Test
    @Tag("W53")
    void pagesOfAVersionAreOfThatVersionExactly() {
        // given a version with two nodes, and changes after it
        server.node("a");
        server.node("b");
        server.node("c");
        server.delete("/api/v1/nodes/a", "");

        Answer first = server.get("/api/v1/nodes?limit=1&resourceVersion=6");
        JsonObject metadata = first.json().object("metadata");
        Answer second = server.get("/api/v1/nodes?limit=1&resourceVersion=0&continue=" + metadata.text("continue"));

        assertThat(first.names()).containsExactly("a");
        assertThat(first.version()).isEqualTo("6");
        assertThat(metadata.number("remainingItemCount")).contains(1L);
        assertThat(second.names()).containsExactly("b");
        assertThat(second.version()).isEqualTo("6");
        assertThat(second.json().object("metadata").has("continue")).isFalse();
        // given no limit, one node, or another meaning, at least that version
        assertThat(server.get("/api/v1/nodes?resourceVersion=6").names()).containsExactly("b", "c");
        assertThat(server.get("/api/v1/nodes?limit=1&resourceVersion=6&fieldSelector=metadata.name%3Da")
                        .names())
                .isEmpty();
        assertThat(server.get("/api/v1/nodes?limit=1&resourceVersion=6&resourceVersionMatch=NotOlderThan")
                        .names())
                .containsExactly("b", "c");
    }

    @Test
    @Tag("W53")
    void pageAfterTheFirstHasItsLimitThoughVersionZeroIsGiven() {
        server.node("a");
        server.node("b");
        server.node("c");
        String token =
                server.get("/api/v1/nodes?limit=1").json().object("metadata").text("continue");

        assertThat(server.get("/api/v1/nodes?limit=1&resourceVersion=0&continue=" + token)
                        .names())
                .containsExactly("b");
    }

    @Test
    void exactListShowsTheStateOfItsRevision() {
        server.node("a");
        server.node("b");
        String uri = "/api/v1/nodes?resourceVersionMatch=Exact&resourceVersion=5";
        assertThat(server.get(uri).names()).containsExactly("a");
        assertThat(server.get(uri + "&fieldSelector=metadata.name%3Db").names()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "resourceVersion=abc | 400 | resourceVersion: Invalid value: \"abc\": expected a whole number, 0 or more",
                "resourceVersion=-1 | 400 | resourceVersion: Invalid value: \"-1\": expected a whole number, 0 or more",
                "limit=x | 400 | limit: Invalid value: \"x\": expected a whole number, 0 or more",
                "resourceVersionMatch=Exact | 422 | ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
                "resourceVersionMatch=Exact&resourceVersion=0 | 422 | ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
                "resourceVersionMatch=Some&resourceVersion=1 | 422 | ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: \"Some\": supported values: \"Exact\", \"NotOlderThan\"",
                "continue=garbage | 400 | continue key is not valid: \"garbage\"",
                "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTk5LCJzdGFydCI6ImEifQ | 400 | continue key is not valid: its revision is yet to come",
                "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0&resourceVersion=1 | 400 | specifying resource version is not allowed when using continue",
                "fieldSelector=spec.foo%3D1 | 400 | field label not supported: spec.foo",
                "fieldSelector=xx | 400 | invalid selector: 'xx'; can't understand 'xx'"
            })
    @Tag("W58")
    void invalidListOptionsAreRefused(String query, int code, String message) {
        Answer answer = server.get("/api/v1/nodes?" + query);
        assertThat(answer.status()).isEqualTo(code);
        assertThat(answer.message()).isEqualTo(message);
    }

    @Test
    @Tag("W58")
    void leasesHaveOnlyTheFieldSelectorsOfMetadata() {
        assertThat(server.get("/apis/coordination.k8s.io/v1/leases?fieldSelector=spec.holderIdentity%3Dx")
                        .message())
                .isEqualTo(
                        "\"spec.holderIdentity\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
    }

    @Test
    @Tag("W57")
    void eventsOfANodeAreFoundForAnyOrderOfTerms() {
        server.post(
                "/api/v1/namespaces/default/events",
                "{\"metadata\":{\"name\":\"e1\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"n1\"},\"reason\":\"R\",\"source\":{\"component\":\"c\"}}");
        server.post(
                "/api/v1/namespaces/default/events",
                "{\"metadata\":{\"name\":\"e2\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n2\"}}");
        for (String selector : List.of(
                "involvedObject.name=n1,involvedObject.namespace=,involvedObject.kind=Node,involvedObject.uid=n1",
                "involvedObject.uid=n1,involvedObject.kind=Node,involvedObject.namespace=,involvedObject.name=n1",
                "involvedObject.namespace=,source=c",
                "reason=R")) {
            String uri = "/api/v1/events?fieldSelector=" + selector.replace("=", "%3D");
            assertThat(server.get(uri).names()).as(selector).containsExactly("e1");
        }
    }

    @Test
    void podsInTheNetworkOfTheirNodeAreFound() {
        String pods = "/api/v1/namespaces/default/pods";
        server.post(pods, TestServer.pod("p1", "n1"));
        server.post(pods, TestServer.pod("p2", "n1").replace("\"containers\"", "\"hostNetwork\":true,\"containers\""));

        assertThat(server.get(pods + "?fieldSelector=spec.hostNetwork%3Dtrue").names())
                .containsExactly("p2");
        assertThat(server.get(pods + "?fieldSelector=spec.hostNetwork%3Dfalse").names())
                .containsExactly("p1");
    }

    @Test
    @Tag("W58")
    void activePodsOfANodeAreFound() {
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p1", "n1"));
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p2", "n1"));
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p3", "n2"));
        server.patch(
                TestServer.MERGE, "/api/v1/namespaces/default/pods/p2/status", "{\"status\":{\"phase\":\"Failed\"}}");
        assertThat(server.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1,status.phase!%3DFailed")
                        .names())
                .containsExactly("p1");
        assertThat(server.get("/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dp3")
                        .names())
                .containsExactly("p3");
        assertThat(server.get("/api/v1/pods?fieldSelector=metadata.name%3Dp3").names())
                .containsExactly("p3");
    }

    @Test
    @Tag("W60")
    void listAfterAWriteContainsIt() {
        for (int i = 0; i < 20; i++) {
            server.node("n" + i);
            assertThat(server.get("/api/v1/nodes").names()).contains("n" + i);
        }
    }

    @Test
    void metricsCountRequestsByVerbResourceAndCode() {
        server.node("n1");
        server.get("/api/v1/nodes/n1");
        server.get("/api/v1/nodes/made-up");
        server.get("/api/v1/made-up-resource");
        TestServer.Lines watch = server.watch("/api/v1/nodes?watch=true");
        String text = server.get("/metrics").text();
        assertThat(text)
                .contains(
                        "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"nodes\",scope=\"resource\",subresource=\"\",verb=\"GET\",version=\"v1\"} 1.0\n",
                        "apiserver_request_total{code=\"404\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"nodes\",scope=\"resource\",subresource=\"\",verb=\"GET\",version=\"v1\"} 1.0\n",
                        "apiserver_request_total{code=\"201\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"nodes\",scope=\"resource\",subresource=\"\",verb=\"POST\",version=\"v1\"} 1.0\n",
                        "apiserver_request_duration_seconds_count{component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"nodes\",scope=\"resource\",subresource=\"\",verb=\"POST\",version=\"v1\"} 1\n",
                        "apiserver_longrunning_requests{resource=\"nodes\",verb=\"WATCH\"} 1.0\n",
                        "apiserver_storage_objects{resource=\"nodes\"} 1.0\n",
                        "apiserver_storage_objects{resource=\"namespaces\"} 4.0\n",
                        "etcd_object_counts{resource=\"nodes\"} 1.0\n",
                        "etcd_request_duration_seconds_count{operation=\"create\",type=\"nodes\"} 1\n",
                        "watch_cache_capacity{resource=\"nodes\"} 100000.0\n",
                        "apiserver_init_events_total{resource=\"nodes\"} 1.0\n",
                        "apiserver_storage_revision 5.0\n",
                        "apiserver_current_inflight_requests{request_kind=\"mutating\"} 0.0\n")
                .doesNotContain("made-up");
        watch.leave();
        assertThat(server.get("/metrics").text())
                .contains("apiserver_longrunning_requests{resource=\"nodes\",verb=\"WATCH\"} 0.0\n");
        assertThat(server.ask(TestServer.ALICE, "GET", "/metrics", "").message())
                .isEqualTo("forbidden: User \"alice\" cannot get path \"/metrics\"");
    }

    @Test
    void metricsTellSubresourcesApartThatExist() {
        server.post("/api/v1/namespaces/default/pods/p/eviction", "{}");
        server.get("/api/v1/namespaces/default/pods/p/made-up");
        assertThat(server.get("/metrics").text())
                .contains("resource=\"pods\",scope=\"resource\",subresource=\"eviction\",verb=\"POST\"")
                .doesNotContain("made-up");
    }

    @Test
    void metricsTellApplyAndDryRunsApart() {
        server.ask(
                TestServer.ADMIN,
                "PATCH",
                "/api/v1/nodes/n1?fieldManager=me&dryRun=All",
                Map.of("content-type", "application/apply-patch+yaml"),
                "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}}");

        assertThat(server.get("/metrics").text())
                .contains(
                        "apiserver_request_total{code=\"201\",component=\"apiserver\",dry_run=\"All\",group=\"\","
                                + "resource=\"nodes\",scope=\"resource\",subresource=\"\",verb=\"APPLY\",version=\"v1\"} 1.0\n");
    }

    @Test
    void metricsCountTheEventsOfWatchesAndTheirSizes() {
        server.watch("/api/v1/nodes?watch=true");
        server.node("n1");
        server.settle();

        String text = server.get("/metrics").text();

        String labels = "{group=\"\",kind=\"Node\",version=\"v1\"} ";
        assertThat(text)
                .contains(
                        "apiserver_watch_events_total" + labels + "1.0\n",
                        "apiserver_watch_events_sizes_count" + labels + "1\n");
    }

    @Test
    void setsOfALabelSelectorHaveAtMostAThousandValues() {
        String values = IntStream.range(0, 500).mapToObj(i -> "v" + i).collect(Collectors.joining(","));

        assertThat(server.get("/api/v1/nodes?labelSelector=a+in+(" + values + "),b+in+(" + values + ")")
                        .status())
                .isEqualTo(200);
        Answer refused = server.get("/api/v1/nodes?labelSelector=a+in+(" + values + "),b+in+(" + values + "),c");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.message()).isEqualTo("the sets of a label selector may have 1000 values together");
    }
}
