package io.nodekeeper.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.Resource;
import io.kubernetes.client.proto.V1;
import io.kubernetes.client.proto.V1Coordination;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.Envelopes;
import io.nodekeeper.apiserver.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Random requests: each gets a valid response and no server error, and a refused one stores nothing. */
class FuzzTest {
    private static final String NODE =
            "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"b\"},\"finalizers\":[\"a.b/c\"]},\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\",\"timeAdded\":\"2026-11-21T07:00:00Z\"}]},\"status\":{\"capacity\":{\"cpu\":\"4\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],\"addresses\":[{\"type\":\"Hostname\",\"address\":\"n1\"}]}}";
    private static final List<String> PATCHES = List.of(
            "{\"spec\":{\"taints\":[{\"key\":\"x\",\"effect\":\"NoSchedule\"}]}}",
            "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"Ready\"}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}",
            "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a.b/c\"],\"labels\":{\"$patch\":\"replace\",\"x\":\"y\"}}}",
            "[{\"op\":\"add\",\"path\":\"/metadata/labels/x\",\"value\":\"y\"},{\"op\":\"copy\",\"from\":\"/spec\",\"path\":\"/x\"},{\"op\":\"test\",\"path\":\"/kind\",\"value\":\"Node\"}]",
            "{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"x\"}}");

    private final TestServer server = new TestServer();

    /** Sends a request and checks the invariants of all responses. */
    private void check(String method, String uri, Map<String, String> headers, byte[] body) {
        if (server.store.get(Resources.NODES.key("", "n1")).isEmpty()) {
            server.node("n1");
        }
        long revision = server.store.revision();
        CompletableFuture<ApiResponse> response =
                server.server.handle(TestServer.request(TestServer.ADMIN, method, uri, headers, body));
        server.settle();
        // Later changes may come from the server's own controllers.
        boolean atOnce = response.isDone();
        long after = server.store.revision();
        server.time.advance(Duration.ofSeconds(4));
        assertThat(response).isCompleted();
        if (response.join() instanceof ApiResponse.Streamed streamed) {
            server.read(streamed).leave();
            server.settle();
        } else if (response.join() instanceof ApiResponse.Full full) {
            String text = method + " " + uri + " " + headers + " " + new String(body, StandardCharsets.UTF_8) + " -> "
                    + new String(full.body(), StandardCharsets.UTF_8);
            assertThat(full.status() < 500 || full.status() == 504).as(text).isTrue();
            if (full.status() >= 400 && atOnce) {
                assertThat(after).as(text).isEqualTo(revision);
            }
            if (full.headers().getOrDefault("content-type", "").equals("application/json")) {
                JsonObject answer = Json.parseObject(full.body());
                assertThat(answer.has("message") || full.status() < 400)
                        .as(text)
                        .isTrue();
            }
            // Only warnings have several lines; each line is a separate header.
            full.headers().forEach((name, value) -> {
                assertThat(value).as(name).matches("[ -~\n]*");
                assertThat(value.lines().count() <= 1 || name.equals("warning"))
                        .as(name)
                        .isTrue();
            });
        }
    }

    /** A valid text with one part removed, doubled, or replaced by a troublesome token. */
    @Provide
    Arbitrary<String> mutated() {
        Arbitrary<String> tokens = Arbitraries.of(
                "null",
                "{}",
                "[]",
                "\"\"",
                "7",
                "-1",
                "1e9999",
                "true",
                "\"\\ud800\"",
                "\"\\u0000\"",
                "{\"$patch\":\"delete\"}",
                "\"9999-12-31T23:59:59-23:00\"",
                "9223372036854775808",
                "\"../x\"",
                "[[[[]]]]",
                "{\"type\":null}",
                ",",
                "}",
                "\"");
        Arbitrary<String> originals =
                Arbitraries.of(NODE, PATCHES.get(0), PATCHES.get(1), PATCHES.get(2), PATCHES.get(3), PATCHES.get(4));
        return Combinators.combine(
                        originals,
                        tokens,
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.doubles().between(0, 1),
                        Arbitraries.integers().between(0, 30))
                .as((text, token, how, where, length) ->
                        mutate(text, token, how, (int) (where * text.length()), length));
    }

