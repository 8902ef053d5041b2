package io.nodekeeper.client.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The cluster knows the tokens of alice, who may read /metrics, and of bob, who may read nothing. */
class DelegatedAccessTest {
    private static final String ALICE = "Bearer token-of-alice";
    private static final String BOB = "Bearer token-of-bob";
    private static final String NODE = "10.0.0.1";

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final DelegatedAccess access =
            new DelegatedAccess(new KubeClient(transport, time.loop("pages"), Duration.ofSeconds(30)));
    private final Map<String, String> users = new HashMap<>(Map.of("token-of-alice", "alice", "token-of-bob", "bob"));
    private final Set<String> readers = new HashSet<>(Set.of("alice"));

    @BeforeEach
    void answer() {
        transport.answer(call -> Optional.of(cluster(call)));
    }

    private Reply cluster(Call call) {
        JsonObject spec = Json.parseObject(call.body()).object("spec");
        JsonObject.Builder status = JsonObject.builder();
        if (call.target().endsWith("/tokenreviews")) {
            Optional.ofNullable(users.get(spec.text("token")))
                    .ifPresent(name -> status.put("authenticated", true)
                            .put("user", Json.parseObject("{\"username\":\"" + name + "\",\"groups\":[\"g\"]}")));
        } else {
            JsonObject attributes = spec.object("nonResourceAttributes");
            status.put(
                    "allowed",
                    readers.contains(spec.text("user"))
                            && attributes.text("verb").equals("get")
                            && attributes.text("path").equals("/metrics"));
        }
        return FakeTransport.reply(201, JsonObject.EMPTY.with("status", status.build()));
    }

    private CompletableFuture<Optional<Refusal>> ask(String authorization, String path, String source) {
        CompletableFuture<Optional<Refusal>> answer =
                access.check(new Credentials(Optional.empty(), authorization, source), new PageRight.Path(path));
        time.advance(Duration.ZERO);
        return answer;
    }

    private int code(String authorization, String path) {
        return ask(authorization, path, NODE).join().map(Refusal::code).orElse(200);
    }

    private long reviews(String kind) {
        return transport.calls().stream()
                .filter(call -> call.target().endsWith("/" + kind))
                .count();
    }

    @Test
    void usersAreAuthenticatedAndAuthorizedByTheCluster() {
        assertThat(code(ALICE, "/metrics")).isEqualTo(200);
        assertThat(code("bearer token-of-alice", "/metrics")).isEqualTo(200);
        assertThat(code(ALICE, "/debug/nodes")).isEqualTo(403);
        assertThat(code(BOB, "/metrics")).isEqualTo(403);
        assertThat(code("Bearer unknown", "/metrics")).isEqualTo(401);
        assertThat(code("", "/metrics")).isEqualTo(401);
        assertThat(code("Basic YTpi", "/metrics")).isEqualTo(401);

        JsonObject status = Json.parseObject(
                ask(BOB, "/metrics", NODE).join().orElseThrow().page().body());
        assertThat(status.without("metadata")).isEqualTo(Json.parseObject("""
                {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,
                 "message":"User \\"bob\\" cannot get path \\"/metrics\\""}"""));
    }

    @Test
    void groupsAndAttributesOfTheReviewedUserDecide() {
        code(ALICE, "/metrics");

        assertThat(Json.parseObject(transport.calls().getLast().body()).object("spec"))
                .isEqualTo(Json.parseObject("""
                        {"user":"alice","groups":["g"],"extra":{},
                         "nonResourceAttributes":{"path":"/metrics","verb":"get"}}"""));
    }

    @Test
    void statisticsOfANodeNeedTheRightThatAKubeletRequires() {
        CompletableFuture<Optional<Refusal>> refused =
                access.check(new Credentials(Optional.empty(), ALICE, NODE), new PageRight.NodePart("n1", "stats"));
        time.advance(Duration.ZERO);

        assertThat(Json.parseObject(transport.calls().getLast().body()).object("spec"))
                .isEqualTo(Json.parseObject("""
                        {"user":"alice","groups":["g"],"extra":{},
                         "resourceAttributes":{"verb":"get","version":"v1","resource":"nodes","subresource":"stats",
                                               "name":"n1"}}"""));
        assertThat(refused.join().orElseThrow().message())
                .isEqualTo("User \"alice\" cannot get resource \"nodes/stats\" of node \"n1\"");
    }

