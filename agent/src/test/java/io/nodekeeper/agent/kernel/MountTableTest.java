package io.nodekeeper.agent.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** On which mount a path is, by an artificial {@code mountinfo}. */
class MountTableTest {
    private static String mountOf(String path, String mounts) {
        return MountTable.parse(mounts.lines().toList())
                .of(path)
                .map(mount -> mount.point() + " " + mount.type())
                .orElse("");
    }

    @Test
    void aMountHidesAnEarlierOneAtTheSamePoint() {
        assertThat(mountOf("/data/a", """
                        20 1 8:1 / / rw - ext4 /dev/sda1 rw
                        21 20 0:40 / /data rw - autofs systemd-1 rw
                        22 21 0:41 / /data rw - nfs server:/x rw
                        """)).isEqualTo("/data nfs");
    }

    @Test
    void aMountPointMayHaveABlank() {
        assertThat(mountOf("/my data/a", """
                        20 1 8:1 / / rw - ext4 /dev/sda1 rw
                        21 20 0:41 / /my\\040data rw - nfs server:/x rw
                        """)).isEqualTo("/my data nfs");
    }

    /** A thousand pods have ten thousand mounts. */
    @Test
    void theLastOfTenThousandMountsIsFound() {
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
