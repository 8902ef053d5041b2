package io.nodekeeper.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.pages.PagesServer;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** {@code nodekeeper why} without a node, beside a blind controller with more unwell nodes than a screen has lines. */
class WorstNodesTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CommandRunner runner = new CommandRunner(
            List.of(new WhyCommand(command -> WhyProcess.run(
                    command,
                    new VirtualTime(Instant.parse("2026-11-30T12:00:00Z"))
                            .loop("why")
                            .clock(),
                    new PrintWriter(out),
                    new PrintWriter(err)))),
            new PrintWriter(out),
            new PrintWriter(err));

    /** A status page with 500 nodes, of which {@code listed} are listed as unwell. */
    private static JsonObject status(int listed) {
        return JsonObject.builder()
                .put("nodes", 500)
                .put("notReady", 4)
                .put("unknown", 8)
                .put("neverReported", 2)
                .put("sight", JsonObject.EMPTY.with("blindness", "nothing seen for 10s"))
                .put(
                        "unwell",
                        new JsonArray(IntStream.rangeClosed(1, listed)
                                .<JsonValue>mapToObj(i -> JsonObject.EMPTY.with("name", "n" + i))
                                .toList()))
                .build();
    }

    private String run(JsonObject status, String... flags) throws IOException {
        JsonObject node = JsonObject.EMPTY.with("node", JsonObject.EMPTY.with("ready", "Unknown"));
        try (PagesServer controller = PagesServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                (path, query) ->
                        CompletableFuture.completedFuture(Page.json(path.equals("/debug/status") ? status : node)))) {
            String server = "--server=http://127.0.0.1:" + controller.address().getPort();
            String[] line = flags.length == 0 ? new String[] {"why", server} : new String[] {"why", server, flags[0]};
            assertThat(runner.run(line)).as(err.toString()).isZero();
        }
        return out.toString();
    }

    @Test
    void programsLearnOfBlindnessAndHowManyNodesAreNotShown() throws IOException {
        JsonObject json = Json.parseObject(run(status(14), "--output=json"));

        assertThat(json.object("sight").text("blindness")).isEqualTo("nothing seen for 10s");
        assertThat(json.number("allNodes")).contains(500L);
        assertThat(json.number("unwellNodes")).contains(14L);
        assertThat(json.array("nodes").objects().map(node -> node.text("name")))
                .containsExactly("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10");
        assertThat(json.number("more")).contains(4L);
    }

    @Test
    void nodesThatThePageDoesNotListCountToo() throws IOException {
        assertThat(run(status(11)))
                .startsWith("The controller is blind: nothing seen for 10s.\n\n")
                .endsWith("\n\nAnd 4 more: nodekeeper status -o wide\n");
    }
}
