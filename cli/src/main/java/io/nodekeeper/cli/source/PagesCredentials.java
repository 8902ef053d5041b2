package io.nodekeeper.cli.source;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.KubeconfigException;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.config.TokenSource;
import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine.Option;

/** The flags with the credentials for {@code --server}, by kubectl's names. */
final class PagesCredentials {
    @Option(
            names = "--token",
            paramLabel = "TOKEN",
            description =
                    "The bearer token for --server. Other users of this machine can see it; --token-file hides it.")
    String token = "";

    @Option(names = "--token-file", paramLabel = "FILE", description = "A file with the bearer token for --server.")
    Optional<Path> tokenFile = Optional.empty();

    @Option(
            names = "--client-certificate",
            paramLabel = "FILE",
            description = "A file with the client certificate for --server, in PEM.")
    Optional<Path> certificate = Optional.empty();

    @Option(
            names = "--client-key",
            paramLabel = "FILE",
            description = "A file with the key of --client-certificate, in PEM.")
    Optional<Path> key = Optional.empty();

    @Option(
            names = "--certificate-authority",
            paramLabel = "FILE",
            description = "A file with the authorities of the certificate of --server, in PEM. Default: those that this"
                    + " machine trusts.")
    Optional<Path> authority = Optional.empty();

    @Option(
            names = "--insecure-skip-tls-verify",
            description = "Accepts any certificate of --server. Whoever answers there can read the token.")
    boolean skipVerify;

    /** Whether any of the flags is given. */
    boolean areGiven() {
        return hasUser() || authority.isPresent() || skipVerify;
    }

    /** Whether a token or a certificate is given. */
    private boolean hasUser() {
        return !token.isEmpty() || tokenFile.isPresent() || certificate.isPresent() || key.isPresent();
    }

    void check(Faults faults, Optional<URI> server) {
        faults.readable("--token-file", tokenFile);
        faults.readable("--client-certificate", certificate);
        faults.readable("--client-key", key);
        faults.readable("--certificate-authority", authority);
        faults.require(
                server.isPresent() || !areGiven(),
                "credentials such as --token-file are for --server, which is missing; a kubeconfig has its own");
        faults.require(
                !hasUser()
                        || server.filter(url -> "http".equals(url.getScheme())).isEmpty(),
                "credentials are not sent over plain HTTP; expected https in --server");
        Optional<String> fault = TokenSource.fault(token);
        faults.require(fault.isEmpty(), "--token: the token has " + fault.orElse(""));
        faults.require(token.isEmpty() || tokenFile.isEmpty(), "--token and --token-file exclude each other");
        faults.require(
                certificate.isPresent() == key.isPresent(),
                "--client-certificate and --client-key must be given together");
        faults.require(
                authority.isEmpty() || !skipVerify,
                "--certificate-authority and --insecure-skip-tls-verify exclude each other");
    }

    /**
     * The access to {@code server} with these flags.
     *
     * @throws KubeconfigException if a file has no certificate or no key
     */
    ServerAccess access(URI server) {
        List<X509Certificate> authorities = authority
                .map(file -> read("--certificate-authority", file, Pem::certificates))
                .orElse(List.of());
        Optional<Identity> identity = certificate.flatMap(chain -> key.map(secret -> new Identity(
                read("--client-key", secret, Pem::privateKey),
                read("--client-certificate", chain, Pem::certificates))));
        return new ServerAccess(server, authorities, skipVerify, "", identity, token, tokenFile);
    }

    private static <T> T read(String flag, Path file, Function<String, T> parser) {
        try {
            return parser.apply(SmallFiles.text(file, StandardCharsets.ISO_8859_1));
        } catch (IOException | IllegalArgumentException e) {
            throw new KubeconfigException(flag + " " + file, List.of(String.valueOf(e.getMessage())));
        }
    }
}