    @Test
    void aClientCertificateNeedsNoTokenReviewButTheSameRight() {
        Caller alice = new Caller("alice", "", List.of("system:authenticated"), JsonObject.EMPTY);
        Caller carol = new Caller("carol", "", List.of("system:authenticated"), JsonObject.EMPTY);

        CompletableFuture<Optional<Refusal>> allowed =
                access.check(new Credentials(Optional.of(alice), "", NODE), new PageRight.Path("/metrics"));
        CompletableFuture<Optional<Refusal>> denied =
                access.check(new Credentials(Optional.of(carol), ALICE, NODE), new PageRight.Path("/metrics"));
        time.advance(Duration.ZERO);

        assertThat(allowed.join()).isEmpty();
        assertThat(denied.join()).map(Refusal::code).contains(403);
        assertThat(reviews("tokenreviews")).isZero();
    }

    @Test
    void theAnonymousUserIsAuthorizedLikeAnyOther() {
        assertThat(code("", "/metrics")).isEqualTo(401);
        readers.add("system:anonymous");
        time.advance(DelegatedAccess.DENIED);

        assertThat(code("", "/metrics")).isEqualTo(200);
    }

    @Test
    void resultsAreKeptAsLongAsTheKubeletKeepsThem() {
        // given one request of each kind
        code(ALICE, "/metrics");
        code(BOB, "/metrics");
        code("Bearer unknown", "/metrics");
        transport.clear();
        // when they come again within the shortest time, then no review is made
        time.advance(DelegatedAccess.NOT_AUTHENTICATED.minusNanos(1));
        code(ALICE, "/metrics");
        code(BOB, "/metrics");
        code("Bearer unknown", "/metrics");
        assertThat(transport.calls()).isEmpty();
        // a bad token is reviewed again after 10 s, a denial after 30 s
        time.advance(Duration.ofNanos(1));
        code("Bearer unknown", "/metrics");
        assertThat(transport.log()).hasSize(1);
        time.advance(Duration.ofSeconds(20));
        code(BOB, "/metrics");
        assertThat(transport.log()).hasSize(2);
        // a token that is revoked is refused after 2 min, a right that is taken away after 5 min
        readers.clear();
        time.advance(Duration.ofSeconds(90));
        assertThat(code(ALICE, "/metrics")).isEqualTo(200);
        assertThat(transport.log()).hasSize(3).last().asString().contains("tokenreviews");
        time.advance(Duration.ofMinutes(3));
        assertThat(code(ALICE, "/metrics")).isEqualTo(403);
    }

    @Test
    void withoutAnAnswerFromTheClusterNobodyIsLetIn() {
        transport.answer(call -> {
            throw new TransportException("connection refused to the secret address", null);
        });
        Refusal refusal = ask(ALICE, "/metrics", NODE).join().orElseThrow();
        assertThat(refusal.code()).isEqualTo(401);
        assertThat(refusal.message()).contains("could not be reviewed").doesNotContain("secret");
        assertThat(code("", "/metrics")).isEqualTo(403);

        transport.answer(call -> Optional.of(FakeTransport.reply(403, JsonObject.EMPTY)));
        assertThat(code(ALICE, "/metrics")).isEqualTo(401);

        // A server that does not answer costs a request the deadline.
        transport.answer(call -> Optional.empty());
        CompletableFuture<Optional<Refusal>> waiting = ask(ALICE, "/metrics", NODE);
        time.advance(DelegatedAccess.REVIEW_LIMIT.minusNanos(1));
        assertThat(waiting).isNotDone();
        time.advance(Duration.ofNanos(1));
        assertThat(waiting.join()).map(Refusal::code).contains(401);

        // A failure is not kept.
        answer();
        assertThat(code(ALICE, "/metrics")).isEqualTo(200);
    }

    @Test
    void requestsWithTheSameTokenShareOneReview() {
        transport.answer(call -> Optional.empty());

        for (int i = 0; i < 100; i++) {
            ask(ALICE, "/metrics", NODE);
        }

        assertThat(reviews("tokenreviews")).isEqualTo(1);
    }

