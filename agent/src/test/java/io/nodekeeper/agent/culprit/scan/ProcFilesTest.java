package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process with many open files, on an artificial {@code /proc}. */
class ProcFilesTest {
    private static final int OPEN = 5_000;

    @TempDir
    Path root;

    private ProcFiles files;

    @BeforeEach
    void open() throws IOException {
        files = new ProcFiles(root);
        Path directory = Files.createDirectories(root.resolve("proc/7/fd"));
        for (int fd = 0; fd < OPEN; fd++) {
            Files.createFile(directory.resolve(Integer.toString(fd)));
        }
    }

    @Test
    void onlySoManyOpenFilesAreReadAsAreWanted() {
        assertThat(files.openFiles(7)).hasSize(4_096).doesNotHaveDuplicates();
        assertThat(files.openNumbers(7, 10)).hasSize(10);
        assertThat(files.openNumbers(7, 2 * OPEN)).hasSize(OPEN).contains(0, OPEN - 1);
    }

    @Test
    void openFilesAreCountedUpToALimit() {
        assertThat(files.openCount(7, 1_000)).isEqualTo(1_000);
        assertThat(files.openCount(7, OPEN + 1)).isEqualTo(OPEN);
    }

    @Test
    void aProcessThatHasEndedHasNoOpenFiles() {
        assertThat(files.openFiles(8)).isEmpty();
        assertThat(files.openCount(8, 1_000)).isZero();
    }

    @Test
    void argumentsHaveALimit() throws IOException {
        Files.writeString(root.resolve("proc/7/cmdline"), "a\0".repeat(100_000));
        assertThat(files.arguments(7)).hasSize(1_000).containsOnly("a");

        Files.writeString(root.resolve("proc/7/cmdline"), "x".repeat(100_000) + "\0");
        assertThat(files.arguments(7)).containsExactly("x".repeat(32 << 10));

        Files.writeString(root.resolve("proc/7/cmdline"), "runc\0\0init\0");
        assertThat(files.arguments(7)).containsExactly("runc", "", "init");
    }
}
