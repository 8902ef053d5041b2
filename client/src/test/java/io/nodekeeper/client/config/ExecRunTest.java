package io.nodekeeper.client.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.config.ExecPlugin.Interaction;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real scripts as plugins, in real time; every wait is bounded. */
class ExecRunTest {
    private static final String V1BETA1 = "client.authentication.k8s.io/v1beta1";
    private static final Duration LONG = Duration.ofMinutes(1);

    @TempDir
    private Path directory;

    private final ThreadLoop loop = new ThreadLoop("credentials");
    private final List<ExecRun> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(ExecRun::close);
        loop.close();
    }

    private Path script(String text) throws IOException {
        Path file = Files.writeString(directory.resolve("plugin"), "#!/bin/sh\n" + text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    private ExecPlugin plugin(String script, Interaction interaction) throws IOException {
        return new ExecPlugin(
                V1BETA1,
                List.of(script(script).toString(), "get-token", "two words"),
                Map.of("PROFILE", "blue"),
                interaction,
                "Install it from https://example.com/plugin",
                JsonObject.EMPTY.with("server", "https://10.0.0.1:6443"));
    }

    private CompletableFuture<ExecCredential> run(ExecPlugin plugin, Duration deadline) {
        ExecRun run = new ExecRun(plugin, loop, false, deadline);
        opened.add(run);
        return run.run();
    }

    /** The failure of a script, without the plugin's name. */
    private String fault(String script, Duration deadline) throws Exception {
        CompletableFuture<String> message = run(plugin(script, Interaction.IfAvailable), deadline)
                .handle((credential, error) -> error == null ? credential.toString() : Failures.text(error));
        return message.get(60, TimeUnit.SECONDS).replace("the credential plugin \"" + directory + "/plugin\" ", "");
    }

    @Test
    void pluginGetsArgumentsVariablesAndTheClusterAndProvidesAToken() throws Exception {
        ExecPlugin plugin = plugin("""
                echo "some words for people" >&2
                cat >/dev/null
                printf '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"%s"}}' \
                  client.authentication.k8s.io/v1beta1 "$1/$2/$PROFILE/$(echo "$KUBERNETES_EXEC_INFO" | tr -d ' "')" \
                  | tr ' ' _
                """, Interaction.IfAvailable);

        ExecCredential credential = run(plugin, LONG).get(60, TimeUnit.SECONDS);

        assertThat(credential.token())
                .isEqualTo("get-token/two_words/blue/{apiVersion:client.authentication.k8s.io/v1beta1,"
                        + "kind:ExecCredential,spec:{interactive:false,cluster:{server:https://10.0.0.1:6443}}}");
    }

    @Test
    void pluginThatIsMissingShowsHowToInstallIt() throws Exception {
        ExecPlugin plugin = plugin("", Interaction.Never);
        Files.delete(directory.resolve("plugin"));

        assertThat(run(plugin, LONG).exceptionNow())
                .isInstanceOf(CredentialException.class)
                .hasMessageStartingWith("the credential plugin \"" + directory + "/plugin\" cannot be run: ")
                .hasMessageContaining("No such file or directory")
                .hasMessageEndingWith("\nInstall it from https://example.com/plugin");
    }

    @Test
    void pluginThatNeedsATerminalDoesNotRunWithoutOne() throws Exception {
        assertThat(run(plugin("touch " + directory + "/ran", Interaction.Always), LONG)
                        .exceptionNow())
                .hasMessageEndingWith(" needs a terminal, and there is none (interactiveMode Always)");
        assertThat(directory.resolve("ran")).doesNotExist();
    }

    @Test
    void pluginThatFailsIsQuotedByItsLastWords() throws Exception {
        assertThat(fault("echo first >&2; printf 'log \\033[1min again\\n\\n' >&2; exit 1", LONG))
                .isEqualTo("exited with 1: log [1min again");
        assertThat(fault("echo secret; exit 3", LONG)).isEqualTo("exited with 3");
    }

    @Test
    void pluginThatPrintsSomethingElseIsRefused() throws Exception {
        assertThat(fault("echo secret", LONG))
                .isEqualTo("printed 7 bytes that are not a JSON object; expected an ExecCredential");
    }

    @Test
    void pluginThatPrintsWithoutEndIsStopped() throws Exception {
        assertThat(fault("exec yes", LONG)).isEqualTo("printed more than 1048576 bytes, which is the limit");
    }

    @Test
    void pluginThatHangsIsKilledWithItsChildren() throws Exception {
        String script = "echo waiting for the cloud >&2; sleep 600 & echo $! >" + directory + "/child; wait";

        assertThat(fault(script, Duration.ofSeconds(1))).startsWith("did not end within 1s");

        // The shell may not have come as far as its child on a busy machine.
        if (Files.exists(directory.resolve("child"))) {
            String child = Files.readString(directory.resolve("child")).strip();
            if (!child.isEmpty()) {
                ProcessHandle.of(Long.parseLong(child))
                        .ifPresent(process ->
                                process.onExit().orTimeout(60, TimeUnit.SECONDS).join());
            }
        }
    }

    @Test
    void pluginThatLeavesAProcessWithItsOutputIsNotAwaited() throws Exception {
        String output = "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" + V1BETA1 + "\",\"status\":{\"token\":\"t\"}}";

        assertThat(fault("sleep 15 & echo '" + output + "'", LONG)).isEqualTo("a credential");
    }
}
