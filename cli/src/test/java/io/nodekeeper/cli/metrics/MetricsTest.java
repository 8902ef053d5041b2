package io.nodekeeper.cli.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Version;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Alert rules and dashboards use metrics and labels that the processes have, and the documents name all of them. */
class MetricsTest {
    private static final Path ROOT = Path.of("..");
    private static final Path DASHBOARDS = ROOT.resolve("deploy/grafana");
    /** What Prometheus itself adds to each series of the documented scrape configuration. */
    private static final Set<String> SCRAPED = Set.of("job", "instance", "zone");
    /** Series that Prometheus makes, with their labels; those of alerts are in the rules. */
    private static final Map<String, Set<String>> PROMETHEUS = Map.of(
            "up",
            Set.of(),
            "ALERTS",
            Set.of("alertname", "alertstate", "severity", "cause", "scope", "layer", "reason"));

    private static final Pattern RULE_EXPRESSION =
            Pattern.compile("(?m)^        expr: (?:>-\\n)?((?:.*\\n)(?:          .*\\n)*)");
    /** Grafana's panels that the dashboards use; others have other options. */
    private static final Set<String> PANELS = Set.of("row", "stat", "timeseries", "table", "state-timeline");

    private final Map<String, Set<String>> agent = Scrapes.labels(Scrapes.agent());
    private final Map<String, Set<String>> controller = Scrapes.labels(Scrapes.controller());

    @Test
    void everyProcessHasItsVersionAndTheMetricsOfItsMemoryAndThreads() {
        assertThat(Scrapes.agent()).contains("nodekeeper_build_info{version=\"" + Version.current() + "\"} 1");
        assertThat(Scrapes.controller()).contains("nodekeeper_build_info{version=\"" + Version.current() + "\"} 1");
        for (Map<String, Set<String>> scraped : List.of(agent, controller)) {
            assertThat(scraped)
                    .containsKeys(
                            "process_cpu_seconds_total",
                            "process_resident_memory_bytes",
                            "process_open_fds",
                            "process_start_time_seconds",
                            "jvm_memory_used_bytes",
                            "jvm_gc_collection_seconds_sum",
                            "jvm_threads_current",
                            "jvm_runtime_info");
        }
    }

    @Test
    void alertRulesUseMetricsAndLabelsThatExist() throws IOException {
        for (String who : List.of("agent", "controller")) {
            String rules = Files.readString(ROOT.resolve("docs/alerts/nodekeeper-" + who + ".rules.yaml"));
            List<String> expressions = RULE_EXPRESSION
                    .matcher(rules)
                    .results()
                    .map(expression -> expression.group(1))
                    .toList();

            assertThat(expressions).hasSize((int)
                    rules.lines().filter(line -> line.contains("- alert: ")).count());
            for (String expression : expressions) {
                assertThat(faults(expression)).as(expression).isEmpty();
            }
        }
    }

    @Test
    void aWrongMetricOrLabelIsFound() {
        assertThat(faults("sum by (zoen) (node_collector_zone_size{job=\"nodekeeper-controller\"})"))
                .containsExactly("no label zoen");
        assertThat(faults("max(node_collector_zone_sizes{job=\"nodekeeper-controller\"}) > 3"))
                .containsExactly("no metric node_collector_zone_sizes");
        assertThat(faults("rate(nodekeeper_verdicts_total{job=\"nodekeeper-controller\",kind=\"Spared\"}[5m])"))
                .containsExactly("nodekeeper_verdicts_total has no label kind");
        // An agent does not have the controller's metrics.
        assertThat(faults("nodekeeper_suspect_nodes{job=\"nodekeeper-agent\"}"))
                .containsExactly("no metric nodekeeper_suspect_nodes");
    }

    @Test
    void dashboardsUseMetricsAndLabelsThatExist() throws IOException {
        for (Path file : dashboards()) {
            List<String> expressions = expressions(dashboard(file));

            assertThat(expressions).as(file.toString()).hasSizeGreaterThan(10);
            for (String expression : expressions) {
                assertThat(faults(expression)).as(file + ": " + expression).isEmpty();
            }
        }
    }

