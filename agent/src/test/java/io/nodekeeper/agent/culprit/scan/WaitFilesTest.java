package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.proc.OpenFileIndex;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.ScanBudget;
import io.nodekeeper.agent.host.UnixDiag;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What processes wait for, from artificial files of {@code /proc} and of cgroups. */
class WaitFilesTest {
    /** A line of {@code maps}: addresses and the place in the file. */
    private static final String SHARED = "%s rw-s %s 00:1a 5      /dev/shm/m\n";

    private static final Set<Integer> ALL = Set.of(1, 10, 20, 30, 40);

    private final List<UnixDiag.Socket> sockets = new ArrayList<>();
    private final Map<Integer, Integer> parents = new HashMap<>();

    @TempDir
    Path root;

    @Test
    void processBelowAFrozenCgroupOfVersion1WaitsForThatCgroup() throws Exception {
        file("proc/10/cgroup", "6:freezer:/nk/sub\n5:devices:/\n0::/\n");
        file("sys/fs/cgroup/freezer/nk/sub/freezer.state", "FROZEN\n");
        file("sys/fs/cgroup/freezer/nk/sub/freezer.self_freezing", "0\n");
        file("sys/fs/cgroup/freezer/nk/freezer.state", "FROZEN\n");
        file("sys/fs/cgroup/freezer/nk/freezer.self_freezing", "1\n");

        assertThat(waits(10, 'D')).containsExactly(new Wait.Frozen("/sys/fs/cgroup/freezer/nk", 1, true));
    }

    @Test
    void processInAFrozenCgroupOfVersion2WaitsForItAlsoInAHybridHierarchy() throws Exception {
        file("proc/10/cgroup", "6:freezer:/\n0::/nk\n");
        file("sys/fs/cgroup/unified/nk/cgroup.events", "populated 1\nfrozen 1\n");
        file("sys/fs/cgroup/unified/nk/cgroup.freeze", "1\n");

        assertThat(waits(10, 'S')).containsExactly(new Wait.Frozen("/sys/fs/cgroup/unified/nk", 2, false));
    }

    @Test
    void freezerIsReadEvenIfTheBudgetOfTheScanIsSpent() throws Exception {
        file("proc/10/cgroup", "0::/nk\n");
        file("sys/fs/cgroup/nk/cgroup.events", "populated 1\nfrozen 1\n");
        file("sys/fs/cgroup/nk/cgroup.freeze", "1\n");
        ScanBudget spent = new ScanBudget(new SystemClock());
        while (spent.spend()) {
            // Until nothing is left of it.
        }
        ProcFiles files = new ProcFiles(root);

        WaitFiles cut =
                new WaitFiles(files, Map.of(), files::arguments, () -> sockets, new OpenFileIndex(files), spent);

        assertThat(cut.of(new ProcFiles.Stat(10, "x", 'S', 1, 1), ProcessRole.OUTSIDER, false))
                .containsExactly(new Wait.Frozen("/sys/fs/cgroup/nk", 2, false));
        assertThat(cut.isCut()).isTrue();
    }

    @Test
    void thawedProcessWaitsForNothing() throws Exception {
        file("proc/10/cgroup", "6:freezer:/nk\n0::/nk\n");
        file("sys/fs/cgroup/freezer/nk/freezer.state", "THAWED\n");
        file("sys/fs/cgroup/unified/nk/cgroup.events", "populated 1\nfrozen 0\n");

        assertThat(waits(10, 'S')).isEmpty();
    }

    @Test
    void tracerIsNamedOnlyWhileItHoldsTheProcess() throws Exception {
        file("proc/10/status", "Name:\tx\nTracerPid:\t20\n");

        assertThat(waits(10, 't')).containsExactly(new Wait.Traced(20));
        assertThat(waits(10, 'S')).isEmpty();
    }

    @Test
    void blockedLockLeadsToItsHolder() throws Exception {
        file(
                "proc/locks",
                "1: POSIX  ADVISORY  WRITE 20 fe:00:777 0 EOF\n1: -> POSIX  ADVISORY  WRITE 10 fe:00:777 0 EOF\n"
                        + "2: FLOCK  ADVISORY  WRITE 40 fe:00:888 0 EOF\n");
        blocked(10, "fcntl_setlk", "72 0x3 0x7 0x1");
        open(10, 3, "/run/a.lock", "ino:\t777\n");

        assertThat(waits(10, 'S')).containsExactly(new Wait.ForLock("/run/a.lock", "POSIX", List.of(20)));
    }

