package io.nodekeeper.agent.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.MachineInfo;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinuxHostTest {
    private final ThreadLoop loop = new ThreadLoop("test-deadlines");
    private final Workers workers = new Workers("test-host", 2, loop);

    @TempDir
    private Path root;

    @AfterEach
    void close() {
        workers.close();
        loop.close();
    }

    private LinuxHost host() {
        return new LinuxHost(root, root.resolve("not/there/yet"), workers);
    }

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    @Test
    @Tag("A90")
    void theWorkingSetOfCgroupV1LeavesInactiveFilePagesOut() throws IOException {
        file("sys/fs/cgroup/memory/memory.usage_in_bytes", "11811160064\n");
        file("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 3221225472\n");
        assertThat(host().workingSet().join()).isEqualTo(8_589_934_592L);

        file("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 12884901888\n");
        assertThat(host().workingSet().join()).isZero();
    }

    @Test
    void theRootOfCgroupV2IsAddedUpFromItsStatistics() throws IOException {
        file("sys/fs/cgroup/cgroup.controllers", "memory\n");
        file("sys/fs/cgroup/memory.stat", "anon 700\nfile 500\nkernel 9\ninactive_file 200\n");
        assertThat(host().workingSet().join()).isEqualTo(1_000);

        file("sys/fs/cgroup/memory.current", "1500\n");
        assertThat(host().workingSet().join()).isEqualTo(1_300);
    }

    @Test
    @Tag("A91")
    void processIdsAreWhatTheThreadsLeave() throws IOException {
        file("proc/sys/kernel/pid_max", "32768\n");
        file("proc/sys/kernel/threads-max", "126000\n");
        file("proc/loadavg", "0.1 0.2 0.3 2/3518 999\n");

        assertThat(host().pids().join()).isEqualTo(new Level(29_250, 32_768));
    }

    @Test
    @Tag("A91")
    void theProcessIdsOfThisMachineAreThoseOfTheKernel() {
        Level pids = new LinuxHost(Path.of("/"), root, workers).pids().join();

        // The smallest limit that a kernel accepts is 301.
        assertThat(pids.capacity()).isGreaterThan(300);
        assertThat(pids.available()).isBetween(0L, pids.capacity());
    }

    @Test
    void theMemoryOfPodsIsWhatTheirWorkingSetLeavesOfTheirLimit() throws IOException {
        file("sys/fs/cgroup/kubepods.slice/memory.max", "1000\n");
        file("sys/fs/cgroup/kubepods.slice/memory.current", "700\n");
        file("sys/fs/cgroup/kubepods.slice/memory.stat", "anon 500\ninactive_file 100\n");
        assertThat(host().podMemory().join()).isEqualTo(new Level(400, 1_000));

        file("sys/fs/cgroup/kubepods.slice/memory.max", "max\n");
        assertThatThrownBy(() -> host().podMemory().join())
                .hasMessageContaining("kubepods.slice/memory.max: expected a limit in bytes, got \"max\"");
    }

    @Test
    void theMemoryOfPodsIsReadFromCgroupV1AsWell() throws IOException {
        file("sys/fs/cgroup/memory/kubepods/memory.limit_in_bytes", "1000\n");
        file("sys/fs/cgroup/memory/kubepods/memory.usage_in_bytes", "1200\n");
        file("sys/fs/cgroup/memory/kubepods/memory.stat", "total_inactive_file 100\n");
        assertThat(host().podMemory().join()).isEqualTo(new Level(0, 1_000));

        file("sys/fs/cgroup/memory/kubepods/memory.limit_in_bytes", "9223372036854771712\n");
        assertThatThrownBy(() -> host().podMemory().join()).hasMessageContaining("expected a limit in bytes");
    }

    @Test
    void withoutAPodCgroupTheMemoryOfPodsIsAnErrorThatNamesTheDirectory() {
        assertThatThrownBy(() -> host().podMemory().join())
                .hasMessageContaining("there is no pod cgroup: neither /kubepods.slice nor /kubepods exists below "
                        + root.resolve("sys/fs/cgroup"));
    }

    @Test
    void readsTheMachine() throws IOException {
        file("proc/cpuinfo", "processor\t: 0\nmodel name\t: x\n\nprocessor\t: 1\n");
        file("proc/meminfo", "MemTotal:       16374532 kB\nMemFree: 1 kB\nSwapTotal:       1024 kB\n");
        file("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
        file("etc/machine-id", "abc\n");
        file("sys/class/dmi/id/product_uuid", "UUID\n");
        file("proc/sys/kernel/random/boot_id", "boot\n");
        file("proc/sys/kernel/osrelease", "6.1.0\n");
        file("etc/os-release", "NAME=x\nPRETTY_NAME=\"Test Linux 1\"\n");

        MachineInfo info = host().machine().join();

        assertThat(info)
                .isEqualTo(new MachineInfo(
                        2,
                        16_767_520_768L,
                        1_048_576,
                        Map.of(2_097_152L, 512L),
                        "abc",
                        "UUID",
                        "boot",
                        "6.1.0",
                        "Test Linux 1",
                        info.architecture()));
    }

    @Test
    void measuresTheFileSystemOfTheNearestDirectoryThereIs() throws IOException {
        Filesystem filesystem = host().rootFilesystem().join();

        assertThat(filesystem.bytes().capacity())
                .isEqualTo(Files.getFileStore(root).getTotalSpace());
        assertThat(filesystem.bytes().available())
                .isBetween(0L, filesystem.bytes().capacity());
        assertThat(filesystem.inodes().available())
                .isBetween(0L, filesystem.inodes().capacity());
    }

    @Test
    void aMissingFileIsNamed() {
        assertThatThrownBy(() -> host().pids().join()).hasMessageContaining("proc/sys/kernel/pid_max");
        assertThatThrownBy(() -> Statvfs.of(root.resolve("missing")))
                .isInstanceOf(IOException.class)
                .hasMessage("statvfs of " + root.resolve("missing") + " failed: no such file or directory");
    }

    @Test
    void findsTheDefaultRouteOfLowestMetric() throws IOException {
        file("proc/net/route", """
                Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
                eth1\t00000000\t0101A8C0\t0003\t0\t0\t200\t00000000\t0\t0\t0
                eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
                eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
                """);

        assertThat(new LinuxFiles(root).defaultRouteInterface()).contains("eth0");
    }

    @Test
    void translatesJavasNameOfTheArchitecture() {
        assertThat(LinuxHost.architecture("x86_64")).isEqualTo("amd64");
        assertThat(LinuxHost.architecture("aarch64")).isEqualTo("arm64");
        assertThat(LinuxHost.architecture("riscv64")).isEqualTo("riscv64");
    }
}
