package io.nodekeeper.cli.agent;

import io.nodekeeper.cli.command.Faults;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flag for a node's first credentials. */
public final class BootstrapOptions {
    @Option(
            names = "--bootstrap-kubeconfig",
            paramLabel = "FILE",
            description = "A kubeconfig file whose user may request a certificate for the node. While --kubeconfig does"
                    + " not exist, or has no valid certificate of the node, the agent requests one, waits until it"
                    + " is approved, and writes --kubeconfig. Default: none.")
    Optional<Path> file = Optional.empty();

    /** The file is needed only while there is no {@code kubeconfig}. */
    void check(Faults faults, Optional<Path> kubeconfig) {
        faults.require(
                kubeconfig.isPresent(),
                "--bootstrap-kubeconfig needs --kubeconfig, the file to write; expected for instance"
                        + " /etc/kubernetes/kubelet.conf");
        kubeconfig.ifPresent(target -> faults.writable("--kubeconfig", target));
        if (kubeconfig.filter(Files::exists).isEmpty()) {
            faults.readable("--bootstrap-kubeconfig", file);
        }
    }
}
