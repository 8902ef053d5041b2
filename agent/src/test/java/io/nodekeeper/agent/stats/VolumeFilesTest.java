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
        return use(uid, "cache");
    }

    private DiskUse use(String uid, String name) throws IOException {
        RunningPod pod = new RunningPod(uid, "web", "shop", "sandbox", Optional.empty(), List.of());
        Map<String, DiskUse> volumes =
                new VolumeFiles(directory).read(List.of(pod)).getOrDefault(uid, Map.of());
        return volumes.getOrDefault(name, DiskUse.NONE);
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

    /** A pod may have thousands of volumes, each with several copies of a ConfigMap. */
    @Test
    void shouldCountConfigMapsThatAreOnTheDisk() throws IOException {
        volume();
        Path settings = Files.createDirectories(directory.resolve("u1/volumes/kubernetes.io~configmap/settings"));
        Files.write(settings.resolve("file"), new byte[3 * MI]);

        assertThat(use("u1", "settings").bytes()).isBetween(3L * MI, 4L * MI);
        assertThat(use("u1", "settings").inodes()).isEqualTo(2);
        assertThat(use("u1").inodes()).isEqualTo(1);
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

    /** A process can make directories in each other without a path to them. */
    @Test
    void shouldTakeAVolumeWithDirectoriesThatAreTooDeepToUseMoreThanAnyLimit() throws IOException {
        Path deep = volume();
        for (int i = 0; i < 600; i++) {
            deep = Files.createDirectory(deep.resolve("d"));
        }

        assertThat(use("u1").bytes()).isGreaterThanOrEqualTo(1L << 50);
    }

    @Test
    void shouldTakeAVolumeWithPathsThatAreTooLongToUseMoreThanAnyLimit() throws IOException {
        Path volume = volume();
        // The last directory's path is shorter than 4,096 bytes until the first one gets a longer name.
        Path first = Files.createDirectory(volume.resolve("d"));
        Path deep = first;
        String name = "d".repeat(255);
        while (deep.toString().length() + 256 < 4_090) {
            deep = Files.createDirectory(deep.resolve(name));
        }
        Files.move(first, volume.resolve(name));

        assertThat(use("u1").bytes()).isGreaterThanOrEqualTo(1L << 50);
        Files.move(volume.resolve(name), first);
    }

    /** A name may be of any bytes. A file of a large length without data has no blocks, and a link is not followed. */
    @Test
    void shouldCountTheBlocksOfFilesWhoseNamesAreNotUtf8() throws Exception {
        String script = "f=$(printf 'x\\377\\303\\244'); head -c 3145728 /dev/zero > \"$f\";"
                + " ln -s / \"$(printf 'l\\377')\"; dd if=/dev/null of=\"$(printf 'h\\377')\" bs=1 seek=99999999";
        Process shell = new ProcessBuilder("sh", "-c", script)
                .directory(volume().toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(shell.waitFor()).isZero();

        assertThat(use("u1").bytes()).isBetween(3L * MI, 4L * MI);
        assertThat(use("u1").inodes()).isEqualTo(4);
    }

    @Test
    void shouldKnowABoundedNumberOfInodes() {
        InodeSet inodes = new InodeSet(1_000);
        for (long inode = 1; inode <= 1_001; inode++) {
            assertThat(inodes.add(inode << 32)).isTrue();
        }

        assertThat(inodes.add(1L << 32)).isFalse();
        assertThat(inodes.add(1_000L << 32)).isFalse();
        assertThat(inodes.add(1_001L << 32)).isTrue();
    }

    @Test
    void shouldNotFollowLinks() throws IOException {
        Path other = Files.write(directory.resolve("other"), new byte[3 * MI]);
        Files.createSymbolicLink(volume().resolve("link"), other);

        assertThat(use("u1").bytes()).isLessThan(MI);
    }

    /** A container can write to both, and neither is a volume. */
    @Test
    void shouldCountTheFilesOfAPodThatAreInNoVolume() throws IOException {
        Files.write(Files.createDirectories(directory.resolve("u1")).resolve("etc-hosts"), new byte[4 * MI]);
        Files.write(
                Files.createDirectories(directory.resolve("u1/containers/app")).resolve("0.termination"),
                new byte[2 * MI]);
        Files.write(volume().resolve("file"), new byte[MI]);
        RunningPod pod = new RunningPod("u1", "web", "shop", "sandbox", Optional.empty(), List.of());
        RunningPod gone = new RunningPod("u2", "web", "shop", "sandbox", Optional.empty(), List.of());

        Map<String, DiskUse> others = new VolumeFiles(directory).others(List.of(pod, gone));

        assertThat(others).containsOnlyKeys("u1");
        assertThat(others.getOrDefault("u1", DiskUse.NONE).bytes()).isBetween(6L * MI, 7L * MI - 1);
        // Two directories and two files.
        assertThat(others.getOrDefault("u1", DiskUse.NONE).inodes()).isEqualTo(4);
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
        assertThat(use.local()).isTrue();
        assertThat(use.filesystem().bytes().capacity()).isGreaterThan(3L * MI);
    }

    /** {@code /dev/shm} is a file system of its own, and so is what is behind a claim. */
    @Test
    void shouldTakeAllOfAFileSystemThatIsTheVolumesOwn() throws IOException {
        for (MountedVolume volume : List.of(mounted(Path.of("/dev/shm"), true), mounted(volume(), false))) {
            VolumeUse use = new VolumeFiles(directory).measure(volume).orElseThrow();

            assertThat(use.used()).isEqualTo(UsageJson.all(use.filesystem()));
            assertThat(use.local()).isFalse();
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
