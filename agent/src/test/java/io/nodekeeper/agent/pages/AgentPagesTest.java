package io.nodekeeper.agent.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class AgentPagesTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private Optional<String> statusLoop = Optional.empty();
    private Optional<String> unready = Optional.empty();
    private final AgentPages pages = new AgentPages(
                    checks(),
                    Map.of("registered", () -> unready),
                    () -> "up 1\n".getBytes(StandardCharsets.UTF_8),
                    loop,
                    time.loop("timer"))
            .with("/debug/runtime", () -> JsonObject.EMPTY.with("version", "containerd://1.6.20"));

    private Map<String, Supplier<Optional<String>>> checks() {
        Map<String, Supplier<Optional<String>>> checks = new LinkedHashMap<>();
        checks.put("ping", Optional::empty);
        checks.put("status", () -> statusLoop);
        return checks;
    }

    @Test
    void healthyAgentAnswersOkAndDetailsIfVerbose() {
        assertThat(text("/healthz", "")).isEqualTo("200: ok\n");
        assertThat(text("/healthz", "verbose")).isEqualTo("200: [+]ping ok\n[+]status ok\nhealthz check passed\n");
        assertThat(text("/healthz", "timeout=5s&verbose=true")).startsWith("200: [+]ping ok\n");
        assertThat(text("/healthz/status", "")).isEqualTo("200: ok\n");
    }

    @Test
    void aPageThatDependsOnItsQueryMayBeReadyLater() {
        CompletableFuture<Page> later = new CompletableFuture<>();
        pages.withAnswer("/stats/summary", query -> later.thenApply(page -> Page.text(200, query)));

        CompletableFuture<Page> answer = pages.get("/stats/summary", "only=true");
        time.advance(Duration.ofSeconds(1));
        assertThat(answer).isNotDone();
        later.complete(Page.text(200, ""));
        assertThat(new String(answer.join().body(), StandardCharsets.UTF_8)).isEqualTo("only=true\n");

        pages.withAnswer("/never", query -> new CompletableFuture<>());
        CompletableFuture<Page> never = pages.get("/never", "");
        time.advance(Duration.ofSeconds(2));
        assertThat(never.join().status()).isEqualTo(500);
    }

    @Test
    void failedCheckIsNamedWithItsReason() {
        statusLoop = Optional.of("did not go round for 1m0s");

        assertThat(text("/healthz", ""))
                .isEqualTo("500: [+]ping ok\n[-]status failed: did not go round for 1m0s\nhealthz check failed\n");
        assertThat(text("/healthz/status", "")).isEqualTo("500: internal server error: did not go round for 1m0s\n");
        assertThat(text("/healthz/ping", "")).isEqualTo("200: ok\n");
    }

    @Test
    void checkThatThrowsHasFailedAndTheOthersAreReported() {
        AgentPages broken = new AgentPages(
                Map.of("bad", () -> {
                    throw new IllegalStateException("no state");
                }),
                Map.of(),
                () -> new byte[0],
                loop,
                time.loop("timer"));

        CompletableFuture<Page> page = broken.get("/healthz", "");
        time.advance(Duration.ZERO);

        assertThat(page.join().status()).isEqualTo(500);
        assertThat(new String(page.join().body(), StandardCharsets.UTF_8))
                .isEqualTo("[-]bad failed: the check itself failed: java.lang.IllegalStateException: no state\n"
                        + "healthz check failed\n");
    }

    @Test
    void stoppedLoopIsUnhealthyAndMetricsStillWork() {
        loop.freeze();

        assertThat(text("/healthz", "")).isEqualTo("500: [-]loop failed: the agent did not answer within 2s\n");
        assertThat(text("/debug/runtime", "")).startsWith("500: ");
        assertThat(text("/metrics", "")).isEqualTo("200: up 1\n");
    }

    @Test
    void readinessHasChecksOfItsOwn() {
        unready = Optional.of("the node is not in the API yet");

        assertThat(text("/readyz", ""))
                .isEqualTo("500: [-]registered failed: the node is not in the API yet\nreadyz check failed\n");
        assertThat(text("/healthz", "")).isEqualTo("200: ok\n");

        unready = Optional.empty();
        assertThat(text("/readyz", "")).isEqualTo("200: ok\n");
    }

    @Test
    void indexNamesEveryPageAndSoDoesTheAnswerToAWrongPath() {
        assertThat(text("/", ""))
                .isEqualTo("200: /healthz\n/healthz/ping\n/healthz/status\n/readyz\n/readyz/registered\n/metrics\n"
                        + "/debug/runtime\n");
        assertThat(text("/nothing", ""))
                .isEqualTo("404: 404 page not found; the pages are /healthz, /healthz/ping,"
                        + " /healthz/status, /readyz, /readyz/registered, /metrics, /debug/runtime\n");
        assertThat(text("/healthz/nothing", "")).isEqualTo("404: 404 page not found; healthz has ping, status\n");
        assertThat(text("/debug/runtime", "")).contains("\"version\" : \"containerd://1.6.20\"");
    }

    private String text(String path, String query) {
        CompletableFuture<Page> page = pages.get(path, query);
        time.advance(Duration.ofSeconds(3));
        return page.join().status() + ": " + new String(page.join().body(), StandardCharsets.UTF_8);
    }
}
