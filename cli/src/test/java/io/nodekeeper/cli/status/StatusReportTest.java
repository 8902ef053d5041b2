package io.nodekeeper.cli.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.pages.PagesServer;
import io.nodekeeper.client.pages.Page;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** {@code nodekeeper status}: the fleet on one screen. */
class StatusReportTest {
    private static final Path DOCS = Path.of("../docs/why.md");

    private static final JsonObject PAGE = Json.parseObject("""
            {"at":"2026-11-21T16:14:00.000000Z",
             "sight":{"guard":true,"sees":true,"canaryAgeMs":412,"toleranceMs":3000,"givenBackMs":0},
             "lag":{"gaps":{"count":9000,"p50Millis":10000,"p99Millis":10100,"p999Millis":10240,"maxMillis":12007,
                            "worstNode":"n9"},
                    "lags":{"count":9000,"p50Millis":3,"p99Millis":20,"p999Millis":41,"maxMillis":95,"worstNode":"n9"},
                    "graceMillis":50000},
             "nodes":500,"ready":497,"notReady":1,"unknown":2,"neverReported":0,
             "zones":[{"zone":"eu/eu-a","state":"Normal","nodes":250,"notReady":3,"waitingForTaint":1},
                      {"zone":"eu/eu-b","state":"Normal","nodes":250,"notReady":0,"waitingForTaint":0}],
             "unwell":[{"name":"n2","zone":"eu/eu-a","ready":"Unknown","since":"2026-11-21T16:13:52Z",
                        "cause":"NodeStatusUnknown: Kubelet stopped posting node status.","lastSignal":"lease",
                        "silentMillis":57912},
                       {"name":"n7","zone":"eu/eu-a","ready":"False","since":"2026-11-21T16:13:31Z",
                        "cause":"KubeletNotReady: PLEG is not healthy: pleg was last seen active 3m4s ago; threshold is 3m0s",
                        "lastSignal":"status","silentMillis":2203}],
             "suspects":[{"name":"n3","zone":"eu/eu-a","ready":"True","lastSignal":"lease","silentMillis":21400}],
             "damped":[{"name":"n5","zone":"eu/eu-b","ready":"True","lastSignal":"lease","silentMillis":800,
                        "fellFromReady":4}],
             "duplicates":[{"name":"n6","zone":"eu/eu-b","ready":"True","lastSignal":"lease","silentMillis":900,
                            "machines":"two machines report under this node's name: boot id 0e6b1a52 at 10.0.0.7, and boot id 9c1d44fe at 10.0.0.8"}],
             "longestSilent":[{"name":"n3","silentMillis":21400},{"name":"n8","silentMillis":9950}],
             "next":[{"at":"2026-11-21T16:14:28.600000Z","inMillis":28600,"node":"n3",
                      "what":"becomes Unknown, unless it sends a heartbeat"},
                     {"at":"2026-11-21T16:18:52.200000Z","inMillis":292200,"node":"n2",
                      "what":"the first of its 3 pods is evicted"}]}""");

    @Test
    void screenOfTheDocumentationIsWhatTheCommandPrints() throws Exception {
        String block = "## The fleet on one screen\n\n```console\n$ nodekeeper status\n"
                + StatusReport.of(PAGE, "the controller at http://127.0.0.1:10257", false, Palette.PLAIN) + "```\n";

        if (Boolean.getBoolean("nodekeeper.write-docs")) {
            String page = Files.readString(DOCS);
            int from = page.indexOf("## The fleet on one screen\n");
            int to = page.indexOf("```\n", page.indexOf("```console", from)) + 4;
            Files.writeString(DOCS, page.substring(0, from) + block + page.substring(to));
        }
        assertThat(Files.readString(DOCS)).contains(block);
    }

