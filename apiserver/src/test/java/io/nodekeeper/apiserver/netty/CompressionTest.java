package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.testing.TestServer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What large answers take while they wait to be compressed. */
class CompressionTest {
    private static final String MAPS = "/api/v1/namespaces/default/configmaps";
    private static final int MEMORY = 1_300_000;

    private final TestServer server = new TestServer();
    private final ArrayDeque<Runnable> workers = new ArrayDeque<>();
    private final ServerContext serverContext = ServerContexts.of(server, MEMORY, workers::add);

    @Test
    @Tag("W86")
    void answersThatWaitToBeCompressedCountAsTheirUsers() {
        // given an object of 200 KB, and a user who has memory for two of them
        createLarge();

        // when ten connections get it at the same time
        List<EmbeddedConnection> connections = get(10);

        // then two wait, and the others are refused
        List<String> first = received(connections);
        assertThat(first).filteredOn(String::isEmpty).hasSize(2);
        assertThat(first).filteredOn(text -> text.startsWith("HTTP/1.1 429 ")).hasSize(8);

        // and the two are answered, after which all memory is free
        work();
        List<String> second = received(connections);
        assertThat(second)
                .filteredOn(text -> text.startsWith("HTTP/1.1 200 ") && text.contains("content-encoding: gzip"))
                .hasSize(2);
        assertThat(serverContext.answers.has("another", MEMORY * 7 / 8)).isTrue();
    }

    @Test
    @Tag("W86")
    void getWithoutRoomForItsAnswerIsDroppedBeforeTheObjectIsReadAndAHeadIsNot() {
        // given a user whose memory is taken by answers
        createLarge();
        List<EmbeddedConnection> gets = get(2);
        EmbeddedConnection plain = connect();
        EmbeddedConnection head = connect();

        // when the same user asks for the object without compression, and for its headers
        plain.send("GET " + MAPS + "/large HTTP/1.1\r\nHost: x\r\n\r\n");
        head.send("HEAD " + MAPS + "/large HTTP/1.1\r\nHost: x\r\n\r\n");

        // then the get is counted as dropped, and the headers need no memory
        assertThat(received(List.of(plain, head)))
                .satisfiesExactly(
                        answer -> assertThat(answer).startsWith("HTTP/1.1 429 "),
                        answer -> assertThat(answer).startsWith("HTTP/1.1 200 "));
        assertThat(server.get("/metrics").text())
                .contains("apiserver_dropped_requests_total{request_kind=\"readOnly\"} 1.0");
        work();
        received(gets);
    }

    @Test
    @Tag("W86")
    void writeWhoseAnswerHasNoRoomIsToldAsCarriedOut() {
        // given a user whose memory is taken by answers
        createLarge();
        List<EmbeddedConnection> gets = get(2);

        // when writes follow, one of which wants its answer compressed
        String plain = patch("a", "");
        String compressed = patch("b", "Accept-Encoding: gzip\r\n");

        // then both are told as carried out, without the object, and not as to be repeated
        assertThat(List.of(plain, compressed))
                .allSatisfy(answer -> assertThat(answer)
                        .startsWith("HTTP/1.1 504 ")
                        .contains("the request was carried out")
                        .doesNotContain("retry-after"));
        // and a write that is refused is told as that
        assertThat(patch("no/such/label", "")).startsWith("HTTP/1.1 422 ");
        work();
        received(gets);
        assertThat(server.get(MAPS + "/large")
                        .json()
                        .object("metadata")
                        .object("labels")
                        .toString())
                .isEqualTo("{\"a\":\"1\",\"b\":\"1\"}");
    }

    /** Runs all that waits for a worker. */
    private void work() {
        while (!workers.isEmpty()) {
            workers.remove().run();
        }
    }

    private void createLarge() {
        server.post(MAPS, "{\"metadata\":{\"name\":\"large\"},\"data\":{\"k\":\"" + "x".repeat(200_000) + "\"}}");
    }

    private List<EmbeddedConnection> get(int times) {
        List<EmbeddedConnection> connections = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            EmbeddedConnection connection = connect();
            connections.add(connection);
            connection.send("GET " + MAPS + "/large HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
        }
        return connections;
    }

    private String patch(String label, String headers) {
        String body = "{\"metadata\":{\"labels\":{\"" + label + "\":\"1\"}}}";
        EmbeddedConnection connection = connect();
        connection.send("PATCH " + MAPS + "/large HTTP/1.1\r\nHost: x\r\nContent-Type: application/merge-patch+json\r\n"
                + headers + "Content-Length: " + body.length() + "\r\n\r\n" + body);
        server.settle();
        connection.channel.runPendingTasks();
        return connection.received();
    }

    private EmbeddedConnection connect() {
        return new EmbeddedConnection(server, serverContext, Optional.of(ClientCertificate.of(TestServer.ADMIN)));
    }

    private static List<String> received(List<EmbeddedConnection> connections) {
        return connections.stream()
                .map(connection -> {
                    connection.channel.runPendingTasks();
                    return connection.received();
                })
                .toList();
    }
}
