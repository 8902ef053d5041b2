package io.nodekeeper.agent.csi;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.plugins.FakePlugins;
import io.nodekeeper.agent.plugins.Plugin;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.time.VirtualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** CSI drivers of a node as the API shows them. */
class CsiHandlerTest {
    private static final String NODE = "/api/v1/nodes/n1";
    private static final String CSI_NODE = "/apis/storage.k8s.io/v1/csinodes/n1";

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeObjects api = new FakeObjects();
    private final FakePlugins plugins = new FakePlugins(loop);
    private final CsiNodes nodes = new CsiNodes(
            "n1",
            new KubeClient(api.transport, loop, Duration.ofSeconds(10)),
            () -> Optional.ofNullable(api.objects.get(NODE)).map(Node::new));
    private final CsiHandler handler = new CsiHandler(plugins, nodes);
    private PluginCall.NodeInfo info = new PluginCall.NodeInfo("machine-7", 39, Map.of("rack", "r1"));

    @BeforeEach
    void driver() {
        plugins.answer((socket, call) -> Optional.of(
                switch (call) {
                    case PluginCall.NodeGetInfo asked -> info;
                    case PluginCall.NodeGetCapabilities asked -> Set.of(PluginCall.Capability.STAGE_UNSTAGE_VOLUME);
                    default -> throw new AssertionError("nobody should call " + call);
                }));
    }

    @Test
    @Tag("A57")
    void theNodeIsNotReadyUntilItsCsiNodeIsWritten() {
        nodes.start(() -> {});
        advance(5);
        assertThat(nodes.fault()).contains("CSINode is not yet initialized");

        node("{}");
        advance(1);

        assertThat(nodes.fault()).isEmpty();
        assertThat(api.get(CSI_NODE)).isEqualTo(Json.parseObject("""
                {"kind": "CSINode", "apiVersion": "storage.k8s.io/v1",
                 "metadata": {"name": "n1", "ownerReferences": [
                   {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u7"}]},
                 "spec": {"drivers": []}}"""));
    }

    @Test
    void aCsiNodeThatCannotBeWrittenIsTriedAgain() {
        node("{}");
        api.conflicts.add("POST /apis/storage.k8s.io/v1/csinodes");
        nodes.start(() -> {});
        time.advance(Duration.ofMillis(50));
        assertThat(nodes.fault().orElseThrow()).startsWith("failed to initialize CSINode: ");

        advance(1);

        assertThat(nodes.fault()).isEmpty();
    }

    @Test
    void aDriverIsAddedBesideOthersAlsoAfterAConflict() {
        node("{\"csi.volume.kubernetes.io/nodeid\": \"{\\\"other\\\":\\\"m\\\"}\"}");
        api.put(CSI_NODE, """
                {"metadata": {"name": "n1"}, "spec": {"drivers": [{"name": "other", "nodeID": "m"}]}}""");
        api.conflicts.add("PUT " + CSI_NODE);

        assertThat(register()).isCompleted();

        assertThat(drivers()).isEqualTo(Json.parseObject("""
                {"drivers": [{"name": "other", "nodeID": "m"},
                  {"name": "d1", "nodeID": "machine-7", "topologyKeys": ["rack"], "allocatable": {"count": 39}}]}"""));
        assertThat(annotation()).isEqualTo("{\"d1\":\"machine-7\",\"other\":\"m\"}");
        assertThat(new Node(api.get(NODE)).labels()).containsEntry("rack", "r1");
        assertThat(handler.driver("d1").orElseThrow().can(PluginCall.Capability.STAGE_UNSTAGE_VOLUME))
                .isTrue();
    }

    @Test
    void aDriverThatDoesNotLimitItsVolumesHasNoCount() {
        node("{}");
        info = new PluginCall.NodeInfo("machine-7", 0, Map.of());

        register();

        assertThat(drivers())
                .isEqualTo(Json.parseObject(
                        "{\"drivers\": [{\"name\": \"d1\", \"nodeID\": \"machine-7\", \"topologyKeys\": []}]}"));
    }

    @Test
    void aDriverThatIsGoneIsRemoved() {
        node("{}");
        register();

        handler.deregister(plugin());
        advance(1);

        assertThat(drivers()).isEqualTo(Json.parseObject("{\"drivers\": []}"));
        assertThat(api.get(NODE).object("metadata").object("annotations")).isEqualTo(JsonObject.EMPTY);
        assertThat(handler.driver("d1")).isEmpty();
    }

    @Test
    void theDriversOfANodeThatWasDeletedAndRegisteredAgainAreWrittenAgain() {
        // given a node with a driver
        registeredWithADriver();
        api.transport.clear();

        // when it is deleted, its CSINode with it, and its agent registers it again
        api.objects.remove(CSI_NODE);
        node("u8", "{}");
        nodes.registered("u8");
        advance(20);

        // then all of the driver is there again
        assertThat(api.transport.log()).contains("POST /apis/storage.k8s.io/v1/csinodes", "PATCH " + NODE + "/status");
        assertThat(owners()).containsExactly("u8");
        assertThat(drivers()).isEqualTo(Json.parseObject("""
                {"drivers": [{"name": "d1", "nodeID": "machine-7", "topologyKeys": ["rack"],
                  "allocatable": {"count": 39}}]}"""));
        assertThat(annotation()).isEqualTo("{\"d1\":\"machine-7\"}");
        assertThat(new Node(api.get(NODE)).labels()).containsEntry("rack", "r1");
        assertThat(nodes.fault()).isEmpty();
    }