    @Test
    void lockThatAChildInheritedLeadsToTheChild() throws Exception {
        file(
                "proc/locks",
                "1: FLOCK  ADVISORY  WRITE 99 fe:00:777 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 10 fe:00:777 0 EOF\n");
        blocked(10, "locks_lock_inode_wait", "73 0x3 0x2");
        open(10, 3, "/run/a.lock", "ino:\t777\n");
        open(30, 5, "/run/a.lock", "ino:\t777\nlock:\t1: FLOCK  ADVISORY  WRITE 99 fe:00:777 0 EOF\n");
        // and another process has a lock of the same kind, on a file of the same name, whose inode begins with the same
        // digits
        open(20, 5, "/run/b/a.lock", "ino:\t7777\nlock:\t1: FLOCK  ADVISORY  WRITE 20 fe:00:7777 0 EOF\n");

        assertThat(waits(10, 'S')).containsExactly(new Wait.ForLock("/run/a.lock", "FLOCK", List.of(30)));
    }

    @Test
    void lockOfAnOpenFileDescriptionIsFoundThoughTheKernelNamesNobody() throws Exception {
        file(
                "proc/locks",
                "1: OFDLCK ADVISORY  WRITE -1 fe:00:777 0 EOF\n1: -> OFDLCK ADVISORY  WRITE -1 fe:00:777 0 EOF\n");
        blocked(10, "fcntl_setlk", "72 0x3 0x26 0x1");
        open(10, 3, "/run/a.lock", "ino:\t777\n");
        open(30, 5, "/run/a.lock", "ino:\t777\nlock:\t1: OFDLCK ADVISORY  WRITE -1 fe:00:777 0 EOF\n");

        assertThat(waits(10, 'S')).containsExactly(new Wait.ForLock("/run/a.lock", "OFDLCK", List.of(30)));
    }

    @Test
    void mutexInSharedMemoryLeadsToTheProcessWhoseThreadHoldsIt() throws Exception {
        blocked(10, "futex_do_wait", "202 0x2010 0x0 0x80000015 0x0");
        file("proc/10/maps", SHARED.formatted("2000-3000", "00001000"));
        // Robust, or of musl: the futex has the holder's thread 21 and the bit that says that others wait.
        memory(10, 0x2010, 0x80000015, 0, 0);
        file("proc/21/status", "Name:\tx\nTgid:\t20\n");
        file("proc/20/maps", SHARED.formatted("7000-8000", "00001000"));

        assertThat(commandWaits(10)).containsExactly(new Wait.ForLock("/dev/shm/m at 4112", "mutex", List.of(20)));

        // Ordinary, of glibc: 2, a count, the holder's thread.
        memory(10, 0x2010, 2, 1, 21);

        assertThat(commandWaits(10)).containsExactly(new Wait.ForLock("/dev/shm/m at 4112", "mutex", List.of(20)));
    }

    @Test
    void futexThatIsNoSharedMutexNamesNoHolder() throws Exception {
        blocked(10, "futex_do_wait", "202 0x2010 0x80 0x2 0x0");
        file("proc/10/maps", SHARED.formatted("2000-3000", "00000000"));
        memory(10, 0x2010, 2, 1, 20);
        file("proc/20/status", "Name:\tx\nTgid:\t20\n");
        file("proc/20/maps", SHARED.formatted("7000-8000", "00000000"));
        // The operation is one for a single process.
        assertThat(commandWaits(10)).isEmpty();

        // A semaphore: it has a count, and no holder.
        blocked(10, "futex_do_wait", "202 0x2010 0x0 0x0 0x0");
        memory(10, 0x2010, 0, 1, 20);
        assertThat(commandWaits(10)).isEmpty();

        // The number is that of a process which does not have this memory.
        memory(10, 0x2010, 2, 1, 20);
        file(
                "proc/20/maps",
                "7000-8000 rw-p 00000000 00:1a 5 /dev/shm/m\n7000-8000 rw-s 00000000 00:1a 6 /dev/shm/n\n");
        assertThat(commandWaits(10)).isEmpty();

        // The holder has ended.
        memory(10, 0x2010, 2, 1, 77);
        assertThat(commandWaits(10)).isEmpty();
    }

