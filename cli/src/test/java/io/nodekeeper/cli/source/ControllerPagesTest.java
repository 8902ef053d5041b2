package io.nodekeeper.cli.source;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.cli.options.ClientOptions;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said about servers that cannot be reached: nothing listens at port 1. */
class ControllerPagesTest {
    @TempDir
    Path directory;

    private final ThreadLoop loop = new ThreadLoop("test");
    private final SourceOptions options = new SourceOptions();
    private Path kubeconfig = Path.of("none");

    @BeforeEach
    void given() throws IOException {
        kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                current-context: c
                contexts: [{name: c, context: {cluster: k}}]
                clusters: [{name: k, cluster: {server: "http://127.0.0.1:1"}}]
                """);
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private String get() throws IOException {
        try (ControllerPages pages = new ControllerPages(options, loop, new PrintWriter(new StringWriter()))) {
            return pages.get("/debug/status").toString();
        }
    }

    @Test
    void aProxyThatOtherClientsUseIsNamedIfTheApiServerCannotBeReached() {
        options.client = new ClientOptions(
                Map.of("KUBECONFIG", kubeconfig.toString(), "https_proxy", "http://user:secret@proxy:3128"));

        assertThatThrownBy(this::get)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("; https_proxy is set, but nodekeeper uses no proxy\nWithout it: --server URL")
                .message()
                .doesNotContain("secret");
    }

    @Test
    void aProxyThatOtherClientsUseIsNamedIfAControllerCannotBeReached() {
        options.client = new ClientOptions(Map.of("HTTPS_PROXY", "http://proxy:3128"));
        options.server = Optional.of(URI.create("http://127.0.0.1:1"));

        assertThatThrownBy(this::get)
                .hasMessageStartingWith("the controller at http://127.0.0.1:1 cannot be reached: ")
                .hasMessageEndingWith("; HTTPS_PROXY is set, but nodekeeper uses no proxy");
    }

    @Test
    void noProxyIsNamedWhereNoneIsSet() {
        options.client = new ClientOptions(Map.of("KUBECONFIG", kubeconfig.toString(), "HTTPS_PROXY", ""));

        assertThatThrownBy(this::get).message().doesNotContain("proxy is set").doesNotContain("uses no proxy");
    }
}
