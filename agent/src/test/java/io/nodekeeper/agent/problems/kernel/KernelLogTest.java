package io.nodekeeper.agent.problems.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A named pipe stands for the log: as there, one read returns one record, and none waits. */
class KernelLogTest {
    @TempDir
    private Path directory;

    @Test
    void returnsTheRecordsThatAreThereAndDoesNotWait() throws Exception {
        Path pipe = pipe();
        KernelLog log = new KernelLog(pipe);
        assertThat(log.read(10)).isEmpty();

        try (FileOutputStream out = new FileOutputStream(pipe.toFile())) {
            out.write("6,1,1000,-;first\n".getBytes(StandardCharsets.UTF_8));
            assertThat(log.read(10)).containsExactly(new KmsgRecord(1, 1_000, "first"));
            assertThat(log.read(10)).isEmpty();

            out.write("not a record".getBytes(StandardCharsets.UTF_8));
            assertThat(log.read(10)).isEmpty();

            out.write("6,2,2000,-;second\n".getBytes(StandardCharsets.UTF_8));
            assertThat(log.read(10)).containsExactly(new KmsgRecord(2, 2_000, "second"));
        }
        assertThat(log.lost()).isZero();
        log.close();
    }

    @Test
    void aLogThatCannotBeReadIsAnErrorThatNamesIt() {
        Path missing = directory.resolve("missing");

        assertThatThrownBy(() -> new KernelLog(missing).read(1))
                .hasMessage("open of " + missing + " failed with errno 2");
        assertThatThrownBy(() -> new KernelLog(directory).read(1))
                .hasMessage("read of " + directory + " failed with errno 21");
    }

    private Path pipe() throws Exception {
        Path pipe = directory.resolve("kmsg");
        Process process = new ProcessBuilder("mkfifo", pipe.toString()).start();
        assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
        return pipe;
    }
}
