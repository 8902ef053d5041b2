package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.authentication.ServiceAccountTokens;
import io.nodekeeper.cli.certs.ServiceAccountKeys;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags of an API server for service account tokens. Names are kube-apiserver's. */
final class ServiceAccountOptions implements Checked {
    private static final String ISSUER = "https://kubernetes.default.svc.cluster.local";

    @Option(
            names = "--service-account-signing-key-file",
            paramLabel = "FILE",
            description = "The private key that signs service account tokens (PEM; RSA, or EC on P-256). Default: a"
                    + " key created in the data directory.")
    Optional<Path> signingKeyFile = Optional.empty();

    @Option(
            names = "--service-account-key-file",
            split = ",",
            paramLabel = "FILE",
            description = "Additional keys (PEM) for verifying tokens, such as former signing keys.")
    List<Path> keyFiles = new ArrayList<>();

    @Option(
            names = "--service-account-issuer",
            paramLabel = "URL",
            defaultValue = ISSUER,
            description = "The issuer in service account tokens. Default: ${DEFAULT-VALUE}.")
    String issuer = ISSUER;

    @Option(
            names = "--api-audiences",
            split = ",",
            paramLabel = "NAME",
            description = "Audiences that an API token must contain to be accepted. Default: the issuer.")
    List<String> audiences = new ArrayList<>();

    @Override
    public void check(Faults faults) {
        faults.readable("--service-account-signing-key-file", signingKeyFile);
        keyFiles.forEach(file -> faults.readable("--service-account-key-file", Optional.of(file)));
        faults.require(
                isUrl(issuer),
                "--service-account-issuer is " + issuer + "; expected an absolute URL such as " + ISSUER);
    }

    private static boolean isUrl(String text) {
        try {
            return new URI(text).isAbsolute();
        } catch (URISyntaxException e) {
            return false;
        }
    }

    /** The tokens of a server with this data directory. */
    ServiceAccountTokens tokens(Path data) throws IOException {
        ServiceAccountKeys signing = signingKeyFile.isPresent()
                ? ServiceAccountKeys.read("--service-account-signing-key-file", signingKeyFile.get())
                : ServiceAccountKeys.open(data);
        List<PublicKey> keys = new ArrayList<>(List.of(signing.publicKey()));
        for (Path file : keyFiles) {
            keys.addAll(ServiceAccountKeys.publicKeys("--service-account-key-file", file));
        }
        return new ServiceAccountTokens(
                signing.privateKey(), keys, issuer, audiences.isEmpty() ? List.of(issuer) : audiences);
    }
}
