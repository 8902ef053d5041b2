package io.nodekeeper.apiserver.flowcontrol;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestOrigin;
import io.nodekeeper.apiserver.testing.TestServer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests whose answers find no memory at their connection. */
@Tag("W86")
class AnswerRoomTest {
    private static final String LARGE = "/api/v1/namespaces/default/configmaps/large";
    private static final long BYTES = 1_000_000;

    private final TestServer server = new TestServer();
    private final ArrayDeque<Runnable> workers = new ArrayDeque<>();
    private final FlowController flow = new FlowController(
            FlowControlOptions.DEFAULT, workers::add, server.loop, server.server.metrics(), info -> BYTES, true);
    private final List<Long> asked = new ArrayList<>();
    private final RequestOrigin full = new RequestOrigin() {
        @Override
        public void authorized(String user) {}

        @Override
        public boolean hasRoom(long bytes) {
            asked.add(bytes);
            return false;
        }
    };
    private int carriedOut;

    private int send(String method, String path, String accept, RequestOrigin origin) {
        ApiRequest request = TestServer.request(TestServer.ALICE, method, path, Map.of("accept", accept), new byte[0]);
        CompletableFuture<ApiResponse> answer =
                flow.dispatch(TestServer.ALICE, RequestInfo.of(method, path, false), request, origin, () -> {
                    carriedOut++;
                    return CompletableFuture.completedFuture(ApiResponse.json(200, JsonObject.EMPTY));
                });
        while (!workers.isEmpty()) {
            workers.remove().run();
        }
        assertThat(answer).isCompleted();
        return answer.join().status();
    }

    @ParameterizedTest
    @CsvSource({"application/json", "application/vnd.kubernetes.protobuf", "application/yaml"})
    void getOfAnObjectWithoutRoomIsRefusedBeforeTheObjectIsRead(String accept) {
        assertThat(send("GET", LARGE, accept, full)).isEqualTo(429);

        assertThat(carriedOut).isZero();
        assertThat(asked).containsExactly(BYTES);
    }

    @Test
    void refusedGetsKeepNeitherSeatsNorWeight() {
        for (int i = 0; i < 1_000; i++) {
            send("GET", LARGE, "application/vnd.kubernetes.protobuf", full);
        }

        assertThat(send("GET", LARGE, "application/vnd.kubernetes.protobuf", RequestOrigin.ANY))
                .isEqualTo(200);
        assertThat(carriedOut).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        // What changes something must be carried out, whatever becomes of its answer.
        "PATCH,  /api/v1/namespaces/default/configmaps/large, application/json",
        "DELETE, /api/v1/namespaces/default/configmaps/large, application/json",
        // These answers are small.
        "GET, /api/v1/namespaces/default/configmaps/large, application/json;as=Table;g=meta.k8s.io;v=v1",
        "GET, /api/v1/namespaces/default/configmaps/large, application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "GET, /api/v1/namespaces/default/pods/large/log, application/json"
    })
    void othersAreCarriedOut(String method, String path, String accept) {
        assertThat(send(method, path, accept, full)).isEqualTo(200);
        assertThat(asked).isEmpty();
    }
}