    @Test
    void dashboardsAreInGrafanasModel() throws IOException {
        Set<String> uids = new HashSet<>();
        for (Path file : dashboards()) {
            JsonObject dashboard = dashboard(file);
            List<JsonObject> panels = dashboard.array("panels").objects().toList();

            // A dashboard's address is its uid, and names of files follow it.
            assertThat(uids.add(dashboard.text("uid"))).isTrue();
            assertThat(file.getFileName()).hasToString(dashboard.text("uid") + ".json");
            assertThat(dashboard.text("uid").length()).isLessThanOrEqualTo(40);
            assertThat(dashboard.number("schemaVersion")).contains(39L);
            assertThat(dashboard.object("templating").array("list").objects().findFirst())
                    .hasValueSatisfying(variable -> {
                        assertThat(variable.text("name")).isEqualTo("datasource");
                        assertThat(variable.text("type")).isEqualTo("datasource");
                        assertThat(variable.text("query")).isEqualTo("prometheus");
                    });
            assertThat(panels).extracting(panel -> panel.number("id")).doesNotHaveDuplicates();
            assertThat(panels).extracting(panel -> panel.text("type")).isSubsetOf(PANELS);
            assertThat(panels).extracting(panel -> panel.text("title")).doesNotContain("");
            assertThat(overlaps(panels)).as(file.toString()).isEmpty();
            for (JsonObject panel : panels) {
                List<JsonObject> targets = panel.array("targets").objects().toList();
                assertThat(targets.isEmpty()).isEqualTo(panel.text("type").equals("row"));
                assertThat(targets).extracting(target -> target.text("refId")).doesNotHaveDuplicates();
                for (JsonObject target : targets) {
                    assertThat(target.object("datasource").text("uid")).isEqualTo("${datasource}");
                }
            }
        }
    }

    @Test
    void documentsNameEveryMetric() throws IOException {
        assertThat(unnamed(controller, "controller.md", "guard.md")).isEmpty();
        assertThat(unnamed(agent, "agent.md")).isEmpty();
    }

    /** The metrics that no page names; those of the process are named by their prefixes. */
    private static Set<String> unnamed(Map<String, Set<String>> scraped, String... pages) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String page : pages) {
            text.append(Files.readString(ROOT.resolve("docs").resolve(page)));
        }
        return scraped.keySet().stream()
                .map(name -> name.replaceFirst("_(bucket|sum|count)$", ""))
                .filter(name -> !name.startsWith("process_") && !name.startsWith("jvm_"))
                .filter(name -> text.indexOf("`" + name + "`") < 0)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private Set<String> faults(String text) {
        Expression expression = Expression.of(text);
        Map<String, Set<String>> known = new TreeMap<>(PROMETHEUS);
        known.putAll(text.contains("job=\"nodekeeper-agent\"") ? agent : controller);
        Set<String> faults = new TreeSet<>();
        Set<String> all = new TreeSet<>(SCRAPED);
        all.addAll(expression.added());
        expression.selectors().forEach((metric, used) -> {
            Set<String> labels = known.get(metric);
            if (labels == null) {
                faults.add("no metric " + metric);
                return;
            }
            all.addAll(labels);
            used.stream()
                    .filter(label -> !labels.contains(label) && !SCRAPED.contains(label))
                    .forEach(label -> faults.add(metric + " has no label " + label));
        });
        if (faults.isEmpty()) {
            expression.grouping().stream()
                    .filter(label -> !all.contains(label))
                    .forEach(label -> faults.add("no label " + label));
        }
        return faults;
    }

    private static List<String> expressions(JsonObject dashboard) {
        Stream<JsonObject> annotations =
                dashboard.object("annotations").array("list").objects();
        Stream<JsonObject> targets = dashboard
                .array("panels")
                .objects()
                .flatMap(panel -> panel.array("targets").objects());
        return Stream.concat(annotations, targets)
                .map(query -> query.text("expr"))
                .toList();
    }

    private static List<String> overlaps(List<JsonObject> panels) {
        List<String> overlaps = new ArrayList<>();
        Map<String, String> cells = new TreeMap<>();
        for (JsonObject panel : panels) {
            JsonObject at = panel.object("gridPos");
            assertThat(number(at, "x") + number(at, "w")).isLessThanOrEqualTo(24);
            for (long x = number(at, "x"); x < number(at, "x") + number(at, "w"); x++) {
                for (long y = number(at, "y"); y < number(at, "y") + number(at, "h"); y++) {
                    String other = cells.put(x + "," + y, panel.text("title"));
                    if (other != null) {
                        overlaps.add(other + " and " + panel.text("title"));
                    }
                }
            }
        }
        return overlaps;
    }

    private static long number(JsonObject object, String name) {
        return object.number(name).orElseThrow();
    }

    private static JsonObject dashboard(Path file) throws IOException {
        return Json.parseObject(Files.readString(file));
    }

    private static List<Path> dashboards() throws IOException {
        try (Stream<Path> files = Files.list(DASHBOARDS)) {
            List<Path> found = files.sorted().toList();
            assertThat(found).hasSize(3);
            return found;
        }
    }
}
