package io.nodekeeper.agent.heartbeat;

import static io.nodekeeper.agent.FakeCluster.NODE;
import static io.nodekeeper.agent.FakeCluster.STATUS;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.AgentPorts;
import io.nodekeeper.agent.FakeCluster;
import io.nodekeeper.agent.Fixtures;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.facts.DeviceCapacity;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.MachineInfo;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import io.nodekeeper.agent.status.StatusInputs;
import io.nodekeeper.agent.status.StatusSetters;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.LogLines;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class StatusReporterTest {
    private static final String PATCH = "PATCH " + STATUS;
    private static final String GET = "GET " + NODE;

    private final FakeCluster cluster = new FakeCluster();
    private final LogLines log = LogLines.of(StatusReporter.class);
    private HostFacts facts = Fixtures.facts();
    private Set<Pressure> pressures = Set.of();

    private StatusReporter reporter() {
        AgentPorts ports = cluster.ports();
        return new StatusReporter(
                Fixtures.config(),
                cluster.client,
                cluster,
                ports.random(),
                ports.onRepeatedFailure(),
                (node, known) -> StatusSetters.apply(
                        node,
                        new StatusInputs(
                                Fixtures.config(),
                                "v1",
                                facts,
                                pressures,
                                RuntimeFacts.NONE,
                                ReadyErrors.NONE,
                                List.of(),
                                false,
                                cluster.loop.wallTime(),
                                known,
                                DeviceCapacity.NONE)),
                event -> cluster.events.add(event.reason()));
    }

    private static Node healthy() {
        return StatusSetters.apply(Fixtures.bare(), Fixtures.inputs()).node();
    }

    private void sync(StatusReporter reporter) {
        cluster.loop.execute(reporter::sync);
        cluster.advance(Duration.ofSeconds(5));
    }

    @Test
    @Tag("A16")
    void theFirstTryAlwaysPatchesAndReadsFromTheCache() {
        cluster.store(healthy());
        StatusReporter reporter = reporter();

        sync(reporter);
        sync(reporter);

        assertThat(cluster.log()).containsExactly(PATCH);
    }

    @Test
    @Tag("A19")
    void aChangeIsReportedAtOnce() {
        cluster.store(healthy());
        StatusReporter reporter = reporter();
        sync(reporter);
        cluster.transport.clear();

        pressures = Set.of(Pressure.PID);
        sync(reporter);

        assertThat(cluster.log()).containsExactly(PATCH);
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "PIDPressure").status())
                .isEqualTo("True");
        assertThat(cluster.events).containsExactly("NodeHasInsufficientPID");
    }

    @Test
    @Tag("A20")
    void triesFiveTimesAndThenWaitsForTheNextTick() {
        cluster.store(healthy());
        cluster.refuse(PATCH, 500);
        StatusReporter reporter = reporter();

        sync(reporter);

        assertThat(cluster.log()).containsExactly(PATCH, GET, PATCH, GET, PATCH, GET, PATCH, GET, PATCH);
        assertThat(cluster.repeatedFailures).isEqualTo(4);
        assertThat(log.lines()).contains("Unable to update node status: n1: update node status exceeds retry count");

        cluster.refusals.clear();
        cluster.transport.clear();
        sync(reporter);
        assertThat(cluster.log()).as("the report is still owed").containsExactly(PATCH);
    }

    @Test
    @Tag("A21")
    void asksTheServerWhenTheCacheDoesNotKnowTheNode() {
        cluster.store(healthy());
        cluster.cacheEmpty = true;

        sync(reporter());

        assertThat(cluster.log()).containsExactly(GET, PATCH);
        assertThat(cluster.timed).containsExactly("0.0 " + GET, "0.0 " + PATCH);
    }

    @Test
    @Tag("A22")
    void aHangingServerCostsAtMostFiveDeadlines() {
        cluster.store(healthy());
        cluster.refuse(PATCH, -1);
        cluster.refuse(GET, -1);
        StatusReporter reporter = reporter();
        cluster.loop.execute(reporter::sync);

        cluster.advance(Duration.ofSeconds(50));

        assertThat(cluster.timed)
                .containsExactly("0.0 " + PATCH, "10.0 " + GET, "20.0 " + GET, "30.0 " + GET, "40.0 " + GET);
        assertThat(log.lines()).contains("Unable to update node status: n1: update node status exceeds retry count");
    }

    @Test
    @Tag("A23")
    void putsThePlatformLabelsBackAndNoOthers() {
        cluster.store(healthy());
        StatusReporter reporter = reporter();
        sync(reporter);
        cluster.transport.clear();
        cluster.store(new Node(cluster.node
                .orElseThrow()
                .json()
                .update(
                        "metadata",
                        metadata -> metadata.update("labels", labels -> labels.without("kubernetes.io/os")))));

        sync(reporter);

        assertThat(cluster.body(0).object("metadata"))
                .isEqualTo(Json.parseObject("{\"labels\":{\"kubernetes.io/os\":\"linux\"}}"));
        assertThat(cluster.log()).containsExactly(PATCH);
    }

    @Test
    @Tag("A25")
    void sendsAStrategicMergePatch() {
        cluster.store(healthy());

        sync(reporter());

        assertThat(cluster.transport.calls().getFirst().contentType())
                .isEqualTo("application/strategic-merge-patch+json");
    }

    @Test
    @Tag("A42")
    void sendsTheRebootEventOnceTheBootIdIsStored() {
        cluster.store(healthy());
        facts = Fixtures.facts(new MachineInfo(4, 17_179_869_184L, 0, Map.of(), "m", "s", "boot-b", "k", "o", "amd64"));
        cluster.refuse(PATCH, 500);
        StatusReporter reporter = reporter();

        sync(reporter);
        assertThat(cluster.events).isEmpty();
        cluster.refusals.clear();
        sync(reporter);
        sync(reporter);

        assertThat(cluster.events).containsExactly("Rebooted");
    }

    @Test
    @Tag("A48")
    void sendsOneEventWhenTheNodeIsCordoned() {
        cluster.store(new Node(healthy()
                .json()
                .update(
                        "spec",
                        spec -> spec.toBuilder().put("unschedulable", true).build())));
        StatusReporter reporter = reporter();

        sync(reporter);
        sync(reporter);
        cluster.store(new Node(cluster.node.orElseThrow().json().without("spec")));
        sync(reporter);

        assertThat(cluster.events).containsExactly("NodeNotSchedulable", "NodeSchedulable");
    }

    private Node notReady() {
        facts = Fixtures.facts().withRootFilesystem(Fact.unknown());
        return StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(Fixtures.config(), facts))
                .node();
    }

    @Test
    @Tag("A61")
    void theFirstReadyIsReportedWithin100Milliseconds() {
        cluster.store(notReady());
        reporter().startFastPath();
        cluster.advance(Duration.ofMillis(3_050));
        assertThat(cluster.log()).isEmpty();

        facts = Fixtures.facts();
        cluster.advance(Duration.ofSeconds(7));

        assertThat(cluster.timed).containsExactly("3.1 " + PATCH);
        assertThat(log.lines()).contains("Fast updating node status as it just became ready: n1");
    }

    @Test
    @Tag("A62")
    void theFastPathEndsAtOnceOnANodeThatIsReady() {
        cluster.store(healthy());

        reporter().startFastPath();
        cluster.advance(Duration.ofSeconds(130));

        assertThat(cluster.log()).isEmpty();
        assertThat(cluster.time.executed()).isZero();
    }

    @Test
    @Tag("A63")
    void theFastPathGivesUpAfterTwoMinutes() {
        cluster.store(notReady());

        reporter().startFastPath();
        cluster.advance(Duration.ofMillis(119_950));
        assertThat(log.lines()).isEmpty();
        cluster.advance(Duration.ofSeconds(1));

        assertThat(log.lines()).containsExactly("Node not becoming ready in time after startup: n1");
        assertThat(cluster.log()).isEmpty();
    }

    @Test
    @Tag("A64")
    void theFastPathFallsBackToAFullRound() {
        cluster.store(notReady());
        facts = Fixtures.facts();
        cluster.refuse(PATCH, 500);

        reporter().startFastPath();
        cluster.advance(Duration.ofSeconds(30));

        assertThat(cluster.count(PATCH)).isEqualTo(6);
        assertThat(cluster.count(GET)).isEqualTo(4);
        assertThat(cluster.log()).hasSize(10);
    }

    @Test
    void aFailureNamesTheNodeAndTheBeginningOfThePatch() {
        cluster.store(Fixtures.bare());
        cluster.refuse(PATCH, 500);

        sync(reporter());

        assertThat(log.lines().getFirst())
                .startsWith("Error updating node status, will retry: failed to patch status \"{\"metadata\":")
                .endsWith("for node \"n1\": told to refuse")
                .hasSizeLessThan(700);
    }

    @Test
    void neverPatchesAnEmptyConditionList() {
        cluster.store(Fixtures.bare());

        sync(reporter());

        JsonObject status = cluster.body(0).object("status");
        assertThat(status.array("conditions").objects()).hasSize(4);
    }
}
