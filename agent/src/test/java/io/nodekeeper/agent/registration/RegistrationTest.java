package io.nodekeeper.agent.registration;

import static io.nodekeeper.agent.FakeCluster.NODE;
import static io.nodekeeper.agent.FakeCluster.NODES;
import static io.nodekeeper.agent.FakeCluster.STATUS;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.FakeCluster;
import io.nodekeeper.agent.Fixtures;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.FakeTransport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RegistrationTest {
    private final FakeCluster cluster = new FakeCluster();

    private CompletableFuture<Registration.Outcome> register(AgentConfig config) {
        return new Registration(
                        config,
                        cluster.client,
                        () -> InitialNode.build(Fixtures.inputs(config, Fixtures.facts())),
                        created -> {},
                        () -> true)
                .run();
    }

    private static Node initial(AgentConfig config) {
        return InitialNode.build(Fixtures.inputs(config, Fixtures.facts())).node();
    }

    @Test
    @Tag("A1")
    void createsANewNodeWithOneCallAndAllConditions() {
        var outcome = register(Fixtures.config());

        cluster.advance(Duration.ofMillis(100));

        assertThat(cluster.log()).containsExactly("POST " + NODES);
        assertThat(outcome).isCompletedWithValue(Registration.Outcome.CREATED);
        assertThat(new Node(cluster.body(0)).conditions().stream().map(Condition::type))
                .containsExactly("MemoryPressure", "DiskPressure", "PIDPressure", "Ready");
    }

    private void assertFindsTheNodeAndLeavesItAlone() {
        var outcome = register(Fixtures.config());
        cluster.advance(Duration.ofMillis(100));

        assertThat(cluster.log()).containsExactly("POST " + NODES, "GET " + NODE);
        assertThat(outcome).isCompletedWithValue(Registration.Outcome.EXISTED);
    }

    @Test
    @Tag("A2")
    void leavesAnEqualNodeAlone() {
        cluster.store(initial(Fixtures.config()));

        assertFindsTheNodeAndLeavesItAlone();
    }

    @Test
    @Tag("A3")
    void patchesOnlyTheAnnotationThatDiffers() {
        cluster.store(new Node(initial(Fixtures.config())
                .json()
                .update(
                        "metadata",
                        metadata -> metadata.with(
                                "annotations", JsonObject.EMPTY.with(InitialNode.ATTACH_DETACH, "false")))));

        register(Fixtures.config());
        cluster.advance(Duration.ofMillis(100));

        assertThat(cluster.log()).containsExactly("POST " + NODES, "GET " + NODE, "PATCH " + STATUS);
        assertThat(cluster.body(2)).isEqualTo(Json.parseObject("""
                        {"metadata":{"annotations":{"volumes.kubernetes.io/controller-managed-attach-detach":"true"}}}"""));
    }

    @Test
    @Tag("A4")
    void retriesAfterAConflictWithoutLookingForTheNode() {
        cluster.transport.answer(call ->
                Optional.of(FakeTransport.refusal(ApiException.conflict(ResourceType.NODES, "n1", "storage trouble"))));

        var outcome = register(Fixtures.config());
        cluster.advance(Duration.ofMillis(300));

        assertThat(cluster.log()).containsExactly("POST " + NODES, "POST " + NODES);
        assertThat(outcome).isNotDone();
    }

    @Test
    @Tag("A5")
    void looksForTheNodeWhenItMayNotCreateOne() {
        cluster.store(initial(Fixtures.config()));
        cluster.refuse("POST " + NODES, 403);

        assertFindsTheNodeAndLeavesItAlone();
    }

    @Test
    @Tag("A5")
    void failsWhenItMayNotCreateOneAndTheGateIsOn() {
        cluster.store(initial(Fixtures.config()));
        cluster.refuse("POST " + NODES, 403);

        var outcome = register(new AgentConfigBuilder("n1")
                .featureGates(Map.of("KubeletRegistrationGetOnExistsOnly", true))
                .build());
        cluster.advance(Duration.ofMillis(100));

        assertThat(cluster.log()).containsExactly("POST " + NODES);
        assertThat(outcome).isNotDone();
    }

    @Test
    @Tag("A6")
    void waitsLongerAndLongerWhileTheServerIsDown() {
        cluster.refuse("POST " + NODES, 503);

        register(Fixtures.config());
        cluster.advance(Duration.ofSeconds(27));

        assertThat(cluster.timed)
                .containsExactly(
                        "0.1 POST " + NODES,
                        "0.3 POST " + NODES,
                        "0.7 POST " + NODES,
                        "1.5 POST " + NODES,
                        "3.1 POST " + NODES,
                        "6.3 POST " + NODES,
                        "12.7 POST " + NODES,
                        "19.7 POST " + NODES,
                        "26.7 POST " + NODES);
    }

    @Test
    @Tag("A7")
    void removesTheAttachAnnotationWhenThatIsOff() {
        AgentConfig off =
                new AgentConfigBuilder("n1").enableControllerAttachDetach(false).build();
        Node stored = initial(Fixtures.config());

        assertThat(NodeReconciler.apply(stored, initial(off), true)
                        .orElseThrow()
                        .annotations())
                .isEmpty();
        assertThat(NodeReconciler.apply(initial(off), initial(off), true)).isEmpty();
    }

    @Test
    @Tag("A8")
    void correctsDefaultLabelsAndLeavesUserLabelsAlone() {
        AgentConfig config =
                new AgentConfigBuilder("n1").nodeLabels(Map.of("team", "b")).build();
        Node stored = labelled(labelled(initial(config), "team", "a"), "kubernetes.io/arch", "arm64");

        Node reconciled = NodeReconciler.apply(stored, initial(config), true).orElseThrow();

        assertThat(reconciled.labels())
                .containsEntry("kubernetes.io/arch", "amd64")
                .containsEntry("team", "a");
        assertThat(NodeReconciler.apply(labelled(initial(config), "team", "a"), initial(config), true))
                .isEmpty();
    }

    @Test
    @Tag("A9")
    void deletesADefaultLabelOnlyIfItsOwnIsEmpty() {
        String label = "beta.kubernetes.io/instance-type";
        Node mine = initial(Fixtures.config());
        Node stored = labelled(mine, label, "x");

        assertThat(NodeReconciler.apply(stored, mine, true)).isEmpty();
        assertThat(NodeReconciler.apply(stored, labelled(mine, label, ""), true)
                        .orElseThrow()
                        .labels())
                .doesNotContainKey(label);
    }

    @Test
    @Tag("A10")
    void correctsHugePagesAndTouchesNothingElse() {
        Node mine = resources(Fixtures.resources("cpu", "8", "hugepages-2Mi", "10Mi"));
        Node stored = resources(
                Fixtures.resources("cpu", "4", "memory", "1Gi", "hugepages-1Gi", "4Gi", "hugepages-2Mi", "4Mi"));

        Node reconciled = NodeReconciler.apply(stored, mine, true).orElseThrow();

        JsonObject expected = Fixtures.resources("cpu", "4", "memory", "1Gi", "hugepages-2Mi", "10Mi");
        assertThat(reconciled.status().object("capacity")).isEqualTo(expected);
        assertThat(reconciled.status().object("allocatable")).isEqualTo(expected);
    }

    @Test
    @Tag("A11")
    void fillsInMissingResources() {
        Node mine = resources(Fixtures.resources("cpu", "4"));

        assertThat(NodeReconciler.apply(Fixtures.bare(), mine, true)
                        .orElseThrow()
                        .status())
                .isEqualTo(mine.status());
        assertThat(NodeReconciler.apply(Fixtures.bare(), Fixtures.bare(), true)).isEmpty();
    }

    @Test
    @Tag("A12")
    void zeroesExtendedResourcesOnlyWithoutACheckpoint() {
        Node mine = resources(Fixtures.resources("cpu", "4"));
        Node stored = resources(Fixtures.resources("cpu", "4", "example.com/gpu", "2"));
        JsonObject zero = Fixtures.resources("cpu", "4", "example.com/gpu", "0");

        assertThat(NodeReconciler.apply(stored, mine, true)).isEmpty();
        Node zeroed = NodeReconciler.apply(stored, mine, false).orElseThrow();
        assertThat(zeroed.status().object("capacity")).isEqualTo(zero);
        assertThat(zeroed.status().object("allocatable")).isEqualTo(zero);
        assertThat(NodeReconciler.apply(zeroed, mine, false)).isPresent();
    }

    @Test
    @Tag("A12")
    void asksAtEachAttemptWhetherThereIsACheckpoint() {
        Node stored = Fixtures.status(
                initial(Fixtures.config()), "capacity", Fixtures.resources("cpu", "4", "example.com/gpu", "2"));
        cluster.store(stored);

        new Registration(
                        Fixtures.config(),
                        cluster.client,
                        () -> InitialNode.build(Fixtures.inputs()),
                        created -> {},
                        () -> false)
                .run();
        cluster.advance(Duration.ofMillis(100));

        assertThat(cluster.log()).contains("PATCH " + NODES + "/n1/status");
    }

    @Test
    @Tag("A13")
    void taintsANewNodeThatACloudControllerMustInitialize() {
        Taint own = new Taint(Json.parseObject("{\"key\":\"team\",\"value\":\"a\",\"effect\":\"NoExecute\"}"));
        AgentConfig config = new AgentConfigBuilder("n1")
                .externalCloudProvider(true)
                .registerWithTaints(List.of(own))
                .build();

        assertThat(initial(config).spec()).isEqualTo(Json.parseObject("""
                        {"taints":[{"key":"team","value":"a","effect":"NoExecute"},
                         {"key":"node.cloudprovider.kubernetes.io/uninitialized","value":"true","effect":"NoSchedule"}]}"""));
        assertThat(NodeReconciler.apply(initial(Fixtures.config()), initial(config), true))
                .isEmpty();
    }

    @Test
    @Tag("A14")
    void lowersTheHostNameOverride() {
        Node node = initial(new AgentConfigBuilder(AgentConfig.nodeName(" N1 ")).build());

        assertThat(node.name()).isEqualTo("n1");
        assertThat(node.labels()).containsEntry("kubernetes.io/hostname", "n1");
    }

    private static Node labelled(Node node, String label, String value) {
        return new Node(node.json()
                .update("metadata", metadata -> metadata.update("labels", labels -> labels.with(label, value))));
    }

    private static Node resources(JsonObject resources) {
        return Fixtures.status(Fixtures.status(Fixtures.bare(), "capacity", resources), "allocatable", resources);
    }
}
