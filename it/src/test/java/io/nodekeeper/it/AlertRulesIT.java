package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alert rules that operators are given, checked and tried out by Prometheus' own promtool. */
class AlertRulesIT {
    private static final Path ALERTS = Path.of("..", "docs", "alerts");
    private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");

    @TempDir
    Path directory;

    @Test
    void rulesAreRulesToPrometheus() throws Exception {
        assertThat(promtool("check", files(ALERTS))).contains("14 rules found");
    }

    @Test
    void alertsFireWhenTheyShouldAndOnlyThen() throws Exception {
        List<Path> tests = files(ALERTS.resolve("tests"));

        assertThat(tests).hasSameSizeAs(files(ALERTS));
        assertThat(promtool("test", tests)).contains("SUCCESS");
    }

    @Test
    void noAlertIsWithoutATest() throws Exception {
        for (Path rules : files(ALERTS)) {
            String name = rules.getFileName().toString().replace(".rules.", ".test.");
            String tests = Files.readString(ALERTS.resolve("tests").resolve(name));
            Matcher alerts = ALERT.matcher(Files.readString(rules));
            List<String> untested = new ArrayList<>();
            int count = 0;
            while (alerts.find()) {
                count++;
                if (!Pattern.compile("\\b" + alerts.group(1) + "\\b")
                        .matcher(tests)
                        .find()) {
                    untested.add(alerts.group(1));
                }
            }
            assertThat(count).as("alerts in " + rules).isPositive();
            assertThat(untested).as("alerts of " + rules + " without a test").isEmpty();
        }
    }

    @Test
    void expressionsOfDashboardsAreExpressionsToPrometheus() throws Exception {
        StringBuilder rules = new StringBuilder("groups:\n  - name: dashboards\n    rules:\n");
        int count = 0;
        try (Stream<Path> dashboards = Files.list(Path.of("..", "deploy", "grafana"))) {
            for (Path dashboard : dashboards.sorted().toList()) {
                for (String expression : expressions(Json.parseObject(Files.readString(dashboard)))) {
                    String text = expression.replace("$__rate_interval", "5m").replace("$instance", ".*");
                    rules.append("      - {record: \"panel:%d\", expr: %s}\n"
                            .formatted(count++, Json.write(new JsonString(text))));
                }
            }
        }
        Path file = directory.resolve("dashboards.rules.yaml");
        Files.writeString(file, rules);

        assertThat(count).isGreaterThan(80);
        assertThat(promtool("check", List.of(file))).contains(count + " rules found");
    }

    private static List<String> expressions(JsonObject dashboard) {
        return Stream.concat(
                        dashboard.object("annotations").array("list").objects(),
                        dashboard
                                .array("panels")
                                .objects()
                                .flatMap(panel -> panel.array("targets").objects()))
                .map(query -> query.text("expr"))
                .toList();
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
        }
    }

    /** What {@code promtool VERB rules FILES} says; fails if it exits with another code than 0. */
    private String promtool(String verb, List<Path> files) throws Exception {
        List<String> command = new ArrayList<>(List.of("promtool", verb, "rules"));
        files.forEach(file -> command.add(file.toAbsolutePath().toString()));
        Path out = Files.createTempFile(directory, "promtool", ".out");
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
        } catch (IOException e) {
            throw new IllegalStateException(
                    "promtool is missing; install it (Debian: apt-get install --no-install-recommends prometheus), or"
                            + " run ./test, which does",
                    e);
        }
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError(String.join(" ", command) + " did not end within 60 s");
        }
        String said = Files.readString(out);
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }
}
