package io.nodekeeper.agent.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointFileTest {
    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final List<Runnable> disk = new ArrayList<>();
    private String state = "one";

    @Test
    void shouldWriteChangesThatComeDuringAWriteTogether() throws IOException {
        CheckpointFile file = file();
        CompletableFuture<Void> first = file.save();
        state = "two";
        CompletableFuture<Void> second = file.save();
        state = "three";
        CompletableFuture<Void> third = file.save();
        assertThat(disk).hasSize(1);

        write();
        assertThat(first).isCompleted();
        assertThat(second).isNotDone();
        assertThat(read()).isEqualTo("one");

        write();
        assertThat(second).isCompleted();
        assertThat(third).isCompleted();
        assertThat(read()).isEqualTo("three");
        assertThat(disk).isEmpty();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("state"))))
                .isEqualTo("rw-------");
    }

    @Test
    void shouldReplaceWhatAnAgentThatWasKilledLeftHalfWritten() throws IOException {
        Files.writeString(directory.resolve(".state.tmp"), "{\"te");
        CheckpointFile file = file();

        file.save();
        write();

        assertThat(read()).isEqualTo("one");
        assertThat(directory.resolve(".state.tmp")).doesNotExist();
    }

    @Test
    void shouldFailWithTheWriteAndGoOn() throws IOException {
        Files.createDirectories(directory.resolve(".state.tmp/inside"));
        CheckpointFile file = file();
        CompletableFuture<Void> failed = file.save();
        write();
        assertThat(failed).isCompletedExceptionally();

        Files.delete(directory.resolve(".state.tmp/inside"));
        file.save();
        write();

        assertThat(read()).isEqualTo("one");
    }

    @Test
    void shouldNameAFileThatIsNoObject() throws IOException {
        Path file = Files.writeString(directory.resolve("state"), "[1");

        assertThatThrownBy(() -> CheckpointFile.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file + ": expected a JSON object: ");
        assertThat(CheckpointFile.read(directory.resolve("absent"))).isEmpty();
    }

    @Test
    void shouldComputeTheChecksumOfFnv() {
        // The values of the algorithm's authors.
        assertThat(Checksum.of("")).isEqualTo(0x811c9dc5L);
        assertThat(Checksum.of("foobar")).isEqualTo(0xbf9cf968L);
    }

    private CheckpointFile file() {
        return new CheckpointFile(
                directory.resolve("state"),
                () -> JsonObject.builder().put("text", state).build(),
                new Later(),
                time.loop("agent"));
    }

    private void write() {
        disk.removeFirst().run();
        time.advance(Duration.ofNanos(1));
    }

    private String read() throws IOException {
        return CheckpointFile.read(directory.resolve("state")).orElseThrow().text("text");
    }

    /** Work on files waits for the test. */
    private final class Later implements BlockingCalls {
        @Override
        public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
            CompletableFuture<T> done = new CompletableFuture<>();
            disk.add(() -> {
                try {
                    done.complete(work.call());
                } catch (Exception e) {
                    done.completeExceptionally(e);
                }
            });
            return done;
        }
    }
}
