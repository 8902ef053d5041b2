package io.nodekeeper.cli.apiserver;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.client.config.IdentityFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags for connections from the API server to nodes. Names are kube-apiserver's. */
public final class NodeOptions implements Checked {
    @Option(
            names = "--kubelet-client-certificate",
            paramLabel = "FILE",
            description = "The certificate (PEM) that the server shows to nodes for logs, commands and forwarded ports."
                    + " Default: one that the authority in the data directory signs.")
    Optional<Path> certificate = Optional.empty();

    @Option(
            names = "--kubelet-client-key",
            paramLabel = "FILE",
            description = "The private key (PEM) of --kubelet-client-certificate.")
    Optional<Path> key = Optional.empty();

    @Option(
            names = "--kubelet-certificate-authority",
            paramLabel = "FILE",
            description = "Certificate authorities (PEM) of nodes' certificates. Default: these are not verified, as in"
                    + " Kubernetes, because most nodes sign their own.")
    Optional<Path> authority = Optional.empty();

    /** The certificate that flags name. */
    Optional<IdentityFiles> identity() {
        return certificate.map(file -> new IdentityFiles(file, key.orElseThrow()));
    }

    /**
     * The authorities of nodes; empty to verify none.
     *
     * @throws IOException if the file cannot be read
     */
    List<X509Certificate> authorities() throws IOException {
        return authority.isPresent()
                ? IdentityFiles.authorities("--kubelet-certificate-authority", authority.get())
                : List.of();
    }

    @Override
    public void check(Faults faults) {
        faults.require(
                certificate.isPresent() == key.isPresent(),
                "--kubelet-client-certificate and --kubelet-client-key belong together; expected both or neither");
        faults.readable("--kubelet-client-certificate", certificate);
        faults.readable("--kubelet-client-key", key);
        faults.readable("--kubelet-certificate-authority", authority);
    }
}
