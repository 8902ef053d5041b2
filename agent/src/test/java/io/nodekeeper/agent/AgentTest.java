package io.nodekeeper.agent;

import static io.nodekeeper.agent.FakeCluster.LEASE;
import static io.nodekeeper.agent.FakeCluster.LEASES;
import static io.nodekeeper.agent.FakeCluster.NODE;
import static io.nodekeeper.agent.FakeCluster.NODES;
import static io.nodekeeper.agent.FakeCluster.STATUS;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.eviction.PressureListener;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.NodeDevices;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.problems.ProblemView;
import io.nodekeeper.agent.runtime.NoRuntime;
import io.nodekeeper.agent.status.StatusSetters;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AgentTest {
    private final FakeCluster cluster = new FakeCluster();
    private final MeasuredHost host = new MeasuredHost();

    private Agent start(AgentConfig config) {
        Agent agent = Agent.withoutRuntime(config, cluster.ports(), host);
        agent.start();
        return agent;
    }

    private long patches(Duration duration) {
        cluster.transport.clear();
        cluster.advance(duration);
        return cluster.count("PATCH " + STATUS);
    }

    @Test
    void registersReadyAndBeatsWithinMilliseconds() {
        Agent agent = start(Fixtures.config());

        cluster.advance(Duration.ofMillis(100));

        assertThat(agent.registered()).isCompleted();
        assertThat(cluster.timed)
                .containsExactly(
                        "0.1 POST " + NODES,
                        "0.1 GET " + LEASE,
                        "0.1 PATCH " + STATUS,
                        "0.1 GET " + NODE,
                        "0.1 POST " + LEASES);
        assertThat(Fixtures.condition(new Node(cluster.body(0)), "Ready").status())
                .isEqualTo("True");
        assertThat(cluster.body(0).object("status").object("nodeInfo").text("containerRuntimeVersion"))
                .isEqualTo("none");
        assertThat(cluster.events)
                .containsExactly(
                        "Normal Starting Starting kubelet.",
                        "Normal NodeHasSufficientMemory Node n1 status is now: NodeHasSufficientMemory",
                        "Normal NodeHasNoDiskPressure Node n1 status is now: NodeHasNoDiskPressure",
                        "Normal NodeHasSufficientPID Node n1 status is now: NodeHasSufficientPID");
    }

    @Test
    void reportsImmediatelyAndOnlyOnceAfterTheControllerSetUnknown() {
        start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(1));
        cluster.transport.clear();

        cluster.show(givenUp());
        cluster.advance(Duration.ofMillis(10));

        assertThat(cluster.log()).containsExactly("PATCH " + STATUS);
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "Ready").status())
                .isEqualTo("True");
    }

    /** The Node as the controller leaves it that no longer gets heartbeats. */
    private Node givenUp() {
        Node node = cluster.node.orElseThrow();
        return node.withConditions(node.conditions().stream()
                .map(condition -> new Condition(condition.json().with("status", Condition.UNKNOWN)))
                .toList());
    }

    @Test
    @Tag("A19")
    @Tag("A102")
    void newsDuringAnEarlyReportIsReportedAsSoonAsThatReportEnds() {
        // given an early report whose PATCH has no answer yet
        AtomicBoolean shuttingDown = new AtomicBoolean();
        Agent agent = new Agent(
                Fixtures.config(),
                cluster.ports(),
                host,
                new NoRuntime(),
                ProblemView.NONE,
                new LoopMonitor(cluster.ports().loop().clock()),
                StartListener.NONE,
                PressureListener.NONE,
                shuttingDown::get,
                NodeDevices.NONE);
        agent.start();
        cluster.advance(Duration.ofSeconds(1));
        cluster.refuse("PATCH " + STATUS, -1);
        cluster.show(givenUp());
        cluster.advance(Duration.ofMillis(10));

        // when a shutdown of the machine begins meanwhile, and the PATCH is answered after 3 s
        shuttingDown.set(true);
        agent.reportNow();
        cluster.advance(Duration.ofSeconds(3));
        cluster.refusals.clear();
        cluster.transport.clear();
        cluster.transport.release();
        cluster.advance(Duration.ofMillis(10));

        // then the shutdown is reported at once, and once
        assertThat(cluster.log()).containsExactly("PATCH " + STATUS);
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "Ready").message())
                .isEqualTo("node is shutting down");
    }

    @Test
    void anotherMachineOfTheSameNameIsAConditionAndAnEvent() {
        start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(1));
        assertThat(cluster.node.orElseThrow().condition("DuplicateNode")).isEmpty();
        Node node = cluster.node.orElseThrow();
        cluster.events.clear();

        cluster.show(new Node(node.json()
                .update("status", status -> status.update("nodeInfo", info -> info.with("bootID", "another")))));
        cluster.advance(Duration.ofMillis(10));

        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "DuplicateNode")
                        .status())
                .isEqualTo("True");
        assertThat(cluster.events)
                .filteredOn(event -> !event.contains("Rebooted"))
                .singleElement()
                .asString()
                .startsWith(
                        "Warning DuplicateNode another machine reports under this node's name: the boot id another was");
        cluster.advance(Duration.ofMinutes(11));
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "DuplicateNode")
                        .status())
                .isEqualTo("False");
    }

    @Test
    void aHungDiskDelaysNeitherRegistrationNorLease() {
        host.hang = true;

        start(Fixtures.config());
        cluster.advance(Duration.ofMillis(1_500));

        assertThat(cluster.timed).contains("1.1 POST " + NODES, "1.1 POST " + LEASES);
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "Ready").message())
                .isEqualTo("missing node capacity for resources: ephemeral-storage");

        host.hang = false;
        cluster.advance(Duration.ofSeconds(4));
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "Ready").status())
                .isEqualTo("True");
    }

    @Test
    void capacityOfAnEarlierStartStaysWhileTheMachineIsNotMeasured() {
        // given a node of 8 cores that starts again, on which nothing can be read about the machine
        cluster.store(Fixtures.status(
                StatusSetters.apply(Fixtures.bare(), Fixtures.inputs()).node(),
                "capacity",
                Fixtures.resources("cpu", "8", "memory", "32Gi", "pods", "110")));
        host.machineHangs = true;

        // when it reports its status
        start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(8));

        // then it has its capacity still
        assertThat(cluster.count("PATCH " + STATUS)).isPositive();
        assertThat(capacity("cpu")).isEqualTo("8");
        assertThat(capacity("memory")).isEqualTo("32Gi");

        // and soon after the machine can be read it has the new one
        host.machineHangs = false;
        cluster.advance(Duration.ofSeconds(8));
        assertThat(capacity("cpu")).isEqualTo("4");
        assertThat(capacity("memory")).isEqualTo("16Gi");
    }

    private String capacity(String resource) {
        return cluster.node.orElseThrow().status().object("capacity").text(resource);
    }

    @Test
    void agentThatDoesNotRegisterIsHealthyWithoutItsNodeAndReadyOnceTheNodeHasItsStatus() {
        // given an agent that does not register, and no Node
        LoopMonitor monitor = new LoopMonitor(cluster.ports().loop().clock());
        Agent agent = new Agent(
                new AgentConfigBuilder("n1").registerNode(false).build(),
                cluster.ports(),
                host,
                new NoRuntime(),
                ProblemView.NONE,
                monitor,
                StartListener.NONE,
                PressureListener.NONE,
                () -> false,
                NodeDevices.NONE);
        agent.start();

        // when ten minutes pass
        cluster.advance(Duration.ofMinutes(10));

        // then its loop is healthy, and its node is not there
        assertThat(monitor.failure("syncloop")).isEmpty();
        assertThat(agent.registered()).isNotDone();

        // until somebody makes the Node, and its status is written
        cluster.store(Fixtures.bare());
        cluster.advance(Duration.ofSeconds(15));
        assertThat(agent.registered()).isCompleted();
        assertThat(cluster.node.orElseThrow().isReady()).isTrue();
    }

    @Test
    void statusThatCannotBeWrittenAfterARebootIsNoOtherMachine() {
        // given a Node of an earlier boot, whose status cannot be written
        Node earlier = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs()).node();
        cluster.store(new Node(earlier.json()
                .update("status", status -> status.update("nodeInfo", info -> info.with("bootID", "earlier")))));
        cluster.refuse("PATCH " + STATUS, 500);
        start(Fixtures.config());

        // when ten minutes pass
        cluster.advance(Duration.ofMinutes(10));

        // then no event reports another machine, and none does after a write succeeds
        cluster.refusals.clear();
        cluster.advance(Duration.ofMinutes(1));
        assertThat(cluster.events).noneMatch(event -> event.contains("DuplicateNode"));
        assertThat(cluster.node.orElseThrow().status().object("nodeInfo").text("bootID"))
                .isNotEqualTo("earlier");
    }

    @Test
    @Tag("A15")
    void registersAgainOnceTheServerSaysThatTheNodeIsGone() {
        start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(60));
        cluster.node = Optional.empty();
        cluster.lease = Optional.empty();
        cluster.transport.clear();

        cluster.advance(Duration.ofMillis(10_600));

        assertThat(cluster.count("POST " + NODES)).isEqualTo(1);
        assertThat(cluster.node.orElseThrow().uid()).isEqualTo("uid-2");
        assertThat(cluster.lease
                        .orElseThrow()
                        .metadata()
                        .array("ownerReferences")
                        .objects())
                .extracting(owner -> owner.text("uid"))
                .containsExactly("uid-2");
    }

    @Test
    @Tag("A33")
    void noStatusIsReportedBeforeRegistrationAndTheLeaseGoesOn() {
        cluster.store(StatusSetters.apply(Fixtures.bare(), Fixtures.inputs()).node());
        cluster.refuse("POST " + NODES, 500);

        start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(60));

        assertThat(cluster.count("PATCH " + STATUS)).isZero();
        assertThat(cluster.timed).contains("2.0 POST " + LEASES);
        assertThat(cluster.count("PUT " + LEASE)).isEqualTo(5);
    }

    @Test
    @Tag("A22")
    @Tag("A73")
    void theLeaseIsRenewedWhileStatusCallsHang() {
        start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(1));
        cluster.refuse("GET " + NODE, -1);
        cluster.refuse("PATCH " + STATUS, -1);
        host.hang = true;
        cluster.transport.clear();

        cluster.advance(Duration.ofMinutes(10));

        assertThat(cluster.count("PUT " + LEASE)).isBetween(57L, 60L);
    }

    @Test
    @Tag("A31")
    void patchesWithEveryUpdateIfTheReportIsAsFrequent() {
        cluster.random = new Least();
        start(new AgentConfigBuilder("n1")
                .nodeStatusUpdateFrequency(Duration.ofSeconds(20))
                .nodeStatusReportFrequency(Duration.ofSeconds(20))
                .build());
        cluster.advance(Duration.ofSeconds(1));

        assertThat(patches(Duration.ofSeconds(200))).isEqualTo(10);
    }

    @Test
    @Tag("A31")
    void patchesEveryFiveMinutesOtherwise() {
        start(new AgentConfigBuilder("n1")
                .nodeStatusUpdateFrequency(Duration.ofSeconds(20))
                .build());
        cluster.advance(Duration.ofMinutes(8));

        assertThat(patches(Duration.ofMinutes(20))).isBetween(3L, 4L);
    }

    @Test
    @Tag("A32")
    void theNextUpdateComesAPeriodAfterTheEndOfTheLast() {
        cluster.random = new Least();
        cluster.store(StatusSetters.apply(Fixtures.bare(), Fixtures.inputs()).node());
        cluster.cacheEmpty = true;
        start(new AgentConfigBuilder("n1").registerNode(false).build());
        cluster.refuse("GET " + NODE, -1);
        // The first round ends after four deadlines of 10 s, at 40 s.
        cluster.advance(Duration.ofSeconds(49));
        cluster.refusals.clear();
        cluster.timed.clear();

        cluster.advance(Duration.ofSeconds(2));

        assertThat(cluster.timed).contains("50.0 GET " + NODE, "50.0 PATCH " + STATUS);
    }

    @Test
    void makesNoCallAfterItStopped() {
        Agent agent = start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(30));
        agent.stop();
        cluster.advance(Duration.ofMillis(1));
        cluster.transport.clear();

        cluster.advance(Duration.ofMinutes(10));

        assertThat(cluster.log()).isEmpty();
    }

    @Test
    void pressureReachesTheApiWithTheNextRounds() {
        start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(1));

        host.disk = new Filesystem(new Level(1, 107_374_182_400L), new Level(50_000_000, 52_428_800));
        cluster.advance(Duration.ofSeconds(21));

        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "DiskPressure")
                        .status())
                .isEqualTo("True");
        assertThat(cluster.events).contains("Normal NodeHasDiskPressure Node n1 status is now: NodeHasDiskPressure");
    }

    @Test
    @Tag("A94")
    void pressureEndsInTheApiInTheSecondInWhichItsPeriodEnds() {
        // Rounds take place every 10 s, so a period of 33 s ends between two rounds.
        start(new AgentConfigBuilder("n1")
                .evictionPressureTransitionPeriod(Duration.ofSeconds(33))
                .build());
        cluster.advance(Duration.ofMillis(500));
        host.disk = new Filesystem(new Level(1, 107_374_182_400L), new Level(50_000_000, 52_428_800));
        long raised = secondOf("DiskPressure", "True");
        host.disk = Fixtures.DISK;

        long cleared = secondOf("DiskPressure", "False");

        assertThat(raised).isEqualTo(10);
        assertThat(cleared - raised).isEqualTo(33);
    }

    @Test
    void thePressureListenerHearsOfThatEndInTheSameSecond() {
        List<String> heard = new ArrayList<>();
        host.disk = new Filesystem(new Level(1, 107_374_182_400L), new Level(50_000_000, 52_428_800));
        new Agent(
                        new AgentConfigBuilder("n1")
                                .evictionPressureTransitionPeriod(Duration.ofSeconds(33))
                                .build(),
                        cluster.ports(),
                        host,
                        new NoRuntime(),
                        ProblemView.NONE,
                        new LoopMonitor(cluster.ports().loop().clock()),
                        StartListener.NONE,
                        (shortages, pressures) -> heard.add(shortages.size() + " " + pressures),
                        () -> false,
                        NodeDevices.NONE)
                .start();
        cluster.advance(Duration.ofSeconds(11));
        assertThat(heard).last().isEqualTo("1 [DISK]");

        host.disk = Fixtures.DISK;
        cluster.advance(Duration.ofSeconds(31));
        assertThat(heard).last().isEqualTo("0 [DISK]");
        cluster.advance(Duration.ofSeconds(2));

        assertThat(heard).last().isEqualTo("0 []");
    }

    @Test
    void aDiskThatCannotBeMeasuredAnyMoreIsACondition() {
        start(Fixtures.config());
        cluster.advance(Duration.ofSeconds(15));
        assertThat(cluster.node.orElseThrow().condition("PressureUnknown")).isEmpty();

        host.hang = true;
        cluster.advance(Duration.ofSeconds(60));
        Condition unknown = Fixtures.condition(cluster.node.orElseThrow(), "PressureUnknown");
        assertThat(unknown.status()).isEqualTo("True");
        assertThat(unknown.reason()).isEqualTo("EvictionSignalNotMeasured");
        assertThat(unknown.message())
                .startsWith("nodefs.available, nodefs.inodesFree cannot be measured: ")
                .endsWith("; DiskPressure keeps its last status");

        host.hang = false;
        cluster.advance(Duration.ofSeconds(21));
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "PressureUnknown")
                        .status())
                .isEqualTo("False");
    }

    /** Advances until the condition has that status in the API; the seconds since the start. */
    private long secondOf(String type, String status) {
        for (int tenth = 0; tenth < 6_000; tenth++) {
            if (Fixtures.condition(cluster.node.orElseThrow(), type).status().equals(status)) {
                return cluster.time.elapsed().toSeconds();
            }
            cluster.advance(Duration.ofMillis(100));
        }
        throw new AssertionError(type + " did not become " + status + " in ten minutes");
    }

    /** Randomness that is always 0: no jitter, the shortest waits. */
    private static final class Least implements RandomGenerator {
        @Override
        public long nextLong() {
            return 0;
        }
    }
}
