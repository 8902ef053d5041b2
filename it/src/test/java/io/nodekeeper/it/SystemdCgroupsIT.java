package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

/** Pods whose cgroups are slices of a real systemd, with a real containerd that makes scopes in them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class SystemdCgroupsIT {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final long MI = 1 << 20;
    private static final boolean UNIFIED = Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers"));
    private static final String BURSTABLE = "/kubepods.slice/kubepods-burstable.slice/";
    private static final String BEST_EFFORT = "/kubepods.slice/kubepods-besteffort.slice/";

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private SystemdMachine machine;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        machine = cluster.opened(new SystemdMachine(directory));
        node = cluster.addNodeIn(machine);
        cluster.startAgent("""
                cgroupDriver: systemd
                podPidsLimit: 60
                kubeReserved: {cpu: 100m, memory: 100Mi}
                """);
    }

    private void apply(String name, String resources) throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "trap 'exit 0' TERM; while true; do sleep 0.2; done"]
                    resources: {%s}
                """.formatted(name, NODE, BusyboxImages.BUSYBOX, resources));
    }

    private String slice(String above, String name) {
        return above + "pod" + pods.uid(name).replace('-', '_') + ".slice";
    }

    /** What systemd knows of a unit. */
    private String property(String unit, String property) throws Exception {
        return machine.ok("systemctl", "show", "--value", "-p", property, unit).strip();
    }

    private static long number(Path file) throws Exception {
        return Long.parseLong(Files.readString(file).strip());
    }

    private boolean hasCgroup(String part) throws Exception {
        return machine.cgroups().stream().anyMatch(place -> place.toString().contains(part));
    }

    @Test
    @Order(1)
    void eachClassAndPodIsASliceWithItsLimits() throws Exception {
        apply("guaranteed", "limits: {cpu: 204m, memory: 64Mi}");
        apply("burstable", "requests: {cpu: 100m, memory: 32Mi}");
        apply("besteffort", "");
        Eventually.within(
                SOON, () -> Stream.of("guaranteed", "burstable", "besteffort").allMatch(pods::isReady));

        String guaranteed = slice("kubepods-", "guaranteed");
        assertThat(property(guaranteed, "ActiveState")).isEqualTo("active");
        assertThat(property(guaranteed, "DefaultDependencies")).isEqualTo("no");
        assertThat(property(guaranteed, UNIFIED ? "MemoryMax" : "MemoryLimit")).isEqualTo("67108864");
        assertThat(property(guaranteed, UNIFIED ? "CPUWeight" : "CPUShares")).isEqualTo(UNIFIED ? "8" : "208");
        // In whole percents, rounded up.
        assertThat(property(guaranteed, "CPUQuotaPerSecUSec")).isEqualTo("210ms");
        assertThat(property(slice("kubepods-burstable-", "burstable"), "TasksMax"))
                .isEqualTo("60");
        assertThat(property(slice("kubepods-besteffort-", "besteffort"), "Slice"))
                .isEqualTo("kubepods-besteffort.slice");
        assertThat(property("kubepods-besteffort.slice", UNIFIED ? "CPUWeight" : "CPUShares"))
                .isEqualTo(UNIFIED ? "1" : "2");
        Path memory = machine.cgroup("memory", "/kubepods.slice/" + guaranteed);
        assertThat(number(memory.resolve(UNIFIED ? "memory.max" : "memory.limit_in_bytes")))
                .isEqualTo(64 * MI);
        // What was asked for, until systemd writes its own value again.
        Path cpu = machine.cgroup("cpu", "/kubepods.slice/" + guaranteed);
        assertThat(Files.readString(cpu.resolve(UNIFIED ? "cpu.max" : "cpu.cfs_quota_us"))
                        .strip())
                .isIn(UNIFIED ? List.of("20400 100000", "21000 100000") : List.of("20400", "21000"));
        Path pids = machine.cgroup("pids", BURSTABLE + slice("kubepods-burstable-", "burstable"));
        assertThat(number(pids.resolve("pids.max"))).isEqualTo(60);
    }

    @Test
    @Order(2)
    void containersAreScopesInTheSliceOfTheirPod() throws Exception {
        String id = pods.container("burstable").text("containerID").replaceFirst(".*//", "");

        String scope = "cri-containerd-" + id + ".scope";

        assertThat(property(scope, "Slice")).isEqualTo(slice("kubepods-burstable-", "burstable"));
        assertThat(property(scope, "ActiveState")).isEqualTo("active");
        Path processes = machine.cgroup("pids", BURSTABLE + slice("kubepods-burstable-", "burstable") + "/" + scope)
                .resolve("cgroup.procs");
        assertThat(Files.readAllLines(processes)).isNotEmpty();
        Eventually.within(SOON, () -> workingSet("burstable") > 0);
    }

    /** By the statistics, which find the pod's slice by its name. */
    private long workingSet(String pod) {
        return node.page().get("/stats/summary").map(Json::parseObject).stream()
                .flatMap(summary -> summary.array("pods").objects())
                .filter(found -> found.object("podRef").text("name").equals(pod))
                .flatMap(found -> found.object("memory").number("workingSetBytes").stream())
                .findFirst()
                .orElse(0L);
    }

    @Test
    @Order(3)
    void aSystemdThatReadsItsUnitsAgainKeepsSlicesAndLimits() throws Exception {
        machine.ok("systemctl", "daemon-reload");

        String guaranteed = slice("kubepods-", "guaranteed");
        assertThat(property(guaranteed, UNIFIED ? "MemoryMax" : "MemoryLimit")).isEqualTo("67108864");
        assertThat(number(machine.cgroup("memory", "/kubepods.slice/" + guaranteed)
                        .resolve(UNIFIED ? "memory.max" : "memory.limit_in_bytes")))
                .isEqualTo(64 * MI);
        assertThat(pods.isReady("guaranteed")).isTrue();
    }

    @Test
    @Order(4)
    void podsStartAfterTheBusWasRestarted() throws Exception {
        String before = property("dbus.service", "NRestarts");
        machine.ok("systemctl", "kill", "--signal=KILL", "dbus.service");
        Eventually.within(SOON, () -> !property("dbus.service", "NRestarts").equals(before));

        apply("afterwards", "");

        cluster.awaitReady(SOON, "afterwards");
        assertThat(property(slice("kubepods-besteffort-", "afterwards"), "ActiveState"))
                .isEqualTo("active");
    }

    @Test
    @Order(5)
    void anAgentThatIsKilledRemovesSlicesOfPodsThatDoNotExist() throws Exception {
        ProcessHandle.of(node.agent().pid()).orElseThrow().descendants().forEach(ProcessHandle::destroyForcibly);
        node.agent().awaitEnd();
        String orphan = "kubepods-burstable-pod1234_5678.slice";
        Process left = new ProcessBuilder(machine.inside(List.of(
                        "systemd-run",
                        "--scope",
                        "--unit=left",
                        "-p",
                        "DefaultDependencies=no",
                        "--slice=" + orphan,
                        "sleep",
                        "100000")))
                .start();
        try {
            Path place = machine.cgroup("pids", BURSTABLE + orphan);
            Eventually.within(SOON, () -> Files.exists(place.resolve("left.scope")));

            cluster.startAgentAgain();

            Eventually.within(SOON, () -> !Files.exists(place));
            assertThat(property(orphan, "ActiveState")).isEqualTo("inactive");
            assertThat(left.waitFor()).isEqualTo(137);
        } finally {
            left.destroyForcibly();
        }
        assertThat(pods.isReady("burstable")).isTrue();
    }

    @Test
    @Order(6)
    void podsThatAreDeletedLeaveNoSlice() throws Exception {
        assertThat(hasCgroup(BEST_EFFORT + "kubepods-besteffort-pod")).isTrue();

        kubectl.ok("delete", "pods", "--all", "--timeout=60s");

        Eventually.within(SOON, () -> !hasCgroup("-pod"));
        assertThat(machine.ok("systemctl", "list-units", "--all", "--no-legend", "--plain", "-t", "slice"))
                .contains("kubepods.slice", "kubepods-burstable.slice", "kubepods-besteffort.slice")
                .doesNotContain("-pod");
        assertThat(machine.ok("systemctl", "list-units", "--all", "--no-legend", "--plain", "-t", "scope"))
                .doesNotContain("cri-containerd");
    }
}
