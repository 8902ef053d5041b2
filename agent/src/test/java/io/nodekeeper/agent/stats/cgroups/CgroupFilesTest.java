package io.nodekeeper.agent.stats.cgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CgroupFilesTest {
    private static final String POD = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11_22.slice";
    private static final String CONTAINER = POD + "/cri-containerd-c1.scope";

    @TempDir
    private Path root;

    private void file(String path, String text) throws IOException {
        Path file = root.resolve("sys/fs/cgroup/" + path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private CgroupUsage usage(String cgroup) throws IOException {
        return CgroupFiles.below(root).usage(CgroupPaths.everywhere(cgroup));
    }

    private void version2() throws IOException {
        file("cgroup.controllers", "cpu memory pids\n");
    }

    private void container2() throws IOException {
        version2();
        String directory = CONTAINER.substring(1) + "/";
        file(directory + "cpu.stat", "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_throttled 3\n");
        file(directory + "memory.current", "1000\n");
        file(directory + "memory.stat", "anon 600\nfile 400\ninactive_file 300\npgfault 70\npgmajfault 7\n");
        file(directory + "memory.max", "5000\n");
        file(directory + "memory.swap.current", "12\n");
        file(directory + "pids.current", "4\n");
        file(directory + "memory.pressure", """
                some avg10=1.50 avg60=0.75 avg300=0.10 total=4000000
                full avg10=0.50 avg60=0.25 avg300=0.00 total=1000000
                """);
    }

    /** As read(2) fails where the kernel was started without {@code psi=1}. */
    @Test
    void aKernelThatRefusesToMeasureStallsMeasuresEverythingElse() throws IOException {
        container2();
        Files.createDirectory(root.resolve("sys/fs/cgroup" + CONTAINER + "/cpu.pressure"));

        CgroupUsage usage = usage(CONTAINER);

        assertThat(usage.cpuNanos()).hasValue(1_500_000_000);
        assertThat(usage.stalls()).containsOnlyKeys("memory");
    }

    @Test
    void aContainerOfVersion2IsReadFromItsOneDirectory() throws IOException {
        container2();

        assertThat(usage(CONTAINER))
                .isEqualTo(new CgroupUsage(
                        OptionalLong.of(1_500_000_000),
                        Optional.of(new MemoryUsage(1_000, 700, 600, 70, 7, OptionalLong.of(5_000))),
                        OptionalLong.of(12),
                        OptionalLong.of(4),
                        Map.of(
                                "memory",
                                new StallTimes(
                                        new StallTimes.Share(1.5, 0.75, 0.1, 4_000_000),
                                        Optional.of(new StallTimes.Share(0.5, 0.25, 0, 1_000_000))))));
    }

    @Test
    @Tag("A90")
    void theRootOfVersion2HasTheSumOfAnonymousMemoryAndPageCache() throws IOException {
        version2();
        file("memory.stat", "anon 700\nfile 500\nkernel 9\ninactive_file 200\n");

        assertThat(usage("/").memory()).contains(new MemoryUsage(1_200, 1_000, 700, 0, 0, OptionalLong.empty()));
    }

    @Test
    @Tag("A90")
    void theWorkingSetOfVersion1LeavesInactiveFilePagesOutAndIsNeverNegative() throws IOException {
        file("memory/memory.usage_in_bytes", "11811160064\n");
        file("memory/memory.limit_in_bytes", "9223372036854771712\n");
        file("memory/memory.stat", "rss 1\ntotal_rss 5\ntotal_inactive_file 3221225472\ntotal_pgfault 6\n");
        assertThat(usage("/").memory())
                .contains(new MemoryUsage(11_811_160_064L, 8_589_934_592L, 5, 6, 0, OptionalLong.empty()));

        file("memory/memory.stat", "total_inactive_file 12884901888\n");
        assertThat(usage("/").memory().orElseThrow().workingSet()).isZero();
    }

    @Test
    void aContainerOfVersion1IsReadFromEachController() throws IOException {
        file("cpu,cpuacct/kubepods/podp1/c1/cpuacct.usage", "77\n");
        file("memory/kubepods/podp1/c1/memory.usage_in_bytes", "30\n");
        file("memory/kubepods/podp1/c1/memory.limit_in_bytes", "50\n");
        file("memory/kubepods/podp1/c1/memory.stat", "total_inactive_file 10\ntotal_swap 8\n");
        file("pids/kubepods/podp1/c1/pids.current", "2\n");

        assertThat(usage("/kubepods/podp1/c1"))
                .isEqualTo(new CgroupUsage(
                        OptionalLong.of(77),
                        Optional.of(new MemoryUsage(30, 20, 0, 0, 0, OptionalLong.of(50))),
                        OptionalLong.of(8),
                        OptionalLong.of(2),
                        Map.of()));
    }

    @Test
    void whereBothVersionsAreMountedTheNumbersAreThoseOfVersion1() throws IOException {
        file("unified/cgroup.controllers", "\n");
        file("cpuacct/cpuacct.usage", "5\n");

        assertThat(CgroupFiles.below(root).version()).isEqualTo(1);
        assertThat(usage("/").cpuNanos()).hasValue(5);
    }

    @Test
    void aCgroupThatEndedHasNoValues() throws IOException {
        version2();

        assertThat(usage(CONTAINER)).isEqualTo(CgroupUsage.UNKNOWN);
    }

    @Test
    void valuesThatAreNoNumbersAreMissingAndTheOthersStay() throws IOException {
        container2();
        file(CONTAINER.substring(1) + "/cpu.stat", "usage_usec many\n");
        file(CONTAINER.substring(1) + "/memory.max", "max\n");

        assertThat(usage(CONTAINER).cpuNanos()).isEmpty();
        assertThat(usage(CONTAINER).memory().orElseThrow().limit()).isEmpty();
        assertThat(usage(CONTAINER).processes()).hasValue(4);
    }

    @Test
    void aFileAboveTheLimitIsAnErrorThatNamesIt() throws IOException {
        container2();
        file(CONTAINER.substring(1) + "/memory.stat", "a 1\n".repeat(BoundedFile.LIMIT));

        assertThatThrownBy(() -> usage(CONTAINER))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cri-containerd-c1.scope/memory.stat has more than 262144 bytes");
    }

    @Test
    void cgroupsOfPodsAndContainersAreFoundByTheNamesThatSystemdAndCgroupfsGive() throws IOException {
        container2();
        file("kubepods/besteffort/pod33-44/c2/cpu.stat", "");
        file("system.slice/k8s.io/crio-c3.scope/cpu.stat", "");
        CgroupIndex index = new CgroupIndex(CgroupFiles.below(root));

        assertThat(index.find(Set.of("11-22", "c1", "33-44", "c2", "c3", "gone")))
                .isEqualTo(Map.of(
                        "11-22", CgroupPaths.everywhere(POD),
                        "c1", CgroupPaths.everywhere(CONTAINER),
                        "33-44", CgroupPaths.everywhere("/kubepods/besteffort/pod33-44"),
                        "c2", CgroupPaths.everywhere("/kubepods/besteffort/pod33-44/c2"),
                        "c3", CgroupPaths.everywhere("/system.slice/k8s.io/crio-c3.scope")));
    }

    /** CRI-O gives the process that watches a container a cgroup whose name has the container's id, too. */
    @Test
    void theCgroupOfAContainerOfCrioIsNotThatOfItsConmon() throws IOException {
        version2();
        file("system.slice/crio-conmon-c1.scope/cpu.stat", "");
        file("kubepods.slice/kubepods-pod1.slice/crio-c1.scope/cpu.stat", "");
        file("kubepods/podX/crio-conmon-c2/cpu.stat", "");
        file("kubepods/podX/crio-c2/cpu.stat", "");
        CgroupIndex index = new CgroupIndex(CgroupFiles.below(root));

        assertThat(index.find(Set.of("c1", "c2")))
                .isEqualTo(Map.of(
                        "c1", CgroupPaths.everywhere("/kubepods.slice/kubepods-pod1.slice/crio-c1.scope"),
                        "c2", CgroupPaths.everywhere("/kubepods/podX/crio-c2")));
    }

    @Test
    void aContainerThatStartedSinceTheLastSearchIsFound() throws IOException {
        container2();
        CgroupIndex index = new CgroupIndex(CgroupFiles.below(root));
        index.find(Set.of("c1"));
        file("kubepods/pod1/c9/cpu.stat", "");

        assertThat(index.find(Set.of("c1", "c9"))).containsOnlyKeys("c1", "c9");
    }

    @Test
    void theCgroupOfAProcessHasOnePathForEachControllerInVersion1() {
        CgroupPaths paths = CgroupPaths.parse("9:name=systemd:/\n4:memory:/services/a\n2:cpu,cpuacct:/\n0::/\nwrong\n");

        assertThat(paths)
                .isEqualTo(new CgroupPaths(
                        Optional.of("/"),
                        Map.of("name=systemd", "/", "memory", "/services/a", "cpu", "/", "cpuacct", "/")));
        assertThat(paths.belowRoot()).isEqualTo(new CgroupPaths(Optional.empty(), Map.of("memory", "/services/a")));
    }
}
