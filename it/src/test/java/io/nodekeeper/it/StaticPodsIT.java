package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** Static pods on a real containerd, by an agent with the rights of a node, as kubectl shows them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class StaticPodsIT {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final String NODE = "runner";
    private static final String COPY = "web-" + NODE;

    @TempDir
    static Path directory;

    private Path manifests;
    private List<String> serves;
    private Running server;
    private Kubectl kubectl;
    private ConditionLog conditions;
    private PodLog pods;
    private RealNode node;
    private String[] flags;

    @BeforeAll
    void start() throws Exception {
        Path data = directory.resolve("data");
        int port = AgentPage.freePort();
        serves = List.of("apiserver", "--data-dir", data.toString(), "--secure-port=" + port);
        server = Running.startSmall(directory, "apiserver", serves);
        server.awaitReady();
        Path kubeconfig = data.resolve("admin.kubeconfig");
        kubectl = new Kubectl(directory, kubeconfig);
        conditions = new ConditionLog(kubeconfig);
        pods = new PodLog(kubeconfig);
        Path identity = directory.resolve("node.kubeconfig");
        Running certs = Running.startSmall(
                directory,
                "certs",
                List.of(
                        "certs",
                        "--data-dir=" + data,
                        "--node=" + NODE,
                        "--server=https://127.0.0.1:" + port,
                        "--out=" + identity));
        assertThat(certs.awaitEnd()).as(certs.log()).isZero();
        node = new RealNode(Files.createDirectory(directory.resolve(NODE)), NODE, identity, false, 0);
        manifests = Files.createDirectory(directory.resolve("manifests"));
        Path config = Files.writeString(directory.resolve("kubelet.yaml"), """
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                podLogsDir: %s
                staticPodPath: %s
                authentication:
                  x509: {clientCAFile: %s}
                featureGates:
                  PodLifecycle: true
                """.formatted(
                        directory.resolve("logs"), manifests, data.resolve("pki/ca.crt")));
        flags = new String[] {"--config", config.toString()};
        node.startAgent(flags);
        node.awaitReady(conditions);
    }

    @AfterAll
    void stop() throws Exception {
        node.close();
        pods.close();
        conditions.close();
        server.close();
    }

    private void write(String name, String says) throws Exception {
        // As an editor does: a reader sees the old file or the new one.
        Path draft = Files.writeString(directory.resolve("draft"), """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  terminationGracePeriodSeconds: 2
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "echo %s; trap 'exit 0' TERM; while true; do sleep 0.2; done"]
                """.formatted(name, BusyboxImages.BUSYBOX, says));
        Files.move(draft, manifests.resolve(name + ".yaml"));
    }

    @Test
    @Order(1)
    @Tag("A107")
    void aPodOfAFileIsRunAndShown() throws Exception {
        write("web", "first");

        Eventually.within(SOON, () -> pods.isReady(COPY));
        assertThat(kubectl.ok("get", "pod", COPY)).containsPattern(COPY + " +1/1 +Running +0 ");
        assertThat(kubectl.ok("logs", COPY)).isEqualTo("first\n");
        Eventually.within(SOON, () -> kubectl.ok("describe", "pod", COPY).contains("Started container main"));
        JsonObject owner = pods.pod(COPY)
                .orElseThrow()
                .object("metadata")
                .array("ownerReferences")
                .objects()
                .findFirst()
                .orElseThrow();
        assertThat(owner.text("uid")).isEqualTo(kubectl.ok("get", "node", NODE, "-o", "jsonpath={.metadata.uid}"));
    }

    @Test
    @Order(2)
    void aDeletedCopyComesBackAndThePodRunsOn() throws Exception {
        String container = pods.container(COPY).text("containerID");
        String uid = pods.uid(COPY);

        kubectl.ok("delete", "pod", COPY, "--timeout=40s");

        Eventually.within(SOON, () -> pods.isReady(COPY) && !pods.uid(COPY).equals(uid));
        assertThat(pods.container(COPY).text("containerID")).isEqualTo(container);
    }

    @Test
    @Order(3)
    void aChangedFileReplacesThePod() throws Exception {
        Files.delete(manifests.resolve("web.yaml"));
        write("web", "second");

        Eventually.within(
                SOON,
                () -> pods.isReady(COPY) && kubectl.run("logs", COPY).out().equals("second\n"));
        assertThat(node.pods().containers()).hasSize(1);
    }

    @Test
    @Order(4)
    void withoutAnApiServerTheNodeStartsWhatItsFilesSay() throws Exception {
        server.kill();
        node.agent().kill();
        write("alone", "here");
        node.startAgent(flags);

        Eventually.within(SOON, () -> node.pods().containers().size() == 2);

        server = Running.startSmall(directory, "apiserver", serves);
        server.awaitReady();
        Eventually.within(SOON, () -> kubectl.ok("get", "pods").contains("alone-" + NODE));
        Eventually.within(
                SOON,
                () -> kubectl.ok("get", "pods", "--no-headers")
                        .lines()
                        .allMatch(line -> line.matches(".* +1/1 +Running +0 .*")));
        assertThat(kubectl.ok("logs", "alone-" + NODE)).isEqualTo("here\n");
        assertThat(node.pods().containers()).hasSize(2);
    }

    @Test
    @Order(5)
    void removedFilesLeaveNothing() throws Exception {
        Files.delete(manifests.resolve("web.yaml"));
        Files.delete(manifests.resolve("alone.yaml"));

        Eventually.within(SOON, () -> kubectl.ok("get", "pods", "-o", "name").isEmpty());
        Eventually.within(SOON, () -> node.pods().containers().isEmpty());
        Eventually.within(
                SOON,
                () -> Leftovers.children(directory.resolve("logs")).isEmpty()
                        && Leftovers.children(directory.resolve(NODE).resolve("agent/pods"))
                                .isEmpty());
    }
}
