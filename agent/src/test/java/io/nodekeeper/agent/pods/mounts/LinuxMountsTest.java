package io.nodekeeper.agent.pods.mounts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mounts of the real kernel. Needs huge pages in the kernel, and a user who may mount, such as root; fails without them. */
class LinuxMountsTest {
    @TempDir
    Path directory;

    private final LinuxMounts mounts = new LinuxMounts();
    private Path pod;
    private Path volume;
    private Path target;

    @BeforeEach
    void directories() throws Exception {
        pod = Files.createDirectory(directory.resolve("pod"));
        volume = Files.createDirectory(directory.resolve("volume"));
        target = pod.resolve("subpaths/app/0");
        MountRights.check(mounts, directory);
    }

    @AfterEach
    void unmount() throws Exception {
        mounts.unmountBelow(directory);
    }

    @Test
    void shouldMountMemoryOfTheGivenSizeOnce() throws Exception {
        Path fast = Files.createDirectory(pod.resolve("fast"));

        mounts.memory(fast, 1 << 20);
        Files.writeString(fast.resolve("kept"), "1");
        mounts.memory(fast, 1 << 20);

        assertThat(Files.getFileStore(fast).type()).isEqualTo("tmpfs");
        assertThat(Files.getFileStore(fast).getTotalSpace()).isEqualTo(1 << 20);
        assertThat(fast.resolve("kept")).hasContent("1");

        mounts.unmountBelow(pod);
        assertThat(fast).isEmptyDirectory();
    }

    @Test
    void shouldMountHugePagesOfASizeThatTheKernelHasAndRefuseOthers() throws Exception {
        Path pages = Files.createDirectory(pod.resolve("pages"));
        long size = pageBytes();

        mounts.hugePages(pages, size, 3 * size + 1);
        mounts.hugePages(pages, size, 0);

        assertThat(Files.getFileStore(pages).type()).isEqualTo("hugetlbfs");
        assertThat(Files.getFileStore(pages).getBlockSize()).isEqualTo(size);
        assertThat(Files.getFileStore(pages).getTotalSpace()).isEqualTo(3 * size);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(pages)))
                .isEqualTo("rwxrwxrwx");

        Path odd = Files.createDirectory(pod.resolve("odd"));
        assertThatThrownBy(() -> mounts.hugePages(odd, 12_345, 0)).isInstanceOf(IOException.class);

        mounts.unmountBelow(pod);
        assertThat(pages).isEmptyDirectory();
    }

    /** A size of huge pages that this kernel has. */
    private static long pageBytes() {
        String[] sizes = new File("/sys/kernel/mm/hugepages").list();
        assertThat(sizes)
                .as("sizes of huge pages; this test needs a kernel that has them")
                .isNotEmpty();
        return Long.parseLong(sizes[0].replaceAll("\\D", "")) * 1_024;
    }

    @Test
    void shouldMountADirectoryOrFileOfAVolumeAndReplaceIt() throws Exception {
        Files.writeString(Files.createDirectories(volume.resolve("a/b")).resolve("file"), "1");
        Files.createSymbolicLink(volume.resolve("link"), Path.of("a"));

        mounts.part(volume, "link/b", target);
        assertThat(target.resolve("file")).hasContent("1");

        mounts.part(volume, "a/b/file", target);
        assertThat(target).hasContent("1");

        mounts.unmountBelow(pod);
        assertThat(target).isEmptyFile();
        assertThat(volume.resolve("a/b/file")).hasContent("1");
    }

    /** A pod can make that list as long as it likes; it would be read for each of thousands of parts. */
    @Test
    void shouldReplaceAPartWithoutTheListOfMounts() throws Exception {
        LinuxMounts blind = new LinuxMounts(directory.resolve("no-mountinfo"));
        Files.writeString(Files.createDirectory(volume.resolve("a")).resolve("file"), "1");
        Files.writeString(Files.createDirectory(volume.resolve("b")).resolve("file"), "2");

        blind.part(volume, "a", target);
        blind.part(volume, "b", target);

        assertThat(target.resolve("file")).hasContent("2");
        assertThat(MountPoints.below(Path.of("/proc/self/mountinfo"), pod.toRealPath()))
                .containsExactly(target.toRealPath().toString());
    }

    @Test
    void shouldMakeTheDirectoriesOfAPartWithTheModeOfTheVolume() throws Exception {
        Files.setAttribute(volume, "unix:mode", 02777);

        mounts.part(volume, "new/deep", target);

        assertThat((int) Files.getAttribute(volume.resolve("new/deep"), "unix:mode") & 07777)
                .isEqualTo(02777);
        Files.writeString(target.resolve("file"), "1");
        assertThat(volume.resolve("new/deep/file")).hasContent("1");
    }

    @Test
    void shouldMountNothingOnceTheWorkWasGivenUp() throws Exception {
        Files.createDirectory(volume.resolve("a"));

        // given work whose deadline has passed while it was opening the volume
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> mounts.part(volume, "a", target)).isInstanceOf(InterruptedIOException.class);
        } finally {
            Thread.interrupted();
        }

        assertThat(pod).isEmptyDirectory();
    }

    @Test
    void shouldNotFollowALinkOutOfTheVolume() throws Exception {
        Files.createSymbolicLink(volume.resolve("absolute"), directory);
        Files.createSymbolicLink(volume.resolve("up"), Path.of(".."));

        for (String path : new String[] {"absolute", "up", "up/other", "absolute/other", "../other"}) {
            assertThatThrownBy(() -> mounts.part(volume, path, target))
                    .isInstanceOf(IOException.class)
                    .hasMessage("path " + path + " leads out of the volume " + volume);
        }
        assertThat(directory.resolve("other")).doesNotExist();
        assertThat(target).doesNotExist();
    }
}