    @Test
    void blockedReaderOfAPipeWaitsForItsWriters() throws Exception {
        blocked(10, "anon_pipe_read", "0 0x4 0x7f 0x1");
        open(10, 4, "pipe:[5]", "flags:\t02000000\nino:\t5\n");
        open(20, 1, "pipe:[5]", "flags:\t02000001\nino:\t5\n");
        open(30, 4, "pipe:[5]", "flags:\t02000000\nino:\t5\n");

        assertThat(waits(10, 'S')).contains(new Wait.ForPipe("pipe:[5]", true, List.of(20)));
    }

    @Test
    void runtimeThatPollsWaitsPerhapsForTheWritersOfItsPipes() throws Exception {
        blocked(10, "do_epoll_wait", "232 0x5 0x1");
        open(10, 4, "pipe:[5]", "flags:\t02000000\n");
        open(20, 1, "pipe:[5]", "flags:\t02000001\n");

        assertThat(waits(10, 'S')).containsExactly(new Wait.ForPipe("pipe:[5]", false, List.of(20)));
    }

    @Test
    void serverOfAFuseFileSystemIsFoundByItsConnection() throws Exception {
        String mounts = "43 27 0:39 / /mnt/remote rw - fuse.sshfs host: rw\n27 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        file("proc/10/mountinfo", mounts);
        file("proc/self/mountinfo", mounts);
        blocked(10, "request_wait_answer", "257 0xffffff9c 0x7f");
        open(20, 7, "/dev/fuse", "flags:\t02100002\nfuse_connection:\t39\n");
        open(30, 7, "/dev/fuse", "flags:\t02100002\nfuse_connection:\t40\n");

        assertThat(waits(10, 'S'))
                .containsExactly(
                        new Wait.ForServer(new Stall.Mount("/mnt/remote", "host:", "fuse.sshfs"), List.of(20)));
    }

    /** With a search of its own for each waiter, the budget of a scan ended before the last waiter's server was found. */
    @Test
    void manyWaitersForFileServersCostOnePassOverTheOpenFiles() throws Exception {
        String mounts = "43 27 0:39 / /mnt/remote rw - fuse.sshfs host: rw\n27 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        file("proc/self/mountinfo", mounts);
        // 30 waiters and 1,000 open files: 30 passes would read 30,000 files, and the budget is 16,000.
        Map<Integer, ProcFiles.Stat> stats = new HashMap<>();
        stats.put(10, new ProcFiles.Stat(10, "x", 'S', 1, 1));
        stats.put(900, new ProcFiles.Stat(900, "server", 'S', 1, 1));
        for (int waiter = 100; waiter < 130; waiter++) {
            stats.put(waiter, new ProcFiles.Stat(waiter, "x", 'S', 1, 1));
            file("proc/" + waiter + "/mountinfo", mounts);
            blocked(waiter, "request_wait_answer", "257 0xffffff9c 0x7f");
        }
        for (int fd = 10; fd < 1_010; fd++) {
            open(10, fd, "/var/log/" + fd, "flags:\t02100002\n");
        }
        open(900, 7, "/dev/fuse", "flags:\t02100002\nfuse_connection:\t39\n");

        ProcFiles files = new ProcFiles(root);
        WaitFiles scan = new WaitFiles(
                files,
                stats,
                files::arguments,
                () -> sockets,
                new OpenFileIndex(files),
                new ScanBudget(standingClock()));

        Wait expected = new Wait.ForServer(new Stall.Mount("/mnt/remote", "host:", "fuse.sshfs"), List.of(900));
        for (int waiter = 100; waiter < 130; waiter++) {
            assertThat(scan.of(new ProcFiles.Stat(waiter, "x", 'S', 1, 1), ProcessRole.CONTAINER, false))
                    .as("waiter " + waiter)
                    .containsExactly(expected);
        }
    }

    /** So that only the number of reads counts. */
    private static Clock standingClock() {
        return new VirtualTime(Instant.parse("2026-11-21T18:00:00Z"))
                .loop("scan")
                .clock();
    }

