package io.nodekeeper.agent.pods.volumes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code hostPath} volumes make. */
class HostPathsTest {
    private static final MethodHandle UMASK = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().find("umask").orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    @TempDir
    Path directory;

    private static void check(Path path, String type) throws IOException {
        HostPaths.check(JsonObject.builder()
                .put("path", path.toString())
                .put("type", type)
                .build());
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 0022, 0077})
    void shouldMakeDirectoriesAndFilesWithKubernetesModesWhateverTheUmaskIs(int mask) throws Throwable {
        int before = (int) UMASK.invokeExact(mask);
        try {
            check(directory.resolve("srv/data"), "DirectoryOrCreate");
            check(directory.resolve("srv/file"), "FileOrCreate");
        } finally {
            int restored = (int) UMASK.invokeExact(before);
            assertThat(restored).isEqualTo(mask);
        }

        assertThat(mode(directory.resolve("srv"))).isEqualTo("rwxr-xr-x");
        assertThat(mode(directory.resolve("srv/data"))).isEqualTo("rwxr-xr-x");
        assertThat(mode(directory.resolve("srv/file"))).isEqualTo("rw-r--r--");
        assertThat(directory.resolve("srv/file")).isEmptyFile();
        assertThat(PodDirectories.children(directory.resolve("srv"))).hasSize(2);
    }

    @Test
    void shouldLeaveWhatIsThereAsItIs() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwx------"));
        Path file = Files.writeString(data.resolve("file"), "kept");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));

        check(data, "DirectoryOrCreate");
        check(file, "FileOrCreate");

        assertThat(mode(data)).isEqualTo("rwx------");
        assertThat(mode(file)).isEqualTo("rw-------");
        assertThat(file).hasContent("kept");
    }

    @Test
    void shouldMakeNothingBehindALinkToNothingAndLeaveNothing() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("none"));

        assertThatThrownBy(() -> check(link, "DirectoryOrCreate"))
                .hasMessage("hostPath type check failed: " + link + " is not a directory");
        assertThatThrownBy(() -> check(link, "FileOrCreate"))
                .hasMessage("hostPath type check failed: " + link + " is not a file");

        assertThat(PodDirectories.children(directory)).containsExactly(link);
    }

    @Test
    void shouldMakeNoDirectoryForAFile() {
        Path file = directory.resolve("none/file");

        assertThatThrownBy(() -> check(file, "FileOrCreate"))
                .hasMessage("hostPath type check failed: " + file + " is not a file");
        assertThat(directory).isEmptyDirectory();
    }
}
