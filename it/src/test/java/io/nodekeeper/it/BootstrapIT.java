package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.config.Pem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** Agents that have only a token at first, as a machine has that joins a cluster. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class BootstrapIT {
    private static final Duration SOON = Duration.ofSeconds(40);

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private Path bootstrap;

    @BeforeAll
    void start() throws Exception {
        // What clients show is signed by the server's own authority, which is there after its first start.
        Path data = directory.resolve("data");
        try (Running once = Running.start(directory, "once", "apiserver", "--data-dir=" + data, "--secure-port=0")) {
            once.awaitReady();
            once.terminate();
        }
        Path tokens = Files.writeString(
                directory.resolve("tokens"),
                "abcdef.0123456789abcdef,system:bootstrap:abcdef,1,\"system:bootstrappers\"\n");
        cluster = new PodCluster(
                directory,
                "--token-auth-file=" + tokens,
                "--cluster-signing-cert-file=" + data.resolve("pki/ca.crt"),
                "--cluster-signing-key-file=" + data.resolve("pki/ca.key"));
        kubectl = cluster.kubectl();
        kubectl.apply("""
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRole
                metadata: {name: bootstrapper}
                rules:
                - apiGroups: [certificates.k8s.io]
                  resources: [certificatesigningrequests]
                  verbs: [create, get, list, watch]
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: bootstrapper}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: bootstrapper}
                subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:bootstrappers"}]
                """);
        String server = kubectl.ok("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}");
        bootstrap = Files.writeString(
                directory.resolve("bootstrap.kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters:
                - name: c
                  cluster: {server: "%s", certificate-authority: "%s"}
                users:
                - name: u
                  user: {token: abcdef.0123456789abcdef}
                contexts:
                - name: x
                  context: {cluster: c, user: u}
                current-context: x
                """.formatted(server, cluster.authority()));
    }

    private Path kubeconfig(String node) {
        return directory.resolve(node + ".kubeconfig");
    }

    private Running agent(String node) throws Exception {
        return cluster.opened(Running.start(
                directory,
                node,
                "agent",
                "--kubeconfig=" + kubeconfig(node),
                "--bootstrap-kubeconfig=" + bootstrap,
                "--cert-dir=" + directory.resolve(node + "-pki"),
                "--root-dir=" + directory.resolve(node),
                "--node-name=" + node,
                "--container-runtime-endpoint=none",
                "--healthz-port=0"));
    }

    private List<String> requests() throws Exception {
        String names = kubectl.ok("get", "csr", "-o", "jsonpath={.items[*].metadata.name}");
        return names.isEmpty() ? List.of() : List.of(names.split(" "));
    }

    private boolean isNode(String node) throws Exception {
        return kubectl.run("get", "node", node).code() == 0;
    }

    @Test
    @Order(1)
    void aRequestThatSomebodyApprovesMakesANode() throws Exception {
        Running agent = agent("first");
        Eventually.within(SOON, () -> requests().size() == 1);
        String request = requests().getFirst();
        assertThat(kubectl.ok("get", "csr", request))
                .contains("kubernetes.io/kube-apiserver-client-kubelet")
                .contains("system:bootstrap:abcdef")
                .contains("Pending");
        assertThat(kubeconfig("first")).doesNotExist();

        kubectl.ok("certificate", "approve", request);

        Eventually.within(SOON, () -> isNode("first"));
        assertThat(kubectl.ok("get", "csr", request)).contains("Approved,Issued");
        Path current = directory.resolve("first-pki/kubelet-client-current.pem");
        for (Path secret : List.of(kubeconfig("first"), current)) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(secret)))
                    .isEqualTo("rw-------");
        }
        assertThat(Files.readString(kubeconfig("first"))).contains("client-certificate: \"" + current + "\"");
        assertThat(Pem.certificates(Files.readString(current))
                        .getFirst()
                        .getSubjectX500Principal()
                        .getName())
                .isEqualTo("CN=system:node:first,O=system:nodes");
        agent.kill();
    }

    @Test
    @Order(2)
    void anAgentWithItsKubeconfigNeedsTheTokenNoMore() throws Exception {
        Path away = Files.move(bootstrap, directory.resolve("away"));
        kubectl.ok("delete", "node", "first");

        Running agent = agent("first");

        Eventually.within(SOON, () -> isNode("first"));
        assertThat(requests()).hasSize(1);
        Files.move(away, bootstrap);
        agent.kill();
    }

    @Test
    @Order(3)
    void requestsAreApprovedAutomaticallyIfTheClusterSaysSo() throws Exception {
        kubectl.apply("""
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRole
                metadata: {name: approved}
                rules:
                - apiGroups: [certificates.k8s.io]
                  resources: [certificatesigningrequests/nodeclient]
                  verbs: [create]
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: approved}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: approved}
                subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:bootstrappers"}]
                """);

        agent("second");

        Eventually.within(SOON, () -> isNode("second"));
    }

    @Test
    @Order(4)
    void aKubeconfigOfAnotherNodeIsReplaced() throws Exception {
        Files.copy(kubeconfig("first"), kubeconfig("third"));

        Running agent = agent("third");

        Eventually.within(SOON, () -> isNode("third"));
        assertThat(agent.log()).contains("has no valid client certificate of system:node:third");
    }
}
