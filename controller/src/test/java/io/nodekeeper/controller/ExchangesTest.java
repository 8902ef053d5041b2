package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Json;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.ApiEventRecorder;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The controller against a server that answers as a kube-apiserver does, in shapes that our own server need not share. */
@ParameterizedClass
@EnumSource(Mode.class)
class ExchangesTest {
    private static final String STATUS = "PUT /api/v1/nodes/n1/status";

    private final Mode mode;

    ExchangesTest(Mode mode) {
        this.mode = mode;
    }

    @Test
    void silentNodeIsMarkedAndTainted() {
        Exchanges server = run("silent-node.txt", 90);

        JsonObject put = Json.parseObject(only(server, STATUS).body());
        assertThat(new Node(put).conditions())
                .extracting(Condition::type, Condition::status)
                .containsExactly(
                        tuple("MemoryPressure", "Unknown"),
                        tuple("DiskPressure", "Unknown"),
                        tuple("PIDPressure", "Unknown"),
                        tuple("Ready", "Unknown"));
        assertThat(new Node(put).resourceVersion()).isEqualTo("991");
        assertThat(put.object("metadata").array("managedFields").objects()).hasSize(2);

        Call patch = only(server, "PATCH /api/v1/nodes/n1");
        assertThat(patch.contentType()).isEqualTo("application/strategic-merge-patch+json");
        Node tainted = new Node(Json.parseObject(patch.body()));
        assertThat(tainted.resourceVersion()).isEqualTo("1200");
        assertThat(tainted.hasTaint("node.kubernetes.io/unreachable", "NoSchedule"))
                .isTrue();

        assertThat(eventReasons(server)).containsExactly("RegisteredNode n1", "RegisteredNode n2", "NodeNotReady n1");
        assertThat(server.calls()).noneMatch(call -> call.target().contains("/nodes/n2"));
        assertThat(server.unanswered()).isEmpty();
    }

    @Test
    void expiredWatchNeitherLosesNorAgesNodes() {
        Exchanges before = run("expired-watch.txt", 50);
        assertThat(calls(before, "GET /api/v1/nodes")).hasSize(2);
        assertThat(calls(before, STATUS)).isEmpty();

        Exchanges after = run("expired-watch.txt", 56);
        assertThat(calls(after, STATUS)).hasSize(1);
        assertThat(eventReasons(after)).containsExactly("RegisteredNode n1", "RegisteredNode n2", "NodeNotReady n1");
        assertThat(after.unanswered()).isEmpty();
    }

    @Test
    void conflictIsResolvedByReadingAnew() {
        Exchanges server = run("conflict.txt", 57);

        List<Call> puts = calls(server, STATUS);
        Node second = new Node(Json.parseObject(puts.get(1).body()));
        assertThat(puts).hasSize(2);
        assertThat(second.resourceVersion()).isEqualTo("1005");
        assertThat(second.labels()).containsEntry("team", "blue");
        assertThat(eventReasons(server)).containsOnlyOnce("NodeNotReady n1");
        assertThat(server.unanswered()).isEmpty();
    }

    @Test
    void failureOfTheStoreIsTriedAgain() {
        Exchanges server = run("etcd-timeout.txt", 57);

        assertThat(calls(server, STATUS)).hasSize(2);
        assertThat(eventReasons(server)).containsOnlyOnce("NodeNotReady n1");
        assertThat(server.unanswered()).isEmpty();
    }

    @Test
    void unknownFieldsAreKeptAndUnknownEventsPassedOver() {
        Exchanges before = run("unknown-things.txt", 65);
        assertThat(calls(before, STATUS)).isEmpty();

        Exchanges after = run("unknown-things.txt", 82);
        JsonObject put = Json.parseObject(only(after, STATUS).body());
        assertThat(put.object("status").object("futureField")).hasToString("{\"a\":[1,2.5,null]}");
        assertThat(new Node(put).resourceVersion()).isEqualTo("1020");
        assertThat(after.unanswered()).isEmpty();
    }

    @Test
    void nodeThatIsGoneIsLeftAlone() {
        Exchanges server = run("deleted-node.txt", 90);

        assertThat(calls(server, "PATCH /api/v1/nodes/n1")).isEmpty();
        assertThat(eventReasons(server)).containsExactly("RegisteredNode n1", "RegisteredNode n2", "RemovingNode n1");
        assertThat(server.unanswered()).isEmpty();
    }

    @Test
    void watchesThatTheServerEndsAreOpenedAgain() {
        Exchanges server = run("silent-node.txt", 300);

        assertThat(server.calls()).noneMatch(call -> call.target().contains("/nodes/n2"));
        assertThat(calls(server, "GET /api/v1/nodes")).hasSize(1);
        assertThat(calls(server, STATUS)).hasSize(1);
    }

    /** Lets a controller work with the exchanges of {@code file} for {@code seconds}. */
    private Exchanges run(String file, int seconds) {
        VirtualTime time = new VirtualTime(B);
        VirtualTime.VirtualLoop loop = time.loop("controller");
        Exchanges server = new Exchanges(file, loop);
        KubeClient client = new KubeClient(server, loop, Duration.ofSeconds(10));
        new Controller(
                        mode.config(),
                        new ControllerPorts(
                                client,
                                loop,
                                component -> new ApiEventRecorder(client, component, "", Randoms.seeded(2)),
                                Randoms.seeded(1),
                                new ControllerMetrics(),
                                History.NONE))
                .start();
        time.advance(Duration.ofSeconds(seconds));
        return server;
    }

    private static Call only(Exchanges server, String call) {
        assertThat(calls(server, call)).hasSize(1);
        return calls(server, call).getFirst();
    }

    private static List<Call> calls(Exchanges server, String wanted) {
        return server.calls().stream()
                .filter(call -> call.toString().split("\\?")[0].equals(wanted))
                .toList();
    }

    /** Reason and node of each event that was sent. */
    private static List<String> eventReasons(Exchanges server) {
        return calls(server, "POST /api/v1/namespaces/default/events").stream()
                .map(call -> Json.parseObject(call.body()))
                .map(event -> event.text("reason") + " "
                        + event.object("involvedObject").text("name"))
                .toList();
    }
}
