package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.controllers.CertificateAuthority;
import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;
import picocli.CommandLine.Option;

/** The flags of the signer of nodes' certificates. Names are kube-controller-manager's. */
public final class SigningOptions {
    @Option(
            names = "--cluster-signing-cert-file",
            paramLabel = "FILE",
            description = "The authority (PEM) that signs approved requests of nodes for certificates, with"
                    + " --cluster-signing-key-file. Default: none, which leaves them to kube-controller-manager; \"up\""
                    + " uses the authority in the data directory.")
    Optional<Path> certificate = Optional.empty();

    @Option(
            names = "--cluster-signing-key-file",
            paramLabel = "FILE",
            description = "The private key of --cluster-signing-cert-file (PEM).")
    Optional<Path> key = Optional.empty();

    @Option(
            names = "--cluster-signing-duration",
            paramLabel = "DURATION",
            defaultValue = "8760h",
            converter = DurationConverter.class,
            description = "How long signed certificates are valid, unless the request asks for less. Default:"
                    + " ${DEFAULT-VALUE}.")
    Duration life = Duration.ofDays(365);

    /** Whether the server's own authority signs if no other is named; {@code up} sets it. */
    public boolean ownAuthority;

    void check(Faults faults) {
        faults.readable("--cluster-signing-cert-file", certificate);
        faults.readable("--cluster-signing-key-file", key);
        faults.require(
                certificate.isPresent() == key.isPresent(),
                "--cluster-signing-cert-file and --cluster-signing-key-file must be given together");
        faults.require(life.isPositive(), "--cluster-signing-duration must be greater than 0s");
    }

    /**
     * What signs; empty if nothing does.
     *
     * @param own the server's own authority
     * @throws IOException if a file cannot be read
     */
    Optional<CertificateAuthority> authority(IdentityFiles own, Clock clock, RandomGenerator random)
            throws IOException {
        if (certificate.isEmpty() && !ownAuthority) {
            return Optional.empty();
        }
        Identity identity = certificate.isEmpty()
                ? own.read()
                : new IdentityFiles(certificate.get(), key.orElseThrow())
                        .read("--cluster-signing-cert-file", "--cluster-signing-key-file");
        return Optional.of(new SigningAuthority(new Issuer(identity, random), life, clock));
    }
}
