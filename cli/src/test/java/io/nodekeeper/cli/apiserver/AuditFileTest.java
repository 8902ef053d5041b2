package io.nodekeeper.cli.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditFileTest {
    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T07:00:00Z"));

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .sorted()
                    .toList();
        }
    }

    private static List<byte[]> line(String text) {
        return List.of((text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void whatGrowsLargeIsPutAsideAndTheOldestGoes() throws IOException {
        // given a file of at most 10 bytes, of which two are kept
        AuditFile file = AuditFile.open(
                directory.resolve("audit.log"), 10, 0, 2, time.loop("audit").clock());
        // when four lines of 6 bytes come, a second apart
        for (String text : List.of("first", "other", "third", "forth")) {
            file.write(line(text));
            time.advance(Duration.ofSeconds(1));
        }
        file.close();
        // then
        assertThat(names())
                .containsExactly("audit-2026-11-21T07-00-02.000.log", "audit-2026-11-21T07-00-03.000.log", "audit.log");
        assertThat(directory.resolve("audit.log")).hasContent("forth");
        assertThat(directory.resolve("audit-2026-11-21T07-00-03.000.log")).hasContent("third");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("audit.log"))))
                .isEqualTo("rw-------");
    }

    @Test
    void aFileThatSomebodyRemovedIsMadeAgain() throws IOException {
        AuditFile file = AuditFile.open(
                directory.resolve("audit.log"), 10, 0, 2, time.loop("audit").clock());
        file.write(line("first"));
        Files.delete(directory.resolve("audit.log"));

        file.write(line("other"));
        file.close();

        assertThat(names()).containsExactly("audit.log");
        assertThat(directory.resolve("audit.log")).hasContent("other");
    }

    /** As when a disk is full for a moment. */
    @Test
    void afterARotationThatFailedTheNextLineIsWritten() throws IOException {
        AuditFile file = AuditFile.open(
                directory.resolve("audit.log"), 10, 0, 2, time.loop("audit").clock());
        file.write(line("first"));
        // given a directory in the way of the file's new name
        Path inTheWay = Files.createDirectories(directory.resolve("audit-2026-11-21T07-00-00.000.log/x"));
        assertThatThrownBy(() -> file.write(line("other"))).isInstanceOf(IOException.class);

        time.advance(Duration.ofSeconds(1));
        file.write(line("third"));
        file.close();

        assertThat(directory.resolve("audit.log")).hasContent("third");
        assertThat(directory.resolve("audit-2026-11-21T07-00-01.000.log")).hasContent("first");
        assertThat(inTheWay).isDirectory();
    }

    /** As after a full disk, or a server that was killed. */
    @Test
    void aLineThatIsThereInPartDoesNotSpoilTheNextOne() throws IOException {
        Files.writeString(directory.resolve("audit.log"), "whole\nhal");
        AuditFile file = AuditFile.open(
                directory.resolve("audit.log"), 100, 0, 2, time.loop("audit").clock());

        file.write(line("first"));
        file.write(line("other"));
        file.close();

        assertThat(directory.resolve("audit.log")).hasContent("whole\nhal\nfirst\nother\n");
    }

    @Test
    void aLinkOrADeviceIsNoAuditLogAndAnOpenOneIsTakenFromOthers() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("elsewhere"));
        for (Path file : List.of(link, Path.of("/dev/null"), directory)) {
            assertThatThrownBy(() ->
                            AuditFile.open(file, 10, 0, 2, time.loop("audit").clock()))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("--audit-log-path " + file + " is a")
                    .hasMessageEndingWith("expected a regular file or the name of a new one (- for standard output)");
        }
        assertThat(directory.resolve("elsewhere")).doesNotExist();

        Path open = Files.createFile(directory.resolve("audit.log"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
        AuditFile.open(open, 10, 0, 2, time.loop("audit").clock()).close();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(open)))
                .isEqualTo("rw-------");
    }

    @Test
    void whatIsThereIsAppendedToAndOthersFilesStay() throws IOException {
        Files.writeString(directory.resolve("audit-mine.log"), "x");
        Files.writeString(directory.resolve("audit-2026-11-01T07-00-00.000.log"), "x");
        AuditFile file = AuditFile.open(
                directory.resolve("audit.log"), 8, 7, 0, time.loop("audit").clock());
        file.write(line("first"));
        file.close();
        AuditFile again = AuditFile.open(
                directory.resolve("audit.log"), 8, 7, 0, time.loop("audit").clock());
        again.write(line("other"));
        again.close();
        // the one of three weeks ago is older than seven days
        assertThat(names()).containsExactly("audit-2026-11-21T07-00-00.000.log", "audit-mine.log", "audit.log");
    }
}