    @Test
    void ofSeveralFuseFileSystemsTheOneWithRequestsIsMeant() throws Exception {
        fuseMounts();
        blocked(10, "request_wait_answer", "257 0xffffff9c 0x7f");
        file("sys/fs/fuse/connections/39/waiting", "0\n");
        file("sys/fs/fuse/connections/40/waiting", "2\n");
        open(20, 7, "/dev/fuse", "flags:\t02100002\nfuse_connection:\t39\n");
        open(30, 7, "/dev/fuse", "flags:\t02100002\nfuse_connection:\t40\n");

        assertThat(waits(10, 'S'))
                .containsExactly(new Wait.ForServer(new Stall.Mount("/mnt/b", "host:", "fuse.sshfs"), List.of(30)));
    }

    @Test
    void ofSeveralFuseFileSystemsWithRequestsTheOneInTheArgumentsIsMeant() throws Exception {
        fuseMounts();
        blocked(10, "request_wait_answer", "257 0xffffff9c 0x7f");
        file("proc/10/cmdline", "ls\0-d\0/mnt/a/missing\0");
        open(20, 7, "/dev/fuse", "flags:\t02100002\nfuse_connection:\t39\n");

        assertThat(waits(10, 'S'))
                .containsExactly(new Wait.ForServer(new Stall.Mount("/mnt/a", "host:", "fuse.sshfs"), List.of(20)));

        file("proc/10/cmdline", "cp\0/mnt/a/x\0/mnt/b/x\0");
        assertThat(waits(10, 'S')).isEmpty();
    }

    @Test
    void workingDirectoryOnAFuseFileSystemThatAnswersIsNotMeant() throws Exception {
        fuseMounts();
        blocked(10, "request_wait_answer", "257 0xffffff9c 0x7f");
        Files.createSymbolicLink(root.resolve("proc/10/cwd"), Path.of("/mnt/a"));
        file("sys/fs/fuse/connections/39/waiting", "0\n");
        open(30, 7, "/dev/fuse", "flags:\t02100002\nfuse_connection:\t40\n");

        assertThat(waits(10, 'S'))
                .containsExactly(new Wait.ForServer(new Stall.Mount("/mnt/b", "host:", "fuse.sshfs"), List.of(30)));
    }

    @Test
    void clientLeadsToTheProcessThatAcceptedItsConnection() throws Exception {
        blocked(10, "unix_stream_read_generic", "0 0x3 0x7f 0x1");
        open(10, 3, "socket:[101]", "flags:\t02\n");
        open(20, 4, "socket:[102]", "flags:\t02\n");
        sockets.add(connected(101, 102, "", 0));
        sockets.add(connected(102, 101, "/run/a.sock", 0));

        assertThat(client(10))
                .containsExactly(
                        new Wait.ForSocket("socket:[101]", "/run/a.sock", true, Wait.Progress.READ, List.of(20)));

        sockets.set(1, connected(102, 101, "/run/a.sock", 8));
        assertThat(client(10))
                .containsExactly(
                        new Wait.ForSocket("socket:[101]", "/run/a.sock", true, Wait.Progress.NOT_READ, List.of(20)));
    }

    @Test
    void clientWhoseConnectionIsNotAcceptedLeadsToTheListenerAndNotToInit() throws Exception {
        blocked(10, "unix_stream_read_generic", "0 0x3 0x7f 0x1");
        open(10, 3, "socket:[101]", "flags:\t02\n");
        open(30, 4, "socket:[103]", "flags:\t02\n");
        open(1, 4, "socket:[103]", "flags:\t02\n");
        sockets.add(connected(101, 0, "", 0));
        sockets.add(new UnixDiag.Socket(103, true, "/run/a.sock", 0, List.of(101L), 1, 64));

        assertThat(client(10))
                .containsExactly(new Wait.ForSocket(
                        "socket:[101]", "/run/a.sock", true, Wait.Progress.NOT_ACCEPTED, List.of(30)));
    }

    @Test
    void clientThatCannotConnectLeadsToTheOnlyServerWhoseQueueIsFull() throws Exception {
        blocked(10, "unix_wait_for_peer", "42 0x3 0x7f 0x1");
        open(10, 3, "socket:[101]", "flags:\t02\n");
        open(30, 4, "socket:[103]", "flags:\t02\n");
        sockets.add(connected(101, 0, "", 0));
        sockets.add(new UnixDiag.Socket(103, true, "/run/a.sock", 0, List.of(7L, 8L), 2, 1));
        sockets.add(new UnixDiag.Socket(104, true, "/run/b.sock", 0, List.of(9L), 1, 1));

        assertThat(client(10))
                .containsExactly(new Wait.ForSocket(
                        "socket:[101]", "/run/a.sock", true, Wait.Progress.NOT_ACCEPTED, List.of(30)));

        sockets.set(2, new UnixDiag.Socket(104, true, "/run/b.sock", 0, List.of(9L, 11L), 2, 1));
        assertThat(client(10))
                .containsExactly(new Wait.ForSocket("socket:[101]", "", true, Wait.Progress.UNSEEN, List.of()));
    }

