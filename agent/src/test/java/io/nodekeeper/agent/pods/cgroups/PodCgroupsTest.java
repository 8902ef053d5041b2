package io.nodekeeper.agent.pods.cgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.config.CgroupDriver;
import io.nodekeeper.agent.facts.Capacity;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cgroups of pods in directories that imitate those of the kernel. */
class PodCgroupsTest {
    private static final long GI = 1L << 30;
    private static final Capacity MACHINE = new Capacity(4, 16 * GI, 32_768);
    private static final CgroupConfig LIMITED =
            new CgroupConfig(true, CgroupDriver.CGROUPFS, "/", true, true, 100, false, -999);
    private static final List<Map<String, Quantity>> RESERVED = List.of(
            Map.of("cpu", Quantity.parse("100m"), "memory", Quantity.parse("1Gi")),
            Map.of("cpu", Quantity.parse("400m"), "memory", Quantity.parse("1Gi"), "pid", Quantity.parse("768")));

    @TempDir
    Path root;

    private Path mounted = Path.of("");

    /** Version 1 with hierarchies as Debian mounts them, one of which has a second name. */
    private void version1() throws IOException {
        mounted = root.resolve("sys/fs/cgroup");
        for (String controllers : List.of("cpu,cpuacct", "memory", "pids", "freezer")) {
            Files.createFile(
                    Files.createDirectories(mounted.resolve(controllers)).resolve("cgroup.procs"));
        }
        // Not a hierarchy: nothing is mounted there.
        Files.createDirectories(mounted.resolve("hugetlb"));
        Files.createSymbolicLink(mounted.resolve("cpu"), Path.of("cpu,cpuacct"));
    }

    private void version2(String controllers) throws IOException {
        mounted = Files.createDirectories(root.resolve("sys/fs/cgroup"));
        Files.writeString(mounted.resolve("cgroup.controllers"), controllers + "\n");
    }

    private PodCgroups cgroups(CgroupConfig config) {
        return new PodCgroups(root, config, MACHINE, RESERVED);
    }

    private String text(String file) throws IOException {
        return Files.readString(mounted.resolve(file));
    }

