package io.nodekeeper.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.MemoryHistory;
import io.nodekeeper.controller.observe.report.ObserveReport;
import io.nodekeeper.controller.observe.report.Period;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The example in docs/observe-report.md is what the command prints for a history: a stalled API server after which the
 * other controller blames two healthy nodes, a false verdict, two outages, and one that the other declares sooner. With {@code
 * -Dnodekeeper.write-docs=true} it is written.
 */
class ObserveReportDocsTest {
    private static final Path DOCS = Path.of("../docs/observe-report.md");
    private static final Instant B = Instant.parse("2026-11-21T16:13:00Z");

    static Decision about(double second, String node, String kind, JsonObject details) {
        return new Decision(B.plusMillis((long) (second * 1_000)), node, "", kind, "", details);
    }

    private static String at(double second) {
        return KubeTime.formatMicro(B.plusMillis((long) (second * 1_000)));
    }

    private static JsonObject.Builder change(String object, String what) {
        return JsonObject.builder().put("object", object).put("change", what);
    }

    /** A change that the other alone made, found ten minutes later. */
    private static Decision theirs(double second, String node, String object, String what) {
        return about(
                second + 600,
                node,
                "Difference",
                change(object, what).put("theirs", at(second)).build());
    }

    private static Stream<Decision> blamed(double second, String node, double silent, double heardAfter) {
        return Stream.of(
                about(
                        second + 600,
                        node,
                        "Difference",
                        change("node " + node, "Ready=Unknown")
                                .put("theirs", at(second))
                                .put("graceMillis", 50_000)
                                .put("silentMillisBefore", (long) (silent * 1_000))
                                .put("heardMillisAfter", (long) (heardAfter * 1_000))
                                .build()),
                theirs(second, node, "node " + node, "+node.kubernetes.io/unreachable:NoSchedule"),
                theirs(second + 5, node, "node " + node, "+node.kubernetes.io/unreachable:NoExecute"));
    }

    private static Stream<Decision> dead(double second, String node, double lead) {
        return Stream.of("Ready=Unknown", "+node.kubernetes.io/unreachable:NoSchedule")
                .map(what -> about(
                        second + lead,
                        node,
                        "Difference",
                        change("node " + node, what)
                                .put("ours", at(second))
                                .put("theirs", at(second + lead))
                                .put("oursBeforeTheirsMillis", (long) (lead * 1_000))
                                .build()));
    }

    private static List<Decision> decisions() {
        return Stream.of(
                        Stream.of(
                                about(-40_000, "", "ObservationStarted", JsonObject.EMPTY),
                                about(
                                        3,
                                        "",
                                        "ObserverBlind",
                                        JsonObject.EMPTY
                                                .with("hop", "api_server")
                                                .with("blindFor", "3s")),
                                about(
                                        62,
                                        "",
                                        "ObserverSees",
                                        JsonObject.EMPTY
                                                .with("hop", "api_server")
                                                .with("blindFor", "1m2s")),
                                about(
                                        4_000,
                                        "worker-4",
                                        "Difference",
                                        change("node worker-4", "Ready=Unknown")
                                                .put("theirs", at(4_000))
                                                .put("falseHeardMillisBefore", 1_840)
                                                .build())),
                        blamed(64, "worker-1", 69, 3.1),
                        blamed(64, "worker-2", 66.5, 2.2),
                        Stream.of(
                                theirs(369, "worker-2", "pod default/web-1", "evicted"),
                                theirs(369, "worker-2", "pod default/web-2", "evicted")),
                        dead(9_000, "worker-7", 4.871),
                        dead(20_000, "worker-9", 3.306),
                        Stream.of(about(
                                30_600,
                                "worker-3",
                                "Difference",
                                change("node worker-3", "Ready=Unknown")
                                        .put("theirs", at(30_000))
                                        .put("graceMillis", 50_000)
                                        .put("silentMillisBefore", 41_700)
                                        .build())))
                .flatMap(all -> all)
                .sorted(Comparator.comparing(Decision::at))
                .toList();
    }

    /** The report of these decisions with links, as the controller at a local address gives it. */
    static JsonObject report(List<Decision> decisions) {
        MemoryHistory history = new MemoryHistory();
        decisions.forEach(history::add);
        Period period = new Period(B.minus(Duration.ofHours(14)), B.plus(Duration.ofHours(10)));
        JsonObject report = ObserveReport.of(
                        history.find(ObserveReport.query(period.from())).join(), period)
                .with("source", "the controller at http://127.0.0.1:10257");
        return new Links(
                        Optional.of(URI.create("http://127.0.0.1:10257")),
                        List.of("--server", "http://127.0.0.1:10257"))
                .in(report);
    }

    @Test
    void exampleOfTheDocumentationIsWhatTheCommandPrints() throws IOException {
        String block = "```markdown\n" + MarkdownWriter.write(ReportDocument.of(report(decisions()))) + "```\n";
        if (Boolean.getBoolean("nodekeeper.write-docs")) {
            String page = Files.readString(DOCS);
            int from = page.indexOf("```markdown\n");
            int to = page.indexOf("```\n", from + 1) + 4;
            Files.writeString(DOCS, page.substring(0, from) + block + page.substring(to));
        }

        assertThat(Files.readString(DOCS)).contains(block);
    }

    @Test
    void reportWithoutDifferencesSaysSo() {
        assertThat(MarkdownWriter.write(
                        ReportDocument.of(report(List.of(about(-60_000, "", "ObservationStarted", JsonObject.EMPTY))))))
                .startsWith("""
                        # Nodekeeper observe report

                        From 2026-11-21 02:13:00 to 2026-11-22 02:13:00 UTC (24h0m0s). Source: `the controller at http://127.0.0.1:10257`.

                        **Nothing differed: neither controller changed a node or a pod.**

                        | what | number |
                        | --- | --- |
                        | false verdicts avoided | 0 |
                        """)
                .doesNotContain("##");
    }

    @Test
    void reportWithoutAnObservationSaysWhatIsMissing() {
        assertThat(MarkdownWriter.write(ReportDocument.of(report(List.of()))))
                .contains("**The history has no observation in this period: no controller with --mode observe or guard"
                        + " wrote to it.**");
    }

    @Test
    void reportOfAHistoryThatWasCutSaysSinceWhenItIsComplete() {
        List<Decision> many = Stream.iterate(0, i -> i + 1)
                .limit(40)
                .map(i -> about(i, "n1", "Suspected", JsonObject.EMPTY))
                .toList();

        assertThat(MarkdownWriter.write(ReportDocument.of(report(many))))
                .contains("**The history has reached its limit: before 2026-11-21 16:13:07 UTC entries are missing, and"
                        + " the totals are too small. --history-size sets the limit.**");
    }
}
