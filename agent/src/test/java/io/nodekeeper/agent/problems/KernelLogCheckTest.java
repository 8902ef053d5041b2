package io.nodekeeper.agent.problems;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.problems.kernel.KmsgRecord;
import io.nodekeeper.agent.problems.kernel.LogSource;
import io.nodekeeper.agent.problems.rules.BuiltInRules;
import io.nodekeeper.agent.problems.rules.RuleFileReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelLogCheckTest {
    private static final long SECOND = 1_000_000;
    private static final Path KMSG = Path.of("/dev/kmsg");

    @TempDir
    private Path proc;

    private final FakeLog log = new FakeLog();
    private KernelLogCheck check;

    /** A log with the given records. */
    private static final class FakeLog implements LogSource {
        private final List<KmsgRecord> records = new ArrayList<>();
        private long lost;
        private boolean broken;

        @Override
        public List<KmsgRecord> read(int most) throws IOException {
            if (broken) {
                throw new IOException("read failed");
            }
            List<KmsgRecord> read = List.copyOf(records);
            records.clear();
            return read;
        }

        @Override
        public long lost() {
            return lost;
        }
    }

    @BeforeEach
    void create() throws IOException {
        check = new KernelLogCheck(KMSG, log, proc, List.of(BuiltInRules.FILE));
        uptime(1_000);
    }

    private void uptime(long seconds) throws IOException {
        Files.writeString(proc.resolve("uptime"), seconds + ".00 5.00\n");
    }

    private void write(long second, String message) {
        log.records.add(new KmsgRecord(1, second * SECOND, message));
    }

    private void state(int pid, char state) throws IOException {
        Files.createDirectories(proc.resolve(Integer.toString(pid)));
        Files.writeString(proc.resolve(pid + "/stat"), pid + " (dd) x) " + state + " 1 1 1\n");
    }

    private ConditionReport deadlock() throws IOException {
        return check.run().conditions().getLast();
    }

    @Test
    void anOutOfMemoryKillIsAnEvent() throws IOException {
        write(999, "Memory cgroup out of memory: Killed process 7 (java) total-vm:9kB, anon-rss:1kB, file-rss:0kB");

        assertThat(check.run().events())
                .containsExactly(new Finding.Temporary(
                        "Warning",
                        "OOMKilling",
                        "Killed process 7 (java) total-vm:9kB, anon-rss:1kB, file-rss:0kB",
                        "kernel-monitor"));
        assertThat(check.run().events()).isEmpty();
    }

    @Test
    void aMachineWithoutMemoryIsAnEventOfTheKubeletsToo() throws IOException {
        write(999, "Out of memory: Killed process 1234 (web (x)) total-vm:9kB, anon-rss:1kB, file-rss:0kB");
        write(999, "Out of memory: Kill process 7 (java) score 900 or sacrifice child");
        write(600, "Out of memory: Killed process 8 (old) total-vm:9kB, anon-rss:1kB, file-rss:0kB");
        write(999, "Memory cgroup out of memory: Killed process 9 (java) total-vm:9kB, anon-rss:1kB, file-rss:0kB");

        assertThat(check.run().events())
                .filteredOn(event -> event.reason().equals("SystemOOM"))
                .containsExactly(
                        new Finding.Temporary(
                                "Warning", "SystemOOM", "System OOM encountered, victim process: web (x), pid: 1234"),
                        new Finding.Temporary(
                                "Warning", "SystemOOM", "System OOM encountered, victim process: java, pid: 7"));
    }

    @Test
    void messagesFromBeforeTheLookbackAreLeftOut() throws IOException {
        write(699, "nfs: server old not responding, still trying");
        write(700, "nfs: server new not responding, still trying");

        assertThat(check.run().events())
                .extracting(Finding.Temporary::message)
                .containsExactly("nfs: server new not responding, still trying");
    }

    @Test
    void aHungTaskIsADeadlockUntilItContinuesOrEnds() throws IOException {
        state(300, 'D');
        state(301, 'D');
        write(1_000, "INFO: task jbd2/sda1-8:300 blocked for more than 120 seconds.");
        write(1_000, "INFO: task dd:301 blocked for more than 120 seconds.");

        assertThat(deadlock())
                .isEqualTo(new ConditionReport(
                        "KernelDeadlock",
                        "True",
                        "TaskHung",
                        "blocked in the kernel: jbd2/sda1-8 (pid 300), dd (pid 301)"));

        state(301, 'S');
        assertThat(deadlock().message()).isEqualTo("blocked in the kernel: jbd2/sda1-8 (pid 300)");

        Files.delete(proc.resolve("300/stat"));
        assertThat(deadlock().status()).isEqualTo("False");
    }

    /** The clock of the log stands still while a machine is suspended; that of the uptime does not. */
    @Test
    void recordsThatComeLaterHappenedLaterWhateverTheClockOfTheLog() throws IOException {
        // given a machine that was suspended for eight hours before the agent started
        uptime(30_000);
        write(1_100, "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [a:1]");
        assertThat(deadlock().status()).as("of long before the start").isEqualTo("False");
        assertThat(deadlock().status()).as("nothing new").isEqualTo("False");

        // when a processor is stuck
        uptime(30_060);
        write(1_200, "watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [migration/3:24]");

        // then it counts for three minutes
        assertThat(deadlock().status()).isEqualTo("True");
        uptime(30_239);
        assertThat(deadlock().status()).isEqualTo("True");
        uptime(30_240);
        assertThat(deadlock().status()).isEqualTo("False");
    }

    /** After an error the log is opened again, and its oldest record is the first one again. */
    @Test
    void recordsOfALogThatIsOpenedAgainAreAsOldAsTheySay() throws IOException {
        assertThat(check.run().events()).isEmpty();
        log.broken = true;
        assertThatThrownBy(check::run).hasMessage("read failed");

        log.broken = false;
        write(600, "nfs: server old not responding, still trying");

        assertThat(check.run().events()).isEmpty();
    }

    @Test
    void aLockupIsADeadlockForThreeMinutesAfterItsLastReport() throws IOException {
        write(1_000, "watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [migration/3:24]");
        assertThat(deadlock())
                .isEqualTo(new ConditionReport(
                        "KernelDeadlock", "True", "SoftLockup", "soft lockup - CPU#3 stuck for 26s! [migration/3:24]"));

        uptime(1_179);
        assertThat(deadlock().status()).isEqualTo("True");
        uptime(1_180);
        assertThat(deadlock().status()).isEqualTo("False");
    }

    @Test
    void aHundredThousandHungTasksAreFewEventsAndFewTasks() throws IOException {
        for (int pid = 1; pid <= 100_000; pid++) {
            write(1_000, "INFO: task t:" + pid + " blocked for more than 120 seconds.");
        }
        state(64, 'D');
        state(65, 'D');

        Finding finding = check.run();

        assertThat(finding.events()).hasSize(50);
        assertThat(finding.conditions().getLast().message()).isEqualTo("blocked in the kernel: t (pid 64)");
    }

    @Test
    void lostRecordsAreAnEvent() throws IOException {
        log.lost = 1;

        assertThat(check.run().events())
                .containsExactly(new Finding.Temporary(
                        "Warning",
                        "KernelLogOverrun",
                        "records of /dev/kmsg were overwritten before the agent read them"));
        assertThat(check.run().events()).isEmpty();
    }

    @Test
    void aPermanentProblemOfARuleFileIsAConditionThatStays() throws IOException {
        check = new KernelLogCheck(
                KMSG, log, proc, List.of(RuleFileReader.read("""
                                {"conditions": [{"type": "DiskFailed", "reason": "DiskWorks", "message": "works"}],
                                 "rules": [{"type": "permanent", "condition": "DiskFailed", "reason": "DiskDied",
                                            "pattern": "disk \\\\w+ died"}]}""").file().orElseThrow()));
        assertThat(check.conditions()).containsExactly("DiskFailed");
        assertThat(check.run().conditions())
                .containsExactly(new ConditionReport("DiskFailed", "False", "DiskWorks", "works"));

        write(1_000, "the disk sda died");
        check.run();
        assertThat(check.run().conditions())
                .containsExactly(new ConditionReport("DiskFailed", "True", "DiskDied", "disk sda died"));
    }

    @Test
    void withoutTheUptimeTheCheckFails() throws IOException {
        Files.writeString(proc.resolve("uptime"), "soon\n");

        assertThatThrownBy(check::run).hasMessage(proc.resolve("uptime") + ": expected seconds, got \"soon\"");
    }
}
