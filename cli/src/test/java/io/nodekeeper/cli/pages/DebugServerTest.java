package io.nodekeeper.cli.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.pages.AgentPages;
import io.nodekeeper.time.ThreadLoop;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DebugServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ThreadLoop loop = new ThreadLoop("agent");
    private final ThreadLoop timer = new ThreadLoop("timer");
    private final AgentMetrics metrics = new AgentMetrics(new LoopMonitor(loop.clock()));
    private final AgentPages pages =
            new AgentPages(Map.of("status", () -> Optional.of("stands still")), Map.of(), metrics::scrape, loop, timer);

    @AfterEach
    void close() {
        loop.close();
        timer.close();
    }

    @Test
    void agentsPagesAreServed() throws Exception {
        metrics.nodeName("n1");
        DebugServer server = start(0, false);
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest.Builder request = HttpRequest.newBuilder().timeout(LIMIT);

            HttpResponse<String> health =
                    client.send(request.uri(server.url().resolve("/healthz")).build(), BodyHandlers.ofString());
            assertThat(health.statusCode()).isEqualTo(500);
            assertThat(health.body()).isEqualTo("[-]status failed: stands still\nhealthz check failed\n");

            HttpResponse<String> scraped =
                    client.send(request.uri(server.url().resolve("/metrics")).build(), BodyHandlers.ofString());
            assertThat(scraped.headers().firstValue("Content-Type"))
                    .contains("text/plain; version=0.0.4; charset=utf-8");
            assertThat(scraped.body()).contains("kubelet_node_name{node=\"n1\"} 1.0\n");

            HttpResponse<String> posted =
                    client.send(request.POST(BodyPublishers.noBody()).build(), BodyHandlers.ofString());
            assertThat(posted.statusCode()).isEqualTo(405);
        } finally {
            server.stop();
        }
    }

    /** A request in bytes, and the first line of its answer. */
    private static String answer(URI url, String request) throws IOException {
        try (Socket socket = connected(url)) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .readLine();
        }
    }

    private static Socket connected(URI url) throws IOException {
        Socket socket = new Socket(url.getHost(), url.getPort());
        socket.setSoTimeout((int) LIMIT.toMillis());
        return socket;
    }

    @ParameterizedTest
    @CsvSource({
        "localhost, 200",
        "LOCALHOST:10248, 200",
        "127.0.0.1, 200",
        "127.0.0.1:80, 200",
        "[::1]:10248, 200",
        "evil.example, 403",
        "evil.example:10248, 403",
        "localhost.evil.example, 403",
        "127.0.0.1.evil.example, 403",
        "169.254.169.254, 403",
        "[::2], 403",
        "'', 403"
    })
    void onTheLoopbackAddressOnlyThisMachinesNamesAreAnswered(String host, int status) throws Exception {
        DebugServer server = start(0, false);
        try {
            String answer =
                    answer(server.url(), "GET /metrics HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");

            assertThat(answer).startsWith("HTTP/1.1 " + status + " ");
        } finally {
            server.stop();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET\r\n\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n"})
    void whatIsNoRequestForAPageIsRefused(String request) throws Exception {
        DebugServer server = start(0, false);
        try {
            assertThat(answer(server.url(), request)).startsWith("HTTP/1.1 4");
        } finally {
            server.stop();
        }
    }

    @Test
    void takenPortIsReplacedUnlessSomebodyAskedForIt() throws IOException {
        DebugServer first = start(0, false);
        int port = first.url().getPort();
        try {
            DebugServer other = start(port, true);
            assertThat(other.url().getPort()).isNotEqualTo(port);
            other.stop();

            assertThatThrownBy(() -> start(port, false))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("--healthz-port /127.0.0.1:" + port + ": ");
        } finally {
            first.stop();
        }
    }

    private DebugServer start(int port, boolean orElseAny) throws IOException {
        return DebugServer.start(
                "agent",
                "--healthz-port",
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port),
                orElseAny,
                pages,
                Optional.empty());
    }
}
