package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The systemd units fit a machine with other programs, and the help shows their directories. */
class UnitFilesTest {
    private static final Path ROOT = Path.of("..");

    private static List<Path> units() throws IOException {
        List<Path> units = new ArrayList<>();
        for (String folder : List.of("dist/src/main/systemd", "deploy/systemd")) {
            try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
                units.addAll(files.sorted().toList());
            }
        }
        return units;
    }

    @Test
    void everyUnitTriesAgainUntilItsFilesAreThere() throws IOException {
        // A kubeconfig that is not there is a wrong command line, with exit code 2, until it is there.
        assertThat(units()).hasSize(4);
        for (Path unit : units()) {
            assertThat(Files.readString(unit))
                    .as(unit.toString())
                    .contains("\nStartLimitIntervalSec=0\n", "\nRestart=always\n")
                    .doesNotContain("RestartPreventExitStatus");
        }
    }

    /** Its own port is 127.0.0.1:10257; it does not start while another process has that. */
    @Test
    void controllersUnitLeavesKubeControllerManagersPortToIt() throws IOException {
        String address = "--controller-bind-address 127.0.0.1:20257";

        assertThat(Files.readString(ROOT.resolve("dist/src/main/systemd/nodekeeper-controller.service")))
                .containsPattern("\nEnvironment=\"NODEKEEPER_FLAGS=[^\"\n]* " + address + "\"\n");
        for (String page : List.of("docs/controller.md", "docs/install.md")) {
            assertThat(Files.readString(ROOT.resolve(page))).as(page).contains(address);
        }
        assertThat(Files.readString(ROOT.resolve("docs/alerts.md"))).contains("targets: [\"127.0.0.1:20257\"]");
    }

    @Test
    void examplesOfTheApiServerUseItsDirectoryAndNotTheAgents() {
        List<String> examples = new CommandModel()
                .specs().entrySet().stream()
                        .filter(command -> command.getKey().startsWith("apiserver"))
                        .flatMap(command ->
                                Arrays.stream(command.getValue().usageMessage().footer()))
                        .filter(line -> line.contains("--data-dir"))
                        .toList();

        assertThat(examples)
                .hasSize(7)
                .allSatisfy(line -> assertThat(line).contains(" --data-dir /var/lib/nodekeeper-apiserver"));
    }
}
