package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On which mount a path is, by an artificial {@code mountinfo}. */
class MountsTest {
    @TempDir
    Path root;

    private String mountOf(String path, String mounts) throws IOException {
        Files.createDirectories(root.resolve("proc/7"));
        Files.writeString(root.resolve("proc/7/mountinfo"), mounts);
        return Mounts.of(path, new Mounts(new ProcFiles(root)).of(7))
                .map(line -> line.mount().point() + " " + line.mount().type())
                .orElse("");
    }

    @Test
    void aMountHidesAnEarlierOneAtTheSamePoint() throws IOException {
        assertThat(mountOf("/data/a", """
                        20 1 8:1 / / rw - ext4 /dev/sda1 rw
                        21 20 0:40 / /data rw - autofs systemd-1 rw
                        22 21 0:41 / /data rw - nfs server:/x rw
                        """)).isEqualTo("/data nfs");
    }

    @Test
    void aMountPointMayHaveABlank() throws IOException {
        assertThat(mountOf("/my data/a", """
                        20 1 8:1 / / rw - ext4 /dev/sda1 rw
                        21 20 0:41 / /my\\040data rw - nfs server:/x rw
                        """)).isEqualTo("/my data nfs");
    }

    /** A thousand pods have ten thousand mounts. */
    @Test
    void theLastOfTenThousandMountsIsFound() throws IOException {
        StringBuilder mounts = new StringBuilder("20 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
        for (int i = 0; i < 10_000; i++) {
            mounts.append("%d 20 0:50 / /var/lib/kubelet/pods/%d/volumes/v rw - tmpfs tmpfs rw,size=1048576k\n"
                    .formatted(i, i));
        }
        mounts.append("30000 20 0:41 / /var/lib/kubelet/pods/last rw - nfs server:/x rw\n");

        assertThat(mountOf("/var/lib/kubelet/pods/last/a", mounts.toString()))
                .isEqualTo("/var/lib/kubelet/pods/last nfs");
    }
}
