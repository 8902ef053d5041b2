package io.nodekeeper.agent.stats;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What real files of a volume occupy. */
class VolumeFilesTest {
    private static final int MI = 1 << 20;

    @TempDir
    Path directory;

    private DiskUse use(String uid) throws IOException {
        RunningPod pod = new RunningPod(uid, "web", "shop", "sandbox", Optional.empty(), List.of());
        Map<String, DiskUse> volumes =
                new VolumeFiles(directory).read(List.of(pod)).getOrDefault(uid, Map.of());
        return volumes.getOrDefault("cache", DiskUse.NONE);
    }

    private Path volume() throws IOException {
        return Files.createDirectories(directory.resolve("u1/volumes/kubernetes.io~empty-dir/cache"));
    }

    @Test
    void shouldCountBlocksAndFiles() throws IOException {
        Path volume = volume();
        Files.write(Files.createDirectory(volume.resolve("deep")).resolve("file"), new byte[3 * MI]);

        assertThat(use("u1").bytes()).isBetween(3L * MI, 4L * MI);
        // The volume, the directory and the file.
        assertThat(use("u1").inodes()).isEqualTo(3);
    }

    /** A pod decides in which order its files are listed. */
    @Test
    void shouldCountALargeFileBehindManyEmptyOnes() throws IOException {
        Path volume = volume();
        Path many = Files.createDirectory(volume.resolve("many"));
        for (int i = 0; i < 2_000; i++) {
            Files.createFile(many.resolve("f" + i));
        }
        for (String name : List.of("a", "b", "c")) {
            Files.write(Files.createDirectory(volume.resolve(name)).resolve("file"), new byte[MI]);
        }

        assertThat(use("u1").bytes()).isBetween(3L * MI, 4L * MI);
        assertThat(use("u1").inodes()).isEqualTo(2_008);
    }

    @Test
    void shouldNotCountHoles() throws IOException {
        try (RandomAccessFile file =
                new RandomAccessFile(volume().resolve("file").toFile(), "rw")) {
            file.setLength(1_000L * MI);
        }

        assertThat(use("u1").bytes()).isLessThan(MI);
    }

    @Test
    void shouldCountAFileWithSeveralNamesOnce() throws IOException {
        Path file = Files.write(volume().resolve("file"), new byte[3 * MI]);
        for (int i = 0; i < 10; i++) {
            Files.createLink(file.resolveSibling("name" + i), file);
        }

        assertThat(use("u1").bytes()).isBetween(3L * MI, 4L * MI);
    }

    @Test
    void shouldNotFollowLinks() throws IOException {
        Path other = Files.write(directory.resolve("other"), new byte[3 * MI]);
        Files.createSymbolicLink(volume().resolve("link"), other);

        assertThat(use("u1").bytes()).isLessThan(MI);
    }

    private MountedVolume mounted(Path path, boolean counted) {
        return new MountedVolume("shop", "web", "u1", "cache", path, Optional.of("claim"), counted);
    }

    @Test
    void shouldCountTheFilesOfAVolumeOnTheNodesDisk() throws IOException {
        Files.write(volume().resolve("file"), new byte[3 * MI]);

        VolumeUse use =
                new VolumeFiles(directory).measure(mounted(volume(), true)).orElseThrow();

        assertThat(use.name()).isEqualTo("cache");
        assertThat(use.claim()).contains("claim");
        assertThat(use.used().bytes()).isBetween(3L * MI, 4L * MI);
        assertThat(use.used().inodes()).isEqualTo(2);
        assertThat(use.filesystem().bytes().capacity()).isGreaterThan(3L * MI);
    }

    /** {@code /dev/shm} is a file system of its own, and so is what is behind a claim. */
    @Test
    void shouldTakeAllOfAFileSystemThatIsTheVolumesOwn() throws IOException {
        for (MountedVolume volume : List.of(mounted(Path.of("/dev/shm"), true), mounted(volume(), false))) {
            VolumeUse use = new VolumeFiles(directory).measure(volume).orElseThrow();

            assertThat(use.used()).isEqualTo(UsageJson.all(use.filesystem()));
        }
    }

    @Test
    void shouldMeasureNothingThatIsNoDirectory() throws IOException {
        VolumeFiles files = new VolumeFiles(directory);

        assertThat(files.measure(mounted(Path.of("/dev/null"), false))).isEmpty();
        assertThat(files.measure(mounted(directory.resolve("gone"), true))).isEmpty();
    }

    @Test
    void shouldMeasureNothingOutsideItsDirectory() throws IOException {
        Path outside = Files.createDirectories(
                Objects.requireNonNull(directory.getParent()).resolve("kubernetes.io~empty-dir"));

        assertThat(use("../..")).isEqualTo(DiskUse.NONE);
        Files.delete(outside);
    }
}
