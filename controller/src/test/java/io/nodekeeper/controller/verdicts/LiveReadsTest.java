package io.nodekeeper.controller.verdicts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
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
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The current node and lease from the API server, with each combination of permitted reads. */
class LiveReadsTest {
    private static final String NODES = "/api/v1/nodes";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String NODE = "{\"metadata\":{\"name\":\"n1\",\"uid\":\"u1\"}}";

    private final VirtualTime time = new VirtualTime(Instant.parse("2020-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final FakeTransport server = new FakeTransport();
    private final LiveReads reads = new LiveReads(new KubeClient(server, loop, Duration.ofSeconds(2)));

    @Test
    void nodeAndLeaseAreReadOneByOne() {
        server.answer(call -> ok(NODE));

        assertThat(ended(reads.node("n1")).join()).isEqualTo(Json.parseObject(NODE));
        assertThat(ended(reads.lease("n1")).join()).isEqualTo(Json.parseObject(NODE));

        assertThat(server.log()).containsExactly("GET " + NODES + "/n1", "GET " + LEASES + "/n1");
    }

    @Test
    void whatIsNotThereIsEmpty() {
        server.answer(call -> refusal(404, "NotFound"));

        assertThat(ended(reads.node("n1")).join()).isEqualTo(JsonObject.EMPTY);
        assertThat(ended(reads.lease("n1")).join()).isEqualTo(JsonObject.EMPTY);
        assertThat(server.log()).hasSize(2);
    }

    @Test
    void listOfTheNameIsReadWhereSingleReadsAreForbidden() {
        server.answer(call -> isSingle(call) ? refusal(403, "Forbidden") : ok("{\"items\":[" + NODE + "]}"));

        assertThat(ended(reads.node("n1")).join()).isEqualTo(Json.parseObject(NODE));
        assertThat(ended(reads.lease("n1")).join()).isEqualTo(Json.parseObject(NODE));

        assertThat(server.log())
                .containsExactly(
                        "GET " + NODES + "/n1",
                        "GET " + NODES + "?fieldSelector=metadata.name%3Dn1",
                        "GET " + LEASES + "/n1",
                        "GET " + LEASES + "?fieldSelector=metadata.name%3Dn1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"items\":[]}", "{}", "{\"items\":[{\"metadata\":{\"name\":\"n2\"}}]}"})
    void listWithoutTheNameMeansThatTheObjectDoesNotExist(String list) {
        server.answer(call -> isSingle(call) ? refusal(403, "Forbidden") : ok(list));

        assertThat(ended(reads.node("n1")).join()).isEqualTo(JsonObject.EMPTY);
    }

    @Test
    void listOfAServerThatIgnoresTheSelectorIsSearched() {
        server.answer(call -> isSingle(call)
                ? refusal(403, "Forbidden")
                : ok("{\"items\":[{\"metadata\":{\"name\":\"n0\"}}," + NODE + "]}"));

        assertThat(ended(reads.node("n1")).join()).isEqualTo(Json.parseObject(NODE));
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 409, 429, 500, 503})
    void anyOtherRefusalIsAFailure(int code) {
        server.answer(call -> refusal(code, "Refused"));

        assertThatThrownBy(() -> ended(reads.node("n1")).join())
                .cause()
                .isInstanceOfSatisfying(
                        ApiException.class,
                        refused -> assertThat(refused.code()).isEqualTo(code));
        assertThat(server.log()).hasSize(1);
    }

    @Test
    void forbiddenListIsAFailureToo() {
        server.answer(call -> refusal(403, "Forbidden"));

        assertThatThrownBy(() -> ended(reads.lease("n1")).join()).hasCauseInstanceOf(ApiException.class);
        assertThat(server.log()).hasSize(2);
    }

    @Test
    void serverThatIsAwayIsAFailure() {
        server.answer(call -> {
            throw new TransportException("connection refused", null);
        });

        assertThatThrownBy(() -> ended(reads.node("n1")).join()).hasCauseInstanceOf(TransportException.class);
    }

    private <T> CompletableFuture<T> ended(CompletableFuture<T> look) {
        time.advance(Duration.ZERO);
        assertThat(look).isDone();
        return look;
    }

    private static boolean isSingle(Call call) {
        return !call.target().contains("?");
    }

    private static Optional<Reply> ok(String json) {
        return Optional.of(FakeTransport.reply(200, Json.parseObject(json)));
    }

    private static Optional<Reply> refusal(int code, String reason) {
        return Optional.of(FakeTransport.refusal(new ApiException(code, reason, "no")));
    }
}