    @Test
    void blindControllerSaysSoInRedAndOnlyOnATerminal() {
        JsonObject page = PAGE.with("sight", JsonObject.EMPTY.with("blindness", "nothing seen for 42s"));

        assertThat(StatusReport.of(page, "x", false, Palette.PLAIN))
                .contains("Sight   BLIND: nothing seen for 42s\n")
                .doesNotContain("\u001b");
        assertThat(StatusReport.of(page, "x", false, new Palette(true)))
                .contains("Sight   \u001b[31mBLIND\u001b[0m: nothing seen for 42s\n");
        assertThat(Palette.of(Map.of("TERM", "xterm"), null)).isEqualTo(Palette.PLAIN);
    }

    @Test
    void screenIsBoundedAndWideIsNot() {
        JsonArray many = new JsonArray(IntStream.range(0, 25)
                .<JsonValue>mapToObj(
                        i -> JsonObject.EMPTY.with("name", "node-" + i).with("ready", "False"))
                .toList());
        JsonObject page = PAGE.with("unwell", many);

        assertThat(StatusReport.of(page, "x", false, Palette.PLAIN))
                .contains("  node-9 ")
                .doesNotContain("  node-10 ")
                .contains("  and 15 more: -o wide\n");
        assertThat(StatusReport.of(page, "x", true, Palette.PLAIN))
                .contains("  node-24 ")
                .contains("LAST HEARTBEAT BY")
                .doesNotContain("more: -o wide");
    }

    @Test
    void textsOfNodesCannotControlTheTerminal() {
        JsonObject node = JsonObject.EMPTY
                .with("name", "n\u001b[2J")
                .with("cause", "a\nb\u0007")
                .with("ready", "\u001b[1A")
                .with("lastSignal", "\u009b2J");

        assertThat(StatusReport.of(
                        PAGE.with("unwell", JsonArray.of(node))
                                .with(
                                        "zones",
                                        JsonArray.of(node.with("zone", "\u001b").with("state", "\u001b[m")))
                                .with("next", JsonArray.of(node.with("what", "evicted\n\u001b[H"))),
                        "x\u001b",
                        true,
                        Palette.PLAIN))
                .contains(", from xU+001B\n", "  nU+001B[2J  U+001B[1A  ", "evicted U+001B[H\n")
                .doesNotContain("\u001b", "\u0007", "\u009b", "a\nb");
    }

    @Test
    void guardSaysWhetherItRefusesAndWhichNodesItProtected() {
        JsonObject guard = Json.parseObject("""
                {"mode":"enforce","recent":[{"name":"n4","at":"2026-11-21T16:13:40Z","kind":"GuardRefused","times":5,
                 "text":"Refused: node-controller changes Ready from True to Unknown, but node n4 renewed its lease 4s ago"}]}
                """);

        assertThat(StatusReport.of(PAGE.with("guard", guard), "x", false, Palette.PLAIN))
                .contains("Guard   refuses writes that wrongly blame nodes\n")
                .contains("""

                        Protected by the guard in the last hour
                          NODE  LAST      TIMES  WHAT
                          n4    16:13:40  5      Refused: node-controller changes Ready from True to Unknown, but node n4 renewed its lease 4s ago
                        """);
        assertThat(StatusReport.of(PAGE.with("guard", guard.with("mode", "warn")), "x", false, Palette.PLAIN))
                .contains("Guard   only warns of writes that wrongly blame nodes\n");
        assertThat(StatusReport.of(PAGE.with("guard", guard.with("off", "annotated")), "x", false, Palette.PLAIN))
                .contains("Guard   off: annotated\n");
        assertThat(StatusReport.of(PAGE, "x", false, Palette.PLAIN)).doesNotContain("Guard", "guard");
    }

    @Test
    void everyFormatHasTheSameContent() throws Exception {
        try (PagesServer server = server()) {
            String url = "--server=http://127.0.0.1:" + server.address().getPort();

            assertThat(Json.parseObject(printed("status", "-o", "json", url))).isEqualTo(PAGE);
            assertThat(printed("status", "-o", "yaml", url))
                    .startsWith("at: \"2026-11-21T16:14:00.000000Z\"\nsight:\n  guard: true\n")
                    .contains("nodes: 500\n")
                    .contains("- name: n7\n  zone: eu/eu-a\n  ready: \"False\"\n");
            assertThat(printed("status", url)).startsWith("Fleet at 2026-11-21 16:14:00 UTC, from the controller at");
        }
    }

