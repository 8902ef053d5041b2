package io.nodekeeper.cli.pages;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.client.access.DelegatedAccess;
import io.nodekeeper.client.access.PageRight;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.client.config.ServerAccess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** The flags for pages that other machines may read. Names are those of Kubernetes' components. */
public final class PagesOptions implements Checked {
    /** A path, or a prefix of paths before an asterisk. */
    private static final Pattern PATH = Pattern.compile("/[A-Za-z0-9._~/-]*\\*?");

    @Option(
            names = "--tls-cert-file",
            paramLabel = "FILE",
            description = "The certificate (PEM) of the pages' server, followed by intermediate ones. It is read again"
                    + " every minute. Default: on an address other than loopback a self-signed certificate in"
                    + " memory; on loopback the pages are served without TLS.")
    Optional<Path> certificate = Optional.empty();

    @Option(
            names = "--tls-private-key-file",
            paramLabel = "FILE",
            description = "The private key (PEM) of --tls-cert-file.")
    Optional<Path> key = Optional.empty();

    @Option(
            names = "--client-ca-file",
            paramLabel = "FILE",
            description = "Certificates (PEM) of authorities: a client with a certificate that one of them signed is"
                    + " the user in it. Default: clients need bearer tokens.")
    Optional<Path> clientAuthorities = Optional.empty();

    @Option(
            names = "--authorization-always-allow-paths",
            split = ",",
            paramLabel = "PATH",
            defaultValue = "/healthz,/readyz,/livez",
            description = "Paths of pages that every client may read, separated by commas. An asterisk at the end"
                    + " matches the rest of a path. Default: ${DEFAULT-VALUE}.")
    List<String> alwaysAllowed = List.of("/healthz", "/readyz", "/livez");

    /**
     * How to serve pages at {@code address}: empty for plain HTTP, on the loopback address without files for TLS.
     *
     * @param access the API server that decides who may read the pages
     * @throws IOException if a file cannot be read
     */
    public Optional<Exposure> exposure(InetSocketAddress address, ServerAccess access) throws IOException {
        return exposure(address, access, PageRight.Path::new);
    }

    /**
     * The same for pages that require other rights than those of their paths.
     *
     * @param rights path → what its readers must be allowed to get
     */
    public Optional<Exposure> exposure(
            InetSocketAddress address, ServerAccess access, Function<String, PageRight> rights) throws IOException {
        if (address.getAddress().isLoopbackAddress() && certificate.isEmpty() && clientAuthorities.isEmpty()) {
            return Optional.empty();
        }
        Exposure.Settings settings = new Exposure.Settings(
                identity(),
                clientAuthorities.isPresent()
                        ? IdentityFiles.authorities("--client-ca-file", clientAuthorities.get())
                        : List.of(),
                this::isOpen,
                rights,
                DelegatedAccess.Times.DEFAULT);
        return Optional.of(Exposure.start(settings, address.getAddress(), access));
    }

    /** {@code --tls-cert-file} and {@code --tls-private-key-file}. */
    public Optional<IdentityFiles> identity() {
        return certificate.map(file -> new IdentityFiles(file, key.orElseThrow()));
    }

    /** {@code --client-ca-file}. */
    public Optional<Path> clientAuthorities() {
        return clientAuthorities;
    }

    /** Whether every client may read the page at {@code path}. */
    private boolean isOpen(String path) {
        return alwaysAllowed.stream()
                .anyMatch(allowed -> allowed.endsWith("*")
                        ? path.startsWith(allowed.substring(0, allowed.length() - 1))
                        : path.equals(allowed));
    }

    @Override
    public void check(Faults faults) {
        faults.require(
                certificate.isPresent() == key.isPresent(),
                "--tls-cert-file and --tls-private-key-file belong together; expected both or neither");
        faults.readable("--tls-cert-file", certificate);
        faults.readable("--tls-private-key-file", key);
        faults.readable("--client-ca-file", clientAuthorities);
        for (String path : alwaysAllowed) {
            faults.require(
                    PATH.matcher(path).matches(),
                    "--authorization-always-allow-paths has \"" + path
                            + "\"; expected a path such as /healthz, or a prefix such as /debug/*");
        }
    }
}
