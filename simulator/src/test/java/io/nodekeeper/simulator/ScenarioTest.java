package io.nodekeeper.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs every script of src/test/resources/scenarios; {@code -Dscenarios.rewrite=true} writes the actual traces. */
class ScenarioTest {
    private static final Path SCRIPTS = Path.of("src/test/resources/scenarios");

    static List<String> scripts() throws IOException {
        try (Stream<Path> files = Files.list(SCRIPTS)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    @Tag("L13")
    @Tag("L22")
    @Tag("L27")
    @Tag("W1")
    void leavesExactlyTheTraceInTheScript(String name) throws IOException {
        String script = Files.readString(SCRIPTS.resolve(name));

        String happened = Scenario.run(script);

        if (Boolean.getBoolean("scenarios.rewrite")) {
            Files.writeString(SCRIPTS.resolve(name), happened);
        } else {
            assertThat(happened).isEqualTo(script);
            assertThat(happened).doesNotContain("VIOLATION");
        }
    }
}