    private static String mutate(String text, String token, int how, int at, int length) {
        // Mutations at the borders of values usually keep the text valid JSON.
        int start = at;
        while (start < text.length() && ":,[{".indexOf(text.charAt(start)) < 0) {
            start++;
        }
        start = Math.min(start + 1, text.length());
        int end = start;
        while (end < text.length() && ",]}".indexOf(text.charAt(end)) < 0) {
            end++;
        }
        return switch (how) {
            case 0 -> text.substring(0, start) + token + text.substring(end);
            case 1 -> text.substring(0, at) + text.substring(Math.min(text.length(), at + length));
            default -> text.substring(0, start) + token + "," + text.substring(start);
        };
    }

    @Provide
    Arbitrary<String> methods() {
        return Arbitraries.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");
    }

    @Provide
    Arbitrary<String> types() {
        return Arbitraries.of(
                "",
                "application/json",
                "application/yaml",
                "application/vnd.kubernetes.protobuf",
                TestServer.MERGE,
                TestServer.STRATEGIC,
                TestServer.JSON_PATCH);
    }

    @Provide
    Arbitrary<String> places() {
        return Arbitraries.of(
                "/api/v1/nodes",
                "/api/v1/nodes/n1",
                "/api/v1/nodes/n1/status",
                "/api/v1/namespaces/default/pods",
                "/api/v1/namespaces/default/events",
                "/api/v1/namespaces/default/events/e1",
                "/api/v1/namespaces",
                "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1");
    }

    @Property(tries = 2_000)
    void mutatedBodiesNeverMakeAServerError(
            @ForAll("methods") String method,
            @ForAll("places") String place,
            @ForAll("types") String type,
            @ForAll("mutated") String body) {
        check(method, place, Map.of("content-type", type), body.getBytes(StandardCharsets.UTF_8));
    }

    @Property(tries = 500)
    void randomBytesNeverMakeAServerError(
            @ForAll("methods") String method,
            @ForAll("places") String place,
            @ForAll("types") String type,
            @ForAll byte[] body) {
        check(method, place, Map.of("content-type", type), body);
    }

    @Provide
    Arbitrary<String> paths() {
        Arbitrary<String> segments = Arbitraries.oneOf(
                Arbitraries.of(
                        "api",
                        "apis",
                        "v1",
                        "namespaces",
                        "default",
                        "nodes",
                        "n1",
                        "status",
                        "pods",
                        "events",
                        "leases",
                        "coordination.k8s.io",
                        "healthz",
                        "metrics",
                        "version",
                        "watch",
                        "openapi",
                        "v2",
                        "v3",
                        "..",
                        "",
                        "%",
                        "finalize"),
                Arbitraries.strings().ofMaxLength(6).excludeChars('?'));
        return segments.list().ofMaxSize(8).map(list -> "/" + String.join("/", list));
    }

    @Provide
    Arbitrary<String> queries() {
        Arbitrary<String> names = Arbitraries.of(
                "watch",
                "limit",
                "continue",
                "resourceVersion",
                "resourceVersionMatch",
                "labelSelector",
                "fieldSelector",
                "timeoutSeconds",
                "sendInitialEvents",
                "allowWatchBookmarks",
                "dryRun",
                "fieldValidation",
                "includeObject",
                "gracePeriodSeconds",
                "verbose",
                "exclude");
        Arbitrary<String> values = Arbitraries.oneOf(
                Arbitraries.of(
                        "true",
                        "1",
                        "0",
                        "-1",
                        "9223372036854775807",
                        "99999999999999999999",
                        "All",
                        "Strict",
                        "Exact",
                        "NotOlderThan",
                        "a%3Db",
                        "metadata.name%3Dn1",
                        "a+in+(b",
                        "!a",
                        "eyJydiI6MSwic3RhcnQiOiJhIn0",
                        "Object"),
                Arbitraries.strings()
                        .alpha()
                        .numeric()
                        .withChars("=!,()<>.\\-_/")
                        .ofMaxLength(12));
        return Combinators.combine(names, values)
                .as((name, value) -> name + "=" + value)
                .list()
                .ofMaxSize(4)
                .map(list -> String.join("&", list));
    }