    private static Pod pod(String uid, String... resources) {
        StringBuilder containers = new StringBuilder();
        for (String part : resources) {
            containers.append(containers.isEmpty() ? "" : ", ").append("{\"resources\": {" + part + "}}");
        }
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "p", "namespace": "shop", "uid": "%s"}, "spec": {"containers": [%s]}}
                """.formatted(uid, containers)));
    }

    private static final String GUARANTEED = "\"limits\": {\"cpu\": \"500m\", \"memory\": \"1Gi\"}";
    private static final String BURSTABLE = "\"requests\": {\"cpu\": \"250m\"}";

    @Test
    void eachClassAndPodHasItsPlaceAndLimitsInVersion1() throws IOException {
        version1();
        PodCgroups cgroups = cgroups(LIMITED);

        cgroups.makeNode();
        cgroups.limitNode();
        cgroups.make(pod("g", GUARANTEED, GUARANTEED));
        cgroups.make(pod("b", BURSTABLE, ""));
        cgroups.make(pod("n", ""));
        cgroups.weigh(List.of(pod("b", BURSTABLE, ""), pod("c", BURSTABLE), pod("g", GUARANTEED)));

        // 4 processors less 500m, 16Gi less 2Gi, 32768 process ids less 768.
        assertThat(text("cpu,cpuacct/kubepods/cpu.shares")).isEqualTo("3584");
        assertThat(text("memory/kubepods/memory.limit_in_bytes")).isEqualTo("15032385536");
        assertThat(text("pids/kubepods/pids.max")).isEqualTo("32000");
        assertThat(text("cpu,cpuacct/kubepods/besteffort/cpu.shares")).isEqualTo("2");
        assertThat(text("cpu,cpuacct/kubepods/burstable/cpu.shares")).isEqualTo("512");
        assertThat(text("cpu,cpuacct/kubepods/podg/cpu.shares")).isEqualTo("1024");
        assertThat(text("cpu,cpuacct/kubepods/podg/cpu.cfs_period_us")).isEqualTo("100000");
        assertThat(text("cpu,cpuacct/kubepods/podg/cpu.cfs_quota_us")).isEqualTo("100000");
        assertThat(text("memory/kubepods/podg/memory.limit_in_bytes")).isEqualTo("2147483648");
        assertThat(text("pids/kubepods/podg/pids.max")).isEqualTo("100");
        assertThat(text("cpu,cpuacct/kubepods/burstable/podb/cpu.shares")).isEqualTo("256");
        assertThat(mounted.resolve("cpu,cpuacct/kubepods/burstable/podb/cpu.cfs_quota_us"))
                .doesNotExist();
        assertThat(mounted.resolve("memory/kubepods/burstable/podb/memory.limit_in_bytes"))
                .doesNotExist();
        assertThat(text("cpu,cpuacct/kubepods/besteffort/podn/cpu.shares")).isEqualTo("2");
        assertThat(mounted.resolve("freezer/kubepods")).doesNotExist();
        assertThat(mounted.resolve("hugetlb/kubepods")).doesNotExist();
        assertThat(cgroups.uids()).containsExactly("b", "g", "n");
    }

    @Test
    void theOverheadOfAPodsRuntimeCountsForItsCgroup() throws IOException {
        version1();
        PodCgroups cgroups = cgroups(LIMITED);
        JsonObject overhead = Json.parseObject("{\"cpu\": \"250m\", \"memory\": \"128Mi\"}");
        Pod guaranteed = new Pod(pod("g", GUARANTEED).json().update("spec", spec -> spec.with("overhead", overhead)));
        Pod burstable = new Pod(pod("b", BURSTABLE).json().update("spec", spec -> spec.with("overhead", overhead)));

        cgroups.makeNode();
        cgroups.make(guaranteed);
        cgroups.weigh(List.of(burstable));

        assertThat(text("cpu,cpuacct/kubepods/podg/cpu.shares")).isEqualTo("768");
        assertThat(text("cpu,cpuacct/kubepods/podg/cpu.cfs_quota_us")).isEqualTo("75000");
        assertThat(text("memory/kubepods/podg/memory.limit_in_bytes")).isEqualTo("1207959552");
        assertThat(text("cpu,cpuacct/kubepods/burstable/cpu.shares")).isEqualTo("512");
    }

    @Test
    void eachClassAndPodHasItsPlaceAndLimitsInVersion2() throws IOException {
        version2("cpuset cpu io memory pids");
        PodCgroups cgroups = cgroups(LIMITED);

        cgroups.makeNode();
        cgroups.limitNode();
        cgroups.make(pod("g", GUARANTEED));
        cgroups.make(pod("n", ""));
        cgroups.weigh(List.of(pod("b", BURSTABLE)));

        assertThat(text("cgroup.subtree_control")).isEqualTo("+pids");
        assertThat(text("kubepods/cpu.weight")).isEqualTo("137");
        assertThat(text("kubepods/memory.max")).isEqualTo("15032385536");
        assertThat(text("kubepods/pids.max")).isEqualTo("32000");
        assertThat(text("kubepods/besteffort/cpu.weight")).isEqualTo("1");
        assertThat(text("kubepods/burstable/cpu.weight")).isEqualTo("10");
        assertThat(text("kubepods/podg/cpu.weight")).isEqualTo("20");
        assertThat(text("kubepods/podg/cpu.max")).isEqualTo("50000 100000");
        assertThat(text("kubepods/podg/memory.max")).isEqualTo("1073741824");
        assertThat(text("kubepods/besteffort/podn/pids.max")).isEqualTo("100");
        assertThat(cgroups.uids()).containsExactly("g", "n");
    }

    /** {@code memorySwap.swapBehavior: NoSwap}, the default. */
    @Test
    void podsDoNotSwapWhereTheKernelCountsSwap() throws IOException {
        version2("cpuset cpu io memory pids");
        PodCgroups cgroups = cgroups(LIMITED);
        cgroups.makeNode();
        Path counted = Files.createDirectories(mounted.resolve("kubepods/podg")).resolve("memory.swap.max");
        Files.writeString(counted, "max");

        cgroups.make(pod("g", GUARANTEED));
        cgroups.make(pod("n", ""));

        assertThat(counted).hasContent("0");
        assertThat(mounted.resolve("kubepods/besteffort/podn/memory.swap.max")).doesNotExist();
    }

    @Test
    void withoutEnforcementPodsMayUseTheWholeMachine() throws IOException {
        version1();
        PodCgroups cgroups = cgroups(new CgroupConfig(true, CgroupDriver.CGROUPFS, "/", false, false, -1, false, -999));

        cgroups.makeNode();
        cgroups.limitNode();
        cgroups.make(pod("g", GUARANTEED));

        assertThat(text("memory/kubepods/memory.limit_in_bytes")).isEqualTo("17179869184");
        assertThat(text("cpu,cpuacct/kubepods/cpu.shares")).isEqualTo("4096");
        // cpuCFSQuota: false, podPidsLimit: -1
        assertThat(mounted.resolve("cpu,cpuacct/kubepods/podg/cpu.cfs_quota_us"))
                .doesNotExist();
        assertThat(mounted.resolve("pids/kubepods/podg/pids.max")).doesNotExist();
    }

    @Test
    void aPodHasTheHugePagesThatItRequestsAndNoOthers() throws IOException {
        version1();
        Path group = Files.createDirectories(mounted.resolve("hugetlb/kubepods/podg"));
        Files.createFile(mounted.resolve("hugetlb/cgroup.procs"));
        Files.writeString(group.resolve("hugetlb.2MB.limit_in_bytes"), "9223372036852678656");
        Files.writeString(group.resolve("hugetlb.1GB.limit_in_bytes"), "9223372036852678656");

        cgroups(LIMITED)
                .make(pod(
                        "g",
                        "\"limits\": {\"cpu\": \"1\", \"memory\": \"1Gi\", \"hugepages-2Mi\": \"4Mi\"}",
                        "\"limits\": {\"cpu\": \"1\", \"memory\": \"1Gi\", \"hugepages-2Mi\": \"2Mi\"}"));

        assertThat(group.resolve("hugetlb.2MB.limit_in_bytes")).hasContent("6291456");
        assertThat(group.resolve("hugetlb.1GB.limit_in_bytes")).hasContent("0");
    }

    @Test
    void sizesOfHugePagesHaveTheKernelsNames() {
        assertThat(HugePages.size("hugepages-2Mi")).contains("2MB");
        assertThat(HugePages.size("hugepages-1Gi")).contains("1GB");
        assertThat(HugePages.size("hugepages-64Ki")).contains("64KB");
        assertThat(HugePages.size("hugepages-x")).isEmpty();
        assertThat(HugePages.size("memory")).isEmpty();
    }

    @Test
    void aPodHasNoHugePages() throws IOException {
        version1();
        Path group = Files.createDirectories(mounted.resolve("hugetlb/kubepods/podg"));
        Files.createFile(mounted.resolve("hugetlb/cgroup.procs"));
        Files.writeString(group.resolve("hugetlb.2MB.limit_in_bytes"), "9223372036852678656");
        Files.writeString(group.resolve("hugetlb.2MB.usage_in_bytes"), "7");

        cgroups(LIMITED).make(pod("g", GUARANTEED));

        assertThat(group.resolve("hugetlb.2MB.limit_in_bytes")).hasContent("0");
        assertThat(group.resolve("hugetlb.2MB.usage_in_bytes")).hasContent("7");
    }

    @Test
    void aRemovedPodLeavesNothingInAnyHierarchyAndItsNeighboursStay() throws IOException {
        version1();
        PodCgroups cgroups = cgroups(LIMITED);
        // As a runtime leaves it, in a hierarchy that the agent does not use, too.
        for (String place :
                List.of("memory/kubepods/burstable/podb/one", "freezer/kubepods/burstable/podb/one/deeper")) {
            Files.createDirectories(mounted.resolve(place));
        }
        Files.createDirectories(mounted.resolve("memory/kubepods/burstable/podb2"));
        Files.createDirectories(mounted.resolve("memory/podb"));

        cgroups.remove("b");
        cgroups.remove("never-there");

        assertThat(mounted.resolve("memory/kubepods/burstable/podb")).doesNotExist();
        assertThat(mounted.resolve("freezer/kubepods/burstable/podb")).doesNotExist();
        assertThat(mounted.resolve("memory/kubepods/burstable/podb2")).exists();
        assertThat(mounted.resolve("memory/podb")).exists();
    }

    @Test
    void whatIsLeftInACgroupIsKilledAndTheRemovalFailsUntilItHasEnded() throws Exception {
        version1();
        PodCgroups cgroups = cgroups(LIMITED);
        Process left = new ProcessBuilder("sleep", "1000").start();
        Path group = Files.createDirectories(mounted.resolve("memory/kubepods/besteffort/podn/one"));
        Path file = Files.writeString(group.resolve("cgroup.procs"), "0\n" + left.pid() + "\n");

        assertThatThrownBy(() -> cgroups.remove("n"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(
                        "cgroup /kubepods/besteffort/podn cannot be removed yet; 1 processes were in it: ");

        assertThat(left.waitFor()).isEqualTo(137);
        Files.delete(file);
        cgroups.remove("n");
        assertThat(mounted.resolve("memory/kubepods/besteffort/podn")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({"../../../outside", "a/b", "''"})
    void aUidThatIsNoNameNeitherMakesNorRemovesAnything(String uid) throws IOException {
        version1();
        PodCgroups cgroups = cgroups(LIMITED);
        Path outside = Files.createDirectories(mounted.resolve("memory/outside"));

        assertThatThrownBy(() -> cgroups.make(pod(uid, "")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got \"" + uid + "\"");
        cgroups.remove(uid);

        assertThat(outside).exists();
    }

    @Test
    void theRootOfTheConfigurationMustExist() throws IOException {
        version1();
        CgroupConfig below = new CgroupConfig(true, CgroupDriver.CGROUPFS, "/one", true, true, -1, false, -999);

        assertThatThrownBy(() -> cgroups(below).makeNode())
                .hasMessageContaining("cgroupRoot /one does not exist below " + mounted)
                .hasMessageContaining("set cgroupsPerQOS to false");

        for (String controllers : List.of("cpu,cpuacct", "memory", "pids")) {
            Files.createDirectories(mounted.resolve(controllers).resolve("one"));
        }
        cgroups(below).makeNode();
        assertThat(mounted.resolve("memory/one/kubepods/burstable")).exists();
        assertThat(mounted.resolve("memory/kubepods")).doesNotExist();
    }

    @Test
    void aMachineWithoutAControllerIsNamed() throws IOException {
        version2("cpu pids");

        assertThatThrownBy(() -> cgroups(LIMITED).makeNode())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the cgroup controller memory is not available in " + mounted)
                .hasMessageContaining("set cgroupsPerQOS to false and enforceNodeAllocatable to []");
    }

    @Test
    void aReservationOfMoreThanThereIsIsAFaultForEachResource() {
        assertThat(PodCgroups.faults(MACHINE, RESERVED)).isEmpty();
        assertThat(PodCgroups.faults(
                        MACHINE,
                        List.of(
                                Map.of("memory", Quantity.parse("10Gi"), "cpu", Quantity.parse("4")),
                                Map.of("memory", Quantity.parse("7Gi"), "cpu", Quantity.parse("1m")))))
                .containsExactly(
                        "invalid Node Allocatable configuration. Resource \"cpu\" has a reservation of 4001m but capacity of"
                                + " 4. Expected capacity >= reservation.",
                        "invalid Node Allocatable configuration. Resource \"memory\" has a reservation of 17Gi but capacity"
                                + " of 16Gi. Expected capacity >= reservation.");
    }

    @Test
    void onlyVersion2KillsTheProcessesOfAContainerTogether() {
        assertThat(PodParent.of(LIMITED, 1).killsTogether()).isFalse();
        assertThat(PodParent.of(LIMITED, 2).killsTogether()).isTrue();
        CgroupConfig single = new CgroupConfig(true, CgroupDriver.CGROUPFS, "/", true, true, 100, true, -999);
        assertThat(PodParent.of(single, 2).killsTogether()).isFalse();
        assertThat(PodParent.of(single, 2).of(pod("g", GUARANTEED))).isEqualTo("/kubepods/podg");
    }

    @ParameterizedTest
    @CsvSource({"0, 2, 1", "1, 2, 1", "100, 102, 4", "1000, 1024, 39", "4000, 4096, 157", "300000, 262144, 10000"})
    void requestsBecomeSharesAndWeights(long millis, long shares, long weight) {
        assertThat(CpuAmounts.shares(millis)).isEqualTo(shares);
        assertThat(CpuAmounts.weight(CpuAmounts.shares(millis))).isEqualTo(weight);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1000", "500, 50000", "2500, 250000"})
    void limitsBecomeQuotas(long millis, long quota) {
        assertThat(CpuAmounts.quota(millis)).isEqualTo(quota);
    }
}
