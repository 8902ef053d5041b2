package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShortageTest {
    private static final long SECOND = 1_000_000_000;

    @TempDir
    Path tasks;

    @Test
    void theThreadThatWaitedMostCounts() throws Exception {
        thread("7", "5000000000 1000000000 3");
        thread("8", "0 4000000000 3");
        Shortage shortage = Shortage.of(tasks, 100 * SECOND);

        thread("7", "6000000000 3500000000 9");
        thread("8", "0 5000000000 4");

        assertThat(shortage.share(110 * SECOND)).isCloseTo(0.25, within(1e-9));
    }

    @Test
    void threadsOfJavaItselfDoNotCount() throws Exception {
        Shortage shortage = Shortage.of(tasks, 0);
        thread("3", "C1 CompilerThre", "0 9000000000 1");
        thread("4", "VM Thread", "0 9000000000 1");
        assertThat(shortage.share(10 * SECOND)).isZero();
    }

    @Test
    void aThreadThatBeganMeanwhileCountsFromItsBegin() throws Exception {
        Shortage shortage = Shortage.of(tasks, 0);
        thread("9", "0 2000000000 1");
        assertThat(shortage.share(4 * SECOND)).isCloseTo(0.5, within(1e-9));
    }

    @Test
    void aProcessThatHasEndedWaitsForNothing() {
        Shortage shortage = Shortage.of(tasks.resolve("none"), 0);
        assertThat(shortage.share(SECOND)).isZero();
    }

    private void thread(String id, String schedstat) throws Exception {
        thread(id, "scans", schedstat);
    }

    private void thread(String id, String name, String schedstat) throws Exception {
        Files.writeString(Files.createDirectories(tasks.resolve(id)).resolve("comm"), name + "\n");
        Files.writeString(Files.createDirectories(tasks.resolve(id)).resolve("schedstat"), schedstat + "\n");
    }
}
