package io.nodekeeper.agent.pods.volumes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.pods.mounts.LinuxMounts;
import io.nodekeeper.agent.pods.mounts.MountRights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trees that are removed, and what is mounted in them. */
class PodDirectoriesTest {
    @TempDir
    Path directory;

    private Path pod;
    private Path target;

    @BeforeEach
    void tree() throws Exception {
        pod = Files.createDirectory(directory.resolve("pod"));
        target = Files.createDirectories(pod.resolve("volumes/data"));
    }

    @Test
    void shouldRemoveNothingOfWhatIsMountedInATree() throws Exception {
        Path kept = Files.writeString(target.resolve("kept"), "1");

        assertThatThrownBy(() -> PodDirectories.removeTree(pod, target::equals))
                .isInstanceOf(IOException.class)
                .hasMessage(target + " is not removed: something is mounted there");

        assertThat(kept).hasContent("1");
    }

    /** A directory of the same file system, which has the same device. */
    @Test
    void shouldNoticeARealMountOfADirectoryOfTheSameFileSystem() throws Exception {
        Path volume = Files.createDirectory(directory.resolve("volume"));
        Path kept = Files.writeString(volume.resolve("kept"), "1");
        LinuxMounts mounts = new LinuxMounts();
        try {
            MountRights.check(mounts, directory);
            mounts.part(volume, ".", target);
            assertThat(target.resolve("kept")).hasContent("1");

            assertThatThrownBy(() -> PodDirectories.removeTree(pod))
                    .hasMessage(target + " is not removed: something is mounted there");
            assertThat(kept).hasContent("1");
        } finally {
            mounts.unmountBelow(directory);
        }

        PodDirectories.removeTree(pod);

        assertThat(pod).doesNotExist();
        assertThat(kept).hasContent("1");
    }
}
