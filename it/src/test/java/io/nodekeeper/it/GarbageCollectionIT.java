package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
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

/**
 * A real containerd on a disk of 256 MiB that is full of images: those that nothing uses are removed, no pod ends for them, and
 * pods still start. And a static pod for which there is too little room.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class GarbageCollectionIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    /** Of a file in each image; containerd has it twice, packed and unpacked. */
    private static final int IMAGE_MI = 18;

    private static final String USED = "localhost/image0:1";

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private ConditionLog conditions;
    private PodLog pods;
    private RealNode node;
    private Path manifests;
    private int images;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        conditions = cluster.conditions();
        pods = cluster.pods();
        node = cluster.addNodeWithDisk();
        manifests = Files.createDirectory(directory.resolve("manifests"));
    }

    private void startAgent(String imageSpace) throws Exception {
        cluster.startAgent("""
                staticPodPath: %s
                evictionHard: {"imagefs.available": "%s"}
                evictionPressureTransitionPeriod: 5s
                """.formatted(manifests, imageSpace));
    }

    private static String pod(String name, String cpu) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  hostNetwork: true
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "exec sleep 100000"]
                    resources: {requests: {cpu: %s}}
                """.formatted(name, USED, cpu);
    }

    private void apply(String name, String cpu) throws Exception {
        kubectl.apply(pod(name, cpu).replace("spec:", "spec:\n  nodeName: " + NODE));
        cluster.awaitReady(SOON, name);
    }

    /** Images as on a node on which many pods have been, until {@code percent} of the disk are used. */
    private void fill(int percent) throws Exception {
        do {
            addImage();
        } while (usedPercent() < percent);
    }

    private void addImage() throws Exception {
        String tag = "localhost/image" + images + ":1";
        Path work = directory.resolve("image" + images);
        images++;
        Path archive = BusyboxImages.filled(work, tag, IMAGE_MI);
        Command.Result result = node.containerd().ctr(Duration.ofSeconds(60), "images", "import", archive.toString());
        assertThat(result.code()).as(result.output()).isZero();
    }

    private long usedPercent() throws Exception {
        FileStore disk = Files.getFileStore(node.containerd().disk().mountPoint());
        return 100 - disk.getUsableSpace() * 100 / disk.getTotalSpace();
    }

    private List<String> tags() throws Exception {
        return node.containerd()
                .ctr(Duration.ofSeconds(30), "images", "list", "-q")
                .output()
                .lines()
                .filter(name -> name.startsWith("localhost/"))
                .toList();
    }

    @Test
    @Order(1)
    void unusedImagesAreRemovedUntilTheLowThreshold() throws Exception {
        addImage();
        startAgent("1%");
        apply("web", "1m");
        node.agent().kill();
        fill(86);
        int before = tags().size();

        startAgent("1%");

        Eventually.within(SOON, () -> usedPercent() <= 80);
        Eventually.within(
                SOON,
                () -> node.page()
                        .get("/metrics")
                        .filter(text -> text.contains("kubelet_image_garbage_collected_total{reason=\"space\"}"))
                        .isPresent());
        assertThat(tags())
                .contains(USED, BusyboxImages.PAUSE)
                .hasSizeGreaterThan(3)
                .hasSizeLessThan(before);
        assertThat(usedPercent()).isGreaterThan(50);
        assertThat(pods.isReady("web")).isTrue();
        apply("next", "1m");
    }

    @Test
    @Order(2)
    void imagesAreRemovedBeforeAnyPodIsEvicted() throws Exception {
        node.agent().kill();
        long begin = System.nanoTime();

        startAgent("40%");

        Eventually.within(SOON, () -> kubectl.ok("get", "events").contains("Attempting to reclaim ephemeral-storage"));
        Eventually.within(SOON, () -> usedPercent() < 50);
        Eventually.within(
                SOON,
                () -> conditions.since(begin, NODE, Condition.DISK_PRESSURE).stream()
                        .anyMatch(entry -> entry.says(Condition.TRUE)));
        Eventually.within(SOON, () -> conditions.is(NODE, Condition.DISK_PRESSURE, Condition.FALSE));
        assertThat(tags()).containsExactlyInAnyOrder(USED, BusyboxImages.PAUSE);
        assertThat(pods.isReady("web")).isTrue();
        assertThat(pods.isReady("next")).isTrue();
        apply("after", "1m");
    }

    @Test
    @Order(3)
    void aStaticPodPushesOutAnotherOneWhenThereIsTooLittleRoom() throws Exception {
        int most = Runtime.getRuntime().availableProcessors() * 600;
        apply("large", most + "m");

        Path draft = Files.writeString(directory.resolve("draft"), pod("critical", most + "m"));
        Files.move(draft, manifests.resolve("critical.yaml"));

        cluster.awaitReady(SOON, "critical-" + NODE);
        Eventually.within(SOON, () -> pods.status("large").text("phase").equals("Failed"));
        assertThat(pods.status("large").text("reason")).isEqualTo("Preempting");
        assertThat(pods.status("large").text("message")).isEqualTo("Preempted in order to admit critical pod");
        assertThat(pods.isReady("web")).isTrue();
    }
}
