package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** {@code nodekeeper up}, looked at with the real kubectl. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UpIT {
    @TempDir
    static Path directory;

    private Running up;
    private Kubectl kubectl;

    @BeforeAll
    void start() throws Exception {
        Path data = directory.resolve("data");
        up = Running.start(
                directory,
                "up",
                "up",
                "--data-dir",
                data.toString(),
                "--secure-port",
                "0",
                "--node-name=here",
                "--node-status-update-frequency=1s",
                "--root-dir",
                directory.toString());
        assertThat(up.awaitReady())
                .matches("ready https://127\\.0\\.0\\.1:\\d+  node here  next: kubectl --kubeconfig .*/admin.kubeconfig"
                        + " get nodes");
        kubectl = new Kubectl(directory, data.resolve("admin.kubeconfig"));
    }

    @AfterAll
    void stop() throws Exception {
        assertThat(up.terminate()).isEqualTo(143);
        assertThat(up.log()).doesNotContain("Exception");
    }

    @Test
    @Tag("W1")
    void getShowsTheMachineReadyInTheUsualColumns() throws Exception {
        Eventually.within(
                Duration.ofSeconds(10), () -> kubectl.ok("get", "nodes").contains(" Ready "));
        String[] lines = kubectl.ok("get", "nodes").split("\n");

        assertThat(lines[0]).matches("NAME +STATUS +ROLES +AGE +VERSION *");
        assertThat(lines[1]).matches("here +Ready +<none> +\\d+s +v1\\.32\\.0\\+nodekeeper-\\S+ *");
        assertThat(kubectl.ok("get", "nodes", "-o", "wide").split("\n")[0])
                .matches("NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION"
                        + " +CONTAINER-RUNTIME *");
    }

    @Test
    void theNodeHasThisMachinesTrueValues() throws Exception {
        Node node = node();

        long memory = Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith("MemTotal:"))
                .map(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
        JsonObject info = node.status().object("nodeInfo");
        assertThat(node.status().object("capacity").text("cpu"))
                .isEqualTo(Integer.toString(Runtime.getRuntime().availableProcessors()));
        assertThat(node.status().object("capacity").text("memory")).isEqualTo(memory + "Ki");
        assertThat(info.text("bootID"))
                .isEqualTo(Files.readString(Path.of("/proc/sys/kernel/random/boot_id"))
                        .strip());
        assertThat(info.text("kernelVersion"))
                .isEqualTo(
                        Files.readString(Path.of("/proc/sys/kernel/osrelease")).strip());
        assertThat(info.text("containerRuntimeVersion")).isEqualTo("none");
        List<String> kubelets = List.of("MemoryPressure", "DiskPressure", "PIDPressure", "Ready");
        List<String> types =
                node.conditions().stream().map(condition -> condition.type()).toList();
        assertThat(types.stream().filter(kubelets::contains)).containsExactlyElementsOf(kubelets);
        // Each of the agent's own follows as soon as its first check has ended.
        assertThat(types.stream().filter(type -> !kubelets.contains(type)))
                .isNotEmpty()
                .doesNotHaveDuplicates()
                .isSubsetOf(
                        "ReadonlyFilesystem",
                        "FileDescriptorPressure",
                        "NFSUnavailable",
                        "InotifyLimitReached",
                        "ConntrackPressure",
                        "KernelDeadlock",
                        "ClockSkew");
    }

    @Test
    void yamlAndDescribeShowEverything() throws Exception {
        assertThat(kubectl.ok("get", "node", "here", "-o", "yaml"))
                .startsWith("apiVersion: v1\nkind: Node\nmetadata:\n")
                .contains("reason: KubeletReady");
        Eventually.within(
                Duration.ofSeconds(10),
                () -> kubectl.ok("describe", "node", "here").contains("Starting kubelet."));
        assertThat(kubectl.ok("describe", "node", "here"))
                .contains("HolderIdentity:  here")
                .contains("KubeletReady                 kubelet is posting ready status")
                .contains("Container Runtime Version:  none")
                .contains("Capacity:")
                .contains("Allocatable:")
                .contains("RegisteredNode")
                .contains("node-controller");
    }

    @Test
    @Tag("W77")
    void labelsAnnotationsAndTaintsAreChanged() throws Exception {
        assertThat(kubectl.ok("label", "node", "here", "team=a")).isEqualTo("node/here labeled\n");
        assertThat(kubectl.ok("get", "nodes", "-l", "team=a", "-o", "name")).isEqualTo("node/here\n");
        assertThat(kubectl.ok("label", "node", "here", "team-")).isEqualTo("node/here unlabeled\n");
        assertThat(kubectl.ok("get", "nodes", "-l", "team", "-o", "name")).isEmpty();
        kubectl.ok("annotate", "node", "here", "note=x");
        assertThat(node().annotations()).containsEntry("note", "x");

        assertThat(kubectl.ok("taint", "node", "here", "k=v:NoSchedule")).isEqualTo("node/here tainted\n");
        assertThat(node().hasTaint("k", "NoSchedule")).isTrue();
        assertThat(kubectl.ok("taint", "node", "here", "k-")).isEqualTo("node/here untainted\n");
        assertThat(node().hasTaint("k", "NoSchedule")).isFalse();
        assertThat(kubectl.run("taint", "node", "here", "k=v:Never").code()).isEqualTo(1);
    }

    @Test
    void cordonTaintsTheNodeAndUncordonUndoesIt() throws Exception {
        assertThat(kubectl.ok("cordon", "here")).isEqualTo("node/here cordoned\n");
        assertThat(kubectl.ok("get", "nodes")).contains("Ready,SchedulingDisabled");
        Eventually.within(
                Duration.ofSeconds(30), () -> node().hasTaint("node.kubernetes.io/unschedulable", "NoSchedule"));
        assertThat(kubectl.ok("uncordon", "here")).isEqualTo("node/here uncordoned\n");
        Eventually.within(
                Duration.ofSeconds(30), () -> !node().hasTaint("node.kubernetes.io/unschedulable", "NoSchedule"));
    }

    @Test
    @Tag("W32")
    @Tag("W36")
    void allKindsOfPatchesWork() throws Exception {
        kubectl.ok(
                "patch",
                "node",
                "here",
                "--type=json",
                "-p",
                "[{\"op\":\"add\",\"path\":\"/metadata/labels/p\",\"value\":\"1\"}]");
        assertThat(node().labels()).containsEntry("p", "1");
        kubectl.ok("patch", "node", "here", "--type=merge", "-p", "{\"metadata\":{\"labels\":{\"p\":\"2\"}}}");
        assertThat(node().labels()).containsEntry("p", "2");
        kubectl.ok("patch", "node", "here", "-p", "{\"metadata\":{\"labels\":{\"p\":null}}}");
        assertThat(node().labels()).doesNotContainKey("p");
    }

    @Test
    @Tag("W72")
    void watchShowsChangesAsTheyCome() throws Exception {
        Path out = directory.resolve("watch.out");
        Process watch = kubectl.start(out, directory.resolve("watch.err"), "get", "nodes", "-w");
        try {
            Eventually.within(
                    Duration.ofSeconds(10), () -> Files.readString(out).contains("here"));
            kubectl.ok("cordon", "here");
            Eventually.within(
                    Duration.ofSeconds(10), () -> Files.readString(out).contains("SchedulingDisabled"));
            assertThat(Files.readString(out)).startsWith("NAME ");
        } finally {
            watch.destroy();
            watch.waitFor(10, TimeUnit.SECONDS);
            kubectl.ok("uncordon", "here");
        }
    }

    @Test
    @Tag("A15")
    void aDeletedNodeIsRegisteredAgain() throws Exception {
        String uid = node().uid();

        assertThat(kubectl.ok("delete", "node", "here")).isEqualTo("node \"here\" deleted\n");

        Eventually.within(Duration.ofSeconds(20), () -> {
            Kubectl.Result found = kubectl.run("get", "node", "here", "-o", "jsonpath={.metadata.uid}");
            return found.code() == 0 && !found.out().equals(uid);
        });
        Eventually.within(
                Duration.ofSeconds(10), () -> kubectl.ok("get", "events").contains("RemovingNode"));
        Eventually.within(
                Duration.ofSeconds(10), () -> kubectl.ok("get", "nodes").contains(" Ready "));
    }

    @Test
    @Tag("W14")
    void healthVersionAndMetricsAnswer() throws Exception {
        assertThat(kubectl.ok("get", "--raw", "/readyz")).isEqualTo("ok");
        assertThat(kubectl.ok("get", "--raw", "/readyz?verbose"))
                .contains("[+]etcd ok")
                .endsWith("readyz check passed\n");
        assertThat(kubectl.ok("version")).contains("v1.32");
        assertThat(kubectl.ok("get", "--raw", "/metrics")).contains("apiserver_request_total{");
        assertThat(kubectl.ok("api-resources"))
                .contains("coordination.k8s.io/v1")
                .contains("nodes");
    }

    private Node node() throws Exception {
        return new Node(Json.parseObject(kubectl.ok("get", "node", "here", "-o", "json")));
    }
}
