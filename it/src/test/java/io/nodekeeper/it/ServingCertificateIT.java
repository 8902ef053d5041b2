package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * An agent with the rights of a node, whose serving certificate is approved with the real kubectl. The API server reaches
 * the node's API only if the cluster's authority has signed its certificate.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class ServingCertificateIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String HEALTH = "/api/v1/nodes/" + NODE + "/proxy/healthz";

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        Path authority = directory.resolve("ca.crt");
        Path key = directory.resolve("ca.key");
        Command.ok(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=cluster",
                "-keyout",
                key.toString(),
                "-out",
                authority.toString());
        cluster = new PodCluster(
                directory,
                "--cluster-signing-cert-file=" + authority,
                "--cluster-signing-key-file=" + key,
                "--kubelet-certificate-authority=" + authority);
        kubectl = cluster.kubectl();
        node = cluster.addNodeWithOwnRights();
        Path drops = Files.createDirectory(directory.resolve("kubelet.conf.d"));
        Files.writeString(drops.resolve("10-certificate.conf"), """
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                serverTLSBootstrap: true
                """);
        cluster.startAgent("""
                authentication:
                  x509: {clientCAFile: %s}
                """.formatted(cluster.authority()), "--config-dir", drops.toString());
    }

    @Test
    void theNodesApiIsReachedOnceTheRequestIsApprovedAndAfterARestart() throws Exception {
        Eventually.within(SOON, () -> !requests().isEmpty());
        String request = requests().getFirst();
        assertThat(kubectl.ok("get", "csr"))
                .contains("kubernetes.io/kubelet-serving")
                .contains("system:node:" + NODE)
                .contains("Pending");
        assertThat(kubectl.run("get", "--raw", HEALTH).code()).isNotZero();
        assertThat(Command.run(SOON, "openssl", "s_client", "-connect", "127.0.0.1:" + node.apiPort())
                        .output())
                .contains("alert internal error");

        kubectl.ok("certificate", "approve", request);

        Eventually.within(SOON, () -> kubectl.run("get", "--raw", HEALTH).out().startsWith("ok"));
        assertThat(kubectl.ok("get", "csr", request)).contains("Approved,Issued");
        assertThat(kubectl.ok("get", "--raw", "/api/v1/nodes/" + NODE + "/proxy/configz"))
                .contains("\"serverTLSBootstrap\" : true");

        node.agent().close();
        cluster.startAgentAgain();
        Eventually.within(SOON, () -> kubectl.run("get", "--raw", HEALTH).out().startsWith("ok"));
        assertThat(requests()).containsExactly(request);
    }

    private List<String> requests() throws Exception {
        String names = kubectl.ok("get", "csr", "-o", "jsonpath={.items[*].metadata.name}");
        return names.isEmpty() ? List.of() : List.of(names.split(" "));
    }
}
