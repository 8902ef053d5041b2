package io.nodekeeper.cli.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A controller ends when it loses the leadership; its history has to outlive that wherever a directory is known. */
class HistoryOptionsTest {
    private final HistoryOptions options = new HistoryOptions();

    @Test
    void directoryThatWasNamedIsTaken() {
        options.dir = Optional.of(Path.of("kept"));
        assertThat(options.directory(Map.of("STATE_DIRECTORY", "/var/lib/nodekeeper")))
                .contains(Path.of("kept"));
    }

    @Test
    void serviceManagersStateDirectoryIsTheDefault() {
        assertThat(options.directory(Map.of("STATE_DIRECTORY", "/var/lib/nodekeeper")))
                .contains(Path.of("/var/lib/nodekeeper/history"));
        assertThat(options.directory(Map.of("STATE_DIRECTORY", "/var/lib/a:/var/lib/b")))
                .contains(Path.of("/var/lib/a/history"));
    }

    @Test
    void stateOfTheUserIsTheDefaultAndClustersDoNotShareIt(@TempDir Path home) {
        Map<String, String> environment = Map.of("HOME", home.toString());

        assertThat(options.directory(environment, URI.create("https://10.0.0.1:6443")))
                .contains(home.resolve(".local/state/nodekeeper/controller/10.0.0.1_6443/history"));
        assertThat(options.directory(environment, URI.create("https://[::1]")))
                .contains(home.resolve(".local/state/nodekeeper/controller/___1__443/history"));
        assertThat(options.directory(
                        Map.of("HOME", "/none", "XDG_STATE_HOME", home.toString()), URI.create("https://a:1")))
                .contains(home.resolve("nodekeeper/controller/a_1/history"));
    }

    @Test
    void stateThatCannotBeWrittenLeavesMemory(@TempDir Path home) throws Exception {
        Path file = Files.writeString(home.resolve("file"), "no directory");
        URI server = URI.create("https://a:1");

        assertThat(options.directory(Map.of("HOME", file.toString()), server)).isEmpty();
        assertThat(options.directory(Map.of("HOME", "not/absolute"), server)).isEmpty();
        assertThat(options.directory(Map.of(), server)).isEmpty();
    }

    @Test
    void withoutEitherDecisionsAreKeptInMemory() {
        assertThat(options.directory(Map.of())).isEmpty();
        assertThat(options.directory(Map.of("STATE_DIRECTORY", ""))).isEmpty();
    }
}
