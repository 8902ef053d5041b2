package io.nodekeeper.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

        String happened = Scenario.run(script, () -> false).text();

        if (Boolean.getBoolean("scenarios.rewrite")) {
            Files.writeString(SCRIPTS.resolve(name), happened);
        } else {
            assertThat(happened).isEqualTo(script);
            assertThat(happened).doesNotContain("VIOLATION");
        }
    }

    @Test
    void aScriptWithoutATraceGetsOne() {
        String happened =
                Scenario.run("cluster nodes=1 seed=3\nrun 1s", () -> false).text();

        assertThat(happened)
                .startsWith("cluster nodes=1 seed=3\nrun 1s\n----\n0:00:00")
                .contains("n0 Node created\n");
        assertThat(Scenario.run(happened, () -> false).text()).isEqualTo(happened);
        assertThat(Scenario.run(happened, () -> false).isGood()).isTrue();
        assertThat(Scenario.run("# No VIOLATION here.\n" + happened, () -> false)
                        .isGood())
                .isTrue();
        // A part that is added has no trace yet, and one that was changed is another.
        assertThat(Scenario.run(happened + "\nrun 1s\n", () -> false).isGood()).isTrue();
        assertThat(Scenario.run(happened.replace("created", "gone"), () -> false)
                        .isGood())
                .isFalse();
        assertThat(Scenario.run(happened + "0:00:09.0 more\n", () -> false).isGood())
                .isFalse();
    }

    @Test
    void aScriptThatIsAskedToEndHasTheTraceUntilThen() {
        Scenario.Result result = Scenario.run("cluster nodes=1 seed=3\nrun 1h\nshow", () -> true);

        assertThat(result.partial()).isTrue();
        assertThat(result.text()).contains("n0 Node created\n").doesNotContain("show");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run 1s | line 1: expected cluster nodes=N seed=S as the first command",
                "cluster nodes=2 | line 1: \"cluster nodes=2\" has no seed; expected cluster nodes=N seed=S",
                "cluster nodes=0 seed=1 | line 1: nodes is 0; expected 1 to 10000",
                "cluster nodes=x seed=1 | line 1: \"cluster nodes=x seed=1\" has no nodes; expected cluster",
                "cluster nodes=1 seed=1;crash | line 2: \"crash\" is too short; expected crash n3..n7",
                "cluster nodes=1 seed=1;crash n1 | line 2: \"n1\" is not in the cluster; expected",
                "cluster nodes=1 seed=1;restart apiserver | line 2: apiserver runs already",
                "cluster nodes=1 seed=1;delay n0 | line 2: \"delay n0\" is too short; expected delay n3..n7 2s",
                "cluster nodes=1 seed=1;run soon | line 2: ",
                "cluster nodes=1 seed=1;run -1s | line 2: run is -1s; expected 0s to 8784h0m0s",
                "cluster nodes=1 seed=1;stall-watch n0 | line 2: \"stall-watch n0\" is too short; expected stall-watch",
                "cluster nodes=1 seed=1;delay n0 -1s | line 2: delay is -1s; expected 0s or more",
                "cluster nodes=9 seed=1;crash n7..n3 | line 2: \"n7..n3\" has no node; expected a form like n3..n7",
                "cluster nodes=1 seed=1;explode n0 | line 2: unknown command \"explode\"; expected cluster, run, show"
            })
    void whatCannotBeRunIsNamedWithItsLine(String script, String message) {
        assertThatThrownBy(() -> Scenario.run(script.replace(';', '\n'), () -> false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
    }
}