    @Property(tries = 1_500)
    void randomPathsQueriesAndHeadersNeverMakeAServerError(
            @ForAll("methods") String method,
            @ForAll("paths") String path,
            @ForAll("queries") String query,
            @ForAll String accept,
            @ForAll String authorization) {
        check(method, path + "?" + query, Map.of("accept", accept), new byte[0]);
        CompletableFuture<ApiResponse> anonymous = server.server.handle(TestServer.request(
                User.ANONYMOUS, method, path + "?" + query, Map.of("authorization", authorization), new byte[0]));
        server.settle();
        assertThat(anonymous).isCompleted();
        assertThat(anonymous.join().status()).isIn(200, 400, 401, 403, 404, 405, 406);
    }

    @Property(tries = 1_500)
    void randomQueriesOfRealPlacesNeverMakeAServerError(
            @ForAll("methods") String method, @ForAll("places") String place, @ForAll("queries") String query) {
        check(method, place + "?" + query, Map.of(), new byte[0]);
        check("GET", place + "?watch=true&" + query, Map.of(), new byte[0]);
    }

    @Property(tries = 300)
    void storedObjectsCanAlwaysBeRead(@ForAll("mutated") String body) {
        TestServer fresh = new TestServer();
        TestServer.Answer answer = fresh.post("/api/v1/nodes", body);
        if (answer.status() == 201) {
            String name = answer.json().object("metadata").text("name");
            TestServer.Answer read = fresh.get("/api/v1/nodes/" + name);
            assertThat(read.json()).isEqualTo(answer.json());
            TestServer.Answer again = fresh.put("/api/v1/nodes/" + name, read.text());
            assertThat(again.status()).isEqualTo(200);
            assertThat(again.version()).isEqualTo(read.version());
        } else {
            assertThat(answer.status()).isBetween(400, 422);
            try {
                Json.parse(body);
            } catch (JsonException e) {
                assertThat(answer.status()).isEqualTo(400);
            }
        }
    }

    /** Protobuf messages of several kinds. */
    private static final List<byte[]> MESSAGES = List.of(
            Envelopes.of(
                    "v1",
                    "Node",
                    V1.Node.newBuilder()
                            .setMetadata(Meta.ObjectMeta.newBuilder()
                                    .setName("n1")
                                    .putLabels("a", "b")
                                    .setCreationTimestamp(Meta.Time.newBuilder().setSeconds(1_763_708_400)))
                            .setSpec(V1.NodeSpec.newBuilder()
                                    .addTaints(V1.Taint.newBuilder().setKey("k").setEffect("NoExecute")))
                            .setStatus(V1.NodeStatus.newBuilder()
                                    .putCapacity(
                                            "cpu",
                                            Resource.Quantity.newBuilder()
                                                    .setString("4")
                                                    .build()))
                            .build()),
            Envelopes.of(
                    "v1",
                    "Pod",
                    V1.Pod.newBuilder()
                            .setMetadata(Meta.ObjectMeta.newBuilder().setName("p1"))
                            .setSpec(V1.PodSpec.newBuilder()
                                    .addContainers(V1.Container.newBuilder()
                                            .setName("c")
                                            .setImage("i")
                                            .setLivenessProbe(V1.Probe.newBuilder()
                                                    .setHandler(V1.ProbeHandler.newBuilder()
                                                            .setTcpSocket(V1.TCPSocketAction.newBuilder())))))
                            .build()),
            Envelopes.of(
                    "coordination.k8s.io/v1",
                    "Lease",
                    V1Coordination.Lease.newBuilder()
                            .setMetadata(Meta.ObjectMeta.newBuilder().setName("n1"))
                            .setSpec(V1Coordination.LeaseSpec.newBuilder()
                                    .setHolderIdentity("n1")
                                    .setRenewTime(Meta.MicroTime.newBuilder().setSeconds(1_763_708_400)))
                            .build()),
            Envelopes.of(
                    "v1",
                    "DeleteOptions",
                    Meta.DeleteOptions.newBuilder()
                            .setGracePeriodSeconds(0)
                            .addDryRun("All")
                            .build()));

