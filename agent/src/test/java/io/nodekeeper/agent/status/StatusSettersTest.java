package io.nodekeeper.agent.status;

import static io.nodekeeper.agent.Fixtures.condition;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.Fixtures;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.facts.DeviceCapacity;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.MachineInfo;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.net.InetAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class StatusSettersTest {
    private static final Instant LATER = Fixtures.NOW.plusSeconds(10);

    private static JsonObject capacity(AgentConfig config) {
        return StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(config, Fixtures.facts()))
                .node()
                .status()
                .object("capacity");
    }

    private static Node healthy() {
        return StatusSetters.apply(Fixtures.bare(), Fixtures.inputs()).node();
    }

    private static List<String> reasons(StatusResult result) {
        return result.events().stream().map(NodeEvent::reason).toList();
    }

    @Test
    @Tag("A34")
    void limitsPodsByCores() {
        assertThat(capacity(new AgentConfigBuilder("n1").podsPerCore(10).build())
                        .text("pods"))
                .isEqualTo("40");
        assertThat(capacity(new AgentConfigBuilder("n1").podsPerCore(0).build()).text("pods"))
                .isEqualTo("110");
        assertThat(capacity(new AgentConfigBuilder("n1")
                                .podsPerCore(10)
                                .maxPods(8)
                                .build())
                        .text("pods"))
                .isEqualTo("8");
    }

    @Test
    @Tag("A35")
    @Tag("A36")
    void reservesForSystemKubernetesEvictionAndHugePages() {
        AgentConfig config = new AgentConfigBuilder("n1")
                .kubeReserved(Map.of("cpu", "100m", "memory", "256Mi"))
                .systemReserved(Map.of("cpu", "200m", "memory", "256Mi"))
                .build();
        MachineInfo pages =
                new MachineInfo(4, 17_179_869_184L, 0, Map.of(2_097_152L, 512L), "m", "s", "b", "k", "o", "amd64");

        JsonObject status = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(config, Fixtures.facts(pages)))
                .node()
                .status();

        assertThat(status.object("capacity").texts())
                .containsOnly(
                        Map.entry("cpu", "4"),
                        Map.entry("memory", "16Gi"),
                        Map.entry("hugepages-2Mi", "1Gi"),
                        Map.entry("pods", "110"),
                        Map.entry("ephemeral-storage", "100Gi"));
        assertThat(status.object("allocatable").texts())
                .containsOnly(
                        Map.entry("cpu", "3700m"),
                        Map.entry("memory", "14748Mi"),
                        Map.entry("hugepages-2Mi", "1Gi"),
                        Map.entry("pods", "110"),
                        Map.entry("ephemeral-storage", "96636764000"));
        assertThat(Quantity.parse("14748Mi").toLong()).isEqualTo(15_464_398_848L);
    }

    @Test
    @Tag("A37")
    void allocatableIsNeverNegative() {
        AgentConfig config =
                new AgentConfigBuilder("n1").kubeReserved(Map.of("cpu", "5")).build();
        MachineInfo pages =
                new MachineInfo(4, 2_147_483_648L, 0, Map.of(1L << 30, 3L), "m", "s", "b", "k", "o", "amd64");

        JsonObject allocatable = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(config, Fixtures.facts(pages)))
                .node()
                .status()
                .object("allocatable");

        assertThat(allocatable.text("cpu")).isEqualTo("0");
        assertThat(allocatable.text("memory")).isEqualTo("0");
    }

    @Test
    @Tag("A38")
    void reportsZeroWhereTheMachineIsUnknown() {
        HostFacts known = Fixtures.facts();
        HostFacts facts = known.withMachine(Fact.unknown());

        StatusResult result = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(Fixtures.config(), facts));

        assertThat(result.node().status().object("capacity"))
                .isEqualTo(Fixtures.resources("cpu", "0", "memory", "0", "pods", "110"));
        assertThat(condition(result.node(), "Ready").message())
                .isEqualTo("missing node capacity for resources: ephemeral-storage");
        assertThat(result.errors()).containsExactly("error getting version info: not read yet");
    }

    @Test
    void keepsTheCapacityThatTheNodeHasWhereTheMachineIsUnknown() {
        HostFacts facts = Fixtures.facts().withMachine(Fact.unknown());
        Node before = Fixtures.status(
                Fixtures.bare(), "capacity", Fixtures.resources("cpu", "8", "memory", "32Gi", "hugepages-2Mi", "1Gi"));

        Node node = StatusSetters.apply(before, Fixtures.inputs(Fixtures.config(), facts))
                .node();

        assertThat(node.status().object("capacity"))
                .isEqualTo(Fixtures.resources("cpu", "8", "memory", "32Gi", "hugepages-2Mi", "1Gi", "pods", "110"));
    }

    @Test
    @Tag("A39")
    void namesMissingCapacityInOrder() {
        HostFacts known = Fixtures.facts();
        HostFacts facts = known.withRootFilesystem(Fact.unknown());

        Node withoutDisk = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(Fixtures.config(), facts))
                .node();
        Node withoutMore = ConditionSetters.ready(
                Fixtures.status(Fixtures.bare(), "capacity", Fixtures.resources("pods", "110")),
                Fixtures.inputs(),
                new ArrayList<>());

        assertThat(condition(withoutDisk, "Ready"))
                .returns("False", Condition::status)
                .returns("KubeletNotReady", Condition::reason)
                .returns("missing node capacity for resources: ephemeral-storage", Condition::message);
        assertThat(condition(withoutMore, "Ready").message())
                .isEqualTo("missing node capacity for resources: cpu, memory, ephemeral-storage");
    }

    @Test
    @Tag("A40")
    void showsTheDevicesOfPlugins() {
        Node one = devices(Fixtures.bare(), new DeviceCapacity.Amount(2, 1));
        assertThat(one.status().object("capacity").text("example.com/gpu")).isEqualTo("2");
        assertThat(one.status().object("allocatable").text("example.com/gpu")).isEqualTo("1");

        Node removed = devices(one, DeviceCapacity.Amount.ZERO);
        assertThat(removed.status().object("capacity").text("example.com/gpu")).isEqualTo("0");
        assertThat(removed.status().object("allocatable").text("example.com/gpu"))
                .isEqualTo("0");
    }

    private static Node devices(Node node, DeviceCapacity.Amount amount) {
        return StatusSetters.apply(node, Fixtures.inputs(new DeviceCapacity(Map.of("example.com/gpu", amount))))
                .node();
    }

    @Test
    @Tag("A41")
    void keepsCapacityThatOthersAddedButOwnsAllocatable() {
        Node patched = Fixtures.status(
                Fixtures.status(healthy(), "capacity", Fixtures.resources("example.com/dongle", "4")),
                "allocatable",
                Fixtures.resources("example.com/dongle", "3", "example.com/gone", "1"));

        JsonObject status =
                StatusSetters.apply(patched, Fixtures.inputs()).node().status();

        assertThat(status.object("capacity").text("example.com/dongle")).isEqualTo("4");
        assertThat(status.object("allocatable").text("example.com/dongle")).isEqualTo("4");
        assertThat(status.object("allocatable").has("example.com/gone")).isFalse();
    }

    @Test
    @Tag("A42")
    void sendsAnEventForAReboot() {
        Node before = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs()).node();
        MachineInfo rebooted = new MachineInfo(4, 17_179_869_184L, 0, Map.of(), "m", "s", "boot-b", "k", "o", "amd64");

        StatusResult result = StatusSetters.apply(before, Fixtures.inputs(Fixtures.config(), Fixtures.facts(rebooted)));

        assertThat(result.events())
                .containsExactly(new NodeEvent("Warning", "Rebooted", "Node n1 has been rebooted, boot id: boot-b"));
        assertThat(result.node().status().object("nodeInfo").text("bootID")).isEqualTo("boot-b");
    }

    @Test
    @Tag("A45")
    void reportsAPairOfNodeIpsInTheGivenOrder() {
        AgentConfig config = new AgentConfigBuilder("n1")
                .nodeIps(List.of(InetAddress.ofLiteral("10.0.0.5"), InetAddress.ofLiteral("fd00::5")))
                .build();

        Node node = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(config, Fixtures.facts()))
                .node();

        assertThat(node)
                .extracting(n -> n.status().array("addresses"))
                .isEqualTo(Fixtures.addresses(
                                Fixtures.bare(), "InternalIP", "10.0.0.5", "InternalIP", "fd00::5", "Hostname", "n1")
                        .status()
                        .array("addresses"));
    }

    @Test
    @Tag("A46")
    void leavesAddressesToTheCloudControllerAndPassesItTheNodeIp() {
        AgentConfig config = new AgentConfigBuilder("n1")
                .externalCloudProvider(true)
                .nodeIps(List.of(InetAddress.ofLiteral("10.0.0.5")))
                .build();
        AgentConfig dropped =
                new AgentConfigBuilder("n1").externalCloudProvider(true).build();
        Node cloud = Fixtures.addresses(Fixtures.bare(), "ExternalIP", "203.0.113.7");

        Node with = StatusSetters.apply(cloud, Fixtures.inputs(config, Fixtures.facts()))
                .node();
        Node without = StatusSetters.apply(with, Fixtures.inputs(dropped, Fixtures.facts()))
                .node();

        assertThat(with.status().array("addresses")).isEqualTo(cloud.status().array("addresses"));
        assertThat(with.annotations()).containsEntry("alpha.kubernetes.io/provided-node-ip", "10.0.0.5");
        assertThat(without.annotations()).doesNotContainKey("alpha.kubernetes.io/provided-node-ip");
    }

    @Test
    void prefersAResolvedAddressOfTheHostAndFallsBackToTheDefaultRoute() {
        InetAddress loopback = InetAddress.ofLiteral("127.0.1.1");
        InetAddress foreign = InetAddress.ofLiteral("192.0.2.1");
        HostFacts known = Fixtures.facts();
        HostFacts facts = known.withAddresses(Fact.of(
                new HostAddresses(List.of(loopback, foreign), List.of(loopback, Fixtures.IP), List.of(Fixtures.IP)),
                0));

        Node node = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(Fixtures.config(), facts))
                .node();

        assertThat(node.status().array("addresses"))
                .isEqualTo(Fixtures.addresses(Fixtures.bare(), "InternalIP", "10.0.0.1", "Hostname", "n1")
                        .status()
                        .array("addresses"));
        assertThat(AddressSetter.fault(foreign, List.of()))
                .contains("node IP: \"192.0.2.1\" not found in the host's network interfaces");
        assertThat(AddressSetter.fault(loopback, List.of())).contains("nodeIP can't be loopback address");
    }

    @Test
    void takesANameOfDigitsForANameAndNotForAnAddress() {
        AgentConfig config = new AgentConfigBuilder("1234").build();

        Node node = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs(config, Fixtures.facts()))
                .node();

        assertThat(node.status().array("addresses"))
                .isEqualTo(Fixtures.addresses(Fixtures.bare(), "InternalIP", "10.0.0.1", "Hostname", "1234")
                        .status()
                        .array("addresses"));
    }

    @Test
    @Tag("A48")
    void sendsEventsForCordonAndUncordon() {
        Node cordoned = new Node(healthy()
                .json()
                .update(
                        "spec",
                        spec -> spec.toBuilder().put("unschedulable", true).build()));
        StatusInputs known = Fixtures.inputs(Fixtures.config(), Fixtures.facts(), true);

        assertThat(StatusSetters.apply(cordoned, Fixtures.inputs()).events())
                .containsExactly(
                        new NodeEvent("Normal", "NodeNotSchedulable", "Node n1 status is now: NodeNotSchedulable"));
        assertThat(StatusSetters.apply(cordoned, known).events()).isEmpty();
        assertThat(reasons(StatusSetters.apply(healthy(), known))).containsExactly("NodeSchedulable");
    }

    @Test
    @Tag("A49")
    void createsAPressureConditionAsATransition() {
        StatusResult result = StatusSetters.apply(Fixtures.bare(), Fixtures.inputs());

        assertThat(condition(result.node(), "MemoryPressure"))
                .returns("False", Condition::status)
                .returns("KubeletHasSufficientMemory", Condition::reason)
                .returns("kubelet has sufficient memory available", Condition::message)
                .returns(Fixtures.NOW, c -> c.lastTransitionTime().orElseThrow())
                .returns(Fixtures.NOW, c -> c.lastHeartbeatTime().orElseThrow());
        assertThat(reasons(result))
                .containsExactly("NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID");
    }

    @Test
    @Tag("A50")
    void movesTheTransitionTimeOnlyOnATransition() {
        StatusResult rise =
                StatusSetters.apply(healthy(), Fixtures.inputs(Set.of(Pressure.MEMORY), ReadyErrors.NONE, LATER));
        StatusResult still = StatusSetters.apply(
                rise.node(), Fixtures.inputs(Set.of(Pressure.MEMORY), ReadyErrors.NONE, LATER.plusSeconds(10)));

        assertThat(condition(rise.node(), "MemoryPressure"))
                .returns("True", Condition::status)
                .returns("KubeletHasInsufficientMemory", Condition::reason)
                .returns(LATER, c -> c.lastTransitionTime().orElseThrow());
        assertThat(reasons(rise)).containsExactly("NodeHasInsufficientMemory");
        assertThat(condition(still.node(), "MemoryPressure"))
                .returns(LATER, c -> c.lastTransitionTime().orElseThrow())
                .returns(LATER.plusSeconds(10), c -> c.lastHeartbeatTime().orElseThrow());
        assertThat(still.events()).isEmpty();
    }

    @Test
    @Tag("A51")
    void keepsAnOddReasonWhileTheStatusStays() {
        Node legacy = healthy()
                .withConditions(List.of(
                        Condition.of("DiskPressure", "False", "Legacy", "old words", Fixtures.NOW, Fixtures.NOW)));

        StatusResult result = StatusSetters.apply(legacy, Fixtures.inputs(Set.of(), ReadyErrors.NONE, LATER));

        assertThat(condition(result.node(), "DiskPressure"))
                .returns("Legacy", Condition::reason)
                .returns("old words", Condition::message)
                .returns(Fixtures.NOW, c -> c.lastTransitionTime().orElseThrow());
        assertThat(reasons(result)).doesNotContain("NodeHasNoDiskPressure");
    }

    @Test
    @Tag("A52")
    void answersAnUnknownOfTheControlPlane() {
        Node unknown = healthy()
                .withConditions(List.of(Condition.of(
                        "DiskPressure",
                        "Unknown",
                        "NodeStatusUnknown",
                        "Kubelet stopped posting node status.",
                        Fixtures.NOW,
                        Fixtures.NOW)));

        StatusResult result = StatusSetters.apply(unknown, Fixtures.inputs(Set.of(), ReadyErrors.NONE, LATER));

        assertThat(condition(result.node(), "DiskPressure"))
                .returns("False", Condition::status)
                .returns("KubeletHasNoDiskPressure", Condition::reason)
                .returns(LATER, c -> c.lastTransitionTime().orElseThrow());
        assertThat(reasons(result)).contains("NodeHasNoDiskPressure");
    }

    @Test
    @Tag("A53")
    void isReadyWhenNothingIsWrong() {
        assertThat(condition(healthy(), "Ready"))
                .returns("True", Condition::status)
                .returns("KubeletReady", Condition::reason)
                .returns("kubelet is posting ready status", Condition::message);
    }

    @Test
    @Tag("A57")
    @Tag("A60")
    void printsOneErrorBareAndSeveralInBrackets() {
        ReadyErrors shutdown = new ReadyErrors(List.of(), List.of(), List.of(), List.of("node is shutting down"));
        ReadyErrors storage =
                new ReadyErrors(List.of(), List.of(), List.of("CSINode is not yet initialized"), List.of());
        ReadyErrors twice = new ReadyErrors(List.of("x"), List.of(), List.of("x"), List.of());
        ReadyErrors several = new ReadyErrors(List.of("a"), List.of("b"), List.of(), List.of("c"));

        assertThat(message(shutdown)).isEqualTo("node is shutting down");
        assertThat(message(storage)).isEqualTo("CSINode is not yet initialized");
        assertThat(message(twice)).isEqualTo("x");
        assertThat(message(several)).isEqualTo("[a, b, c]");
    }

    @Test
    @Tag("A59")
    void sendsReadyEventsOnlyOnChanges() {
        ReadyErrors shutdown = new ReadyErrors(List.of(), List.of(), List.of(), List.of("node is shutting down"));

        StatusResult down = StatusSetters.apply(healthy(), Fixtures.inputs(Set.of(), shutdown, LATER));
        StatusResult up = StatusSetters.apply(down.node(), Fixtures.inputs());

        assertThat(down.events())
                .containsExactly(new NodeEvent("Normal", "NodeNotReady", "Node n1 status is now: NodeNotReady"));
        assertThat(reasons(up)).containsExactly("NodeReady");
        assertThat(reasons(StatusSetters.apply(Fixtures.bare(), Fixtures.inputs())))
                .doesNotContain("NodeReady", "NodeNotReady");
    }

    private static String message(ReadyErrors errors) {
        Node node = StatusSetters.apply(healthy(), Fixtures.inputs(Set.of(), errors, LATER))
                .node();
        return condition(node, "Ready").message();
    }
}
