package io.nodekeeper.cli.certs;

import io.nodekeeper.cli.files.PrivateFiles;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.KubeconfigException;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.files.OwnerOnly;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;

/**
 * Writes the kubeconfigs of an API server, each self-contained. A valid one is not replaced, because it may have been
 * copied. Not thread-safe.
 */
public final class KubeconfigFiles {
    private final Certificates certificates;
    private final URI server;

    /** Kubeconfigs for the server at that address. */
    public KubeconfigFiles(Certificates certificates, URI server) {
        this.certificates = certificates;
        this.server = server;
    }

    /** {@code admin.kubeconfig} in {@code data}: may do everything. */
    public Path admin(Path data) throws IOException {
        return ensure(data.resolve("admin.kubeconfig"), "kubernetes-admin", List.of("system:masters"));
    }

    /** {@code controller.kubeconfig} in {@code data}. */
    public Path controller(Path data) throws IOException {
        return ensure(data.resolve("controller.kubeconfig"), "system:kube-controller-manager", List.of());
    }

    /** {@code agent-NAME.kubeconfig} in {@code data}: the agent of the node of that name. */
    public Path agent(Path data, String nodeName) throws IOException {
        return ensure(
                data.resolve("agent-" + nodeName + ".kubeconfig"), "system:node:" + nodeName, List.of("system:nodes"));
    }

    /** Whether a file of this name in the data directory is one of those that {@link #admin}, {@link #controller} and {@link #agent} make. */
    static boolean isOwn(String name) {
        return name.equals("admin.kubeconfig")
                || name.equals("controller.kubeconfig")
                || (name.startsWith("agent-") && name.endsWith(".kubeconfig"));
    }

    /** {@code file}: user {@code commonName} in {@code groups}. */
    Path ensure(Path file, String commonName, List<String> groups) throws IOException {
        if (!isGood(file, commonName, groups)) {
            Identity identity = certificates.client(commonName, groups);
            PrivateFiles.writeSecret(file, render(server, certificates.authority(), commonName, identity));
        } else {
            OwnerOnly.tighten(file);
        }
        return file;
    }

    private boolean isGood(Path file, String commonName, List<String> groups) {
        if (!Files.exists(file)) {
            return false;
        }
        try {
            ServerAccess access = Kubeconfig.load(file);
            return access.server().equals(server)
                    && access.authorities().equals(List.of(certificates.authority()))
                    && access.identity()
                            .filter(certificates::isGood)
                            .filter(identity -> subject(identity).equals(subject(commonName, groups)))
                            .isPresent();
        } catch (KubeconfigException e) {
            return false;
        }
    }

    private static String subject(Identity identity) {
        return identity.certificate().getSubjectX500Principal().getName();
    }

    /** The name as {@link javax.security.auth.x500.X500Principal#getName()} writes it: last part first. */
    private static String subject(String commonName, List<String> groups) {
        StringBuilder name = new StringBuilder("CN=" + commonName);
        groups.reversed().forEach(group -> name.append(",O=").append(group));
        return name.toString();
    }

    private static String render(URI server, X509Certificate authority, String user, Identity identity) {
        return """
                apiVersion: v1
                kind: Config
                clusters:
                - name: nodekeeper
                  cluster:
                    server: %s
                    certificate-authority-data: %s
                users:
                - name: "%s"
                  user:
                    client-certificate-data: %s
                    client-key-data: %s
                contexts:
                - name: nodekeeper
                  context:
                    cluster: nodekeeper
                    user: "%s"
                current-context: nodekeeper
                """.formatted(
                        server,
                        base64(Pem.encode(authority)),
                        user,
                        base64(Pem.encode(identity.certificate())),
                        base64(Pem.encode(identity.key(), identity.certificate().getPublicKey())),
                        user);
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }
}
