package io.nodekeeper.apiserver.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.kubernetes.client.proto.Meta;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.apiserver.testing.Envelopes;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.apiserver.wire.Protobuf;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses to clients that accept only protobuf. */
class ProtobufResponsesTest {
    private static final String ONLY = "application/vnd.kubernetes.protobuf";

    private final TestServer server = new TestServer();

    private Answer ask(String method, String uri, String accept, String body) {
        return server.ask(TestServer.ADMIN, method, uri, Map.of("accept", accept), body);
    }

    private static JsonObject read(Answer answer) {
        assertThat(answer.headers()).containsEntry("content-type", ONLY);
        return Protobuf.decode(answer.bytes());
    }

    @Test
    void objectsListsAndRefusalsAreProtobuf() {
        JsonObject made = read(ask("POST", "/api/v1/nodes", ONLY, "{\"metadata\":{\"name\":\"n1\"}}"));
        assertThat(made.object("metadata").text("name")).isEqualTo("n1");

        JsonObject got = read(ask("GET", "/api/v1/nodes/n1", ONLY, ""));
        assertThat(got).isEqualTo(server.get("/api/v1/nodes/n1").json());

        JsonObject list = read(ask("GET", "/api/v1/nodes", ONLY, ""));
        assertThat(list.text("kind")).isEqualTo("NodeList");
        assertThat(list.array("items")
                        .objects()
                        .map(item -> item.object("metadata").text("name")))
                .containsExactly("n1");

        JsonObject patched = read(server.ask(
                TestServer.ADMIN,
                "PATCH",
                "/api/v1/nodes/n1",
                Map.of("accept", ONLY, "content-type", TestServer.MERGE),
                "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"));
        assertThat(patched.object("metadata").object("labels").text("a")).isEqualTo("b");

        Answer missing = ask("GET", "/api/v1/nodes/n2", ONLY, "");
        assertThat(missing.status()).isEqualTo(404);
        assertThat(missing.headers()).containsEntry("content-type", ONLY);
        assertThat(Envelopes.status(missing.bytes()).getReason()).isEqualTo("NotFound");
        assertThat(Envelopes.status(server.ask(TestServer.ALICE, "GET", "/api/v1/nodes", Map.of("accept", ONLY), "")
                                .bytes())
                        .getCode())
                .isEqualTo(403);
        assertThat(Envelopes.status(ask("DELETE", "/api/v1/nodes/n1", ONLY, "").bytes())
                        .getStatus())
                .isEqualTo("Success");
    }

    @Test
    void largeListIsProtobuf() {
        for (int i = 0; i < 300; i++) {
            server.node("n" + i);
        }

        assertThat(read(ask("GET", "/api/v1/nodes", ONLY, "")).array("items").items())
                .hasSize(300);
    }

    @ParameterizedTest
    @ValueSource(strings = {ONLY, ONLY + ";stream=watch"})
    void watchesAreFramesOfProtobuf(String accept) throws Exception {
        server.node("n1");
        CompletableFuture<ApiResponse> response =
                server.send(TestServer.ADMIN, "GET", "/api/v1/nodes?watch=true", Map.of("accept", accept), "");
        server.settle();
        ApiResponse.Streamed watch = (ApiResponse.Streamed) response.join();
        assertThat(watch.headers()).containsEntry("content-type", ONLY + ";stream=watch");
        List<byte[]> frames = new ArrayList<>();
        watch.start().accept(new StreamSink() {
            @Override
            public void writeFirst(byte[] bytes) {
                frames.add(bytes);
            }

            @Override
            public void write(byte[] bytes) {
                frames.add(bytes);
            }

            @Override
            public void end() {}

            @Override
            public void onClose(Runnable action) {}
        });

        server.node("n2");
        server.delete("/api/v1/nodes/n1", "");

        List<String> seen = new ArrayList<>();
        for (byte[] frame : frames) {
            assertThat(ByteBuffer.wrap(frame).getInt()).isEqualTo(frame.length - 4);
            Meta.WatchEvent event =
                    Meta.WatchEvent.parseFrom(ByteString.copyFrom(Arrays.copyOfRange(frame, 4, frame.length)));
            JsonObject object = Protobuf.decode(event.getObject().getRaw().toByteArray());
            seen.add(event.getType() + " " + object.object("metadata").text("name"));
        }
        assertThat(seen).containsExactly("ADDED n1", "ADDED n2", "DELETED n1");
    }

    @Test
    void partialObjectMetadataIsProtobuf() {
        server.node("n1");
        String as = ONLY + ";as=PartialObjectMetadata%s;g=meta.k8s.io;v=v1";

        Answer one = ask("GET", "/api/v1/nodes/n1", as.formatted(""), "");
        Answer all = ask("GET", "/api/v1/nodes", as.formatted("List"), "");

        for (Answer answer : List.of(one, all)) {
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.headers()).containsEntry("content-type", ONLY);
            assertThat(answer.text()).contains("n1").contains("PartialObjectMetadata");
        }
    }

    /** A client that also accepts JSON gets JSON, in any order of types. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            application/vnd.kubernetes.protobuf,application/json   | 200 | application/json
            application/vnd.kubernetes.protobuf, */*               | 200 | application/json
            application/vnd.kubernetes.protobuf;q=0.9, text/html   | 200 | application/vnd.kubernetes.protobuf
            application/vnd.kubernetes.protobuf,application/yaml   | 200 | application/yaml
            application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1 | 406 | application/vnd.kubernetes.protobuf
            application/vnd.kubernetes.protobuf;q=0                | 406 | application/json
            text/html                                              | 406 | application/json
            """)
    void firstSupportedOtherTypeIsPreferred(String accept, int status, String type) {
        server.node("n1");

        Answer answer = ask("GET", "/api/v1/nodes/n1", accept, "");

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.headers()).containsEntry("content-type", type);
    }

    @Test
    void healthIsTextAndDiscoveryIsProtobuf() {
        assertThat(ask("GET", "/healthz", ONLY, "").text()).isEqualTo("ok");
        assertThat(ask("GET", "/api", ONLY, "").headers()).containsEntry("content-type", ONLY);
        assertThat(ask("GET", "/api/v1", ONLY, "").headers()).containsEntry("content-type", ONLY);
        assertThat(ask("GET", "/apis", ONLY, "").headers()).containsEntry("content-type", ONLY);
    }
}
