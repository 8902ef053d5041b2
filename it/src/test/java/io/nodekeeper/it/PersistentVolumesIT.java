package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Persistent volumes of a CSI driver that is a process of its own, on a real containerd, with an agent that has the rights of a node.
 * The test plays the controllers that bind claims and attach volumes.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class PersistentVolumesIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    /** For an agent and a driver that start again, on a machine that is busy. */
    private static final Duration RESTARTED = Duration.ofSeconds(90);

    private static final String DRIVER = "csi.example.com";

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;
    private Path agent;
    private CsiDriver driver;
    /** The node's CSINode before there was a driver. */
    private JsonObject first;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        node = cluster.addNodeWithOwnRights();
        agent = node.directory().resolve("agent");
        cluster.startAgent("");
        first = csiNode();
        driver = newDriver();
    }

    @Test
    @Order(1)
    void aDriverThatRegistersIsShownByTheNodeAndItsCsiNode() throws Exception {
        assertThat(first.array("drivers").isEmpty()).isTrue();

        Eventually.within(SOON, () -> driver.calls().contains("registered true"));
        assertThat(csiNode().array("drivers").objects().toList()).containsExactly(Json.parseObject("""
                        {"name": "csi.example.com", "nodeID": "machine-7", "topologyKeys": ["example.com/rack"],
                         "allocatable": {"count": 5}}"""));
        JsonObject metadata = json("node", NODE).object("metadata");
        assertThat(metadata.object("annotations").text("csi.volume.kubernetes.io/nodeid"))
                .isEqualTo("{\"csi.example.com\":\"machine-7\"}");
        assertThat(metadata.object("annotations").text("volumes.kubernetes.io/controller-managed-attach-detach"))
                .isEqualTo("true");
        assertThat(metadata.object("labels").text("example.com/rack")).isEqualTo("r1");
    }

    @Test
    @Order(2)
    void aPodWaitsForItsClaimAndItsAttachmentAndWritesItsVolume() throws Exception {
        kubectl.ok("create", "secret", "generic", "stage", "--from-literal=user=ann");
        claim("data");
        pod("writer", "data", "echo kept > /data/said");
        Eventually.within(SOON, () -> events().contains("error processing PVC default/data: PVC is not bound"));

        bind("data");
        Eventually.within(SOON, () -> inUse().equals(List.of("kubernetes.io/csi/csi.example.com^handle-data")));
        assertThat(driver.calls()).doesNotContain("stage");
        attach("data");

        cluster.awaitReady(SOON, "writer");
        assertThat(driver.calls())
                .contains("stage handle-data {user=ann} {device=/dev/x}")
                .contains("publish handle-data");
        assertThat(content("data", "said")).isEqualTo("kept\n");
        Eventually.within(SOON, () -> capacityOfClaim("data") > 0);
    }

    /** What the node's statistics say about the volume behind a claim; 0 if nothing. */
    private long capacityOfClaim(String claim) {
        return node.page().get("/stats/summary").map(Json::parseObject).stream()
                .flatMap(summary -> summary.array("pods").objects())
                .flatMap(pod -> pod.array("volume").objects())
                .filter(volume -> volume.object("pvcRef").text("name").equals(claim))
                .flatMap(volume -> volume.number("capacityBytes").stream())
                .findFirst()
                .orElse(0L);
    }

    @Test
    @Order(3)
    void theVolumeIsUnmountedWithItsPodAndAnotherPodReadsIt() throws Exception {
        kubectl.ok("delete", "pod", "writer", "--timeout=60s");
        Eventually.within(SOON, () -> driver.calls().contains("unstage handle-data") && inUse().isEmpty());
        assertThat(mounts()).doesNotContain("handle-data");

        pod("reader", "data", "cat /data/said > /data/read");

        cluster.awaitReady(SOON, "reader");
        Eventually.within(SOON, () -> content("data", "read").equals("kept\n"));
    }

    @Test
    @Order(4)
    void aDriverThatHangsIsNamedAndDelaysOnlyPodsThatWaitForIt() throws Exception {
        claim("stuck");
        bind("stuck");
        attach("stuck");
        driver.hang("handle-stuck");
        pod("hung", "stuck", "true");
        Eventually.within(SOON, () -> driver.calls().contains("publish handle-stuck"));

        claim("beside");
        bind("beside");
        attach("beside");
        pod("beside", "beside", "true");

        cluster.awaitReady(SOON, "beside");
        Eventually.within(
                SOON,
                () -> events().contains("CSI driver csi.example.com has not answered NodePublishVolume for volume"
                        + " \"pv-stuck\" since 10 s"));
        assertThat(pods.isReady("hung")).isFalse();
        driver.recover("handle-stuck");
    }

    @Test
    @Order(5)
    void aVolumeThatAnswersNothingWhereItIsStagedDelaysOnlyPodsThatUseIt() throws Exception {
        // given a volume that an earlier agent staged, of a file system whose server is silent
        Path staged = Files.createDirectories(agent.resolve("plugins/kubernetes.io/csi/" + DRIVER)
                .resolve(sha256("handle-silent"))
                .resolve("globalmount"));
        Process server = silentMount(staged);
        try {
            claim("silent");
            bind("silent");
            attach("silent");
            driver.hang("handle-silent");
            pod("silent", "silent", "true");

            // then its driver is asked, as nothing else can know whether it answers
            Eventually.within(SOON, () -> driver.calls().contains("stage handle-silent"));

            // and other pods with volumes come and go
            claim("passing");
            bind("passing");
            attach("passing");
            pod("passing", "passing", "true");
            cluster.awaitReady(SOON, "passing");
            kubectl.ok("delete", "pod", "passing", "--timeout=30s");
            Eventually.within(SOON, () -> driver.calls().contains("unstage handle-passing"));
        } finally {
            server.destroyForcibly().waitFor();
        }
        driver.recover("handle-silent");
    }

    /** A file system at {@code path} whose server, the process, never answers; its end ends all requests with an error. */
    private static Process silentMount(Path path) throws Exception {
        Process server = new ProcessBuilder(
                        "bash",
                        "-c",
                        "exec 7<>/dev/fuse; mount -i -t fuse -o fd=7,rootmode=40000,user_id=0,group_id=0 silent \"$0\" 2>&1"
                                + " && echo mounted && exec sleep 600",
                        path.toString())
                .start();
        assertThat(server.inputReader().readLine()).isEqualTo("mounted");
        return server;
    }

    @Test
    @Order(6)
    void anAgentThatIsKilledUnmountsWhatItsPodsLeaveBehind() throws Exception {
        String container = pods.container("beside").text("containerID");
        node.agent().kill();
        // The driver is restarted, too, at a socket that is made again.
        driver.close();
        kubectl.ok("delete", "pod", "reader", "hung", "silent", "--grace-period=0", "--force");
        driver = newDriver();
        cluster.startAgentAgain();

        Eventually.within(
                RESTARTED,
                () -> inUse().equals(List.of("kubernetes.io/csi/csi.example.com^handle-beside"))
                        && !mounts().contains("handle-data")
                        && !mounts().contains("handle-stuck"));
        assertThat(pods.container("beside").text("containerID")).isEqualTo(container);
        assertThat(mounts()).contains("handle-beside");
    }

    @Test
    @Order(7)
    void inTheEndNothingIsMounted() throws Exception {
        kubectl.ok("delete", "pod", "beside", "--timeout=60s");

        Eventually.within(SOON, () -> inUse().isEmpty());
        assertThat(mounts()).doesNotContain(agent.toString());
        assertThat(Leftovers.children(agent.resolve("pods"))).isEmpty();
        assertThat(Leftovers.children(agent.resolve("plugins/kubernetes.io/csi/" + DRIVER)))
                .isEmpty();
        assertThat(content("data", "said")).isEqualTo("kept\n");
        driver.close();
        Files.delete(agent.resolve("plugins_registry/example.sock"));
        Eventually.within(SOON, () -> csiNode().array("drivers").isEmpty());
    }

    private CsiDriver newDriver() throws Exception {
        return cluster.opened(
                CsiDriver.start(DRIVER, agent.resolve("plugins_registry/example.sock"), directory.resolve("driver")));
    }

    private void claim(String name) throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: PersistentVolumeClaim
                metadata: {name: %s}
                spec:
                  accessModes: [ReadWriteOnce]
                  storageClassName: ""
                  volumeName: pv-%1$s
                  resources: {requests: {storage: 1Gi}}
                """.formatted(name));
    }

    private void bind(String name) throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: PersistentVolume
                metadata: {name: pv-%s}
                spec:
                  accessModes: [ReadWriteOnce]
                  capacity: {storage: 1Gi}
                  claimRef: {namespace: default, name: %1$s, uid: %s}
                  csi:
                    driver: %s
                    volumeHandle: handle-%1$s
                    nodeStageSecretRef: {namespace: default, name: stage}
                """.formatted(
                name, json("persistentvolumeclaim", name).object("metadata").text("uid"), DRIVER));
        kubectl.ok(
                "patch",
                "persistentvolumeclaim",
                name,
                "--subresource=status",
                "--type=merge",
                "-p",
                "{\"status\": {\"phase\": \"Bound\"}}");
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    private void attach(String name) throws Exception {
        String hash = sha256("handle-" + name + DRIVER + NODE);
        kubectl.apply("""
                apiVersion: storage.k8s.io/v1
                kind: VolumeAttachment
                metadata: {name: csi-%s}
                spec: {attacher: %s, nodeName: %s, source: {persistentVolumeName: pv-%s}}
                """.formatted(hash, DRIVER, NODE, name));
        kubectl.ok(
                "patch",
                "volumeattachment",
                "csi-" + hash,
                "--subresource=status",
                "--type=merge",
                "-p",
                "{\"status\": {\"attached\": true, \"attachmentMetadata\": {\"device\": \"/dev/x\"}}}");
    }

    private void pod(String name, String claim, String command) throws Exception {
        kubectl.apply(
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 1
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "%s; sleep 1000"]
                    volumeMounts: [{name: data, mountPath: /data}]
                  volumes: [{name: data, persistentVolumeClaim: {claimName: %s}}]
                """.formatted(name, NODE, BusyboxImages.BUSYBOX, command.replace("cat", "/bin/busybox cat"), claim));
    }

    private JsonObject json(String resource, String name) throws Exception {
        return Json.parseObject(kubectl.ok("get", resource, name, "-o", "json"));
    }

    private JsonObject csiNode() throws Exception {
        return json("csinode", NODE).object("spec");
    }

    private List<String> inUse() throws Exception {
        return json("node", NODE)
                .object("status")
                .array("volumesInUse")
                .strings()
                .toList();
    }

    private String events() throws Exception {
        return kubectl.ok("get", "events");
    }

    private String content(String volume, String file) throws Exception {
        Path path = directory.resolve("driver/volumes/handle-" + volume).resolve(file);
        return Files.exists(path) ? Files.readString(path) : "";
    }

    /** What is mounted on this machine below the agent's directory, with its source. */
    private String mounts() throws Exception {
        return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                .filter(line -> line.contains(agent.toString()))
                .collect(Collectors.joining("\n"));
    }
}
