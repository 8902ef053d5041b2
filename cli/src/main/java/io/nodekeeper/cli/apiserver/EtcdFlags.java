package io.nodekeeper.cli.apiserver;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.store.etcd.EtcdOptions;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.VirtualThreads;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import picocli.CommandLine.Option;

/** The flags for the etcd cluster of {@code --store etcd}, with kube-apiserver's names. */
final class EtcdFlags implements Checked {
    @Option(
            names = "--etcd-servers",
            split = ",",
            paramLabel = "URL",
            description = "The members of the etcd cluster for --store etcd, such as https://10.0.0.1:2379.")
    List<URI> servers = new ArrayList<>();

    @Option(
            names = "--etcd-cafile",
            paramLabel = "FILE",
            description = "Certificate authorities of etcd's members (PEM). Default: those that this machine trusts.")
    Optional<Path> caFile = Optional.empty();

    @Option(
            names = "--etcd-certfile",
            paramLabel = "FILE",
            description = "The client certificate for etcd (PEM), with --etcd-keyfile. Read again for new connections.")
    Optional<Path> certFile = Optional.empty();

    @Option(names = "--etcd-keyfile", paramLabel = "FILE", description = "The private key of --etcd-certfile (PEM).")
    Optional<Path> keyFile = Optional.empty();

    @Option(
            names = "--etcd-prefix",
            paramLabel = "PREFIX",
            defaultValue = "/registry",
            description = "The prefix of all keys in etcd. Default: ${DEFAULT-VALUE}, as in Kubernetes.")
    String prefix = "/registry";

    @Override
    public void check(Faults faults) {
        for (URI server : servers) {
            faults.require(
                    Faults.isUrl(server, "https", "http") && server.getPort() > 0,
                    "--etcd-servers has " + Faults.shown(server) + "; expected a form like https://10.0.0.1:2379");
        }
        faults.require(
                certFile.isPresent() == keyFile.isPresent(),
                "--etcd-certfile and --etcd-keyfile must be given together");
        faults.readable("--etcd-cafile", caFile);
        faults.readable("--etcd-certfile", certFile);
        faults.readable("--etcd-keyfile", keyFile);
        faults.require(
                prefix.matches("/[A-Za-z0-9._/-]*[A-Za-z0-9._-]"),
                "--etcd-prefix is " + prefix + "; expected a form like /registry");
    }

    /** The options of the store. Its connections read the client certificate again, at most once a minute by {@code clock}. */
    EtcdOptions options(Clock clock) throws IOException {
        boolean secure = servers.stream().anyMatch(server -> server.getScheme().equals("https"));
        return EtcdOptions.of(servers, secure ? Optional.of(tls(clock)) : Optional.empty(), prefix);
    }

    private SSLContext tls(Clock clock) throws IOException {
        List<X509Certificate> authorities =
                caFile.isPresent() ? IdentityFiles.authorities("--etcd-cafile", caFile.get()) : List.of();
        if (certFile.isEmpty()) {
            return ClientTls.context(Optional.empty(), authorities);
        }
        IdentityFiles files = new IdentityFiles(certFile.get(), keyFile.orElseThrow());
        Identity read = files.read("--etcd-certfile", "--etcd-keyfile");
        return ClientTls.context(files, read, authorities, clock, new VirtualThreads("etcd-certificate"));
    }
}
