package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real kubectl finds the plugins in {@code bin}, and passes their arguments on to {@code nodekeeper}. */
class KubectlPluginIT {
    @TempDir
    Path directory;

    @Test
    void everyKubectlRunsBothPlugins() throws Exception {
        // given an installed copy of bin, beside a nodekeeper that prints its arguments
        Path bin = Files.createDirectory(directory.resolve("bin"));
        for (String plugin : new String[] {"kubectl-node_why", "kubectl-node_status"}) {
            Path copy = Files.copy(Path.of("../bin", plugin), bin.resolve(plugin));
            assertThat(copy.toFile().setExecutable(true)).isTrue();
        }
        Path nodekeeper = Files.writeString(
                directory.resolve("nodekeeper"), "#!/bin/sh\nfor argument; do echo \"<$argument>\"; done\n");
        assertThat(nodekeeper.toFile().setExecutable(true)).isTrue();

        for (Map.Entry<String, Path> kubectl : Kubectls.byVersion().entrySet()) {
            assertThat(printed(bin, kubectl.getValue(), "node-why", "node/n 1", "-o", "json"))
                    .as(kubectl.getKey())
                    .isEqualTo("<why>\n<node/n 1>\n<-o>\n<json>\n");
            assertThat(printed(bin, kubectl.getValue(), "node-status", "--watch"))
                    .as(kubectl.getKey())
                    .isEqualTo("<status>\n<--watch>\n");
        }
    }

    private static String printed(Path bin, Path kubectl, String... arguments) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(kubectl.toString());
        builder.command().addAll(List.of(arguments));
        builder.environment().merge("PATH", bin.toString(), (path, added) -> added + ":" + path);
        Process process = builder.redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(out).isZero();
        return out;
    }
}
