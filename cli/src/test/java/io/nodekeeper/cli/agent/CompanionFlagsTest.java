package io.nodekeeper.cli.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentFeature;
import io.nodekeeper.cli.command.CommandRunner;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompanionFlagsTest {
    /** A value for each flag of the kubelet's, as users write them. */
    private static final Map<String, String> VALUES = Map.ofEntries(
            Map.entry("--address", "127.0.0.1"),
            Map.entry("--cgroup-root", "/one"),
            Map.entry("--config-dir", "/tmp"),
            Map.entry("--port", "10250"),
            Map.entry("--allowed-unsafe-sysctls", "net.core.*"),
            Map.entry("--cert-dir", "/tmp"),
            Map.entry("--cgroups-per-qos", "true"),
            Map.entry("--cloud-provider", "external"),
            Map.entry("--node-ip", "10.0.0.1"),
            Map.entry("--node-labels", "a=b"),
            Map.entry("--node-lease-duration-seconds", "40"),
            Map.entry("--node-status-update-frequency", "10s"),
            Map.entry("--provider-id", "cloud://a/b"),
            Map.entry("--register-node", "true"),
            Map.entry("--register-with-taints", "a=b:NoSchedule"),
            Map.entry("--seccomp-default", "true"));

    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final List<AgentCommand> launched = new ArrayList<>();
    private final CommandRunner runner = new CommandRunner(
            List.of(new AgentCommand(command -> {
                launched.add(command);
                return 0;
            })),
            new PrintWriter(out),
            new PrintWriter(err));
    private Path kubeconfig = Path.of("kubeconfig");

    @BeforeEach
    void kubeconfig() throws IOException {
        kubeconfig = Files.createFile(directory.resolve("kubeconfig"));
    }

    private int run(String... flags) {
        List<String> all = new ArrayList<>(List.of("agent", "--kubeconfig=" + kubeconfig));
        all.addAll(Arrays.asList(flags));
        return runner.run(all.toArray(String[]::new));
    }

    @Test
    void withoutTheFlagTheAgentIsAKubelet() {
        assertThat(run()).isZero();

        assertThat(launched.getFirst().companion.companion()).isFalse();
    }

    @Test
    void theKubeletsFlagsAreRefusedInOneMessageThatNamesAll() throws IOException {
        List<String> flags = new ArrayList<>(List.of("--mode=companion", "--config=" + kubeconfig));
        VALUES.forEach((flag, value) -> flags.add(flag + "=" + value));

        assertThat(run(flags.toArray(String[]::new))).isEqualTo(2);

        assertThat(launched).isEmpty();
        assertThat(err.toString())
                .startsWith(
                        "error: --mode companion excludes --address, --allowed-unsafe-sysctls, --cert-dir, --cgroup-root, --cgroups-per-qos, --cloud-provider, --config,"
                                + " --config-dir, --node-ip, --node-labels,"
                                + " --node-lease-duration-seconds, --node-status-update-frequency, --port, --provider-id, --register-node,"
                                + " --register-with-taints, --seccomp-default; expected none of them, because the kubelet owns the Node, its lease and"
                                + " its settings\n");
    }

    @Test
    void eachOfThemIsAlsoRefusedAloneAndWithDefaultValues() {
        VALUES.forEach((flag, value) -> {
            err.getBuffer().setLength(0);

            assertThat(run("--mode=companion", flag + "=" + value)).as(flag).isEqualTo(2);

            assertThat(err.toString()).startsWith("error: --mode companion excludes " + flag + ";");
        });
    }

    @Test
    void theCompanionsFlagsAreRefusedWithoutIt() {
        assertThat(run("--kubelet-port=10250", "--kubelet-healthz-port=10248")).isEqualTo(2);

        assertThat(err.toString())
                .startsWith("error: --kubelet-healthz-port, --kubelet-port: expected only with --mode companion\n");
    }

    @Test
    void theCompanionHasItsOwnPortAndTheKubeletsDirectory() {
        assertThat(run(
                        "--mode",
                        "companion",
                        "--container-runtime-endpoint=unix:///run/a.sock",
                        "--feature-gates=NodeProblems=false"))
                .isZero();

        AgentConfig config = CompanionProcess.config("n1", launched.getFirst());
        assertThat(config.serving().address()).hasToString("Optional[/127.0.0.1:20248]");
        assertThat(config.serving().orElseAny()).isFalse();
        assertThat(config.rootDir()).isEqualTo(Path.of("/var/lib/kubelet"));
        assertThat(config.runtime().endpoint()).contains("unix:///run/a.sock");
        assertThat(config.gates().has(AgentFeature.NODE_PROBLEMS)).isFalse();
    }

    @Test
    void itsFlagsReachTheCompanion() throws Exception {
        assertThat(run(
                        "--mode=companion",
                        "--healthz-port=7001",
                        "--root-dir=/data/kubelet",
                        "--kubelet-port=7250",
                        "--kubelet-healthz-port=7248"))
                .isZero();

        AgentConfig config = CompanionProcess.config("n1", launched.getFirst());
        assertThat(config.serving().address()).hasToString("Optional[/127.0.0.1:7001]");
        assertThat(config.rootDir()).isEqualTo(Path.of("/data/kubelet"));
        assertThat(launched.getFirst().companion.kubelet().port()).isEqualTo(7250);
        assertThat(launched.getFirst().companion.kubelet().healthPort()).isEqualTo(7248);
        assertThat(launched.getFirst().companion.kubelet().authorities()).isEmpty();
    }

    @Test
    void anAuthorityThatIsNoCertificateIsRefused() throws Exception {
        Path file = Files.writeString(directory.resolve("ca.crt"), "no certificate");

        assertThat(run("--mode=companion", "--kubelet-certificate-authority=" + file))
                .isEqualTo(2);

        assertThat(err.toString())
                .startsWith("error: --kubelet-certificate-authority is " + file + ": ")
                .contains("; expected certificates in PEM\n");
    }

    @Test
    void helpExplainsTheMode() {
        assertThat(run("--help")).isZero();

        assertThat(out.toString().replaceAll("\\s+", " "))
                .contains("companion runs beside a kubelet and never touches what that owns")
                .contains("kubectl apply -k deploy/companion");
    }
}
