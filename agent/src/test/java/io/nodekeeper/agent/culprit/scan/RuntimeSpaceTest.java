package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.VirtualTime;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which file systems of a runtime are full, on an artificial {@code /proc}. */
class RuntimeSpaceTest {
    private static final int RUNTIME = 100;
    private static final Filesystem ROOMY = new Filesystem(new Level(1 << 30, 1 << 30), new Level(1_000, 1_000));

    @TempDir
    Path root;

    private final ThreadLoop loop = new ThreadLoop("test");
    private final Workers workers = new Workers("space", 2, loop);
    private final Map<String, Filesystem> machine = new HashMap<>();
    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch hung = new CountDownLatch(1);

    @BeforeEach
    void runtime() throws IOException {
        Files.createDirectories(root.resolve("proc/100/fd"));
        Files.writeString(root.resolve("proc/100/mountinfo"), """
                20 1 8:1 / / rw - ext4 /dev/sda1 rw
                21 20 8:2 / /data rw - ext4 /dev/sdb1 rw
                22 20 0:30 / /run rw - tmpfs tmpfs rw
                23 20 0:31 / /sys rw - sysfs sysfs rw
                24 20 8:3 / /d3 rw - xfs /dev/sdc1 rw
                25 20 8:4 / /d4 rw - xfs /dev/sdd1 rw
                """);
    }

    @AfterEach
    void close() {
        hung.countDown();
        workers.close();
        loop.close();
    }

    @Test
    void fileSystemsWithOpenFilesAreAskedOnceEachAndOthersNot() throws Exception {
        opens("/data/meta.db", "/data/snapshots.db", "/run/containerd.sock", "/sys/fs/cgroup/x", "socket:[42]");

        assertThat(ask(space())).isEmpty();
        assertThat(asked).containsExactlyInAnyOrder("/data", "/run");
    }

    @Test
    void fullDiskIsALimitWithItsMountAndWhatIsUsed() throws Exception {
        opens("/data/meta.db");
        machine.put("/data", new Filesystem(new Level((1 << 20) - 1, 1 << 30), new Level(1_000, 1_000)));

        assertThat(ask(space()))
                .containsExactly(new Limit(Limit.Kind.DISK_SPACE, "/data", (1 << 30) - (1 << 20) + 1, 1 << 30));
    }

    @Test
    void missingInodesAreALimit() throws Exception {
        opens("/data/meta.db");
        machine.put("/data", new Filesystem(new Level(1 << 20, 1 << 30), new Level(7, 1_000)));

        assertThat(ask(space())).containsExactly(new Limit(Limit.Kind.INODES, "/data", 993, 1_000));
    }

    @Test
    void fileSystemsWithoutSizeOrInodesAreNotFull() throws Exception {
        opens("/data/meta.db");
        machine.put("/data", new Filesystem(new Level(0, 0), new Level(0, 0)));

        assertThat(ask(space())).isEmpty();
    }

    @Test
    void deletedFilesAreNotAsked() throws Exception {
        opens("/data/old.db (deleted)");

        assertThat(ask(space())).isEmpty();
        assertThat(asked).isEmpty();
    }

    @Test
    void atMostFourFileSystemsAreAsked() throws Exception {
        opens("/x", "/data/x", "/run/x", "/d3/x", "/d4/x");

        ask(space());
        assertThat(asked).hasSize(4);
    }

    @Test
    void openFilesAreSearchedForEachEighthQuestionAndForANewRuntime() throws Exception {
        opens("/data/meta.db");
        RuntimeSpace space = space();
        ask(space);
        opens("/data/meta.db", "/run/containerd.sock");
        asked.clear();

        for (int question = 2; question <= 8; question++) {
            ask(space);
        }
        assertThat(asked).hasSize(7).containsOnly("/data");
        asked.clear();
        ask(space);
        assertThat(asked).containsExactlyInAnyOrder("/data", "/run");

        opens("/data/meta.db", "/run/containerd.sock", "/d3/x");
        Files.move(root.resolve("proc/100"), root.resolve("proc/101"));
        asked.clear();
        space.ask(101).get(5, TimeUnit.SECONDS);
        assertThat(asked).containsExactlyInAnyOrder("/data", "/run", "/d3");
    }

    @Test
    void questionThatHangsIsTheOnlyOneAndTheOldAnswerStays() throws Exception {
        opens("/data/meta.db");
        machine.put("/data", new Filesystem(new Level(0, 1 << 30), new Level(1_000, 1_000)));
        CountDownLatch entered = new CountDownLatch(1);
        boolean[] hangs = {false};
        RuntimeSpace space = new RuntimeSpace(new ProcFiles(root), workers, point -> {
            if (hangs[0]) {
                entered.countDown();
                awaitHung();
            }
            return answer(point);
        });
        List<Limit> full = ask(space);
        hangs[0] = true;
        CompletableFuture<List<Limit>> open = space.ask(RUNTIME);
        assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
        asked.clear();

        assertThat(ask(space)).isEqualTo(full).hasSize(1);
        assertThat(space.newest()).isEqualTo(full);
        assertThat(asked).isEmpty();
        hung.countDown();
        assertThat(open).isNotNull();
    }

    /** As many others hang, or the machine has no process id left for a thread. */
    @Test
    void questionThatFindsNoWorkerDoesNotKeepLaterOnesFromBeingAsked() throws Exception {
        opens("/data/meta.db");
        VirtualTime time = new VirtualTime(Instant.EPOCH);
        CountDownLatch entered = new CountDownLatch(1);
        try (Workers one = new Workers("one", 1, time.loop("deadlines"))) {
            RuntimeSpace space = new RuntimeSpace(new ProcFiles(root), one, this::answer);
            CompletableFuture<Void> busy = one.call("another call", Duration.ofHours(1), () -> {
                entered.countDown();
                hung.await();
                return null;
            });
            assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<List<Limit>> unheard = space.ask(RUNTIME);
            time.advance(Duration.ofMinutes(1));
            assertThat(unheard).isCompletedExceptionally();

            hung.countDown();
            busy.get(30, TimeUnit.SECONDS);

            assertThat(space.ask(RUNTIME).get(30, TimeUnit.SECONDS)).isEmpty();
            assertThat(asked).containsExactly("/data");
        }
    }

    private void awaitHung() throws IOException {
        try {
            hung.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private RuntimeSpace space() {
        return new RuntimeSpace(new ProcFiles(root), workers, this::answer);
    }

    private Filesystem answer(Path point) {
        asked.add(point.toString());
        return machine.getOrDefault(point.toString(), ROOMY);
    }

    private List<Limit> ask(RuntimeSpace space) throws Exception {
        return space.ask(RUNTIME).get(30, TimeUnit.SECONDS);
    }

    private void opens(String... files) throws IOException {
        for (int fd = 0; fd < files.length; fd++) {
            Path link = root.resolve("proc/100/fd/" + fd);
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, Path.of(files[fd]));
        }
    }
}
