package io.nodekeeper.cli.agent;

import io.nodekeeper.agent.companion.KubeletAccess;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.GivenFlags;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The flags that decide whether the agent replaces a kubelet or accompanies one. */
public final class CompanionOptions implements Checked {
    /** The agent's place on the node. */
    public enum Mode {
        /** Reports the node as a kubelet does. */
        node,
        /** The same, under its earlier name. */
        kubelet,
        /** Reports beside a kubelet, which keeps the Node, the lease and Ready. */
        companion
    }

    /** Flags about what the kubelet beside a companion owns. */
    static final List<String> KUBELETS = List.of(
            "--address",
            "--allowed-unsafe-sysctls",
            "--bootstrap-kubeconfig",
            "--cert-dir",
            "--cgroup-root",
            "--cgroups-per-qos",
            "--cloud-provider",
            "--config",
            "--config-dir",
            "--node-ip",
            "--node-labels",
            "--node-lease-duration-seconds",
            "--node-status-update-frequency",
            "--port",
            "--provider-id",
            "--register-node",
            "--register-with-taints",
            "--seccomp-default");
    /** Flags that have a meaning only beside a kubelet. */
    private static final List<String> COMPANIONS =
            List.of("--kubelet-certificate-authority", "--kubelet-healthz-port", "--kubelet-port");

    @Option(
            names = "--mode",
            paramLabel = "node|companion",
            defaultValue = "node",
            description = "node registers the node and reports its status and lease, instead of a kubelet. companion"
                    + " runs beside a kubelet and never touches what that owns: it finds what hangs below the"
                    + " container runtime, looks for problems of the node, says what the kubelet is about to report,"
                    + " and writes only its own node conditions and events. Default: ${DEFAULT-VALUE}.")
    public Mode mode = Mode.node;

    @Option(
            names = "--kubelet-certificate-authority",
            paramLabel = "FILE",
            description =
                    "With --mode companion: the certificate (PEM) that verifies the kubelet's serving certificate,"
                            + " or that certificate itself. With it the companion reads the kubelet's metrics. Default: the"
                            + " metrics are not read.")
    Optional<Path> authority = Optional.empty();

    @Option(
            names = "--kubelet-healthz-port",
            paramLabel = "PORT",
            description = "With --mode companion: the port of the kubelet's health check. Default: 10248.")
    Optional<Integer> healthPort = Optional.empty();

    @Option(
            names = "--kubelet-port",
            paramLabel = "PORT",
            description = "With --mode companion: the port of the kubelet's metrics. Default: 10250.")
    Optional<Integer> port = Optional.empty();

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    /** Whether the agent runs beside a kubelet. */
    public boolean companion() {
        return mode == Mode.companion;
    }

    /** Whether {@code flag} is on the command line. */
    boolean given(String flag) {
        return GivenFlags.of(spec).contains(flag);
    }

    @Override
    public void check(Faults faults) {
        List<String> kubelets = KUBELETS.stream().filter(this::given).toList();
        faults.require(
                !companion() || kubelets.isEmpty(),
                "--mode companion excludes " + String.join(", ", kubelets)
                        + "; expected none of them, because the kubelet owns the Node, its lease and its settings");
        List<String> companions = COMPANIONS.stream().filter(this::given).toList();
        faults.require(
                companion() || companions.isEmpty(),
                String.join(", ", companions) + ": expected only with --mode companion");
        faults.readable("--kubelet-certificate-authority", authority);
        healthPort.ifPresent(value -> faults.within("--kubelet-healthz-port", value, 1, 65_535));
        port.ifPresent(value -> faults.within("--kubelet-port", value, 1, 65_535));
        if (authority.filter(file -> file.toFile().canRead()).isPresent()) {
            try {
                authorities();
            } catch (IOException | IllegalArgumentException e) {
                faults.require(
                        false,
                        "--kubelet-certificate-authority is " + authority.get() + ": " + e.getMessage()
                                + "; expected certificates in PEM");
            }
        }
    }

    /** How to reach the kubelet. Call it only after {@link #check} found no fault. */
    KubeletAccess kubelet() throws IOException {
        return new KubeletAccess(
                healthPort.orElse(KubeletAccess.HEALTH_PORT), port.orElse(KubeletAccess.PORT), authorities());
    }

    private List<X509Certificate> authorities() throws IOException {
        return authority.isEmpty()
                ? List.of()
                : Pem.certificates(SmallFiles.text(authority.get(), StandardCharsets.ISO_8859_1));
    }
}
