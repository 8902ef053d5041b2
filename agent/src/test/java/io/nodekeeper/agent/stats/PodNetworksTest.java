package io.nodekeeper.agent.stats;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The interfaces of pods, in files that imitate the kernel's. */
class PodNetworksTest {
    private static final String DEV = """
            Inter-|   Receive                                                |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
                lo:    1000      10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0
              eth0:     946      11    1    0    0     0          0         0      656       8    2    0    0     0       0          0
              net1:       7       1    0    0    0     0          0         0        9       1    0    0    0     0       0          0
            """;

    @TempDir
    Path root;

    private Path cgroup = Path.of("");

    @BeforeEach
    void makeFiles() throws IOException {
        process("self", "net:[1]");
        cgroup = Files.createDirectories(root.resolve("cgroup"));
    }

    private void process(String pid, String network) throws IOException {
        Path process = Files.createDirectories(root.resolve("proc").resolve(pid).resolve("ns"));
        Files.createSymbolicLink(process.resolve("net"), Path.of(network));
        Path net = Files.createDirectories(root.resolve("proc").resolve(pid).resolve("net"));
        Files.writeString(net.resolve("dev"), DEV);
    }

    private void processes(String text) throws IOException {
        Files.writeString(cgroup.resolve("cgroup.procs"), text);
    }

    private List<NodeUsage.Network> seen() throws IOException {
        PodNetworks networks = new PodNetworks(root);
        return networks.of(cgroup, networks.ofNode());
    }

    @Test
    void theInterfacesOfAPodAreThoseThatItsFirstProcessSees() throws IOException {
        process("77", "net:[2]");
        processes("77\n78\n");

        assertThat(seen())
                .containsExactly(
                        new NodeUsage.Network("eth0", 946, 1, 656, 2), new NodeUsage.Network("net1", 7, 0, 9, 0));
    }

    @Test
    void aPodWithThousandsOfInterfacesHasTheFirstOnes() throws IOException {
        process("77", "net:[2]");
        processes("77\n".repeat(100_000));
        StringBuilder dev = new StringBuilder(DEV);
        for (int i = 0; i < 5_000; i++) {
            dev.append(
                    "  dum%d:       7       1    0    0    0     0          0         0        9       1    0    0    0     0       0          0\n"
                            .formatted(i));
        }
        Files.writeString(root.resolve("proc/77/net/dev"), dev);

        assertThat(seen())
                .hasSizeLessThan(100)
                .startsWith(new NodeUsage.Network("eth0", 946, 1, 656, 2), new NodeUsage.Network("net1", 7, 0, 9, 0));
    }

    @Test
    void aPodInTheNetworkOfTheNodeHasNoneOfItsOwn() throws IOException {
        process("77", "net:[1]");
        processes("77\n");

        assertThat(seen()).isEmpty();
    }

    @Test
    void aPodWhoseProcessesAreGoneOrNotSeenHasNone() throws IOException {
        assertThat(seen()).isEmpty();
        processes("");
        assertThat(seen()).isEmpty();
        processes("0\n");
        assertThat(seen()).isEmpty();
        processes("99\n");
        assertThat(seen()).isEmpty();
    }
}
