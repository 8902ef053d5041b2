package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.config.CgroupDriver;
import io.nodekeeper.agent.facts.Capacity;
import io.nodekeeper.agent.pods.cgroups.PodCgroups;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** The real cgroups of pods on a real containerd: their limits, who is killed by them, and that none is left. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class PodCgroupsIT {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final long MI = 1 << 20;
    private static final long MOST_PIDS = 60;
    private static final boolean UNIFIED = Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers"));
    private static final String SLEEP = "trap 'exit 0' TERM; while true; do sleep 0.2; done";

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private ConditionLog conditions;
    private PodLog pods;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        conditions = cluster.conditions();
        pods = cluster.pods();
        node = cluster.addNode();
        cluster.startAgent("""
                podPidsLimit: %d
                kubeReserved: {cpu: 100m, memory: 100Mi}
                """.formatted(MOST_PIDS));
    }

    private void apply(String name, String command, String resources) throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  restartPolicy: Never
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "%s"]
                    resources: {%s}
                """.formatted(name, NODE, BusyboxImages.BUSYBOX, command, resources));
    }

    /** The cgroup of all pods in the hierarchy of a controller. */
    private Path all(String controller) throws IOException {
        return Leftovers.hierarchies().stream()
                .filter(hierarchy -> UNIFIED
                        || List.of(hierarchy.getFileName().toString().split(","))
                                .contains(controller))
                .findFirst()
                .orElseThrow()
                .resolve(node.containerd().name())
                .resolve("kubepods");
    }

    private String pod(String name) {
        return "pod" + pods.uid(name);
    }

    private static long number(Path file) throws IOException {
        return Long.parseLong(Files.readString(file).strip());
    }

    /** The weight as in version 1, and the one of version 2. */
    private static void assertWeight(Path cgroup, long shares, long weight) throws IOException {
        assertThat(number(cgroup.resolve(UNIFIED ? "cpu.weight" : "cpu.shares")))
                .isEqualTo(UNIFIED ? weight : shares);
    }

    private static long machine() throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith("MemTotal:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                .findFirst()
                .orElseThrow();
    }

    private static long memoryLimit(Path cgroup) throws IOException {
        return number(cgroup.resolve(UNIFIED ? "memory.max" : "memory.limit_in_bytes"));
    }

    /** The OOM score of each process of a cgroup and those below it, by its command line. */
    private static Map<String, Integer> scores(Path cgroup) throws IOException {
        Map<String, Integer> scores = new TreeMap<>();
        for (long pid : processes(cgroup)) {
            try {
                String words = Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"));
                scores.put(words.contains("1000000000") ? "pause" : words.contains("0.2") ? "main" : "other", (int)
                        number(Path.of("/proc", Long.toString(pid), "oom_score_adj")));
            } catch (NoSuchFileException e) {
                // It has ended meanwhile.
            }
        }
        return scores;
    }

    private static List<Long> processes(Path cgroup) throws IOException {
        List<Long> found = new ArrayList<>();
        try (Stream<Path> tree = Files.walk(cgroup)) {
            for (Path file : tree.filter(path -> path.getFileName().toString().equals("cgroup.procs"))
                    .toList()) {
                Files.readAllLines(file).forEach(line -> found.add(Long.valueOf(line)));
            }
        }
        return found;
    }

    @Test
    @Order(1)
    void eachClassHasItsCgroupsLimitsAndScores() throws Exception {
        apply("guaranteed", SLEEP, "limits: {cpu: 200m, memory: 64Mi}");
        apply("burstable", SLEEP, "requests: {cpu: 100m, memory: 32Mi}");
        apply("besteffort", SLEEP, "");
        Eventually.within(
                SOON, () -> Stream.of("guaranteed", "burstable", "besteffort").allMatch(pods::isReady));

        Path cpu = all("cpu");
        assertWeight(cpu.resolve(pod("guaranteed")), 204, 8);
        assertWeight(cpu.resolve("burstable").resolve(pod("burstable")), 102, 4);
        assertWeight(cpu.resolve("besteffort").resolve(pod("besteffort")), 2, 1);
        assertWeight(cpu.resolve("besteffort"), 2, 1);
        Eventually.within(
                SOON,
                () -> number(cpu.resolve("burstable").resolve(UNIFIED ? "cpu.weight" : "cpu.shares"))
                        == (UNIFIED ? 4 : 102));
        Path quota = cpu.resolve(pod("guaranteed")).resolve(UNIFIED ? "cpu.max" : "cpu.cfs_quota_us");
        assertThat(Files.readString(quota).strip()).isEqualTo(UNIFIED ? "20000 100000" : "20000");

        Path memory = all("memory");
        assertThat(memoryLimit(memory.resolve(pod("guaranteed")))).isEqualTo(64 * MI);
        long machine = machine();
        assertThat(memoryLimit(memory)).isEqualTo(machine - 100 * MI);
        Path pids = all("pids");
        assertThat(number(pids.resolve("burstable").resolve(pod("burstable")).resolve("pids.max")))
                .isEqualTo(MOST_PIDS);

        // Without CAP_SYS_RESOURCE containerd cannot go below its own score.
        int own = (int) number(Path.of("/proc/self/oom_score_adj"));
        assertThat(scores(memory.resolve(pod("guaranteed"))))
                .containsEntry("main", Math.max(-997, own))
                .containsEntry("pause", Math.max(-998, own));
        int burstable = (int) Math.clamp(1_000 - 1_000 * 32 * MI / machine, 3, 999);
        assertThat(scores(memory.resolve("burstable").resolve(pod("burstable"))))
                .containsEntry("main", burstable);
        assertThat(scores(memory.resolve("besteffort").resolve(pod("besteffort"))))
                .containsEntry("main", 1_000);
        Eventually.within(SOON, () -> kubectl.ok("get", "events", "-A").contains("NodeAllocatableEnforced"));
    }

    @Test
    @Order(2)
    void theStatisticsOfPodsAreThoseOfTheirCgroups() throws Exception {
        Eventually.within(
                SOON,
                () -> summary()
                        .map(summary -> summary.array("pods").objects().count() >= 3)
                        .orElse(false));
        JsonObject summary = summary().orElseThrow();
        JsonObject guaranteed = summary.array("pods")
                .objects()
                .filter(pod -> pod.object("podRef").text("name").equals("guaranteed"))
                .findFirst()
                .orElseThrow();
        // Only the cgroup of the pod has its limit.
        assertThat(guaranteed.object("memory").number("availableBytes").orElseThrow())
                .isPositive()
                .isLessThan(64 * MI);
        JsonObject together = summary.object("node")
                .array("systemContainers")
                .objects()
                .filter(container -> container.text("name").equals("pods"))
                .findFirst()
                .orElseThrow();
        assertThat(together.object("memory").number("availableBytes").orElseThrow())
                .isLessThan(memoryLimit(all("memory")));
    }

    @Test
    @Order(2)
    void theNetworkAndTheVolumesOfAPodAreThoseThatItSeesItself() throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: measured}
                spec:
                  nodeName: %1$s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 1
                  initContainers:
                  - name: writer
                    image: %2$s
                    command: [dd, if=/dev/zero, of=/cache/file, bs=1M, count=5]
                    volumeMounts: [{name: cache, mountPath: /cache}]
                  containers:
                  - name: main
                    image: %2$s
                    command: [sleep, "100000"]
                    volumeMounts: [{name: cache, mountPath: /cache}, {name: memory, mountPath: /memory}]
                  volumes:
                  - {name: cache, emptyDir: {}}
                  - {name: memory, emptyDir: {medium: Memory, sizeLimit: 16Mi}}
                """.formatted(NODE, BusyboxImages.BUSYBOX));
        cluster.awaitReady(SOON, "measured");

        knock("measured");
        Eventually.within(
                SOON,
                () -> measured().array("volume").objects().count() == 2
                        && measured().object("network").number("rxBytes").orElse(0L) > 0);
        JsonObject pod = measured();
        List<JsonObject> volumes = pod.array("volume").objects().toList();
        assertThat(volumes).extracting(volume -> volume.text("name")).containsExactly("cache", "memory");
        assertThat(volumes.get(0).number("usedBytes").orElseThrow()).isBetween(5 * MI, 6 * MI);
        assertThat(volumes.get(0).number("inodesUsed")).contains(2L);
        assertThat(volumes.get(1).number("capacityBytes")).contains(16 * MI);
        assertThat(pod.object("network").text("name")).isEqualTo("eth0");
        long process = processes(all("memory").resolve("besteffort").resolve(pod("measured")))
                .getFirst();
        long seen = Files.readString(Path.of("/proc", Long.toString(process), "net/dev"))
                .lines()
                .map(String::strip)
                .filter(line -> line.startsWith("eth0:"))
                .mapToLong(line ->
                        Long.parseLong(line.substring("eth0:".length()).strip().split(" +")[0]))
                .findFirst()
                .orElseThrow();
        assertThat(pod.object("network").number("rxBytes").orElseThrow()).isBetween(1L, seen);
        kubectl.ok("delete", "pod", "measured", "--timeout=60s");
    }

    /** Sends a datagram to the pod. No process of the pod receives it, but its interface counts it. */
    private void knock(String pod) throws Exception {
        InetAddress address = InetAddress.ofLiteral(
                pods.pod(pod).orElseThrow().object("status").text("podIP"));
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.send(new DatagramPacket(new byte[10], 10, address, 9));
        }
    }

    private JsonObject measured() {
        return summary().stream()
                .flatMap(summary -> summary.array("pods").objects())
                .filter(pod -> pod.object("podRef").text("name").equals("measured"))
                .findFirst()
                .orElse(JsonObject.EMPTY);
    }

    private Optional<JsonObject> summary() {
        return node.page().get("/stats/summary").map(Json::parseObject);
    }

    @Test
    @Order(3)
    void aPodBeyondItsMemoryIsShownAsKilled() throws Exception {
        // containerd begins to watch for it after the start, and calls one before that an error.
        apply("greedy", "sleep 2; exec dd if=/dev/zero of=/dev/null bs=300M count=1", "limits: {memory: 32Mi}");

        cluster.await(
                SOON,
                "greedy",
                "shown as killed",
                () -> terminated("greedy").text("reason").equals("OOMKilled"));
        assertThat(terminated("greedy").number("exitCode")).contains(137L);
        assertThat(Stream.of("guaranteed", "burstable", "besteffort").allMatch(pods::isReady))
                .isTrue();
    }

    private JsonObject terminated(String name) {
        return pods.container(name).object("state").object("terminated");
    }

    @Test
    @Order(4)
    void aPodThatMakesProcessesWithoutEndIsBounded() throws Exception {
        apply("bomb", "(while true; do sleep 100000 & done); exec sleep 100000", "");

        cluster.awaitReady(SOON, "bomb");
        Path cgroup = all("pids").resolve("besteffort").resolve(pod("bomb"));
        Eventually.within(SOON, () -> number(cgroup.resolve("pids.current")) >= MOST_PIDS - 2);
        assertThat(number(cgroup.resolve("pids.current"))).isLessThanOrEqualTo(MOST_PIDS);
        assertThat(pods.isReady("besteffort")).isTrue();
    }

    @Test
    @Order(5)
    void anAgentThatIsKilledKeepsCgroupsOfItsPodsAndRemovesThoseOfOthers() throws Exception {
        List<Long> before = processes(all("memory").resolve(pod("guaranteed")));
        node.agent().kill();
        Process left = new ProcessBuilder("sleep", "100000").start();
        Path orphan = Files.createDirectories(all("memory").resolve("burstable/podorphan/one"));
        Path foreign = Files.createDirectories(all("memory").resolveSibling("podforeign"));
        try {
            Files.writeString(orphan.resolve("cgroup.procs"), Long.toString(left.pid()));

            cluster.startAgentAgain();

            Eventually.within(SOON, () -> !Files.exists(orphan.getParent()));
            assertThat(left.waitFor()).isEqualTo(137);
        } finally {
            left.destroyForcibly();
        }
        assertThat(foreign).exists();
        assertThat(processes(all("memory").resolve(pod("guaranteed")))).containsAll(firsts(before));
        assertThat(pods.isReady("guaranteed")).isTrue();
    }

    /** Those of {@code pids} that have not ended: the shell starts a new sleep all the time. */
    private static List<Long> firsts(List<Long> pids) {
        return pids.stream().filter(pid -> ProcessHandle.of(pid).isPresent()).toList();
    }

    @Test
    @Order(6)
    void podsThatHaveEndedOrAreDeletedLeaveNoCgroup() throws Exception {
        // It stays in the API, and its cgroup is gone with the next round.
        Path ended = all("memory").resolve(pod("greedy"));
        Eventually.within(Duration.ofSeconds(90), () -> !Files.exists(ended));
        assertThat(pods.status("greedy").text("phase")).isEqualTo("Failed");

        kubectl.ok("delete", "pods", "--all", "--timeout=60s");

        for (Path hierarchy : Leftovers.hierarchies()) {
            Path top = hierarchy.resolve(node.containerd().name()).resolve("kubepods");
            if (Files.exists(top)) {
                try (Stream<Path> tree = Files.walk(top)) {
                    assertThat(tree.filter(Files::isDirectory)
                                    .map(path -> path.getFileName().toString()))
                            .isSubsetOf("kubepods", "burstable", "besteffort");
                }
            }
        }
    }

    @Test
    @Order(7)
    void withoutCgroupsOfPodsTheRuntimeChooses() throws Exception {
        node.agent().kill();
        cluster.startAgent("", "--cgroups-per-qos=false");

        apply("plain", SLEEP, "");

        cluster.awaitReady(SOON, "plain");
        assertThat(all("memory").resolve("besteffort").resolve(pod("plain"))).doesNotExist();
        kubectl.ok("delete", "pods", "--all", "--timeout=60s");
    }

    @Test
    @Order(8)
    void podsThatUseWhatIsLeftForThemAreEvictedThoughTheMachineHasMemory() throws Exception {
        node.agent().kill();
        long reserved = machine() - 400 * MI;
        cluster.startAgent("""
                kubeReserved: {memory: "%d"}
                evictionHard: {memory.available: 100Mi}
                evictionPressureTransitionPeriod: 5s
                """.formatted(reserved));
        Eventually.within(SOON, () -> Math.abs(memoryLimit(all("memory")) - 400 * MI) < MI);
        apply("small", SLEEP, "");
        cluster.awaitReady(SOON, "small");

        apply("large", "dd if=/dev/zero bs=350M count=1 | sleep 100000", "");

        Eventually.within(SOON, () -> pods.status("large").text("reason").equals("Evicted"));
        assertThat(pods.status("large").text("message")).startsWith("The node was low on resource: memory. ");
        assertThat(pods.isReady("small")).isTrue();
        Eventually.within(SOON, () -> conditions.is(NODE, Condition.MEMORY_PRESSURE, Condition.FALSE));
        kubectl.ok("delete", "pods", "--all", "--timeout=60s");
    }

    @Test
    @Order(9)
    void aRootThatDoesNotExistEndsTheStartWithItsName() throws Exception {
        Running agent = Running.startSmall(
                directory,
                "without-root",
                List.of(
                        "agent",
                        "--kubeconfig=" + cluster.kubeconfig(),
                        "--node-name=without-root",
                        "--container-runtime-endpoint=" + node.containerd().endpoint(),
                        "--cgroup-root=/not/there",
                        "--config=" + cluster.kubeletConfig("")));

        assertThat(agent.awaitEnd()).isNotZero();
        assertThat(agent.log())
                .contains("cgroupRoot /not/there does not exist below /sys/fs/cgroup")
                .contains("set cgroupsPerQOS to false");
    }

    /** Also where the controllers are those of version 1, cgroups of version 2 have processes that can be killed together. */
    @Test
    @Order(10)
    void whatIsLeftOfAPodIsKilledByVersion2ItselfWhereThatIsMounted() throws Exception {
        Path mounted = UNIFIED ? Path.of("/sys/fs/cgroup") : Path.of("/sys/fs/cgroup/unified");
        Path root = directory.resolve("other-root");
        Files.createDirectories(root.resolve("sys/fs"));
        Files.createSymbolicLink(root.resolve("sys/fs/cgroup"), mounted);
        CgroupConfig config = new CgroupConfig(
                true, CgroupDriver.CGROUPFS, "/" + node.containerd().name() + "/two", true, true, -1, false, -999);
        PodCgroups cgroups = new PodCgroups(root, config, new Capacity(1, 1, 1), List.of());
        Path pod = mounted.resolve(node.containerd().name()).resolve("two/kubepods/besteffort/podleft");
        Path inner = Files.createDirectories(pod.resolve("one/deeper"));
        Process first = new ProcessBuilder("sleep", "100000").start();
        Process second = new ProcessBuilder("sleep", "100000").start();
        try {
            Files.writeString(inner.resolve("cgroup.procs"), Long.toString(first.pid()));
            Files.writeString(pod.resolve("one/cgroup.procs"), Long.toString(second.pid()));
            assertThat(cgroups.uids()).containsExactly("left");

            Eventually.within(SOON, () -> {
                try {
                    cgroups.remove("left");
                    return true;
                } catch (IOException e) {
                    return false;
                }
            });

            assertThat(first.waitFor()).isEqualTo(137);
            assertThat(second.waitFor()).isEqualTo(137);
            assertThat(pod).doesNotExist();
        } finally {
            first.destroyForcibly();
            second.destroyForcibly();
        }
    }
}