    @Test
    void serverThatWaitsForItsClientsWaitsForNobody() throws Exception {
        blocked(20, "__skb_wait_for_more_packets", "288 0x4 0x0 0x0");
        open(20, 4, "socket:[103]", "flags:\t02\n");
        sockets.add(new UnixDiag.Socket(103, true, "/run/a.sock", 0, List.of(), 0, 64));
        assertThat(client(20)).isEmpty();

        blocked(30, "unix_stream_read_generic", "0 0x5 0x7f 0x1");
        open(30, 5, "socket:[102]", "flags:\t02\n");
        open(10, 3, "socket:[101]", "flags:\t02\n");
        sockets.add(connected(101, 102, "", 0));
        sockets.add(connected(102, 101, "/run/a.sock", 0));
        assertThat(client(30)).isEmpty();
    }

    @Test
    void clientThatPollsIsFoundByItsOpenConnectionExceptToTheJournalAndItsOutput() throws Exception {
        blocked(10, "do_epoll_wait", "232 0x5 0x1");
        open(10, 1, "socket:[99]", "flags:\t02\n");
        open(10, 3, "socket:[101]", "flags:\t02\n");
        open(10, 4, "socket:[105]", "flags:\t02\n");
        open(20, 4, "socket:[102]", "flags:\t02\n");
        sockets.add(connected(99, 98, "", 0));
        sockets.add(connected(98, 99, "/run/other.sock", 0));
        sockets.add(connected(101, 102, "", 0));
        sockets.add(connected(102, 101, "/run/a.sock", 0));
        sockets.add(connected(105, 106, "", 0));
        sockets.add(connected(106, 105, "/run/systemd/journal/stdout", 0));

        assertThat(client(10))
                .containsExactly(
                        new Wait.ForSocket("socket:[101]", "/run/a.sock", false, Wait.Progress.READ, List.of(20)));
    }

    @Test
    void clientWhoseAnswerHasArrivedWaitsForNobody() throws Exception {
        blocked(10, "do_epoll_wait", "232 0x5 0x1");
        open(10, 3, "socket:[101]", "flags:\t02\n");
        sockets.add(connected(101, 102, "", 5));
        sockets.add(connected(102, 101, "/run/a.sock", 0));

        assertThat(client(10)).isEmpty();
    }

    @Test
    void socketThatTheKernelDoesNotListIsUnseen() throws Exception {
        blocked(10, "sk_wait_data", "0 0x3 0x7f 0x1");
        open(10, 3, "socket:[101]", "flags:\t02\n");

        assertThat(client(10))
                .containsExactly(new Wait.ForSocket("socket:[101]", "", true, Wait.Progress.UNSEEN, List.of()));
    }

    @Test
    void parentWaitsForTheChildThatItsCallNamesOrForItsOnlyOne() throws Exception {
        parents.put(20, 10);
        blocked(10, "do_wait", "61 0xffffffffffffffff 0x7f 0x0 0x0");
        assertThat(client(10)).containsExactly(new Wait.ForChild(20));

        parents.put(30, 10);
        assertThat(client(10)).isEmpty();

        blocked(10, "do_wait", "61 0x1e 0x7f 0x0 0x0");
        assertThat(client(10)).containsExactly(new Wait.ForChild(30));

        blocked(10, "do_wait", "247 0x1 0x14 0x7f 0x4");
        assertThat(client(10)).containsExactly(new Wait.ForChild(20));

        file("proc/10/fdinfo/9", "pos:\t0\nPid:\t30\n");
        blocked(10, "do_wait", "247 0x3 0x9 0x7f 0x4");
        assertThat(client(10)).containsExactly(new Wait.ForChild(30));
    }

    private static UnixDiag.Socket connected(long inode, long peer, String name, long unread) {
        return new UnixDiag.Socket(inode, false, name, peer, List.of(), unread, 0);
    }

