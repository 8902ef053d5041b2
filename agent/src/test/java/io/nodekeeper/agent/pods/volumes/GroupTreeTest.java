package io.nodekeeper.agent.pods.volumes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.pods.mounts.Syscalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Volumes that are given to a group while another pod changes them. */
class GroupTreeTest {
    @TempDir
    Path directory;

    private Path volume;
    private Path data;
    private Path file;
    private Path host;
    private Path secret;
    private GroupTree tree;

    @BeforeEach
    void trees() throws IOException {
        volume = Files.createDirectory(directory.resolve("volume"));
        data = Files.createDirectory(volume.resolve("data"));
        file = Files.createFile(data.resolve("file"));
        host = Files.createDirectory(directory.resolve("host"));
        secret = Files.createFile(host.resolve("secret"));
        for (Path path : new Path[] {data, file, host, secret}) {
            Files.setAttribute(path, "unix:mode", 0700);
        }
        tree = new GroupTree(volume, (int) Files.getAttribute(directory, "unix:gid"), false);
    }

    @Test
    void shouldGiveDirectoriesAndFilesButNothingBehindALink() throws IOException {
        Files.createSymbolicLink(volume.resolve("out"), host);
        Files.createSymbolicLink(data.resolve("out"), secret);

        tree.give();

        assertThat(mode(data)).isEqualTo(02770);
        assertThat(mode(file)).isEqualTo(0760);
        assertThat(mode(host)).isEqualTo(0700);
        assertThat(mode(secret)).isEqualTo(0700);
    }

    @Test
    void shouldNotEnterADirectoryThatBecameALinkAfterItWasListed() throws IOException {
        // given the volume, open and listed, and another directory in place of one of it
        int open = Syscalls.open(volume);
        try {
            Path listed = Syscalls.path(open).resolve("data");
            exchange();

            // when
            tree.give(listed, data, 1);
        } finally {
            Syscalls.close(open);
        }

        // then
        assertThat(mode(host)).isEqualTo(0700);
        assertThat(mode(secret)).isEqualTo(0700);
    }

    @Test
    void shouldGoOnInTheDirectoryThatIsOpenAfterItsNameBecameALink() throws IOException {
        int open = Syscalls.open(data);
        try {
            Path listed = Syscalls.path(open).resolve("file");
            Path other = Files.createFile(host.resolve("file"));
            Files.setAttribute(other, "unix:mode", 0700);
            exchange();

            tree.give(listed, file, 2);

            assertThat(mode(other)).isEqualTo(0700);
            assertThat(mode(volume.resolve("moved/file"))).isEqualTo(0760);
        } finally {
            Syscalls.close(open);
        }
    }

    @Test
    void shouldLeaveOutWhatIsGoneSinceItWasListedAndNeedTheTop() throws IOException {
        tree.give(volume.resolve("gone"), volume.resolve("gone"), 1);

        Path absent = directory.resolve("absent");
        assertThatThrownBy(() -> new GroupTree(absent, 0, false).give())
                .hasMessage(absent + ": open of " + absent + " failed: no such file or directory");
    }

    @Test
    void shouldNotWaitForAPipe() throws Exception {
        Path pipe = volume.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", "-m", "0600", pipe.toString())
                        .start()
                        .waitFor())
                .isZero();

        tree.give();

        assertThat(mode(pipe)).isEqualTo(0600);
        assertThat(mode(file)).isEqualTo(0760);
    }

    @Test
    void shouldRefuseDirectoriesInEachOtherWithoutEnd() throws IOException {
        Path deepest = volume;
        for (int i = 0; i < GroupTree.DEEPEST; i++) {
            deepest = Files.createDirectory(deepest.resolve("d"));
        }

        String named = deepest.toString();
        assertThatThrownBy(tree::give)
                .hasMessage(named + ": more than 256 directories in each other, which is the limit");
    }

    /** What another pod does: the name of a directory becomes a link out of the volume. */
    private void exchange() throws IOException {
        Files.move(data, volume.resolve("moved"));
        Files.createSymbolicLink(data, host);
    }

    private static int mode(Path path) throws IOException {
        return (int) Files.getAttribute(path, "unix:mode") & 07777;
    }
}