    @Test
    void aSourceOfBadTokensDelaysNoOther() {
        // given a cluster that does not answer, and a source that tries token after token
        transport.answer(call -> Optional.empty());
        List<CompletableFuture<Optional<Refusal>>> tries = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            tries.add(ask("Bearer guess-" + i, "/metrics", "10.6.6.6"));
        }
        // then four of its reviews wait, and the other tries are refused immediately
        assertThat(transport.calls()).hasSize(4);
        assertThat(tries.stream().filter(CompletableFuture::isDone))
                .hasSize(96)
                .allMatch(done -> done.join().orElseThrow().code() == 429);
        // and another source is served
        answer();
        assertThat(code(ALICE, "/metrics")).isEqualTo(200);
        // and once they ended the source may try again
        time.advance(DelegatedAccess.REVIEW_LIMIT);
        assertThat(ask("Bearer guess-0", "/metrics", "10.6.6.6").join())
                .map(Refusal::code)
                .contains(401);
    }

    @Test
    void reviewsOfAllSourcesAreBounded() {
        transport.answer(call -> Optional.empty());

        for (int source = 0; source < 50; source++) {
            for (int i = 0; i < 10; i++) {
                ask("Bearer guess-" + source + "-" + i, "/metrics", "10.0.0." + source);
            }
        }

        assertThat(transport.calls()).hasSize(15);
    }

    @Test
    void fourSourcesOfBadTokensLeavePlacesToANewSource() {
        // given a cluster that does not answer, and four sources that try token after token
        transport.answer(call -> Optional.empty());
        for (int i = 0; i < 100; i++) {
            for (int source = 0; source < 4; source++) {
                ask("Bearer guess-" + source + "-" + i, "/metrics", "10.6.6." + source);
            }
        }
        // when a source asks with a new token
        answer();
        // then it is served
        assertThat(code(ALICE, "/metrics")).isEqualTo(200);
    }

    @Test
    void badTokensNeverTakeThePlacesOfCallersWhoAreKnown() {
        // given a client with a certificate, and that alice was served, and that the result has ended
        Credentials certificate =
                new Credentials(Optional.of(new Caller("alice", "", List.of("g"), JsonObject.EMPTY)), "", "10.0.0.2");
        assertThat(code(ALICE, "/metrics")).isEqualTo(200);
        time.advance(Duration.ofMinutes(6));
        // and that more tokens than results are kept were tried from many sources, of which the last get no answer
        for (int i = 0; i < 2 * DelegatedAccess.MOST_RESULTS; i++) {
            ask("Bearer guess-" + i, "/metrics", "10.6.6." + i % 100);
        }
        transport.answer(call -> Optional.empty());
        for (int i = 0; i < 100; i++) {
            ask("Bearer last-" + i, "/metrics", "10.6.6." + i);
        }
        answer();
        assertThat(code(BOB, "/metrics")).isEqualTo(429);
        // when the two ask again, alice from a source of bad tokens
        CompletableFuture<Optional<Refusal>> shown = access.check(certificate, new PageRight.Path("/debug/nodes"));
        // then both are served
        assertThat(ask(ALICE, "/metrics", "10.6.6.0").join()).isEmpty();
        assertThat(shown.join()).map(Refusal::code).contains(403);
    }

    @Test
    void aTokenThatIsNoLongerValidIsRefused() {
        assertThat(code(ALICE, "/metrics")).isEqualTo(200);
        users.remove("token-of-alice");
        time.advance(DelegatedAccess.AUTHENTICATED);

        assertThat(code(ALICE, "/metrics")).isEqualTo(401);
        assertThat(code(ALICE, "/metrics")).isEqualTo(401);
        assertThat(reviews("tokenreviews")).isEqualTo(2);
    }

    @Test
    void resultsAreBounded() {
        ReviewCache<Integer> cache = new ReviewCache<>(time.loop("cache").clock(), 3, value -> Duration.ofMinutes(1));
        for (int i = 0; i < 10; i++) {
            int value = i;
            cache.get("key-" + i, () -> CompletableFuture.completedFuture(value));
            cache.get("key-0", () -> CompletableFuture.completedFuture(0));
        }

        assertThat(cache.size()).isEqualTo(3);
        // The result in use is still there.
        assertThat(cache.get("key-0", () -> CompletableFuture.completedFuture(1))
                        .join())
                .isZero();
    }

    @Test
    void credentialsAreNotShown() {
        assertThat(new Credentials(Optional.empty(), ALICE, NODE)).hasToString("a token from 10.0.0.1");
    }
}
