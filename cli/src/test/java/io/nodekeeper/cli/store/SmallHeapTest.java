package io.nodekeeper.cli.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cli.Main;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Journal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands for stores in processes of their own, whose heap is smaller than the store. */
class SmallHeapTest {
    private static final int OBJECTS = 200;
    private static final int SIZE = 500_000;

    @TempDir
    Path directory;

    @Test
    void aStoreThatIsLargerThanTheHeapIsRestoredCheckedAndSaved() throws Exception {
        // given a snapshot with 100 MB of objects
        byte[] value = "v".repeat(SIZE).getBytes(StandardCharsets.US_ASCII);
        List<Entry> entries = IntStream.rangeClosed(1, OBJECTS)
                .mapToObj(i -> new Entry("/registry/configmaps/default/c" + i, value, i, i))
                .toList();
        Path snapshot = directory.resolve("objects.snapshot");
        SnapshotFile.write(snapshot, new Journal.Recovered(OBJECTS, entries, List.of()));

        assertThat(inSmallHeap("restore", snapshot.toString()))
                .endsWith("\nrestored " + data().resolve("store") + "\n0");
        assertThat(inSmallHeap("check"))
                .contains("store: whole\n")
                .contains("objects: 200\n")
                .endsWith("\n0");
        Path saved = directory.resolve("again.snapshot");
        assertThat(inSmallHeap("snapshot", saved.toString()))
                .contains("writing 200 objects")
                .endsWith("\n0");
        assertThat(Files.size(saved)).isGreaterThan((long) OBJECTS * SIZE);
    }

    private Path data() {
        return directory.resolve("data");
    }

    /** The output of a command, and its exit code as the last line. */
    private String inSmallHeap(String command, String... more) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx48m",
                "-XX:+UseSerialGC",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "apiserver",
                command,
                "--data-dir",
                data().toString()));
        line.addAll(List.of(more));
        Path output = directory.resolve(command + ".out");
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(5, TimeUnit.MINUTES)) {
            process.destroyForcibly();
        }
        return Files.readString(output) + process.waitFor();
    }
}