    /** A message with one part removed or some bytes changed. */
    @Provide
    Arbitrary<byte[]> mutatedMessages() {
        return Combinators.combine(
                        Arbitraries.of(MESSAGES),
                        Arbitraries.doubles().between(0, 1),
                        Arbitraries.integers().between(0, 5),
                        Arbitraries.bytes().list().ofMaxSize(4))
                .as((message, where, cut, put) -> {
                    int at = (int) (where * message.length);
                    int from = Math.min(message.length, at + cut);
                    byte[] mutated = new byte[at + put.size() + message.length - from];
                    System.arraycopy(message, 0, mutated, 0, at);
                    for (int i = 0; i < put.size(); i++) {
                        mutated[at + i] = put.get(i);
                    }
                    System.arraycopy(message, from, mutated, at + put.size(), message.length - from);
                    return mutated;
                });
    }

    @Property(tries = 2_000)
    void mutatedMessagesNeverMakeAServerError(
            @ForAll("methods") String method, @ForAll("places") String place, @ForAll("mutatedMessages") byte[] body) {
        check(method, place, Map.of("content-type", "application/vnd.kubernetes.protobuf"), body);
    }

    @Provide
    Arbitrary<String> accepts() {
        Arbitrary<String> pieces = Arbitraries.oneOf(
                Arbitraries.of(
                        "application/json",
                        "application/yaml",
                        "application/vnd.kubernetes.protobuf",
                        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
                        "*/*",
                        "application/*",
                        "text/html",
                        ";as=Table",
                        ";as=PartialObjectMetadata",
                        ";as=PartialObjectMetadataList",
                        ";as=APIGroupDiscoveryList",
                        ";v=v1",
                        ";v=v1beta1",
                        ";v=v2",
                        ";g=meta.k8s.io",
                        ";g=apidiscovery.k8s.io",
                        ";stream=watch",
                        ";q=0",
                        ",",
                        ";",
                        "=",
                        " "),
                Arbitraries.strings().ascii().ofMaxLength(4));
        return pieces.list().ofMaxSize(8).map(list -> String.join("", list));
    }

    @Property(tries = 2_000)
    void whateverFormsAreAskedForThereIsNoServerError(
            @ForAll("methods") String method,
            @ForAll("described") String path,
            @ForAll("queries") String query,
            @ForAll("accepts") String accept,
            @ForAll("accepts") String known) {
        check(method, path + "?" + query, Map.of("accept", accept, "if-none-match", known), new byte[0]);
    }

    @Provide
    Arbitrary<String> described() {
        return Arbitraries.oneOf(
                places(),
                Arbitraries.of(
                        "/api",
                        "/api/",
                        "/apis",
                        "/api/v1",
                        "/apis/coordination.k8s.io",
                        "/apis/coordination.k8s.io/v1/",
                        "/openapi/v2",
                        "/openapi/v3",
                        "/openapi/v3/api/v1",
                        "/openapi/v3/apis/apps/v1",
                        "/openapi/v3/nope",
                        "/version",
                        "/"));
    }
}
