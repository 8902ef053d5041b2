package io.nodekeeper.cli.agent;

import io.nodekeeper.agent.certificates.IssuedCertificate;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.cli.files.PrivateFiles;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.KubeconfigException;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.files.SmallFiles;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's first credentials: with those of {@code bootstrap} the agent requests a certificate of its own, and writes a kubeconfig
 * that refers to it. Does nothing if {@code kubeconfig} has a valid certificate of the node. Blocks.
 *
 * @param bootstrap the kubeconfig whose user may request certificates
 * @param kubeconfig the file to use, or to write
 * @param certDir where the certificate is kept
 */
record Bootstrap(Path bootstrap, Path kubeconfig, String nodeName, Path certDir) {
    private static final Logger log = LoggerFactory.getLogger(Bootstrap.class);
    /** As long as a kubelet waits. */
    private static final Duration PATIENCE = Duration.ofHours(1);
    /** Between two lines that say what is waited for. */
    private static final Duration REMINDER = Duration.ofSeconds(30);

    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);

    /**
     * The access that the kubeconfig gives, once there is one.
     *
     * @throws IOException if the cluster issues no certificate within an hour, or files cannot be written
     */
    ServerAccess access() throws IOException {
        Optional<ServerAccess> present = present();
        if (present.isPresent()) {
            return present.get();
        }
        ServerAccess first = Kubeconfig.load(bootstrap);
        log.info("Requesting a certificate of {} from {}", nodeName, first);
        requireStored(obtain(first));
        PrivateFiles.writeSecret(kubeconfig, render(first));
        log.info("Wrote {}", kubeconfig);
        return Kubeconfig.load(kubeconfig);
    }

    private Optional<ServerAccess> present() {
        if (!Files.exists(kubeconfig)) {
            return Optional.empty();
        }
        try {
            ServerAccess access = Kubeconfig.load(kubeconfig);
            if (access.identity().filter(this::isValid).isPresent()) {
                return Optional.of(access);
            }
            log.warn(
                    "{} has no valid client certificate of system:node:{}; a new one is requested",
                    kubeconfig,
                    nodeName);
        } catch (KubeconfigException e) {
            log.warn("A new certificate is requested: {}", e.getMessage());
        }
        return Optional.empty();
    }

    private boolean isValid(Identity identity) {
        Instant end = identity.certificate().getNotAfter().toInstant();
        return IssuedCertificate.isOf(nodeName, identity) && end.isAfter(new SystemClock().wallTime());
    }

    private Identity obtain(ServerAccess access) throws IOException {
        ThreadLoop loop = new ThreadLoop("bootstrap");
        HttpTransport transport = new HttpTransport(access);
        CompletableFuture<Identity> issued = new CompletableFuture<>();
        try (Workers files = new Workers("bootstrap", 1, loop)) {
            IssuedCertificate certificate = IssuedCertificate.first(
                    nodeName,
                    new IssuedCertificate.Ports(
                            new KubeClient(transport, loop, CALL_TIMEOUT),
                            files::call,
                            certDir,
                            EcKeys::newKey,
                            Randoms.secure()));
            certificate.listen(issued::complete);
            certificate.startAnew();
            loop.schedule(
                    PATIENCE,
                    () -> issued.completeExceptionally(new IOException("no certificate for system:node:" + nodeName
                            + " within " + GoDuration.format(PATIENCE) + ": " + certificate.state())));
            remind(loop, certificate, REMINDER);
            return issued.get();
        } catch (ExecutionException e) {
            throw new IOException(Failures.text(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the certificate was awaited", e);
        } finally {
            loop.close();
            transport.close();
        }
    }

    /** A kubeconfig with a file that has another certificate, or none, would be of no use. */
    private void requireStored(Identity issued) throws IOException {
        Path file = IssuedCertificate.clientFile(certDir);
        if (!Files.exists(file)
                || !Pem.certificates(SmallFiles.text(file)).getFirst().equals(issued.certificate())) {
            throw new IOException("the certificate was issued, but could not be written to " + file
                    + "; the log says why, and the next start requests another one");
        }
    }

    private static void remind(Loop loop, IssuedCertificate certificate, Duration waited) {
        loop.schedule(REMINDER, () -> {
            log.info(
                    "Waiting for a certificate for {} of {}: {}",
                    GoDuration.format(waited),
                    GoDuration.format(PATIENCE),
                    certificate.state());
            remind(loop, certificate, waited.plus(REMINDER));
        });
    }

    /** The certificate is a file of its own, which a renewal replaces. */
    private String render(ServerAccess first) {
        StringBuilder authorities = new StringBuilder();
        first.authorities().forEach(authority -> authorities.append(Pem.encode(authority)));
        String trust = first.skipVerify()
                ? "    insecure-skip-tls-verify: true\n"
                : authorities.isEmpty()
                        ? ""
                        : "    certificate-authority-data: " + base64(authorities.toString()) + "\n";
        String name =
                first.tlsServerName().isEmpty() ? "" : "    tls-server-name: " + quoted(first.tlsServerName()) + "\n";
        String file = quoted(IssuedCertificate.clientFile(certDir).toString());
        return """
                apiVersion: v1
                kind: Config
                clusters:
                - name: default-cluster
                  cluster:
                    server: %s
                %s%susers:
                - name: default-auth
                  user:
                    client-certificate: %s
                    client-key: %s
                contexts:
                - name: default-context
                  context:
                    cluster: default-cluster
                    user: default-auth
                current-context: default-context
                """.formatted(quoted(first.server().toString()), trust, name, file, file);
    }

    /** A text of JSON is one of YAML. */
    private static String quoted(String text) {
        return new JsonString(text).toString();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }
}
