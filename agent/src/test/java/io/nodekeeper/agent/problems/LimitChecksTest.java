package io.nodekeeper.agent.problems;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.problems.kernel.InotifyTrial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The limits of file descriptors and of inotify. */
class LimitChecksTest {
    @TempDir
    private Path proc;

    private ConditionReport files(int open, int limit, String machine) throws IOException {
        Files.createDirectories(proc.resolve("self/fd"));
        Files.createDirectories(proc.resolve("sys/fs"));
        for (int fd = 0; fd < open; fd++) {
            Files.writeString(proc.resolve("self/fd/" + fd), "");
        }
        Files.writeString(proc.resolve("self/limits"), """
                Limit                     Soft Limit           Hard Limit           Units
                Max cpu time              unlimited            unlimited            seconds
                Max open files            %d                   4096                 files
                """.formatted(limit));
        Files.writeString(proc.resolve("sys/fs/file-nr"), machine + "\n");
        return new OpenFilesCheck(proc).run().conditions().getFirst();
    }

    @Test
    void theConditionIsTrueFromNinetyPercentOfTheAgentsLimit() throws IOException {
        assertThat(files(89, 100, "500\t0\t9223372036854775807").status()).isEqualTo("False");
        assertThat(files(90, 100, "500\t0\t9223372036854775807"))
                .isEqualTo(new ConditionReport(
                        "FileDescriptorPressure",
                        "True",
                        "AgentHasFewFileDescriptors",
                        "the agent has 90 of 100 file descriptors open (RLIMIT_NOFILE)"));
    }

    @Test
    void theMachinesLimitCountsAsWell() throws IOException {
        assertThat(files(1, 100, "899\t0\t1000").status()).isEqualTo("False");
        assertThat(files(1, 100, "900\t0\t1000"))
                .isEqualTo(new ConditionReport(
                        "FileDescriptorPressure",
                        "True",
                        "NodeHasFewFileDescriptors",
                        "the machine has 900 of 1000 files open (fs.file-max)"));
    }

    private ConditionReport connections(String used, String most) throws IOException {
        Files.createDirectories(proc.resolve("sys/net/netfilter"));
        Files.writeString(proc.resolve("sys/net/netfilter/nf_conntrack_count"), used + "\n");
        Files.writeString(proc.resolve("sys/net/netfilter/nf_conntrack_max"), most + "\n");
        return new ConntrackCheck(proc).run().conditions().getFirst();
    }

    @Test
    void aTableOfConnectionsThatIsNinetyPercentFullIsAProblem() throws IOException {
        assertThat(connections("235929", "262144").status()).isEqualTo("False");
        assertThat(connections("235929", "0").status()).as("no limit").isEqualTo("False");
        assertThat(connections("235930", "262144"))
                .isEqualTo(new ConditionReport(
                        "ConntrackPressure",
                        "True",
                        "ConntrackTableFull",
                        "the kernel tracks 235930 of at most 262144 connections and drops new ones beyond; raise"
                                + " net.netfilter.nf_conntrack_max"));
    }

    @Test
    void aKernelThatTracksNoConnectionsHasNoProblemAndAFileThatIsNoNumberFails() throws IOException {
        assertThat(new ConntrackCheck(proc).run().conditions().getFirst().reason())
                .isEqualTo("ConntrackUnused");

        assertThatThrownBy(() -> connections("many", "262144"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("many");
    }

    @Test
    void thisProcessHasEnoughDescriptorsAndItsJarsCanBeOpened() throws IOException {
        assertThat(OpenFilesCheck.limitFault()).isEmpty();
        OpenFilesCheck.openJars();
        assertThat(new OpenFilesCheck(Path.of("/proc"))
                        .run()
                        .conditions()
                        .getFirst()
                        .status())
                .isEqualTo("False");
    }

    @Test
    void anExhaustedLimitOfInotifyIsACondition() throws IOException {
        assertThat(inotify(InotifyTrial.Outcome.AVAILABLE)).isEqualTo("False InotifyAvailable");
        assertThat(inotify(InotifyTrial.Outcome.NO_INSTANCE)).isEqualTo("True InotifyInstancesExhausted");
        assertThat(inotify(InotifyTrial.Outcome.NO_WATCH)).isEqualTo("True InotifyWatchesExhausted");
        assertThatThrownBy(() -> new InotifyCheck(() -> {
                            throw new IOException("the agent has no file descriptor left");
                        })
                        .run())
                .hasMessage("the agent has no file descriptor left");
    }

    @Test
    void aTrialOfTheKernelsInotifyLeavesNoDescriptorOpen() throws IOException {
        InotifyTrial.run();
        int before = Path.of("/proc/self/fd").toFile().list().length;

        for (int i = 0; i < 50; i++) {
            InotifyTrial.run();
        }

        assertThat(Path.of("/proc/self/fd").toFile().list().length).isLessThan(before + 25);
    }

    private static String inotify(InotifyTrial.Outcome outcome) throws IOException {
        ConditionReport report =
                new InotifyCheck(() -> outcome).run().conditions().getFirst();
        return report.status() + " " + report.reason();
    }
}