    @Test
    void watchEndsWhenNothingReadsItsOutput() throws Exception {
        StringWriter text = new StringWriter();
        PrintWriter out = closedSoonAfter("Fleet", text);
        try (PagesServer server = server()) {
            int code = runner(out)
                    .run(
                            "status",
                            "--watch",
                            "--interval=500ms",
                            "--server=http://127.0.0.1:" + server.address().getPort());

            assertThat(code).isZero();
            assertThat(text.toString().split("Fleet at", -1).length).isGreaterThan(2);
        }
    }

    @Test
    void programsThatWatchGetOnlyAnswersAndEachInADocumentOfItsOwn() throws Exception {
        // given a controller whose second answer is that it does not work
        AtomicInteger asked = new AtomicInteger();
        try (PagesServer server = server(() -> asked.incrementAndGet() == 2
                ? JsonObject.EMPTY.with("notWorking", "another one leads")
                : JsonObject.EMPTY.with("zone", "eu"))) {
            String url = "--server=http://127.0.0.1:" + server.address().getPort();
            StringWriter text = new StringWriter();
            StringWriter err = new StringWriter();

            // when a program watches, until it has seen two answers
            int code = runner(closedSoonAfter("zone", text), new PrintWriter(err))
                    .run("status", "--watch", "--interval=500ms", "-o", "yaml", url);

            // then the error is not among them
            assertThat(code).isZero();
            assertThat(text.toString()).startsWith("zone: eu\n---\nzone: eu\n").doesNotContain("error");
            assertThat(err.toString())
                    .isEqualTo("error: the controller at http://127.0.0.1:"
                            + server.address().getPort() + " does not work: another one leads\n");
        }
    }

    @Test
    void bodyOfAnErrorIsCutAndCannotControlTheTerminalThatWatches() throws Exception {
        StringWriter text = new StringWriter();
        try (PagesServer server = PagesServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                (path, query) ->
                        CompletableFuture.completedFuture(Page.text(500, "broken\n\u001b[2J" + "x".repeat(10_000))))) {
            runner(closedSoonAfter("error", text))
                    .run(
                            "status",
                            "--watch",
                            "--interval=500ms",
                            "--server=http://127.0.0.1:" + server.address().getPort());
        }

        assertThat(text.toString().lines().findFirst().orElseThrow())
                .startsWith("error: the controller at ")
                .contains(" answers 500: broken U+001B[2Jxxx")
                .hasSizeLessThan(2_100);
        assertThat(text.toString()).doesNotContain("\u001b");
    }

    /** A writer to {@code text} that breaks three flushes after {@code word} was written. */
    private static PrintWriter closedSoonAfter(String word, StringWriter text) {
        int[] flushes = {0};
        return new PrintWriter(new Writer() {
            @Override
            public void write(char[] chars, int from, int length) {
                text.write(chars, from, length);
            }

            @Override
            public void flush() throws IOException {
                if (text.getBuffer().indexOf(word) >= 0 && ++flushes[0] > 3) {
                    throw new IOException("Broken pipe");
                }
            }

            @Override
            public void close() {}
        });
    }

    private static PagesServer server() throws Exception {
        return server(() -> PAGE);
    }

    private static PagesServer server(Supplier<JsonObject> status) throws Exception {
        return PagesServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                (path, query) -> CompletableFuture.completedFuture(
                        path.equals("/debug/status") ? Page.json(status.get()) : Page.text(404, "no such page")));
    }

    private static CommandRunner runner(PrintWriter out) {
        return runner(out, new PrintWriter(new StringWriter()));
    }

    private static CommandRunner runner(PrintWriter out, PrintWriter err) {
        return new CommandRunner(
                List.of(new StatusCommand(command -> StatusProcess.run(command, Palette.PLAIN, out, err))), out, err);
    }

    private static String printed(String... arguments) {
        StringWriter text = new StringWriter();
        assertThat(runner(new PrintWriter(text)).run(arguments)).isZero();
        return text.toString();
    }
}
