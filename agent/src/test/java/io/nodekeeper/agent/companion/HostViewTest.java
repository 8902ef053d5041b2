package io.nodekeeper.agent.companion;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostViewTest {
    @TempDir
    Path proc;

    private void mounts(String process, String namespace) throws Exception {
        Path directory = Files.createDirectories(proc.resolve(process).resolve("ns"));
        Files.createSymbolicLink(directory.resolve("mnt"), Path.of("mnt:[" + namespace + "]"));
    }

    @Test
    void aProcessOnTheHostUsesItsOwnMounts() throws Exception {
        mounts("self", "4026531841");
        mounts("1", "4026531841");

        HostView view = HostView.of(proc);

        assertThat(view.mounts()).isEqualTo(proc.resolve("self/mountinfo"));
        assertThat(view.path(Path.of("/var/lib/kubelet"))).isEqualTo(Path.of("/var/lib/kubelet"));
    }

    @Test
    void aProcessInAContainerUsesThoseOfProcessOne() throws Exception {
        mounts("self", "4026532999");
        mounts("1", "4026531841");

        HostView view = HostView.of(proc);

        assertThat(view.mounts()).isEqualTo(proc.resolve("1/mountinfo"));
        assertThat(view.path(Path.of("/var/lib/kubelet"))).isEqualTo(proc.resolve("1/root/var/lib/kubelet"));
    }

    @Test
    void withoutTheRightToLookItUsesItsOwn() throws Exception {
        mounts("self", "4026532999");

        assertThat(HostView.of(proc).root()).isEmpty();
    }
}
