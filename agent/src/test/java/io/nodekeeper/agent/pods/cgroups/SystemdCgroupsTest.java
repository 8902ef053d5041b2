package io.nodekeeper.agent.pods.cgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.config.CgroupDriver;
import io.nodekeeper.agent.facts.Capacity;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.systemd.SystemdUnits;
import io.nodekeeper.api.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of names and limits of cgroups with the driver systemd. A real systemd is in {@code SystemdCgroupsIT}. */
class SystemdCgroupsTest {
    private static final CgroupConfig CONFIG =
            new CgroupConfig(true, CgroupDriver.SYSTEMD, "/", true, true, 100, false, -999);
    private static final CgroupLimits LIMITS = new CgroupLimits(
            OptionalLong.of(1_024),
            OptionalLong.of(20_401),
            OptionalLong.of(1L << 30),
            OptionalLong.of(100),
            Optional.of(Map.of("2MB", 0L)),
            true);

    @TempDir
    Path root;

    private static Pod pod(String uid, String resources) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "p", "namespace": "shop", "uid": "%s"},
                 "spec": {"containers": [{"resources": {%s}}]}}
                """.formatted(uid, resources)));
    }

    @Test
    void thePlaceOfAPodIsTheChainOfItsSlices() {
        PodParent parent = PodParent.of(CONFIG, 2);

        assertThat(parent.of(pod("1b-2c", "\"requests\": {\"cpu\": \"1\"}")))
                .isEqualTo("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b_2c.slice");
        assertThat(parent.of(pod("1b-2c", "")))
                .isEqualTo("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1b_2c.slice");
        assertThat(parent.of(pod("1b-2c", "\"limits\": {\"cpu\": \"1\", \"memory\": \"1Gi\"}")))
                .isEqualTo("/kubepods.slice/kubepods-pod1b_2c.slice");
        assertThat(CgroupDriver.SYSTEMD.place("/")).isEqualTo("/");
    }

    /** With it the slice of one pod could be taken for that of another one, and be removed. */
    @Test
    void aUidWithAnUnderscoreHasNoSlice() {
        assertThatThrownBy(() -> PodParent.of(CONFIG, 2).of(pod("1_2", "")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the UID of a pod with a cgroup must consist of 1 to 200 letters, digits, '-' and '.',"
                        + " got \"1_2\"");
    }

    @Test
    void limitsAreThePropertiesOfTheVersion() {
        assertThat(SystemdCgroups.properties(LIMITS, 1))
                .isEqualTo(Map.of(
                        "CPUShares", 1_024L,
                        "CPUQuotaPerSecUSec", 210_000L,
                        "MemoryLimit", 1_073_741_824L,
                        "TasksMax", 100L));
        assertThat(SystemdCgroups.properties(LIMITS, 2))
                .isEqualTo(Map.of(
                        "CPUWeight", 39L,
                        "CPUQuotaPerSecUSec", 210_000L,
                        "MemoryMax", 1_073_741_824L,
                        "MemorySwapMax", 0L,
                        "TasksMax", 100L));
        assertThat(SystemdCgroups.properties(CgroupLimits.ofShares(2), 2)).isEqualTo(Map.of("CPUWeight", 1L));
    }

    @Test
    void theUidsOfPodsAreReadFromTheirSlices() throws IOException {
        Path slices = Files.createDirectories(root.resolve("sys/fs/cgroup/memory/kubepods.slice"));
        Files.createFile(slices.resolveSibling("cgroup.procs"));
        Files.createDirectories(slices.resolve("kubepods-pod1_2.slice"));
        Files.createDirectories(slices.resolve("kubepods-burstable.slice/kubepods-burstable-pod3_4.slice"));
        Files.createDirectories(slices.resolve("kubepods-besteffort.slice/kubepods-besteffort-pod5.slice/x.scope"));
        Files.createDirectories(slices.resolve("kubepods-pods.service"));
        Files.createDirectories(slices.resolve("pod7"));

        assertThat(new PodCgroups(root, CONFIG, new Capacity(1, 1, 1), List.of()).uids())
                .containsExactly("1-2", "3-4", "5");
    }

    @Test
    void aMachineWithoutSystemdIsNamedWithItsBus() {
        SystemdUnits units = new SystemdUnits("unix:path=" + root.resolve("no.sock"));
        SystemdCgroups cgroups = new SystemdCgroups(CgroupTree.below(root), units);

        assertThatThrownBy(() -> cgroups.make("/kubepods"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("no connection to systemd at unix:path=" + root.resolve("no.sock"));
    }
}