    @Test
    void theCsiNodeOfADeletedNodeBecomesThatOfTheNewOne() {
        // given a node with a driver, whose CSINode nothing has deleted yet
        registeredWithADriver();

        // when it is deleted and registered again, and the first write fails
        node("u8", "{}");
        api.conflicts.add("PUT " + CSI_NODE);
        nodes.registered("u8");
        advance(1);

        // then the CSINode no longer ends with the deleted one
        assertThat(owners()).containsExactly("u8");
        assertThat(drivers().array("drivers").objects()).hasSize(1);
        assertThat(annotation()).isEqualTo("{\"d1\":\"machine-7\"}");
        assertThat(nodes.fault()).isEmpty();
    }

    @Test
    void aDriverThatIsGoneIsNotWrittenToANodeThatWasRegisteredAgain() {
        // given a node whose only driver is gone
        registeredWithADriver();
        handler.deregister(plugin());
        advance(1);

        // when it is deleted and registered again
        api.objects.remove(CSI_NODE);
        node("u8", "{}");
        nodes.registered("u8");
        advance(20);

        // then it has a CSINode without drivers
        assertThat(owners()).containsExactly("u8");
        assertThat(drivers()).isEqualTo(Json.parseObject("{\"drivers\": []}"));
        assertThat(annotation()).isEmpty();
    }

    @Test
    void reportsOfTheSameNodeWriteNothing() {
        registeredWithADriver();
        api.transport.clear();

        nodes.registered("u7");
        advance(20);

        assertThat(api.transport.log()).isEmpty();
    }

    private void registeredWithADriver() {
        node("{}");
        nodes.start(() -> {});
        nodes.registered("u7");
        register();
    }

    @Test
    void theSocketOfAnEarlierProcessTakesNothingFromItsSuccessor() {
        node("{}");
        Plugin old = new Plugin("CSIPlugin", "d1", Path.of("/old.sock"), List.of("1.0.0"), Path.of("/old.sock"));
        register();

        handler.deregister(old);
        advance(1);

        assertThat(handler.driver("d1")).isPresent();
    }

    @Test
    void aPlaceThatContradictsTheNodesLabelsIsRefused() {
        api.put(NODE, "{\"metadata\": {\"name\": \"n1\", \"labels\": {\"rack\": \"r2\"}}}");

        assertThat(register().exceptionNow())
                .hasMessageContaining("detected topology value collision: driver reported \"rack\":\"r1\" but existing"
                        + " label is \"rack\":\"r2\"");
        assertThat(handler.driver("d1")).isEmpty();
    }

    @Test
    void aDriverWithoutAnIdOfTheNodeIsRefused() {
        node("{}");
        info = new PluginCall.NodeInfo("", 0, Map.of());

        assertThat(register().exceptionNow())
                .hasMessageContaining("error adding CSI driver node info: driverNodeID must not be empty");
    }

    @Test
    void onlyVersionOneIsSupported() {
        assertThat(handler.fault(plugin("v1.2.0"))).isEmpty();
        assertThat(handler.fault(plugin("0.3.0", "1.0.0"))).isEmpty();
        assertThat(handler.fault(plugin()).orElse("")).isEmpty();
        assertThat(handler.fault(plugin("0.3.0")).orElseThrow()).contains("None of the versions specified [\"0.3.0\"]");
        assertThat(handler.fault(plugin("2")).orElseThrow()).contains("are supported");
        assertThat(handler.fault(new Plugin("CSIPlugin", "d1", Path.of("/a"), List.of(), Path.of("/a")))
                        .orElseThrow())
                .contains("Plugin returned an empty list for supported versions");
    }

    private CompletableFuture<Void> register() {
        CompletableFuture<Void> registered = handler.register(plugin());
        advance(5);
        return registered;
    }

    private static Plugin plugin() {
        return plugin("1.0.0");
    }

    private static Plugin plugin(String... versions) {
        Path socket = Path.of("/d1.sock");
        return new Plugin("CSIPlugin", "d1", socket, List.of(versions), socket);
    }

    private void node(String annotations) {
        node("u7", annotations);
    }

    private void node(String uid, String annotations) {
        api.put(
                NODE,
                "{\"metadata\": {\"name\": \"n1\", \"uid\": \"" + uid + "\", \"labels\": {}, \"annotations\": "
                        + annotations + "}}");
    }

    private List<String> owners() {
        return api.get(CSI_NODE)
                .object("metadata")
                .array("ownerReferences")
                .objects()
                .map(owner -> owner.text("uid"))
                .toList();
    }

    private JsonObject drivers() {
        return api.get(CSI_NODE).object("spec");
    }

    private String annotation() {
        return api.get(NODE).object("metadata").object("annotations").text("csi.volume.kubernetes.io/nodeid");
    }

    private void advance(int seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }
}
