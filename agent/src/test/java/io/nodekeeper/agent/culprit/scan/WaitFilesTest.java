package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.SystemClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What processes wait for, from artificial files of {@code /proc} and of cgroups. */
class WaitFilesTest {
    private static final Set<Integer> ALL = Set.of(10, 20, 30, 40);

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
        ProcFiles files = new ProcFiles(root);
        return new WaitFiles(files, ALL, new ScanBudget(new SystemClock()))
                .of(new ProcFiles.Stat(pid, "x", state, 1, 1), ProcessRole.RUNTIME);
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
