package io.nodekeeper.agent.culprit.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of the classes of fault in docs/diagnosis.md has each reason of the code, and a test for each. */
class DiagnosisTableTest {
    private static final Path MODULE = Files.exists(Path.of("docs")) ? Path.of("agent") : Path.of("");
    private static final Path CODE = MODULE.resolve("src/main/java/io/nodekeeper/agent/culprit/diagnosis");
    private static final Path TABLE =
            MODULE.toAbsolutePath().resolveSibling("docs").resolve("diagnosis.md");
    /** A reason in CamelCase, as it stands in code. */
    private static final Pattern REASON = Pattern.compile("\"((?:[A-Z]+[a-z]+){2,}|CNIPluginHung|OCIRuntimeHung)\"");

    private static final Pattern ROW = Pattern.compile("^\\| `(\\w+)` \\|.*\\| `(\\w+)` \\|$", Pattern.MULTILINE);

    @Test
    void eachReasonOfTheCodeIsInTheTableAndNoOther() throws IOException {
        Set<String> reasons = new TreeSet<>();
        try (Stream<Path> files = Files.list(CODE)) {
            for (Path file : files.toList()) {
                Matcher matcher = REASON.matcher(Files.readString(file));
                while (matcher.find()) {
                    reasons.add(matcher.group(1));
                }
            }
        }

        assertThat(reasons).hasSizeGreaterThan(30);
        assertThat(rows().keySet()).containsExactlyElementsOf(reasons);
    }

    @Test
    void eachRowHasATest() throws IOException {
        Set<String> tests = Stream.of(FaultClassesTest.class, DiagnosisTest.class)
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Test.class))
                .map(Method::getName)
                .collect(Collectors.toSet());

        assertThat(rows().values()).allSatisfy(test -> assertThat(tests).contains(test));
    }

    private static Map<String, String> rows() throws IOException {
        Map<String, String> rows = new TreeMap<>();
        Matcher matcher = ROW.matcher(Files.readString(TABLE));
        while (matcher.find()) {
            rows.put(matcher.group(1), matcher.group(2));
        }
        return rows;
    }
}
