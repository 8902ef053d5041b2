package io.nodekeeper.it;

import io.nodekeeper.api.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;

/** An API server with the manifests of the companion, as kubectl applies them, and with an audit log. */
final class CompanionCluster implements AutoCloseable {
    static final String USER = "system:serviceaccount:nodekeeper:nodekeeper-companion";
    static final Path DEPLOY = Path.of("..", "deploy").toAbsolutePath().normalize();

    private final Path directory;
    private final Path data;
    private final AuditTrail audit;
    private final Running server;
    private final String address;
    private final Kubectl kubectl;

    CompanionCluster(Path directory) throws Exception {
        this.directory = directory;
        data = directory.resolve("data");
        audit = new AuditTrail(directory.resolve("audit.log"));
        server = Running.startSmall(
                directory,
                "apiserver",
                List.of(
                        "apiserver",
                        "--data-dir",
                        data.toString(),
                        "--secure-port",
                        "0",
                        "--audit-log-path",
                        audit.file().toString()));
        address = server.awaitAddress();
        kubectl = new Kubectl(directory, admin());
    }

    Path admin() {
        return data.resolve("admin.kubeconfig");
    }

    Path data() {
        return data;
    }

    String address() {
        return address;
    }

    Kubectl kubectl() {
        return kubectl;
    }

    Running server() {
        return server;
    }

    /** Applies the manifests in a folder of {@code deploy}, and makes a kubeconfig of the companion's service account. */
    Path install(String folder) throws Exception {
        kubectl.ok("apply", "-k", DEPLOY.resolve(folder).toString());
        String token = kubectl.ok("-n", "nodekeeper", "create", "token", "nodekeeper-companion")
                .strip();
        return Files.writeString(
                directory.resolve("companion.kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "%s", certificate-authority: "%s"}}]
                users: [{name: u, user: {token: "%s"}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """.formatted(address, data.resolve("pki/ca.crt"), token));
    }

    /** As {@link AuditTrail#requests}. */
    List<String> requests(String user) throws IOException {
        return audit.requests(user);
    }

    /** As {@link AuditTrail#forbidden}. */
    List<String> forbidden(String user) throws IOException {
        return audit.forbidden(user);
    }

    /** The rights of a ClusterRole, in the same form. */
    TreeSet<String> rights(String role) throws Exception {
        TreeSet<String> rights = new TreeSet<>();
        Json.parseObject(kubectl.ok("get", "clusterrole", role, "-o", "json"))
                .array("rules")
                .objects()
                .forEach(rule -> rule.array("verbs")
                        .strings()
                        .forEach(verb -> rule.array("resources")
                                .strings()
                                .forEach(resource -> rights.add(verb + " " + resource))));
        return rights;
    }

    @Override
    public void close() {
        server.close();
    }
}
