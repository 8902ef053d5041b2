package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.LoopWatch;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.pages.AgentPages;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DebugServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ThreadLoop loop = new ThreadLoop("agent");
    private final ThreadLoop timer = new ThreadLoop("timer");
    private final AgentMetrics metrics =
            new AgentMetrics(new LoopWatch(loop.clock()), loop.clock().wallTime());
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
                pages);
    }
}
