package io.nodekeeper.agent.pods.volumes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How the files of a volume are replaced. */
class AtomicFilesTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    @TempDir
    Path volume;

    @Test
    void shouldLayOutFilesAsAKubeletDoes() throws Exception {
        boolean changed = write(NOW, "a", "1", "dir/b", "2");

        assertThat(changed).isTrue();
        assertThat(names()).containsExactly("..2026_01_02_03_04_05.000000000", "..data", "a", "dir");
        assertThat(Files.readSymbolicLink(volume.resolve("..data")))
                .isEqualTo(Path.of("..2026_01_02_03_04_05.000000000"));
        assertThat(Files.readSymbolicLink(volume.resolve("a"))).isEqualTo(Path.of("..data/a"));
        assertThat(volume.resolve("a")).hasContent("1");
        assertThat(volume.resolve("dir/b")).hasContent("2");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(volume.resolve("a"))))
                .isEqualTo("rw-r-----");
    }

    @Test
    void shouldReplaceAllFilesAtOnceAndRemoveWhatIsGone() throws Exception {
        write(NOW, "a", "1", "b", "1");

        boolean changed = write(NOW.plusSeconds(60), "b", "2", "c", "2");

        assertThat(changed).isTrue();
        assertThat(names()).containsExactly("..2026_01_02_03_05_05.000000000", "..data", "b", "c");
        assertThat(volume.resolve("b")).hasContent("2");
    }

    /** Such writes are tried again every some seconds. */
    @Test
    void shouldLeaveNothingOfAWriteThatFailed() throws Exception {
        write(NOW, "a", "1");

        String tooLong = "é".repeat(200);
        for (int attempt = 1; attempt <= 3; attempt++) {
            Instant at = NOW.plusSeconds(attempt);
            assertThatThrownBy(() -> write(at, "a", "2", tooLong, "3")).isInstanceOf(IOException.class);
        }

        assertThat(names()).containsExactly("..2026_01_02_03_04_05.000000000", "..data", "a");
        assertThat(volume.resolve("a")).hasContent("1");
    }

    @Test
    void shouldWriteNothingIfNothingChanged() throws Exception {
        write(NOW, "a", "1");

        boolean changed = write(NOW.plusSeconds(60), "a", "1");

        assertThat(changed).isFalse();
        assertThat(names()).containsExactly("..2026_01_02_03_04_05.000000000", "..data", "a");
    }

    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldReplaceANamedPipeWithoutReadingIt() throws Exception {
        // given a pipe that a container made in place of a file
        write(NOW, "a", "1");
        Path file = volume.resolve("..2026_01_02_03_04_05.000000000/a");
        Files.delete(file);
        assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor())
                .isZero();

        // when the same files are written
        boolean changed = write(NOW.plusSeconds(60), "a", "1");

        // then they are there again
        assertThat(changed).isTrue();
        assertThat(volume.resolve("a")).hasContent("1");
    }

    @Test
    void shouldCompleteWhatAnAgentThatEndedBeganAndRemoveItsRest() throws Exception {
        write(NOW, "a", "1");
        Files.delete(volume.resolve("a"));
        Files.createDirectory(volume.resolve("..2026_01_02_03_04_06.000000000"));
        Files.createSymbolicLink(volume.resolve("..data_tmp"), Path.of("..2026_01_02_03_04_06.000000000"));

        write(NOW.plusSeconds(1), "a", "1");
        assertThat(names()).containsExactly("..2026_01_02_03_04_05.000000000", "..data", "a");

        Files.createDirectory(volume.resolve("..2026_01_02_03_04_07.000000000"));
        write(NOW.plusSeconds(2), "a", "2");
        assertThat(names()).containsExactly("..2026_01_02_03_04_07.000000001", "..data", "a");
        assertThat(volume.resolve("a")).hasContent("2");
    }

    @Test
    void shouldLeaveTheOldFilesIfTheNewOnesCannotBeCompleted() throws Exception {
        write(NOW, "a", "1");

        try {
            new AtomicFiles(volume).write(files("a", "2"), NOW.plusSeconds(1), directory -> {
                throw new IOException("no such group");
            });
        } catch (IOException e) {
            // Expected.
        }

        assertThat(volume.resolve("a")).hasContent("1");
    }

    private boolean write(Instant now, String... pathsAndTexts) throws IOException {
        return new AtomicFiles(volume).write(files(pathsAndTexts), now, directory -> {});
    }

    private static SortedMap<String, FileContent> files(String... pathsAndTexts) {
        SortedMap<String, FileContent> files = new TreeMap<>();
        for (int i = 0; i < pathsAndTexts.length; i += 2) {
            byte[] bytes = pathsAndTexts[i + 1].getBytes(StandardCharsets.UTF_8);
            files.put(pathsAndTexts[i], new FileContent(bytes, 0640, OptionalLong.empty()));
        }
        return files;
    }

    private List<String> names() throws IOException {
        try (Stream<Path> children = Files.list(volume)) {
            return children.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }
}
