package io.nodekeeper.agent.pods.objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.volumes.VolumeNeed;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When tokens of pods are requested. */
class PodTokensTest {
    private static final Pod POD = new Pod(Json.parseObject("""
            {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}, "spec": {"serviceAccountName": "seller"}}
            """));
    private static final VolumeNeed.Token HOUR = new VolumeNeed.Token("", 3_600);

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final PodTokens tokens =
            new PodTokens(new KubeClient(transport, time.loop("agent"), Duration.ofSeconds(10)));
    private int issued;

    @BeforeEach
    void server() {
        transport.answer(this::issue);
    }

    @Test
    void shouldRequestATokenThatIsBoundToThePod() {
        assertThat(get(new VolumeNeed.Token("vault", 700))).isEqualTo("token-1");

        assertThat(transport.log()).containsExactly("POST /api/v1/namespaces/shop/serviceaccounts/seller/token");
        assertThat(Json.parseObject(transport.calls().getFirst().body()).object("spec"))
                .isEqualTo(Json.parseObject("""
                        {"expirationSeconds": 700,
                         "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "u1"},
                         "audiences": ["vault"]}
                        """));
    }

    @Test
    void shouldKeepOnlyTheStatusOfAnAnswer() {
        CompletableFuture<JsonObject> answer = tokens.get(POD, HOUR);
        time.advance(Duration.ofMillis(1));

        assertThat(answer).isCompletedWithValue(Json.parseObject("{\"status\": {\"token\": \"token-1\"}}"));
    }

    /** A pod chooses the audiences, which are in its tokens. */
    @Test
    void shouldRefuseTokensThatTakeTooMuchMemoryTogether() {
        transport.answer(call -> Optional.of(FakeTransport.reply(
                201, JsonObject.EMPTY.with("status", JsonObject.EMPTY.with("token", "t".repeat(60_000))))));
        get(new VolumeNeed.Token("a", 3_600));
        get(new VolumeNeed.Token("b", 3_600));

        CompletableFuture<JsonObject> third = tokens.get(POD, new VolumeNeed.Token("c", 3_600));
        time.advance(Duration.ofMillis(1));

        assertThatThrownBy(third::join)
                .hasMessageContaining("the tokens of the pod take more than 131072 bytes of the agent's memory");
        assertThat(get(new VolumeNeed.Token("a", 3_600))).hasSize(60_000);
    }

    @Test
    void shouldRenewATokenAfterEightyPercentOfItsLife() {
        get(HOUR);

        time.advance(Duration.ofSeconds(2_870));
        assertThat(get(HOUR)).isEqualTo("token-1");
        time.advance(Duration.ofSeconds(10));
        assertThat(get(HOUR)).isEqualTo("token-2");
        assertThat(get(HOUR)).isEqualTo("token-2");
    }

    @Test
    void shouldRenewALongTokenAfterADay() {
        VolumeNeed.Token year = new VolumeNeed.Token("", 365 * 86_400);
        get(year);

        time.advance(Duration.ofHours(23));
        assertThat(get(year)).isEqualTo("token-1");
        time.advance(Duration.ofHours(1));
        assertThat(get(year)).isEqualTo("token-2");
    }

    @Test
    void shouldUseTheOldTokenUntilItsEndWhileTheServerIssuesNone() {
        get(HOUR);
        transport.answer(call -> Optional.of(FakeTransport.reply(500, JsonObject.EMPTY)));

        time.advance(Duration.ofSeconds(3_000));
        assertThat(get(HOUR)).isEqualTo("token-1");
        time.advance(Duration.ofSeconds(700));
        CompletableFuture<JsonObject> late = tokens.get(POD, HOUR);
        time.advance(Duration.ofMillis(1));
        assertThat(late).isCompletedExceptionally();
    }

    private Optional<Reply> issue(Call call) {
        JsonObject request = Json.parseObject(call.body());
        return Optional.of(FakeTransport.reply(
                201,
                request.with(
                        "status",
                        JsonObject.builder().put("token", "token-" + ++issued).build())));
    }

    private String get(VolumeNeed.Token need) {
        CompletableFuture<JsonObject> answer = tokens.get(POD, need);
        time.advance(Duration.ofMillis(1));
        return answer.join().object("status").text("token");
    }
}
