package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
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
    private static final String COPY = "web-" + NODE;

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;
    private Path manifests;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        node = cluster.addNodeWithOwnRights();
        manifests = Files.createDirectory(directory.resolve("manifests"));
        cluster.startAgent("""
                staticPodPath: %s
                authentication:
                  x509: {clientCAFile: %s}
                """.formatted(manifests, cluster.authority()));
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

        cluster.awaitReady(SOON, COPY);
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
        cluster.server().kill();
        node.agent().kill();
        write("alone", "here");
        cluster.startAgentAgain();

        Eventually.within(SOON, () -> node.pods().containers().size() == 2);

        cluster.restartServer();
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
                () -> Leftovers.children(cluster.logs()).isEmpty()
                        && Leftovers.children(node.directory().resolve("agent/pods"))
                                .isEmpty());
    }
}
