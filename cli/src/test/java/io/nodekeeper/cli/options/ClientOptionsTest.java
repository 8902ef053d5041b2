package io.nodekeeper.cli.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.client.config.KubeconfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The API server that a person means, found as kubectl finds it. */
class ClientOptionsTest {
    @TempDir
    Path directory;

    private Path config(String name, String context, String server) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, """
                current-context: %s
                contexts: [{name: %s, context: {cluster: c}}]
                clusters: [{name: c, cluster: {server: "%s"}}]
                """.formatted(context, context, server));
    }

    private static String server(ClientOptions options) {
        return options.access().server().toString();
    }

    @Test
    void filesOfTheEnvironmentComeBeforeTheOneAtHome() throws IOException {
        Path home = config(".kube/config", "home", "https://home:1");
        Path one = config("one", "a", "https://one:1");
        Path two = Files.writeString(directory.resolve("two"), """
                contexts: [{name: b, context: {cluster: d}}]
                clusters: [{name: d, cluster: {server: "https://two:1"}}]
                """);

        assertThat(server(new ClientOptions(Map.of("HOME", directory.toString()))))
                .isEqualTo("https://home:1");
        Map<String, String> both = Map.of("HOME", directory.toString(), "KUBECONFIG", "/none:" + one + ":" + two);
        assertThat(server(new ClientOptions(both))).isEqualTo("https://one:1");

        ClientOptions chosen = new ClientOptions(both);
        chosen.context = "b";
        assertThat(server(chosen)).isEqualTo("https://two:1");

        ClientOptions flagged = new ClientOptions(both);
        flagged.file = Optional.of(home);
        assertThat(server(flagged)).isEqualTo("https://home:1");
    }

    @Test
    void brokenFileIsNotSkipped() throws IOException {
        Path broken = Files.writeString(directory.resolve("broken"), "current-context: [");
        Path good = config("good", "a", "https://good:1");
        ClientOptions options = new ClientOptions(Map.of("KUBECONFIG", broken + ":" + good));

        assertThatThrownBy(options::access)
                .isInstanceOf(KubeconfigException.class)
                .hasMessageContaining(broken + ": not YAML");
    }

    @Test
    void contextThatNoFileHasIsNamed() throws IOException {
        ClientOptions options = new ClientOptions(
                Map.of("KUBECONFIG", config("one", "a", "https://one:1").toString()));
        options.context = "production";

        assertThatThrownBy(options::access)
                .isInstanceOf(KubeconfigException.class)
                .hasMessageContaining("no context is named \"production\"; there is a");
    }
}
