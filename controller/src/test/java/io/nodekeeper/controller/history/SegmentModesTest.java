package io.nodekeeper.controller.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Only their owner can access decisions on disk, and they stay in their directory. */
class SegmentModesTest {
    @TempDir
    Path root;

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void directoryAndSegmentsAreTheirOwnersAloneAlsoIfTheyWereOpenBefore() throws IOException {
        Path directory = root.resolve("history");
        Segments segments = new Segments(directory, 1_000_000);
        segments.repair();
        segments.append(List.of());
        Path segment = directory.resolve("decisions-00000001.jsonl");
        assertThat(mode(directory)).isEqualTo("rwx------");
        assertThat(mode(segment)).isEqualTo("rw-------");

        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(segment, PosixFilePermissions.fromString("rw-r--r--"));
        segments.repair();
        assertThat(mode(directory)).isEqualTo("rwx------");
        assertThat(mode(segment)).isEqualTo("rw-------");
    }

    @Test
    void aLinkIsNotFollowed() throws IOException {
        Path directory = Files.createDirectory(root.resolve("history"));
        Path target = Files.writeString(root.resolve("target"), "a line without its end");
        Files.createSymbolicLink(directory.resolve("decisions-00000001.jsonl"), target);
        Segments segments = new Segments(directory, 1_000_000);

        segments.repair();
        assertThatThrownBy(() -> segments.append(List.of())).isInstanceOf(IOException.class);

        assertThat(target).hasContent("a line without its end");
    }
}