    private List<Wait> client(int pid) {
        return waits(pid, 'S', ProcessRole.HELPER, true);
    }

    private void fuseMounts() throws IOException {
        String mounts = """
                43 27 0:39 / /mnt/a rw - fuse.sshfs host: rw
                44 27 0:40 / /mnt/b rw - fuse.sshfs host: rw
                27 1 8:1 / / rw - ext4 /dev/sda1 rw
                """;
        file("proc/10/mountinfo", mounts);
        file("proc/self/mountinfo", mounts);
    }

    @Test
    void limitsThatAreReachedAreFoundInTheCgroupOrAboveIt() throws Exception {
        file("proc/10/limits", "Limit  Soft Limit  Hard Limit  Units\nMax open files            2    4    files\n");
        open(10, 0, "/a", "");
        open(10, 1, "/b", "");
        file("proc/10/cgroup", "8:pids:/up/own\n0::/m\n");
        file("sys/fs/cgroup/pids/up/own/pids.max", "max\n");
        file("sys/fs/cgroup/pids/up/own/pids.current", "7\n");
        file("sys/fs/cgroup/pids/up/pids.max", "30\n");
        file("sys/fs/cgroup/pids/up/pids.current", "30\n");
        file("sys/fs/cgroup/unified/m/memory.high", "1000\n");
        file("sys/fs/cgroup/unified/m/memory.current", "990\n");
        file("sys/fs/cgroup/unified/m/memory.events", "low 0\nhigh 12\n");

        assertThat(new LimitFiles(new ProcFiles(root)).of(10))
                .containsExactly(
                        new Limit(Limit.Kind.OPEN_FILES, "", 2, 2),
                        new Limit(Limit.Kind.PROCESSES, "/sys/fs/cgroup/pids/up", 30, 30),
                        new Limit(Limit.Kind.MEMORY_HIGH, "/sys/fs/cgroup/unified/m", 990, 1000));
    }

    @Test
    void unlimitedAndHalfUsedLimitsAreNotReached() throws Exception {
        file("proc/10/limits", "Max open files            1024    4096    files\n");
        open(10, 0, "/a", "");
        file("proc/10/cgroup", "8:pids:/own\n0::/own\n");
        file("sys/fs/cgroup/pids/own/pids.max", "30\n");
        file("sys/fs/cgroup/pids/own/pids.current", "15\n");
        file("sys/fs/cgroup/unified/own/memory.high", "max\n");
        file("sys/fs/cgroup/unified/own/memory.current", "15\n");

        assertThat(new LimitFiles(new ProcFiles(root)).of(10)).isEmpty();
    }

    private List<Wait> waits(int pid, char state) {
        return waits(pid, state, ProcessRole.RUNTIME, false);
    }

    private List<Wait> waits(int pid, char state, ProcessRole role, boolean command) {
        ProcFiles files = new ProcFiles(root);
        Map<Integer, ProcFiles.Stat> stats = new HashMap<>();
        for (int any : ALL) {
            stats.put(any, new ProcFiles.Stat(any, "x", 'S', parents.getOrDefault(any, 1), 1));
        }
        return new WaitFiles(
                        files,
                        stats,
                        files::arguments,
                        () -> sockets,
                        new OpenFileIndex(files),
                        new ScanBudget(new SystemClock()))
                .of(new ProcFiles.Stat(pid, "x", state, 1, 1), role, command);
    }

    private List<Wait> commandWaits(int pid) {
        return waits(pid, 'S', ProcessRole.CNI_PLUGIN, true);
    }

    /** Three words in a process's memory. */
    private void memory(int pid, int address, int... words) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(address + 4 * words.length).order(ByteOrder.nativeOrder());
        for (int i = 0; i < words.length; i++) {
            bytes.putInt(address + 4 * i, words[i]);
        }
        Files.write(root.resolve("proc/" + pid + "/mem"), bytes.array());
    }

    private void blocked(int pid, String where, String call) throws IOException {
        file("proc/" + pid + "/task/" + pid + "/wchan", where);
        file("proc/" + pid + "/task/" + pid + "/syscall", call + "\n");
    }

    private void open(int pid, int fd, String target, String info) throws IOException {
        file("proc/" + pid + "/fdinfo/" + fd, info);
        Path link = root.resolve("proc/" + pid + "/fd/" + fd);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Path.of(target));
    }

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
