package io.nodekeeper.agent.culprit.scan;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.proc.OpenFileIndex;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.ScanBudget;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The search for open files on machines that have more of them than one scan reads. */
class OpenFileIndexTest {
    private static final ProcFiles.OpenFile READER = new ProcFiles.OpenFile("pipe:[5]", "5", 0, "");
    /** With these, two scans read the whole machine: a scan reads 12,000 files of it. */
    private static final int MANY = 3_500;

    @TempDir
    Path root;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-25T03:00:00Z"));
    private final VirtualTime.VirtualLoop clock = time.loop("scan");
    private final Map<Integer, ProcFiles.Stat> stats = new TreeMap<>();

    /** One scan. */
    private record Scan(OpenEnds ends, ScanBudget budget) {
        List<Integer> writers() {
            return ends.opposite(10, READER);
        }
    }

    private Scan scan(ProcFiles files, OpenFileIndex index) {
        time.advance(Duration.ofMillis(1_500));
        index.forgetOld(clock.nanoTime());
        ScanBudget budget = new ScanBudget(clock);
        return new Scan(new OpenEnds(files, stats, index, budget), budget);
    }

    @Test
    void aMachineWithMoreOpenFilesThanAScanReadsIsKnownAfterTheNextScan() throws Exception {
        for (int pid = 100; pid < 104; pid++) {
            running(pid, 1);
            for (int fd = 0; fd < MANY; fd++) {
                open(pid, fd, "/var/lib/file");
            }
        }
        running(900, 1);
        open(900, 1, "pipe:[5]");
        ProcFiles files = new ProcFiles(root);
        OpenFileIndex index = new OpenFileIndex(files);

        Scan first = scan(files, index);
        assertThat(first.writers()).isEmpty();
        assertThat(first.budget().isSpent()).isTrue();

        Scan second = scan(files, index);
        assertThat(second.writers()).containsExactly(900);
        assertThat(second.budget().isSpent()).isFalse();

        // Each later scan reads what has become too old, and is complete.
        for (int i = 0; i < 10; i++) {
            Scan later = scan(files, index);
            assertThat(later.writers()).as("scan " + i).containsExactly(900);
            assertThat(later.budget().isSpent()).as("scan " + i).isFalse();
        }
    }

    @Test
    void aHolderThatHasClosedItsEndSinceTheLastScanIsNotNamed() throws Exception {
        running(20, 1);
        open(20, 1, "pipe:[5]");
        ProcFiles files = new ProcFiles(root);
        OpenFileIndex index = new OpenFileIndex(files);
        assertThat(scan(files, index).writers()).containsExactly(20);

        Files.delete(root.resolve("proc/20/fd/1"));

        assertThat(scan(files, index).writers()).isEmpty();
    }

    @Test
    void aNewProcessWithAUsedPidIsReadAtOnce() throws Exception {
        running(20, 1);
        ProcFiles files = new ProcFiles(root);
        OpenFileIndex index = new OpenFileIndex(files);
        assertThat(scan(files, index).writers()).isEmpty();

        running(20, 777);
        open(20, 1, "pipe:[5]");

        assertThat(scan(files, index).writers()).containsExactly(20);
    }

    @Test
    void aPipeThatAProcessOpensLaterIsSeenWithin4500Milliseconds() throws Exception {
        running(20, 1);
        ProcFiles files = new ProcFiles(root);
        OpenFileIndex index = new OpenFileIndex(files);
        assertThat(scan(files, index).writers()).isEmpty();

        open(20, 1, "pipe:[5]");
        scan(files, index).writers();
        scan(files, index).writers();

        assertThat(scan(files, index).writers()).containsExactly(20);
    }

    @Test
    void nothingIsKeptOnceScansNoLongerSearch() throws Exception {
        running(20, 1);
        open(20, 1, "pipe:[5]");
        ProcFiles files = new ProcFiles(root);
        OpenFileIndex index = new OpenFileIndex(files);
        scan(files, index).writers();
        assertThat(index.of(requireNonNull(stats.get(20)))).hasSize(1);

        time.advance(OpenFileIndex.FRESH);
        index.forgetOld(clock.nanoTime());

        assertThat(index.of(requireNonNull(stats.get(20)))).isEmpty();
    }

    private void running(int pid, long startTicks) {
        stats.put(pid, new ProcFiles.Stat(pid, "x", 'S', 1, startTicks));
    }

    private void open(int pid, int fd, String target) throws IOException {
        Path process = root.resolve("proc/" + pid);
        Files.createDirectories(process.resolve("fd"));
        Files.createDirectories(process.resolve("fdinfo"));
        Files.createSymbolicLink(process.resolve("fd").resolve(Integer.toString(fd)), Path.of(target));
        if (target.startsWith("pipe:")) {
            Files.writeString(process.resolve("fdinfo").resolve(Integer.toString(fd)), "flags:\t02000001\nino:\t5\n");
        }
    }
}
