package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.data.Percentage.withPercentage;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.v1.ContainerStats;
import io.nodekeeper.cri.v1.ContainerStatsRequest;
import io.nodekeeper.it.Command;
import io.nodekeeper.it.ConditionLog;
import io.nodekeeper.it.Eventually;
import io.nodekeeper.it.Pods;
import io.nodekeeper.it.RealNode;
import io.nodekeeper.it.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * The statistics of an agent on a real containerd with three pods beside what df, /proc, the cgroups and the runtime say. The
 * agent's root directory is on a FUSE file system, which then stops to answer.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class StatisticsIT {
    private static final String NODE = "measured";
    private static final long MIB = 1 << 20;
    /** What may change between two measurements on a busy machine. */
    private static final Offset<Long> MEMORY = within(256 * MIB);

    private static final Offset<Long> DISK = within(1_024 * MIB);
    private static final long WRITTEN = 8 * MIB;

    @TempDir
    static Path directory;

    private Running server;
    private Path kubeconfig;
    private ConditionLog conditions;
    private RealNode node;
    private Scene scene;
    private Fuse fuse;
    private Pods.RealPod writer;

    @BeforeAll
    void start() throws Exception {
        Path data = directory.resolve("data");
        server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"));
        server.awaitReady();
        kubeconfig = data.resolve("admin.kubeconfig");
        conditions = new ConditionLog(kubeconfig);
        node = new RealNode(Files.createDirectory(directory.resolve(NODE)), NODE, kubeconfig, false, 2);
        writer = node.pods().run("writer", "dd if=/dev/zero of=/written bs=1M count=8; exec sleep 1000000", Map.of());
        scene = new Scene(node, "statistics");
        fuse = Fuse.mountAt(scene, node.directory().resolve("agent"));
        node.startAgent();
        node.awaitReady(conditions);
    }

    @AfterAll
    void stop() throws Exception {
        scene.close();
        node.close();
        conditions.close();
        server.close();
    }

    private JsonObject summary() {
        return Json.parseObject(node.page().get("/stats/summary").orElseThrow());
    }

    private JsonObject pod(JsonObject summary, String name) {
        return summary.array("pods")
                .objects()
                .filter(pod -> pod.object("podRef").text("name").equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static JsonObject container(JsonObject pod) {
        return pod.array("containers").objects().findFirst().orElseThrow();
    }

    private static long number(JsonObject object, String name) {
        return object.number(name).orElseThrow(() -> new AssertionError(name + " is missing in " + object));
    }

    /** A number of {@code /proc/meminfo} in bytes. */
    private static long meminfo(String field) throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1_024)
                .findFirst()
                .orElseThrow();
    }

    /** Size, used and available bytes. */
    private static long[] df(Path path) throws Exception {
        String[] lines = Command.ok("df", "-B1", "--output=size,used,avail", path.toString())
                .strip()
                .split("\n");
        return Arrays.stream(lines[1].strip().split(" +"))
                .mapToLong(Long::parseLong)
                .toArray();
    }

    @Test
    @Order(1)
    @Tag("A90")
    @Tag("A91")
    void theNodeIsAsTheMachineSaysItself() throws Exception {
        long ticks = busyTicks();
        JsonObject machine = summary().object("node");

        JsonObject memory = machine.object("memory");
        assertThat(number(memory, "availableBytes") + number(memory, "workingSetBytes"))
                .isEqualTo(meminfo("MemTotal"));
        assertThat(number(memory, "workingSetBytes")).isLessThanOrEqualTo(number(memory, "usageBytes"));
        assertThat(number(machine.object("swap"), "swapUsageBytes"))
                .isCloseTo(meminfo("SwapTotal") - meminfo("SwapFree"), MEMORY);
        // The kernel counts interrupts only in one of both places.
        assertThat(number(machine.object("cpu"), "usageCoreNanoSeconds") / 1e9)
                .isCloseTo(ticks / 100.0, withPercentage(10));

        JsonObject pids = machine.object("rlimit");
        assertThat(number(pids, "maxpid"))
                .isEqualTo(Math.min(
                        kernelNumber("/proc/sys/kernel/pid_max"), kernelNumber("/proc/sys/kernel/threads-max")));
        String load = Files.readString(Path.of("/proc/loadavg")).split(" ")[3];
        assertThat(number(pids, "curproc"))
                .isCloseTo(Long.parseLong(load.substring(load.indexOf('/') + 1)), within(300L));
    }

    private static long busyTicks() throws IOException {
        String[] words = Files.readAllLines(Path.of("/proc/stat")).getFirst().split(" +");
        return Long.parseLong(words[1])
                + Long.parseLong(words[2])
                + Long.parseLong(words[3])
                + Long.parseLong(words[6])
                + Long.parseLong(words[7])
                + Long.parseLong(words[8]);
    }

    private static long kernelNumber(String file) throws IOException {
        return Long.parseLong(Files.readAllLines(Path.of(file)).getFirst().strip());
    }

    @Test
    @Order(2)
    void fileSystemsAreAsDfSays() throws Exception {
        JsonObject machine = summary().object("node");

        JsonObject nodeFs = machine.object("fs");
        long[] root = df(fuse.mountPoint());
        assertThat(root).containsExactly(4_096_000, 2_048_000, 1_638_400);
        assertThat(new long[] {
                    number(nodeFs, "capacityBytes"), number(nodeFs, "usedBytes"), number(nodeFs, "availableBytes")
                })
                .isEqualTo(root);
        assertThat(number(nodeFs, "inodesFree")).isEqualTo(60);

        Eventually.within(
                Duration.ofSeconds(15),
                () -> summary().object("node").object("runtime").has("imageFs"));
        JsonObject imageFs = summary().object("node").object("runtime").object("imageFs");
        long[] images = df(node.containerd().directory());
        assertThat(number(imageFs, "capacityBytes")).isEqualTo(images[0]);
        assertThat(number(imageFs, "availableBytes")).isCloseTo(images[2], DISK);
    }

    @Test
    @Order(3)
    void podsAreAsTheRuntimeSays() throws Exception {
        // containerd measures layers each 10 s.
        Eventually.within(
                Duration.ofSeconds(60),
                () -> container(pod(summary(), "writer"))
                                .object("rootfs")
                                .number("usedBytes")
                                .orElse(0L)
                        >= WRITTEN);
        JsonObject summary = summary();

        assertThat(summary.array("pods")
                        .objects()
                        .map(pod -> pod.object("podRef").text("name")))
                .containsExactlyInAnyOrder("pod-0", "pod-1", "writer");
        JsonObject measured = container(pod(summary, "writer"));
        ContainerStats stats = node.pods()
                .stub(Duration.ofSeconds(20))
                .containerStats(ContainerStatsRequest.newBuilder()
                        .setContainerId(writer.container())
                        .build())
                .getStats();
        assertThat(measured.text("name")).isEqualTo("main");
        assertThat(number(measured.object("cpu"), "usageCoreNanoSeconds"))
                .isCloseTo(stats.getCpu().getUsageCoreNanoSeconds().getValue(), within(50_000_000L));
        assertThat(number(measured.object("memory"), "workingSetBytes"))
                .isCloseTo(stats.getMemory().getWorkingSetBytes().getValue(), within(MIB));
        assertThat(number(measured.object("rootfs"), "usedBytes"))
                .isEqualTo(stats.getWritableLayer().getUsedBytes().getValue());
        // The container's process and that of the sandbox.
        assertThat(number(pod(summary, "writer").object("process_stats"), "process_count"))
                .isEqualTo(2);

        String metrics = node.page().get("/metrics/resource").orElseThrow();
        assertThat(metrics)
                .contains(
                        "\ncontainer_memory_working_set_bytes{container=\"main\",pod=\"writer\",namespace=\"",
                        "\npod_cpu_usage_seconds_total{pod=\"writer\",namespace=\"",
                        "\nnode_memory_working_set_bytes ",
                        "\nresource_scrape_error 0\n");
    }

    @Test
    @Order(4)
    @Tag("A98")
    void aMountThatHangsFreezesOnlyItsOwnSignalAndIsNamed() throws Exception {
        // Given a file system that no longer answers.
        fuse.silence();

        // Then it is late: after two rounds of 10 s and the deadline of a reading, or later on a busy machine.
        Eventually.within(
                Duration.ofSeconds(60),
                () -> node.page()
                        .metric("nodekeeper_agent_statistics_late_seconds{signal=\"nodefs\"}")
                        .isPresent());
        JsonObject first = summary().object("node");
        Thread.sleep(6_000);
        // And the others go on.
        Eventually.within(
                Duration.ofSeconds(30),
                () -> summary()
                                        .object("node")
                                        .object("cpu")
                                        .text("time")
                                        .compareTo(first.object("cpu").text("time"))
                                > 0
                        && node.page()
                                .metric("nodekeeper_agent_statistics_late_seconds{signal=\"imagefs\"}")
                                .isEmpty());
        long begin = System.nanoTime();
        JsonObject second = summary().object("node");
        // The mount never answers.
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(10));

        // And it keeps its last value with its time.
        assertThat(second.object("fs")).isEqualTo(first.object("fs"));
        assertThat(number(second.object("fs"), "capacityBytes")).isEqualTo(4_096_000);
        assertThat(number(second.object("cpu"), "usageCoreNanoSeconds"))
                .isGreaterThan(number(first.object("cpu"), "usageCoreNanoSeconds"));

        // And an event names signal, path and mount.
        Eventually.within(Duration.ofSeconds(30), () -> events().contains("StatisticsLate"));
        assertThat(events())
                .containsPattern("the signal nodefs has not been measured since \\S+Z: .*"
                        + "the file system is mounted at " + fuse.mountPoint() + " from nodekeeper-fuse, type fuse");
    }

    private String events() throws Exception {
        return Command.ok("kubectl", "--kubeconfig", kubeconfig.toString(), "get", "events", "-A");
    }
}
