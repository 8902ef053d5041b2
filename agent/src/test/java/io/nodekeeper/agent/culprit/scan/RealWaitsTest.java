package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Waits of real processes in the real {@code /proc}. This test process is the runtime, because it listens on a socket. */
class RealWaitsTest {
    @TempDir
    Path directory;

    private final ThreadLoop loop = new ThreadLoop("test");
    private final Workers workers = new Workers("scan", 2, loop);
    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void close() {
        started.forEach(process -> {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        });
        workers.close();
        loop.close();
    }

    @Test
    void holderOfAnFlockIsFound() throws Exception {
        Path lock = directory.resolve("a.lock");
        long holder = start("flock", lock.toString(), "sleep", "60");
        // Once the lock is taken, flock runs sleep.
        seen(info -> info.parent() == holder);
        long waiter = start("flock", lock.toString(), "true");

        ProcessInfo blocked = seen(info ->
                info.ref().pid() == waiter && info.waits().stream().anyMatch(wait -> wait instanceof Wait.ForLock));

        assertThat(blocked.waits())
                .contains(new Wait.ForLock(lock.toRealPath().toString(), "FLOCK", List.of((int) holder)));
    }

    @Test
    void processThatHoldsTheOtherEndOfAFifoIsFound() throws Exception {
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        long writer = start("sh", "-c", "exec 3>" + fifo + "; sleep 60 3>&-");
        long reader = start("cat", fifo.toString());

        ProcessInfo blocked = seen(info -> info.ref().pid() == reader
                && info.waits().stream().anyMatch(wait -> wait instanceof Wait.ForPipe pipe && pipe.blocked()));

        assertThat(blocked.waits())
                .contains(new Wait.ForPipe(fifo.toRealPath().toString(), true, List.of((int) writer)));
    }

    private long start(String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        started.add(process);
        return process.pid();
    }

    /** Scans until a process is as expected; bounded by the number of scans. */
    private ProcessInfo seen(Predicate<ProcessInfo> expected) throws Exception {
        Path socket = Files.createTempDirectory("nk").resolve("c.sock");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            LinuxProcesses processes = new LinuxProcesses(Path.of("/"), socket, workers, loop.clock());
            for (int scan = 0; scan < 100; scan++) {
                for (ProcessInfo info : processes.scan(Set.of(), true).get(10, TimeUnit.SECONDS)) {
                    if (expected.test(info)) {
                        return info;
                    }
                }
            }
        } finally {
            Files.deleteIfExists(socket);
        }
        throw new AssertionError("no process is as expected after 100 scans");
    }
}
