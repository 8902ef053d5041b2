package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.agent.culprit.scan.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A fault that begins while another one is known and lasts, so that scans are rare: it is named as soon as any other. */
class LastingFaultTest {
    private static final Stall.Mount DISK = new Stall.Mount("/mnt/data", "/dev/loop0", "ext4");

    /** A second fault, and its reason. */
    private record Fault(String reason, Consumer<WatchedNode> strike) {
        @Override
        public String toString() {
            return reason;
        }
    }

    @ParameterizedTest
    @MethodSource("faults")
    void secondFaultIsNamedWithinTwentySecondsWheneverItBegins(Fault fault) {
        for (int offset = 0; offset < 7_000; offset += 500) {
            WatchedNode node = new WatchedNode(offset);
            node.watch.start();
            pass(node, Duration.ofSeconds(30));
            shows(node, ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T'));
            node.runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
            pass(node, Duration.ofSeconds(90).plusMillis(offset));
            assertThat(node.found()).as("offset %d", offset).containsExactly("ShimStopped");

            fault.strike.accept(node);
            pass(node, Duration.ofSeconds(20));

            assertThat(node.found()).as("offset %d", offset).containsExactly("ShimStopped", fault.reason);
        }
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                        new Fault(
                                "ProcessTraced",
                                node -> shows(
                                        node,
                                        ProcessFixtures.shim(300, ProcessFixtures.DB, 't')
                                                .waitingFor(List.of(new Wait.Traced(900))))),
                        new Fault(
                                "DiskStalled",
                                node -> shows(
                                        node,
                                        ProcessFixtures.stalled(
                                                ProcessFixtures.process(
                                                        301, 300, 'D', ProcessRole.CONTAINER, "postgres"),
                                                new Stall(
                                                        301,
                                                        17,
                                                        "io_schedule",
                                                        List.of(),
                                                        Optional.empty(),
                                                        Optional.empty(),
                                                        List.of(DISK))))),
                        new Fault("CNIPluginHung", node -> {
                            long began = node.seconds();
                            List<ProcessInfo> before = node.processes.get();
                            node.processes = () -> {
                                List<ProcessInfo> now = new ArrayList<>(before);
                                now.add(ProcessFixtures.cni(500, 100, "ADD", (int) (node.seconds() - began), true));
                                return now;
                            };
                        }),
                        new Fault(
                                "ContainerCallHung",
                                node -> node.runtime.hang("ContainerStats:" + ProcessFixtures.DB_APP)))
                .map(Arguments::of);
    }

    /** Adds a process, in the place of that with the same pid. */
    private static void shows(WatchedNode node, ProcessInfo process) {
        List<ProcessInfo> now = new ArrayList<>(node.processes.get());
        now.removeIf(other -> other.ref().pid() == process.ref().pid());
        now.add(process);
        node.processes = () -> now;
    }

    private static void pass(WatchedNode node, Duration duration) {
        node.time.advance(duration);
    }
}
