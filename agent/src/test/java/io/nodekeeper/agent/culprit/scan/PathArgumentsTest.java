package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.proc.PathArguments;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathArgumentsTest {
    @TempDir
    Path root;

    private PathArguments paths;

    @BeforeEach
    void process() throws Exception {
        Files.createDirectories(root.resolve("proc/7/fd"));
        Files.createSymbolicLink(root.resolve("proc/7/cwd"), Path.of("/home"));
        Files.createSymbolicLink(root.resolve("proc/7/fd/5"), Path.of("/srv"));
        Files.createSymbolicLink(root.resolve("proc/7/fd/6"), Path.of("socket:[8]"));
        paths = new PathArguments(new ProcFiles(root), false);
    }

    @ParameterizedTest
    @CsvSource({
        // open, stat, unlink, statfs: the first argument.
        "2 0x2000 0x0,                        /mnt/a",
        "4 0x2000 0x7ffe,                     /mnt/a",
        "87 0x2000 0x0,                       /mnt/a",
        "137 0x2000 0x7ffe,                   /mnt/a",
        // execve, chdir, getxattr.
        "59 0x2000 0x7ffe,                    /mnt/a",
        "80 0x2000 0x0,                       /mnt/a",
        "191 0x2000 0x7ffe,                   /mnt/a",
        // openat from the working directory, newfstatat, statx from a descriptor.
        "257 0xffffff9c 0x3000 0x0,           /home/b/c",
        "257 0xffffffffffffff9c 0x3000 0x0,   /home/b/c",
        "262 0x5 0x3000 0x7ffe 0x0,           /srv/b/c",
        "332 0x5 0x2000 0x0 0x7ff,            /mnt/a",
    })
    void pathIsThatOfTheSystemCallFromItsDirectory(String call, String path) throws Exception {
        memory(0x2000, "/mnt/a\0");
        memory(0x3000, "b/./x/../c\0");

        assertThat(paths.of(7, call + " 0x0 0x7ffe12 0x7fdf34\n")).contains(path);
    }

    @Test
    void numbersOfSystemCallsAreThoseOfTheMachinesArchitecture() throws Exception {
        memory(0x2000, "/mnt/a\0");
        PathArguments arm = new PathArguments(new ProcFiles(root), true);

        assertThat(arm.of(7, "56 0xffffff9c 0x2000 0x0")).contains("/mnt/a");
        assertThat(arm.of(7, "43 0x2000 0x7ffe 0x0")).contains("/mnt/a");
        assertThat(arm.of(7, "257 0xffffff9c 0x2000 0x0")).isEmpty();
        assertThat(paths.of(7, "56 0xffffff9c 0x2000 0x0")).isEmpty();
    }

    @Test
    void pathMayLieOnTwoPages() throws Exception {
        memory(0x3000 - 3, "/mnt/a\0");

        assertThat(paths.of(7, "2 0x2ffd 0x0")).contains("/mnt/a");
    }

    @Test
    void longestPathOfTheKernelIsRead() throws Exception {
        memory(0x2001, "/" + "a".repeat(4_094) + "\0");

        assertThat(paths.of(7, "2 0x2001 0x0").orElseThrow()).hasSize(4_095);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "running",
                "-1 0x7ffe 0x7fdf",
                "0 0x5 0x2000 0x10",
                "2 0x0 0x0",
                "2 0x1000 0x0",
                "2 0x4000 0x0",
                "2 0x9000000 0x0",
                "2 0xfffffffffffffff0 0x0",
                "2 2000 0x0",
                "257 0x6 0x3000 0x0",
                "257 0x9 0x3000 0x0",
                "99999 0x2000 0x0",
                "2",
                ""
            })
    void thereIsNoPathWhereNoneCanBeRead(String call) throws Exception {
        memory(0x2000, "/mnt/a\0");
        memory(0x3000, "b\0");
        // Neither an end within the longest path, nor a text.
        memory(0x4000, "x".repeat(3 * 4_096));
        memory(0x1000, "\0");

        assertThat(paths.of(7, call)).isEmpty();
    }

    private void memory(int address, String text) throws Exception {
        try (RandomAccessFile file =
                new RandomAccessFile(root.resolve("proc/7/mem").toFile(), "rw")) {
            file.setLength(Math.max(file.length(), 0x8000));
            file.seek(address);
            file.write(text.getBytes(StandardCharsets.US_ASCII));
        }
    }
}
