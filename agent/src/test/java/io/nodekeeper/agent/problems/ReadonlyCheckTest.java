package io.nodekeeper.agent.problems;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.ConditionReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadonlyCheckTest {
    private static final String ROOT = "27 1 253:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw";
    private static final String DATA = "80 27 7:3 / /data rw,relatime shared:9 - ext4 /dev/loop3 rw";

    @TempDir
    private Path directory;

    private ReadonlyCheck check;

    @BeforeEach
    void create() {
        check = new ReadonlyCheck(() -> Files.readString(directory.resolve("mountinfo")), Path.of("/var/lib/kubelet"));
    }

    private ConditionReport with(String... lines) throws IOException {
        Files.writeString(directory.resolve("mountinfo"), String.join("\n", lines) + "\n");
        return check.run().conditions().getFirst();
    }

    @Test
    void writableFileSystemsAreFine() throws IOException {
        assertThat(with(ROOT, DATA))
                .isEqualTo(new ConditionReport(
                        "ReadonlyFilesystem", "False", "FilesystemIsNotReadOnly", "no file system became read-only"));
    }

    @Test
    void theFileSystemOfTheAgentsDirectoryMustAcceptWritesFromTheStart() throws IOException {
        assertThat(with(ROOT.replace("ext4 /dev/vda1 rw", "ext4 /dev/vda1 ro")))
                .isEqualTo(new ConditionReport(
                        "ReadonlyFilesystem",
                        "True",
                        "FilesystemIsReadOnly",
                        "/ (ext4 on /dev/vda1) is read-only, which contains the agent's directory /var/lib/kubelet"));
    }

    @Test
    void aRootThatIsReadOnlyByDesignIsFineIfTheAgentsDirectoryIsWritable() throws IOException {
        assertThat(with(
                                ROOT.replace("rw,relatime", "ro,relatime").replace("vda1 rw", "vda1 ro"),
                                "60 27 253:2 / /var rw - ext4 /dev/vda2 rw")
                        .status())
                .isEqualTo("False");
    }

    @Test
    void aFileSystemThatWasRemountedReadOnlyIsAProblemUntilItIsWritableOrGone() throws IOException {
        assertThat(with(ROOT, DATA).status()).isEqualTo("False");

        ConditionReport problem = with(ROOT, DATA.replace("loop3 rw", "loop3 ro"));
        assertThat(problem.status()).isEqualTo("True");
        assertThat(problem.message()).isEqualTo("/data (ext4 on /dev/loop3) is read-only");

        assertThat(with(ROOT, DATA).status()).isEqualTo("False");
        assertThat(with(ROOT, DATA.replace("loop3 rw", "loop3 ro")).status()).isEqualTo("True");
        assertThat(with(ROOT).status()).isEqualTo("False");
        // Mounted again, read-only on purpose.
        assertThat(with(ROOT, DATA.replace("loop3 rw", "loop3 ro")).status()).isEqualTo("False");
    }

    /** The kernel gives the lowest free number to the next file system. */
    @Test
    void aReadOnlyVolumeWithTheDeviceNumberOfAnEarlierOneIsNoProblem() throws IOException {
        with(ROOT, "70 27 0:57 / /pods/a/shm rw - tmpfs tmpfs rw");

        assertThat(with(ROOT, "70 27 0:57 / /pods/b/data ro - nfs4 filer:/x ro").status())
                .isEqualTo("False");
    }

    @Test
    void aFileSystemThatStoppedAfterAnErrorIsAProblemFromTheStart() throws IOException {
        ConditionReport problem = with(ROOT, DATA.replace("loop3 rw", "loop3 rw,emergency_ro"));

        assertThat(problem.status()).isEqualTo("True");
        assertThat(problem.message()).isEqualTo("/data (ext4 on /dev/loop3) is read-only after an error");
    }

    @Test
    void aReadOnlyBindMountOfAWritableFileSystemIsFine() throws IOException {
        assertThat(with(ROOT, DATA).status()).isEqualTo("False");
        assertThat(with(ROOT, DATA, "90 27 7:3 /x /pods/volume ro - ext4 /dev/loop3 rw")
                        .status())
                .isEqualTo("False");
    }

    @Test
    void theNewestOfTwoMountsAtOnePointCounts() throws IOException {
        assertThat(with(
                                ROOT,
                                "60 27 253:2 / /var\\040x ro - ext4 /dev/vda2 ro",
                                "61 27 253:3 / /var rw - ext4 /dev/vda3 ro",
                                "62 27 253:4 / /var rw - ext4 /dev/vda4 rw")
                        .status())
                .isEqualTo("False");
    }
}
