package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tables in docs/spec and the tags of the tests name the same scenarios. */
class SpecificationTest {
    private static final Path ROOT = Path.of("..");

    @ParameterizedTest
    @CsvSource({"L, controller.md, 84", "A, agent.md, 98", "W, api.md, 90"})
    void everyScenarioOfTheTableHasATestAndEveryTagHasARow(String letter, String table, int scenarios) {
        TreeSet<String> rows = found(lines(ROOT.resolve("docs/spec").resolve(table)), "^\\| (" + letter + "\\d+) \\|");

        TreeSet<String> tags = found(testLines(), "@Tag\\(\"(" + letter + "\\d+)\"\\)");

        assertThat(rows).hasSizeGreaterThanOrEqualTo(scenarios).isEqualTo(tags);
    }

    @Test
    void everyScenarioStandsOnce() {
        for (String table : List.of("controller.md", "agent.md", "api.md")) {
            List<String> numbers = lines(ROOT.resolve("docs/spec").resolve(table))
                    .filter(line -> line.matches("\\| [LAW]\\d+ \\|.*"))
                    .map(line -> line.split("\\|")[1].strip())
                    .toList();
            assertThat(numbers).doesNotHaveDuplicates();
        }
    }

    /** The property-test library skips a property that has an annotation of JUnit, and says so in a report only. */
    @Test
    void noPropertyIsSkippedForItsTag() {
        Pattern skipped = Pattern.compile("@Property[^\n]*\n\\s*@Tag\\(");

        assertThat(testFiles().map(SpecificationTest::text))
                .noneMatch(text -> text.contains("import org.junit.jupiter.api.Tag;")
                        && skipped.matcher(text).find());
    }

    private static String text(Path file) {
        return lines(file).collect(Collectors.joining("\n"));
    }

    private static Stream<String> testLines() {
        return testFiles().flatMap(SpecificationTest::lines);
    }

    private static Stream<Path> testFiles() {
        try (Stream<Path> modules = Files.list(ROOT)) {
            List<Path> sources = modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .toList();
            return sources.stream().flatMap(SpecificationTest::javaFiles);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Path> javaFiles(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TreeSet<String> found(Stream<String> lines, String regex) {
        Pattern pattern = Pattern.compile(regex);
        return lines.flatMap(line -> pattern.matcher(line).results().map(match -> match.group(1)))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
