package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

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
    void withoutEitherDecisionsAreKeptInMemory() {
        assertThat(options.directory(Map.of())).isEmpty();
        assertThat(options.directory(Map.of("STATE_DIRECTORY", ""))).isEmpty();
    }
}
