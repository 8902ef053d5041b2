package io.nodekeeper.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.config.ConfigException;
import io.nodekeeper.agent.pages.AgentPages;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.pages.Page;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The assembled agent, without an API server: nothing listens on port 1. */
class NodeAgentTest {
    private static final ServerAccess NO_SERVER = new ServerAccess(
            URI.create("http://127.0.0.1:1"), List.of(), false, "", Optional.empty(), "", Optional.empty());

    @TempDir
    Path directory;

    private Optional<NodeAgent> agent = Optional.empty();

    @AfterEach
    void stop() {
        agent.ifPresent(NodeAgent::stop);
    }

    @Test
    void pagesNameEveryLoopAndWhatIsNotReadyYet() throws Exception {
        AgentPages pages = start("none").pages();

        assertThat(text(pages, "/")).isEqualTo("""
                /healthz
                /healthz/ping
                /healthz/lease
                /healthz/pressure
                /healthz/syncloop
                /readyz
                /readyz/registered
                /metrics
                /metrics/resource
                /stats/summary""");
        assertThat(text(pages, "/healthz")).isEqualTo("ok");
        assertThat(text(pages, "/readyz"))
                .isEqualTo("[-]registered failed: the node is not in the API yet\nreadyz check failed");
        assertThat(text(pages, "/metrics")).contains("kubelet_node_name{node=\"n1\"} 1.0\n");
    }

    @Test
    void theStatisticsOfThisMachineNeedNoRuntimeAndNoApiServer() throws Exception {
        NodeAgent started = start("none");
        started.start();
        AgentPages pages = started.pages();

        // On a busy machine the first readings are late; then the page has no values yet, or is an error.
        String page = text(pages, "/stats/summary");
        for (int tries = 0; tries < 60 && !page.contains("usageCoreNanoSeconds"); tries++) {
            Thread.sleep(1_000);
            page = text(pages, "/stats/summary");
        }
        JsonObject summary = Json.parseObject(page);

        assertThat(summary.object("node").text("nodeName")).isEqualTo("n1");
        assertThat(summary.object("node").object("cpu").number("usageCoreNanoSeconds"))
                .hasValueSatisfying(nanos -> assertThat(nanos).isPositive());
        assertThat(summary.object("node").object("memory").number("workingSetBytes"))
                .hasValueSatisfying(bytes -> assertThat(bytes).isPositive());
        assertThat(summary.array("pods").isEmpty()).isTrue();
        assertThat(text(pages, "/metrics/resource")).contains("\nnode_cpu_usage_seconds_total ");
    }

    @Test
    void aRuntimeAddsItsLoopsItsCheckAndItsPage() throws Exception {
        AgentPages pages = start("unix://" + directory.resolve("missing.sock")).pages();

        assertThat(text(pages, "/"))
                .contains("/healthz/pleg\n", "/healthz/runtime\n", "/readyz/runtime\n", "/debug/runtime");
        assertThat(text(pages, "/readyz"))
                .contains("[-]runtime failed: container runtime status check may not have completed yet");
        assertThat(text(pages, "/debug/runtime")).contains("\"version\" : \"unknown://Unknown\"");
    }

    @Test
    void aThresholdOfImagesWithoutARuntimeStopsTheStart() {
        AgentConfigBuilder builder = new AgentConfigBuilder("n1")
                .rootDir(directory)
                .evictionHard(Map.of("imagefs.available", "15%"))
                .containerRuntimeEndpoint("none");

        assertThatThrownBy(() -> new NodeAgent(NO_SERVER, builder.build()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("eviction threshold imagefs.available cannot be measured: the node has no"
                        + " container runtime");
    }

    @Test
    void aRootDirectoryThatCannotBeMadeStopsTheStartOfAnAgentThatRunsPods() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        AgentConfigBuilder builder = new AgentConfigBuilder("n1")
                .rootDir(file.resolve("root"))
                .featureGates(Map.of("PodLifecycle", true))
                .containerRuntimeEndpoint("unix://" + directory.resolve("missing.sock"));

        assertThatThrownBy(() -> new NodeAgent(NO_SERVER, builder.build()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("the root directory, " + file.resolve("root") + ", cannot be made: ");
    }

    private NodeAgent start(String endpoint) {
        AgentConfig config = new AgentConfigBuilder("n1")
                .rootDir(directory)
                .containerRuntimeEndpoint(endpoint)
                .build();
        agent = Optional.of(new NodeAgent(NO_SERVER, config));
        return agent.get();
    }

    private static String text(AgentPages pages, String path) throws Exception {
        Page page = pages.get(path, "").get(10, TimeUnit.SECONDS);
        return new String(page.body(), StandardCharsets.UTF_8).strip();
    }
}
