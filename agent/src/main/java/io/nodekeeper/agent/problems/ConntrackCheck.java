package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.kernel.KernelFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Finds that the kernel's table of tracked connections is almost full: then it drops packets of new connections, for the node
 * and for all of its pods, and names no process. Used by one worker at a time.
 */
public final class ConntrackCheck implements ProblemCheck {
    static final String TYPE = "ConntrackPressure";
    /** The share of the table from which the condition is True. */
    private static final double FULL = 0.9;

    private final Path netfilter;

    /** A check of the files below {@code proc}. */
    public ConntrackCheck(Path proc) {
        this.netfilter = proc.resolve("sys/net/netfilter");
    }

    @Override
    public String name() {
        return "connection tracking";
    }

    @Override
    public List<String> conditions() {
        return List.of(TYPE);
    }

    @Override
    public Duration period() {
        return Duration.ofSeconds(10);
    }

    @Override
    public Duration deadline() {
        return Duration.ofSeconds(2);
    }

    @Override
    public Finding run() throws IOException {
        Path count = netfilter.resolve("nf_conntrack_count");
        if (!Files.exists(count)) {
            return Finding.of(Finding.fine(TYPE, "ConntrackUnused", "the kernel tracks no connections"));
        }
        long used = KernelFile.number(count);
        long most = KernelFile.number(netfilter.resolve("nf_conntrack_max"));
        return Finding.of(
                // 0 is no limit.
                most > 0 && used >= most * FULL
                        ? Finding.problem(
                                TYPE,
                                "ConntrackTableFull",
                                "the kernel tracks " + used + " of at most " + most
                                        + " connections and drops new ones beyond; raise net.netfilter.nf_conntrack_max")
                        : Finding.fine(TYPE, "ConntrackAvailable", "the table of tracked connections has space"));
    }
}
