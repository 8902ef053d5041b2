package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.DeadlineExceededException;
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
import java.util.concurrent.ExecutionException;
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

        ProcessInfo blocked = seen(info -> info.ref().pid() == waiter && isForLock(info.waits()));

        assertThat(blocked.waits())
                .contains(new Wait.ForLock(lock.toRealPath().toString(), "FLOCK", List.of((int) holder)));
    }

    @Test
    void holderOfAMutexInSharedMemoryIsFound() throws Exception {
        Path memory = directory.resolve("mutex");
        // Locked with others waiting, as glibc has it: 2, a count, the holder's thread. The numbers of mmap and futex
        // are
        // those of x86-64 and aarch64.
        String map = "use POSIX; my $arm = (POSIX::uname())[4] eq 'aarch64'; open F, '+>>', $ARGV[0];"
                + " my $at = syscall($arm ? 222 : 9, 0, 4096, 3, 1, fileno F, 0);";
        long holder = start(
                "perl",
                "-e",
                "open W, '>', $ARGV[0]; syswrite W, pack 'l l l', 2, 1, $$; " + map + " sleep 60",
                memory.toString());
        long waiter = start(
                "perl",
                "-e",
                "select undef, undef, undef, 0.1 until -s $ARGV[0]; " + map
                        + " syscall($arm ? 98 : 202, $at, 0, 2, 0, 0, 0)",
                memory.toString());

        ProcessInfo blocked = seen(info -> info.ref().pid() == waiter && isForLock(info.waits()));

        assertThat(blocked.waits())
                .contains(new Wait.ForLock(memory.toRealPath() + " at 0", "mutex", List.of((int) holder)));
    }

    @Test
    void processThatHoldsTheOtherEndOfAFifoIsFound() throws Exception {
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        long writer = start("sh", "-c", "exec 3>" + fifo + "; sleep 60 3>&-");
        long reader = start("cat", fifo.toString());

        // The shell's child has the FIFO open, too, until it becomes sleep.
        Predicate<Wait> expected = wait -> wait instanceof Wait.ForPipe pipe
                && pipe.blocked()
                && pipe.holders().size() == 1;
        ProcessInfo blocked =
                seen(info -> info.ref().pid() == reader && info.waits().stream().anyMatch(expected));

        assertThat(blocked.waits())
                .contains(new Wait.ForPipe(fifo.toRealPath().toString(), true, List.of((int) writer)));
    }

    @Test
    void daemonsThatDoNotAcceptAndDoNotAnswerAreFound() throws Exception {
        Path path = directory.resolve("d.sock");
        String server = "use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un($ARGV[0])); listen(S, 8);";
        String client = "use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0); select undef, undef, undef, 0.1"
                + " until connect(S, sockaddr_un($ARGV[0])); syswrite S, 'x'; sysread S, my $b, 1";
        long daemon = start("perl", "-e", server + " sleep 60", path.toString());
        long waiter = start("perl", "-e", client, path.toString());

        Wait.ForSocket refused = socketOf(waiter, Wait.Progress.NOT_ACCEPTED);

        assertThat(refused.peer()).isEqualTo(path.toString());
        assertThat(refused.blocked()).isTrue();
        assertThat(refused.holders()).containsExactly((int) daemon);

        Path other = directory.resolve("e.sock");
        long silent = start("perl", "-e", server + " accept(C, S); sysread C, my $b, 1; sleep 60", other.toString());
        long asker = start("perl", "-e", client, other.toString());

        Wait.ForSocket unanswered = socketOf(asker, Wait.Progress.READ);

        assertThat(unanswered.peer()).isEqualTo(other.toString());
        assertThat(unanswered.holders()).containsExactly((int) silent);
    }

    @Test
    void childForWhichAProgramWaitsIsFound() throws Exception {
        long parent = start("sh", "-c", "sleep 60; true");

        ProcessInfo waiting = seen(info ->
                info.ref().pid() == parent && info.waits().stream().anyMatch(wait -> wait instanceof Wait.ForChild));

        long child = ProcessHandle.of(parent)
                .flatMap(process -> process.children().findFirst())
                .map(ProcessHandle::pid)
                .orElseThrow();
        assertThat(waiting.waits()).contains(new Wait.ForChild((int) child));
    }

    /** Whether one is for a lock with holders: on a busy machine a scan may have no time left to search for these. */
    private static boolean isForLock(List<Wait> waits) {
        return waits.stream()
                .anyMatch(
                        wait -> wait instanceof Wait.ForLock && !wait.holders().isEmpty());
    }

    private Wait.ForSocket socketOf(long pid, Wait.Progress progress) throws Exception {
        // On a busy machine a scan may have no time left to search for holders.
        Predicate<Wait> expected = wait -> wait instanceof Wait.ForSocket socket
                && socket.progress() == progress
                && !socket.holders().isEmpty();
        return seen(info -> info.ref().pid() == pid && info.waits().stream().anyMatch(expected)).waits().stream()
                .filter(expected)
                .map(Wait.ForSocket.class::cast)
                .findFirst()
                .orElseThrow();
    }

    private long start(String... command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        // As containerd starts a plugin.
        builder.environment().put("CNI_COMMAND", "ADD");
        Process process = builder.start();
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
                for (ProcessInfo info : scanned(processes)) {
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

    /** What one scan finds; nothing if it does not end in time, as on a busy machine. */
    private static List<ProcessInfo> scanned(LinuxProcesses processes) throws Exception {
        try {
            return processes.scan(Set.of(), true).get(10, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(DeadlineExceededException.class);
            return List.of();
        }
    }
}
