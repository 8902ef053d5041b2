package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.assertj.core.data.TemporalUnitOffset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The observe report about a controller that really blames two living nodes, and is later than ours for a dead one. */
@Tag("long")
class ObserveReportIT {
    /** Between the times at which two processes see one change, on a busy machine. */
    private static final TemporalUnitOffset APART = within(5, ChronoUnit.SECONDS);

    @TempDir
    Path directory;

    @Test
    void theReportNamesTheFalseVerdictsAndTheTimeGainedAndTheObserverWritesNothing() throws Exception {
        try (ObservedCluster cluster = new ObservedCluster(directory)) {
            // when the cluster's controller no longer sees renewals, and blames three nodes for their silence
            cluster.kill();
            cluster.stallTheirWatch();
            Map<String, Instant> blamed = new TreeMap<>();
            Eventually.within(Duration.ofSeconds(60), () -> {
                blamed(cluster).forEach(blamed::putIfAbsent);
                return blamed.size() == 3;
            });
            assertThat(blamed).containsOnlyKeys("dying-0", "living-0", "living-1");
            List<JsonObject> reports = new ArrayList<>();
            Eventually.within(Duration.ofSeconds(60), () -> {
                reports.add(json(cluster, "--server=" + cluster.pages()));
                return reports.getLast().array("verdicts").objects().count() == 3;
            });
            JsonObject report = reports.getLast();

            // then the report has the two false verdicts, and the dead node for which ours is earlier
            Map<String, JsonObject> verdicts = report.array("verdicts")
                    .objects()
                    .collect(Collectors.toMap(
                            verdict -> verdict.text("node") + " " + verdict.text("outcome"),
                            verdict -> verdict,
                            (one, other) -> {
                                throw new AssertionError("twice: " + one);
                            },
                            TreeMap::new));
            assertThat(verdicts).containsOnlyKeys("dying-0 earlier", "living-0 false", "living-1 false");
            for (String node : List.of("living-0", "living-1")) {
                assertThat(at(Objects.requireNonNull(verdicts.get(node + " false"))))
                        .isCloseTo(blamed.get(node), APART);
            }
            JsonObject dead = Objects.requireNonNull(verdicts.get("dying-0 earlier"));
            long gained = dead.number("gainedMillis").orElse(0L);
            assertThat(gained).isBetween(1_000L, 25_000L);
            assertThat(at(dead).plusMillis(gained)).isCloseTo(blamed.get("dying-0"), APART);
            // and people read the same, with commands that work
            theReportsForPeopleSayTheSame(cluster, verdicts);

            // and the observer wrote nothing, though the other controller did
            assertThat(cluster.observer().terminate()).isEqualTo(143);
            assertThat(cluster.observer().log())
                    .containsPattern("observed: .* 2 of theirs false, .*; [1-9]\\d* writes withheld");
            List<String> requests = cluster.audit().requests(ObservedCluster.OBSERVER);
            assertThat(requests).contains("list nodes", "watch leases");
            assertThat(requests.stream().map(request -> request.split(" ")[0])).containsOnly("get", "list", "watch");
            assertThat(cluster.audit().requests("system:kube-controller-manager"))
                    .contains("update nodes/status");

            // and its files tell the same after its end
            JsonObject fromFiles = json(cluster, "--history-dir=" + cluster.history());
            // of the same verdicts; the observer may have seen one more change since, or been blind
            assertThat(settled(fromFiles)).isEqualTo(settled(report));
        }
    }

    private void theReportsForPeopleSayTheSame(ObservedCluster cluster, Map<String, JsonObject> verdicts)
            throws Exception {
        String server = "--server=" + cluster.pages();
        String markdown = cluster.nodekeeper("observe-report", server);
        assertThat(markdown)
                .contains("**With Nodekeeper as the cluster's controller, 2 verdicts about 2 nodes ")
                .contains("would not have happened; 1 outage would have been declared earlier, by ")
                // In the order of time, which is not always that of the names.
                .containsPattern("## False verdicts that would have been avoided\n\n.*\n.*\n(.*`living-1`.*\n)?"
                        + "\\| \\S+ \\S+ \\| `living-0` \\| the cluster's controller declared it Unknown \\S+ after a"
                        + " heartbeat \\| 0 \\|")
                .containsPattern(
                        "\\| `dying-0` \\| Nodekeeper would have declared it Unknown \\S+s before the cluster's"
                                + " controller did \\| 0 \\|");

        Path file = directory.resolve("report.html");
        cluster.nodekeeper("observe-report", server, "-o", "html", "--output-file=" + file);
        assertThat(Files.readString(file)).startsWith("<!DOCTYPE html>").doesNotContain("<script");

        for (JsonObject verdict : verdicts.values()) {
            String timeline = verdict.text("timeline");
            assertThat(timeline).startsWith(cluster.pages() + "/ui/#/node/" + verdict.text("node") + "?at=");
            assertThat(markdown).contains("[timeline](" + timeline + ")");
            assertThat(Files.readString(file)).contains("href=\"" + timeline + "\"");
        }
        String[] why = Objects.requireNonNull(verdicts.get("living-0 false"))
                .text("why")
                .split(" ");
        assertThat(why[0]).isEqualTo("nodekeeper");
        assertThat(cluster.nodekeeper(List.of(why).subList(1, why.length).toArray(String[]::new)))
                .contains("node living-0 Ready=Unknown: theirs alone, and false: the node was heard ");
    }

    private static JsonObject json(ObservedCluster cluster, String source) throws Exception {
        return Json.parseObject(cluster.nodekeeper("observe-report", source, "-o", "json"));
    }

    private static JsonObject settled(JsonObject report) {
        return report.object("summary").without("blindMillis").without("changes");
    }

    private static Instant at(JsonObject verdict) {
        return KubeTime.parse(verdict.text("at")).orElseThrow();
    }

    /** The nodes that became Unknown, and when this process saw it. */
    private static Map<String, Instant> blamed(ObservedCluster cluster) {
        Instant now = Instant.now();
        long nanos = System.nanoTime();
        Map<String, Instant> blamed = new TreeMap<>();
        cluster.fleet().nodes().forEach((name, seen) -> {
            if (seen.marked > 0 && seen.ready.equals("Unknown")) {
                blamed.put(name, now.minusNanos(nanos - seen.readySince));
            }
        });
        return blamed;
    }
}
