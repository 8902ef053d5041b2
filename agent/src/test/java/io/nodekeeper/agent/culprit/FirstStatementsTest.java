package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is said after a start, whatever the order and delay of the first answers: nothing but Unknown or well on a healthy
 * node, and never well while a fault is not known yet.
 */
class FirstStatementsTest {
    private static final String LOST = "7a".repeat(32);

    /** A fault that is there before the agent starts, and its reason. */
    private record Fault(String reason, Consumer<WatchedNode> strike) {
        @Override
        public String toString() {
            return reason;
        }
    }

    @Test
    void healthyNodeIsNeverAccusedInAnyOrderOfItsFirstAnswers() {
        for (long seed = 0; seed < 100; seed++) {
            WatchedNode node = new WatchedNode(seed);
            RandomGenerator random = Randoms.seeded(seed);
            arriveInAnyOrder(node, random, true);
            List<String> said = new ArrayList<>();

            node.watch.start();
            node.pass(Duration.ofSeconds(60), () -> note(said, node));

            assertThat(said).as("seed %d", seed).containsExactly("Unknown", "False");
            assertThat(node.heard).as("seed %d", seed).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("faults")
    void faultIsNeverCalledWellBeforeItIsKnown(Fault fault) {
        for (long seed = 0; seed < 20; seed++) {
            WatchedNode node = new WatchedNode(seed);
            RandomGenerator random = Randoms.seeded(seed);
            arriveInAnyOrder(node, random, false);
            fault.strike.accept(node);
            List<String> said = new ArrayList<>();

            node.watch.start();
            node.pass(Duration.ofSeconds(60), () -> note(said, node));

            assertThat(said).as("seed %d", seed).containsExactly("Unknown", "True");
            assertThat(node.found()).as("seed %d", seed).containsExactly(fault.reason);
        }
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                        new Fault("RuntimeFrozen", node -> {
                            shows(node, ProcessFixtures.runtime('T'));
                            node.delay = call -> Optional.empty();
                        }),
                        new Fault("RuntimeHung", node -> node.delay = call -> Optional.empty()),
                        new Fault(
                                "RuntimeUnreachable",
                                node -> node.runtime.fail(
                                        "*",
                                        new RuntimeCallException(
                                                "Version",
                                                RuntimeCallException.Code.UNAVAILABLE,
                                                "connection refused"))),
                        new Fault("RuntimeMismatch", node -> {
                            node.workload = () -> ContainerIndex.NONE;
                            Stream.of(
                                            ProcessFixtures.WEB,
                                            ProcessFixtures.DB,
                                            ProcessFixtures.WEB_APP,
                                            ProcessFixtures.DB_APP)
                                    .forEach(node.runtime::remove);
                        }),
                        new Fault("ShimStopped", node -> {
                            shows(node, ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T'));
                            node.runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
                        }),
                        new Fault("ShimOrphaned", node -> shows(node, ProcessFixtures.shim(700, LOST, 'S'))),
                        new Fault(
                                "ContainerNotReaped",
                                node -> shows(
                                        node, ProcessFixtures.process(201, 200, 'Z', ProcessRole.CONTAINER, "nginx"))),
                        new Fault(
                                "ContainerCallHung",
                                node -> node.runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP)),
                        new Fault(
                                "OCIRuntimeHung",
                                node -> node.processes = () -> ProcessFixtures.healthyBut(ProcessFixtures.runc(
                                        400, "kill", ProcessFixtures.WEB_APP, 1 + (int) node.seconds()))))
                .map(Arguments::of);
    }

    /** Adds what is said now, if it is something else than before. */
    private static void note(List<String> said, WatchedNode node) {
        String status = node.watch.condition().status();
        if (said.isEmpty() || !said.getLast().equals(status)) {
            said.add(status);
        }
    }

    private static void shows(WatchedNode node, ProcessInfo process) {
        node.processes = () -> ProcessFixtures.healthyBut(process);
    }

    /**
     * Each kind of call is answered late at first, the first scans take long or fail, and the inventory is known only later.
     *
     * @param oldLists whether the first lists are of a moment at which the runtime listed nothing yet
     */
    private static void arriveInAnyOrder(WatchedNode node, RandomGenerator random, boolean oldLists) {
        Map<String, Duration> delays = new HashMap<>();
        Duration calm = Duration.ofMillis(random.nextLong(12_000));
        node.delay = call -> Optional.of(
                node.time.elapsed().compareTo(calm) < 0
                        ? delays.computeIfAbsent(call.method(), key -> Duration.ofMillis(random.nextLong(3_900)))
                        : Duration.ofMillis(1));
        Duration scanned = Duration.ofMillis(random.nextLong(8_000));
        node.scanTakes = () -> node.time.elapsed().compareTo(scanned) >= 0
                ? Optional.of(Duration.ZERO)
                : random.nextBoolean() ? Optional.of(Duration.ofMillis(random.nextLong(2_900))) : Optional.empty();
        Duration listed = Duration.ofMillis(random.nextLong(20_000));
        node.workload =
                () -> node.time.elapsed().compareTo(listed) < 0 ? ContainerIndex.NONE : ProcessFixtures.WORKLOAD;
        if (oldLists) {
            node.runtime.remove(ProcessFixtures.WEB);
            node.runtime.remove(ProcessFixtures.DB);
            node.loop.schedule(Duration.ofMillis(random.nextLong(3_900)), () -> {
                node.runtime.sandbox(ProcessFixtures.WEB, "w1", true);
                node.runtime.sandbox(ProcessFixtures.DB, "d1", true);
            });
        }
    }
}
