package io.nodekeeper.client.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Modes of directories and files, and what an output may replace. */
class OwnerOnlyTest {
    @TempDir
    Path directory;

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private static Path with(Path file, String mode) throws IOException {
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    @Test
    void aNewDirectoryIsItsOwnersAlone() throws IOException {
        Path made = OwnerOnly.directory(directory.resolve("a/b"));

        assertThat(mode(made)).isEqualTo("rwx------");
    }

    @ParameterizedTest
    @CsvSource({"rwxr-xr-x", "rwxrwxrwx", "rwxrwx---", "rwx-----x", "rwx------"})
    void aDirectoryThatIsThereIsTakenFromOthersWithItsFiles(String open) throws IOException {
        Path store = with(Files.createDirectory(directory.resolve("store")), open);
        Path file = with(Files.createFile(store.resolve("CURRENT")), "rw-r--r--");
        Path linked = with(Files.createFile(directory.resolve("elsewhere")), "rw-r--r--");
        Files.createSymbolicLink(store.resolve("link"), linked);

        OwnerOnly.directoryAndFiles(store);

        assertThat(mode(store)).isEqualTo("rwx------");
        assertThat(mode(file)).isEqualTo("rw-------");
        assertThat(mode(linked)).isEqualTo("rw-r--r--");
    }

    @Test
    void aDirectoryOfOthersIsLeftOpen() throws IOException {
        // given a directory with a user's file, an empty one, and one that a server used
        Path theirs = with(Files.createDirectory(directory.resolve("theirs")), "rwxr-xr-x");
        Files.createFile(theirs.resolve("file"));
        Path empty = with(Files.createDirectory(directory.resolve("empty")), "rwxr-xr-x");
        Path used = with(Files.createDirectory(directory.resolve("used")), "rwxr-xr-x");
        Files.createDirectory(used.resolve("pki"));
        Files.createFile(used.resolve("file"));

        for (Path each : List.of(theirs, empty, used)) {
            OwnerOnly.directory(each, List.of("pki", "store"));
        }

        assertThat(mode(theirs)).isEqualTo("rwxr-xr-x");
        assertThat(mode(empty)).isEqualTo("rwx------");
        assertThat(mode(used)).isEqualTo("rwx------");
    }

    @Test
    void onlyARegularFileIsReplaced() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        Path dangling = Files.createSymbolicLink(directory.resolve("dangling"), directory.resolve("none"));

        assertThat(OwnerOnly.outputFault(file)).isEmpty();
        assertThat(OwnerOnly.outputFault(directory.resolve("new"))).isEmpty();
        assertThat(OwnerOnly.outputFault(link))
                .contains(link + " is a symbolic link; expected a regular file or the name of a new one");
        assertThat(OwnerOnly.outputFault(dangling)).isPresent();
        assertThat(OwnerOnly.outputFault(directory))
                .hasValueSatisfying(fault -> assertThat(fault).contains("is a directory"));
        assertThat(OwnerOnly.outputFault(Path.of("/dev/full")))
                .contains("/dev/full is a device, pipe or socket; expected a regular file or the name of a new one");
    }
}
