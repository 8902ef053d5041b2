package io.nodekeeper.agent.pods.mounts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables of mounts as the kernel writes them, of any length. */
class MountPointsTest {
    private static final Path POD = Path.of("/var/lib/kubelet/pods/u1");

    @TempDir
    Path directory;

    @Test
    void shouldFindTheMountsBelowADirectoryInTheirOrder() throws Exception {
        Path table = table("""
                22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
                30 22 0:40 / /var/lib/kubelet/pods/u1/volumes/a rw - tmpfs tmpfs rw
                31 22 0:41 / /var/lib/kubelet/pods/u10/volumes/a rw - tmpfs tmpfs rw
                32 22 8:1 /data /var/lib/kubelet/pods/u1/with\\040blank rw - ext4 /dev/sda1 rw
                33 22 8:1 /data /var/lib/kubelet/pods/u1 rw - ext4 /dev/sda1 rw
                """);

        assertThat(MountPoints.below(table, POD))
                .containsExactly("/var/lib/kubelet/pods/u1/volumes/a", "/var/lib/kubelet/pods/u1/with blank");
    }

    /** A thousand parts of volumes under long names, one of them with a character of two bytes. */
    @Test
    void shouldFindAMountAtTheEndOfATableThatIsLongerThanOtherFilesMayBe() throws Exception {
        String name = "\u00e9" + "x".repeat(3_600);
        StringBuilder long5MiB = new StringBuilder();
        for (int i = 0; i < 1_500; i++) {
            long5MiB.append(i + " 22 8:1 /data/" + name + " /var/lib/kubelet/pods/u2/volume-subpaths/v/c/" + i
                    + " rw - ext4 /dev/sda1 rw\n");
        }
        Path table = table(long5MiB + "9999 22 8:1 / /var/lib/kubelet/pods/u1/volumes/last rw - ext4 /dev/sda1 rw\n");
        assertThat(Files.size(table)).isGreaterThan(5 << 20);

        assertThat(MountPoints.below(table, POD)).containsExactly("/var/lib/kubelet/pods/u1/volumes/last");
        assertThatThrownBy(() -> unmountBelow(table))
                .as("nothing can be unmounted that this table invents, so it remains")
                .isInstanceOf(IOException.class);
    }

    @Test
    void shouldRefuseATableThatEndsWithinALine() throws Exception {
        Path table = table("30 22 0:40 / /var/lib/kubelet/pods/u1/vol");

        assertThatThrownBy(() -> MountPoints.below(table, POD)).hasMessage(table + " ends within a line");
    }

    /** Of a directory that exists, in a table whose last line has a mount below it. */
    private void unmountBelow(Path table) throws IOException {
        Path pod = Files.createDirectory(directory.resolve("pod")).toRealPath();
        Files.writeString(table, Files.readString(table).replace(POD.toString(), pod.toString()));
        new LinuxMounts(table).unmountBelow(pod);
    }

    private Path table(String text) throws IOException {
        return Files.writeString(directory.resolve("mountinfo"), text);
    }
}
