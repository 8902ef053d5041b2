package io.nodekeeper.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.pages.PagesServer;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.FileHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code nodekeeper observe-report}: from the controller, through the API server's proxy, or from files. */
class ObserveReportTest {
    private static final Instant NOW = Instant.parse("2026-11-21T17:00:00Z");
    private static final JsonObject REPORT = Json.parseObject("""
            {"from":"2026-11-20T17:00:00Z","to":"2026-11-21T17:00:00Z",
             "observed":[{"from":"2026-11-20T17:00:00Z","to":"2026-11-21T17:00:00Z"}],
             "waiting":2,
             "summary":{"falseVerdicts":1,"nodesSpared":1,"podsSaved":0,"changes":1},
             "verdicts":[{"node":"n1","at":"2026-11-21T16:13:10.250000Z","outcome":"false","text":"said so","podsSaved":0}]}
            """);

    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final CommandRunner runner = new CommandRunner(
            List.of(new ObserveReportCommand(command -> ObserveReportProcess.run(
                    command, new VirtualTime(NOW).loop("report").clock(), new PrintWriter(out), new PrintWriter(err)))),
            new PrintWriter(out),
            new PrintWriter(err));

    private PagesServer serving(Page page) throws IOException {
        Pages pages = (path, query) -> {
            asked.add(path + "?" + query);
            return CompletableFuture.completedFuture(
                    path.endsWith("/debug/observe-report") ? page : Page.text(404, "404 page not found"));
        };
        return PagesServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), pages);
    }

    private static String url(PagesServer server) {
        return "http://127.0.0.1:" + server.address().getPort();
    }

    @Test
    void controllerIsAskedForThePeriodAndItsReportLinksIntoItsTimelines() throws IOException {
        try (PagesServer server = serving(Page.json(REPORT))) {
            Path file = directory.resolve("report.html");
            Files.writeString(file, "an earlier report, which is longer ".repeat(1_000));

            int code = runner.run(
                    "observe-report", "--server=" + url(server), "--since=36h", "-o", "html", "--output-file=" + file);

            assertThat(err.toString()).isEmpty();
            assertThat(code).isZero();
            assertThat(out.toString()).isEmpty();
            assertThat(asked).containsExactly("/debug/observe-report?since=36h0m0s");
            assertThat(Files.readString(file))
                    .startsWith("<!DOCTYPE html>\n")
                    .endsWith("</html>\n")
                    .contains("2 changes wait for the other controller, for up to 10m, and are not in this report.")
                    .contains("<a href=\"" + url(server) + "/ui/#/node/n1?at=2026-11-21T16%3A13%3A10Z\">timeline</a>")
                    .contains("<code>nodekeeper why n1 --at 2026-11-21T16:13:10Z --server " + url(server) + "</code>");
        }
    }

    @Test
    void throughTheProxyOfTheApiServerTheReportNamesThePortForwardThatItsLinksNeed() throws IOException {
        try (PagesServer api = serving(Page.json(REPORT))) {
            Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                    current-context: here
                    contexts: [{name: here, context: {cluster: c}}]
                    clusters: [{name: c, cluster: {server: "%s"}}]
                    """.formatted(url(api)));

            int code = runner.run(
                    "observe-report",
                    "--kubeconfig=" + kubeconfig,
                    "--controller-namespace=monitoring",
                    "--controller-service=https:nk:pages");

            assertThat(err.toString()).doesNotContain("error");
            assertThat(code).isZero();
            assertThat(asked)
                    .contains("/api/v1/namespaces/monitoring/services/https:nk:pages/proxy/debug/observe-report"
                            + "?since=24h0m0s");
            assertThat(out.toString())
                    .contains("The links into timelines work while this runs: `kubectl -n monitoring port-forward"
                            + " service/nk 10257:pages`")
                    .contains(
                            "[timeline](https://127.0.0.1:10257/ui/#/node/n1?at=2026-11-21T16%3A13%3A10Z), `nodekeeper"
                                    + " why n1 --at 2026-11-21T16:13:10Z --kubeconfig " + kubeconfig
                                    + " --controller-namespace monitoring --controller-service https:nk:pages`");
        }
    }

    @Test
    void controllerThatDoesNotObserveIsNamed() throws IOException {
        try (PagesServer server = serving(Page.text(404, "404 page not found"))) {
            assertThat(runner.run("observe-report", "--server=" + url(server))).isEqualTo(1);

            assertThat(err.toString())
                    .isEqualTo("error: the controller at " + url(server) + " has no observe report: it runs without"
                            + " --mode observe or guard, or is of an earlier version; expected the address of one that"
                            + " observes (--server) or its --history-dir\n");
        }
    }

    @Test
    void filesOfAControllerThatDoesNotRunAreReported() throws IOException {
        Path history = Files.createDirectory(directory.resolve("history"));
        ThreadLoop loop = new ThreadLoop("controller");
        FileHistory files = new FileHistory(history, 1 << 20, loop, new ControllerMetrics());
        CompletableFuture.runAsync(
                        () -> {
                            files.add(new Decision(
                                    NOW.minus(Duration.ofHours(30)),
                                    "",
                                    "",
                                    "ObservationStarted",
                                    "",
                                    JsonObject.EMPTY));
                            files.add(new Decision(
                                    NOW.minusSeconds(60),
                                    "n1",
                                    "",
                                    "Difference",
                                    "",
                                    JsonObject.builder()
                                            .put("object", "node n1")
                                            .put("change", "Ready=Unknown")
                                            .put("theirs", "2026-11-21T16:59:00Z")
                                            .put("falseHeardMillisBefore", 400)
                                            .build()));
                        },
                        loop)
                .join();
        files.close();
        loop.close();

        int code = runner.run("observe-report", "--history-dir=" + history, "-o", "json");

        assertThat(err.toString()).isEmpty();
        assertThat(code).isZero();
        JsonObject report = Json.parseObject(out.toString());
        assertThat(report.text("source")).isEqualTo("the history in " + history);
        assertThat(report.array("observed").toString())
                .isEqualTo("[{\"from\":\"2026-11-20T17:00:00.000000Z\",\"to\":\"2026-11-21T17:00:00.000000Z\"}]");
        assertThat(report.array("verdicts").toString())
                .isEqualTo("[{\"node\":\"n1\",\"at\":\"2026-11-21T16:59:00.000000Z\",\"outcome\":\"false\","
                        + "\"text\":\"the cluster's controller declared it Unknown 400ms after a heartbeat\","
                        + "\"podsSaved\":0,\"why\":\"nodekeeper why n1 --at 2026-11-21T16:59:00Z --history-dir "
                        + history
                        + "\"}]");
    }

    @Test
    void faultsAreNamedAtOnce() {
        int code = runner.run(
                "observe-report",
                "--server=http://127.0.0.1:1",
                "--history-dir=/none",
                "--since=9000h",
                "--page-url=ftp://x",
                "--output-file=" + directory);

        assertThat(code).isEqualTo(2);
        assertThat(err.toString())
                .contains("--server and --history-dir exclude each other")
                .contains("--history-dir is /none, which is not a directory")
                .contains("--since is 9000h0m0s; expected more than 0s, at most 8784h")
                .contains("--page-url is ftp://x; expected a URL like https://nodekeeper.example.org")
                .contains("--output-file is " + directory + ", which is a directory; expected a file");
    }
}
