package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tests with a real containerd rely on. */
@Tag("long")
class ContainerdIT {
    @TempDir
    Path directory;

    @Test
    void whateverHangsNothingIsLeftBehind() throws Exception {
        // Given a runtime with pods, whose disk accepts no writes, with a stopped shim and a hung plugin.
        Containerd containerd = Containerd.start(directory.resolve("containerd"), true);
        String name = containerd.name();
        try (Pods pods = new Pods(containerd)) {
            List<Pods.RealPod> running = pods.runMany("pod", 2);
            Command.signal(containerd.shim(running.getFirst().sandbox()), "STOP");
            containerd.cni().hang("ADD");
            pods.begin("newcomer");
            Eventually.within(
                    Duration.ofSeconds(30), () -> !containerd.pluginRuns().isEmpty());
            containerd.disk().freeze();
            pods.stop(running.getLast());
            assertThat(containerd.leftovers().processes()).hasSizeGreaterThan(6);
            assertThat(containerd.leftovers().mounts()).isNotEmpty();
            assertThat(Path.of("/sys/class/net", name)).exists();
            assertThat(cgroups(name)).isNotEmpty();
            assertThat(containerd.results()).hasSizeGreaterThanOrEqualTo(5);
        } finally {
            containerd.close();
        }

        assertThat(containerd.leftovers().processes()).isEmpty();
        assertThat(containerd.leftovers().mounts()).isEmpty();
        assertThat(Path.of("/sys/class/net", name)).doesNotExist();
        assertThat(cgroups(name)).isEmpty();
        assertThat(Command.ok("losetup", "--list", "--output", "BACK-FILE")).doesNotContain(directory.toString());
        assertThat(containerd.results()).isEmpty();
    }

    private static List<Path> cgroups(String name) throws Exception {
        return Leftovers.children(Path.of("/sys/fs/cgroup")).stream()
                .flatMap(hierarchy -> List.of(hierarchy.resolve(name), hierarchy.resolve(name + "-cpu")).stream())
                .filter(Files::exists)
                .toList();
    }
}
