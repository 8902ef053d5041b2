package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each alert has a runbook, each runbook an alert, and runbooks name commands and pages that exist. */
class RunbooksTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern RULE =
            Pattern.compile("- alert: (\\w+)\\n(?:(?!- alert:).)*?runbook_url: (\\S+)\\n", Pattern.DOTALL);
    private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");
    private static final Pattern SHELL = Pattern.compile("```sh\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern COMMAND = Pattern.compile("(?m)^nodekeeper (\\S+)");
    private static final Pattern PAGE = Pattern.compile("http://127\\.0\\.0\\.1:\\d+(/[a-z/]+)");

    @Test
    void everyAlertHasTheAddressOfItsRunbook() throws IOException {
        for (Path rules : files("alerts", ".rules.yaml")) {
            String text = Files.readString(rules);
            List<String> addresses = RULE.matcher(text)
                    .results()
                    .map(rule -> rule.group(1) + " " + rule.group(2))
                    .toList();

            assertThat(addresses)
                    .as(rules.toString())
                    .containsExactlyElementsOf(alerts(text)
                            .map(alert -> alert + " docs/runbooks/" + alert + ".md")
                            .toList());
        }
    }

    @Test
    void runbooksAndAlertsAreTheSame() throws IOException {
        Set<String> alerts = new TreeSet<>();
        for (Path rules : files("alerts", ".rules.yaml")) {
            alerts(Files.readString(rules)).forEach(alerts::add);
        }

        assertThat(alerts).hasSizeGreaterThan(20);
        assertThat(runbooks().stream()
                        .map(page -> page.getFileName().toString().replace(".md", ""))
                        .toList())
                .containsExactlyInAnyOrderElementsOf(alerts);
    }

    @Test
    void everyRunbookSaysWhatTheAlertMeansWhatToLookAtAndWhatToDo() throws IOException {
        for (Path runbook : runbooks()) {
            String text = Files.readString(runbook);
            assertThat(text)
                    .as(runbook.toString())
                    .startsWith("# " + runbook.getFileName().toString().replace(".md", "\n"))
                    .containsSubsequence(
                            "\n## What it means\n", "\n## What to look at\n", "```sh\n", "\n## What to do\n", "\n* ");
        }
    }

    @Test
    void commandsInRunbooksExist() throws IOException {
        Set<String> commands = new CommandModel().specs().keySet();
        Set<String> used = inShells(COMMAND);

        assertThat(used).contains("why", "doctor").isSubsetOf(commands);
    }

    @Test
    void pagesInRunbooksAreDocumented() throws IOException {
        String documented =
                Files.readString(DOCS.resolve("controller.md")) + Files.readString(DOCS.resolve("agent.md"));

        assertThat(inShells(PAGE))
                .contains("/debug/runtime", "/debug/sight")
                .allMatch(page -> documented.contains("`" + page + "`"));
    }

    /** The first groups of {@code pattern} in all commands of all runbooks. */
    private static Set<String> inShells(Pattern pattern) throws IOException {
        Set<String> found = new TreeSet<>();
        for (Path runbook : runbooks()) {
            SHELL.matcher(Files.readString(runbook))
                    .results()
                    .flatMap(shell -> pattern.matcher(shell.group(1)).results())
                    .forEach(match -> found.add(match.group(1)));
        }
        return found;
    }

    private static Stream<String> alerts(String rules) {
        return ALERT.matcher(rules).results().map(alert -> alert.group(1));
    }

    private static List<Path> runbooks() throws IOException {
        return files("runbooks", ".md").stream()
                .filter(page -> !page.endsWith("README.md"))
                .toList();
    }

    private static List<Path> files(String folder, String suffix) throws IOException {
        try (Stream<Path> files = Files.list(DOCS.resolve(folder))) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .sorted()
                    .toList();
        }
    }
}
