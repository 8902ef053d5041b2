package io.nodekeeper.agent.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.Fixtures;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.DeviceCapacity;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeHandler;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RuntimeSetterTest {
    private static final Instant LATER = Fixtures.NOW.plusSeconds(60);

    private static RuntimeFacts containerd(List<Image> images, RuntimeHandler... handlers) {
        return new RuntimeFacts("containerd://1.7.2", Fact.of(images, 0), List.of(handlers), Optional.empty());
    }

    private static Node set(RuntimeFacts runtime) {
        return StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(runtime)).node();
    }

    private static Node set(RuntimeFacts runtime, int maxImages) {
        AgentConfig config =
                new AgentConfigBuilder("n1").nodeStatusMaxImages(maxImages).build();
        return StatusSetters.apply(
                        Fixtures.bare(),
                        new StatusInputs(
                                config,
                                "v1",
                                Fixtures.facts(),
                                Set.of(),
                                runtime,
                                ReadyErrors.NONE,
                                List.of(),
                                false,
                                Fixtures.NOW,
                                false,
                                DeviceCapacity.NONE))
                .node();
    }

    private static Node judged(Node stored, List<String> runtime, List<String> network, boolean starting) {
        return StatusSetters.apply(
                        stored,
                        new StatusInputs(
                                Fixtures.config(),
                                "v1",
                                Fixtures.facts(),
                                Set.of(),
                                containerd(List.of()),
                                new ReadyErrors(runtime, network, List.of(), List.of()),
                                List.of(),
                                starting,
                                LATER,
                                false,
                                DeviceCapacity.NONE))
                .node();
    }

    private static List<Image> sixty() {
        List<Image> images = new ArrayList<>();
        for (int i = 1; i <= 60; i++) {
            images.add(new Image(
                    "sha256:" + i, List.of("r/i" + i + "@sha256:" + i), List.of("r/i" + i + ":1"), i * 1000L));
        }
        return images;
    }

    @Test
    @Tag("A43")
    void theFiftyLargestImagesAreReportedLargestFirst() {
        Node node = set(containerd(sixty()), 50);

        List<JsonObject> images = node.status().array("images").objects().toList();
        assertThat(images).hasSize(50);
        assertThat(images.getFirst().number("sizeBytes")).contains(60_000L);
        assertThat(images.getLast().number("sizeBytes")).contains(11_000L);
    }

    @Test
    @Tag("A43")
    void allImagesOrNoneAreReportedIfSoConfigured() {
        assertThat(set(containerd(sixty()), -1).status().array("images").items())
                .hasSize(60);
        assertThat(set(containerd(sixty()), 0).status().array("images").items()).isEmpty();
    }

    @Test
    @Tag("A43")
    void fiveNamesOfAnImageAreReportedDigestsFirst() {
        Image image = new Image("i", List.of("d1", "d2"), List.of("t1", "t2", "t3", "t4", "t5"), 1);

        Node node = set(containerd(List.of(image)));

        assertThat(node.status()
                        .array("images")
                        .objects()
                        .findFirst()
                        .orElseThrow()
                        .array("names")
                        .strings())
                .containsExactly("d1", "d2", "t1", "t2", "t3");
    }

    @Test
    @Tag("A43")
    void withoutAListThereAreNoImagesAndTheOtherPartsAreSet() {
        RuntimeFacts failed = new RuntimeFacts(
                "containerd://1.7.2",
                Fact.<List<Image>>unknown().failed("ListImages did not answer within 10s"),
                List.of(),
                Optional.empty());

        StatusResult result = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(failed));

        assertThat(result.errors()).contains("error getting image list: ListImages did not answer within 10s");
        assertThat(result.node().status().array("images").items()).isEmpty();
        assertThat(result.node().ready().orElseThrow().status()).isEqualTo("True");
    }

    @Test
    @Tag("A43")
    void aListThatCannotBeRenewedIsKept() {
        Fact<List<Image>> old =
                Fact.of(List.of(new Image("i", List.of(), List.of("t"), 1)), 0).failed("late");

        Node node = set(new RuntimeFacts("containerd://1.7.2", old, List.of(), Optional.empty()));

        assertThat(node.status().array("images").items()).hasSize(1);
    }

    @Test
    @Tag("A44")
    void theRuntimesVersionIsReported() {
        assertThat(set(containerd(List.of())).status().object("nodeInfo").text("containerRuntimeVersion"))
                .isEqualTo("containerd://1.7.2");
    }

    @Test
    void thePortOfTheKubeletApiIsReportedAsConfigured() {
        assertThat(set(containerd(List.of())).status().object("daemonEndpoints"))
                .hasToString("{\"kubeletEndpoint\":{\"Port\":10250}}");
        AgentConfig config = new AgentConfigBuilder("n1").kubeletPort(10_350).build();
        assertThat(config.serving().kubeletPort()).isEqualTo(10_350);
    }

    @Test
    @Tag("A47")
    void shuffledHandlersAreNoChange() {
        RuntimeHandler runc = new RuntimeHandler("runc", true, false);
        RuntimeHandler kata = new RuntimeHandler("kata", false, false);
        Node stored = set(containerd(List.of(), runc, kata));

        Node shuffled = StatusSetters.apply(stored, Fixtures.inputs(containerd(List.of(), kata, runc)))
                .node();

        assertThat(StatusComparison.changed(stored, shuffled)).isFalse();
        assertThat(shuffled.status().array("runtimeHandlers").objects().map(handler -> handler.text("name")))
                .containsExactly("kata", "runc");
    }

    @Test
    @Tag("A55")
    void aNetworkErrorAloneStandsWithoutBrackets() {
        String text = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
                + " message:cni plugin not initialized";

        Node node = judged(Fixtures.bare(), List.of(), List.of(text), false);

        assertThat(node.ready().orElseThrow().message()).isEqualTo(text);
    }

    @Test
    @Tag("A56")
    void runtimeErrorsComeBeforeNetworkErrors() {
        Node node = judged(
                Fixtures.bare(),
                List.of("container runtime is down"),
                List.of("container runtime network not ready: <nil>"),
                false);

        assertThat(node.ready().orElseThrow().message())
                .isEqualTo("[container runtime is down, container runtime network not ready: <nil>]");
    }

    @Test
    @Tag("A58")
    void aNewMessageIsAChangeButNoTransition() {
        Node before = judged(Fixtures.bare(), List.of("pleg was last seen active 3m4s ago"), List.of(), false);
        Instant transition = before.ready().orElseThrow().lastTransitionTime().orElseThrow();

        StatusResult after = StatusSetters.apply(
                before,
                new StatusInputs(
                        Fixtures.config(),
                        "v1",
                        Fixtures.facts(),
                        Set.of(),
                        containerd(List.of()),
                        new ReadyErrors(
                                List.of("pleg was last seen active 3m14s ago"), List.of(), List.of(), List.of()),
                        List.of(),
                        false,
                        LATER.plusSeconds(10),
                        false,
                        DeviceCapacity.NONE));

        assertThat(StatusComparison.changed(before, after.node())).isTrue();
        assertThat(after.node().ready().orElseThrow().lastTransitionTime()).contains(transition);
        assertThat(after.events()).isEmpty();
    }

    @Test
    void aHealthyNodeStaysReadyWhileItsNewAgentDoesNotKnowYet() {
        Node stored = judged(Fixtures.bare(), List.of(), List.of(), false);

        Node held =
                judged(stored, List.of("container runtime status check may not have completed yet"), List.of(), true);
        Node judged =
                judged(stored, List.of("container runtime status check may not have completed yet"), List.of(), false);

        assertThat(held.ready().orElseThrow().status()).isEqualTo(Condition.TRUE);
        assertThat(judged.ready().orElseThrow().status()).isEqualTo(Condition.FALSE);
    }

    @Test
    void aNodeThatWasNotReadyIsNotCalledReadyBecauseItsAgentDoesNotKnowYet() {
        Node stored = judged(Fixtures.bare(), List.of("container runtime is down"), List.of(), false);

        Node node =
                judged(stored, List.of("container runtime status check may not have completed yet"), List.of(), true);

        assertThat(node.ready().orElseThrow().status()).isEqualTo(Condition.FALSE);
    }

    @Test
    void anOwnConditionKeepsItsTransitionTimeWhileItsStatusStays() {
        ConditionReport hung = new ConditionReport("RuntimeDegraded", "True", "CNIPluginHung", "a");
        ConditionReport still = new ConditionReport("RuntimeDegraded", "True", "CNIPluginHung", "b");

        Node first = ConditionSetters.report(Fixtures.bare(), hung, Fixtures.inputs());
        Node second = ConditionSetters.report(first, still, Fixtures.inputs(Set.of(), ReadyErrors.NONE, LATER));

        Condition condition = Fixtures.condition(second, "RuntimeDegraded");
        assertThat(condition.message()).isEqualTo("b");
        assertThat(condition.lastTransitionTime()).contains(Fixtures.NOW);
    }
}
