package io.nodekeeper.controller.taints;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.TestCluster;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When taints are written, after which read, how often, and who is notified. */
class TainterTest {
    private static final String PATCH = "PATCH /api/v1/nodes/n1";
    private static final String GET = "GET /api/v1/nodes/n1";
    private static final String GET_CACHED = "GET /api/v1/nodes/n1?resourceVersion=0";

    private final VirtualTime time = new VirtualTime(B);
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final FakeTransport transport = new FakeTransport();
    private final KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(10));
    private final ObserverGuard guard = ObserverGuard.off();
    private final Heartbeats heartbeats = new Heartbeats(TestCluster.CONFIG, guard, new DeadlineWheel<>());
    private final PriorityWorkQueue workQueue = new PriorityWorkQueue(1);
    private final LogLines faults = LogLines.of(KeyedJobs.class);
    /** What followed from writes, in order. */
    private final List<String> effects = new ArrayList<>();

    private final List<String> decisions = new ArrayList<>();

    private NoExecute rule = NoExecute.ADD;
    private Node stored = node("uid-1", 1, "True");
    /** Called before each answer; a value is the answer. */
    private Function<Call, Optional<Reply>> fault = call -> Optional.empty();

    private Tainter tainter = tainter(FeatureGates.ALL);
    private final NodeHealth health;

    TainterTest() {
        transport.answer(this::serve);
        health = heartbeats.add(stored, 0, Duration.ZERO);
    }

    @AfterEach
    void noJobEndedUnexpectedly() {
        assertThat(faults.lines()).isEmpty();
    }

    @Test
    @Tag("L40")
    void writtenTaintsAreReportedAndStoredAsDecisions() {
        is("Unknown");

        assertThat(log()).containsExactly(PATCH);
        assertThat(effects).containsExactly("settled true", "written unreachable:NoSchedule unreachable:NoExecute");
        assertThat(decisions)
                .containsExactly("Tainted n1 Taints added [node.kubernetes.io/unreachable:NoSchedule,"
                        + " node.kubernetes.io/unreachable:NoExecute], removed []");
        assertThat(tainter.size()).isZero();
    }

    @Test
    void removedTaintsAreDecidedAsSuchAndTheNodeIsNotNewlyTainted() {
        is("Unknown");
        effects.clear();
        decisions.clear();

        is("True");

        assertThat(effects).containsExactly("settled false", "written");
        assertThat(decisions)
                .containsExactly("Untainted n1 Taints added [], removed [node.kubernetes.io/unreachable:NoSchedule,"
                        + " node.kubernetes.io/unreachable:NoExecute]");
    }

    @Test
    void nodeWithoutNeedIsNotWritten() {
        is("True");

        assertThat(log()).isEmpty();
        assertThat(tainter.size()).isZero();
    }

    @Test
    void recheckReadsTheNodeFirst() {
        rule = NoExecute.LEAVE;
        is("Unknown");
        transport.clear();
        rule = NoExecute.ADD;

        tainter.recheck(health);
        time.advance(Duration.ZERO);

        assertThat(log()).containsExactly(GET, PATCH);
        assertThat(effects).endsWith("settled true", "written unreachable:NoSchedule unreachable:NoExecute");
    }

    @Test
    void recheckOfANodeThatIsRightOnlyReads() {
        tainter.recheck(health);
        time.advance(Duration.ZERO);

        assertThat(log()).containsExactly(GET);
        assertThat(effects).containsExactly("settled false");
        assertThat(tainter.size()).isZero();
    }

    @Test
    void recheckDuringAWriteReadsOnceMoreAfterIt() {
        rule = NoExecute.LEAVE;
        onFirst("PATCH", () -> {
            rule = NoExecute.ADD;
            tainter.recheck(health);
        });

        is("Unknown");

        assertThat(log()).containsExactly(PATCH, GET, PATCH);
        assertThat(tainter.size()).isZero();
    }

    @Test
    void recheckOfANodeThatWaitsReadsItBeforeTheWrite() {
        occupied(() -> {
            seen("Unknown");
            tainter.recheck(health);
        });

        assertThat(log()).containsExactly(GET, PATCH);
    }

    @Test
    void newestStateThatWasSeenWhileItWaitedIsWrittenWithoutARead() {
        occupied(() -> {
            seen("Unknown");
            seen("False");
        });

        assertThat(log()).containsExactly(PATCH);
        assertThat(taints()).containsExactly("not-ready:NoSchedule", "not-ready:NoExecute");
    }

    @Test
    void asTheReferenceANodeIsReadFromTheCacheBeforeItsFirstWrite() {
        tainter = tainter(FeatureGates.ALL.without(ControllerFeature.SINGLE_TAINT_PATCH));

        is("Unknown");

        assertThat(log()).containsExactly(GET_CACHED, PATCH);
    }

    @Test
    void asTheReferenceAStateThatIsSeenWhileItWaitsIsReadToo() {
        tainter = tainter(FeatureGates.ALL.without(ControllerFeature.SINGLE_TAINT_PATCH));

        occupied(() -> {
            seen("Unknown");
            seen("False");
        });

        assertThat(log()).containsExactly(GET_CACHED, PATCH);
    }

    @Test
    void asTheReferenceANodeThatNeedsNothingAnyMoreIsNotRead() {
        tainter = tainter(FeatureGates.ALL.without(ControllerFeature.SINGLE_TAINT_PATCH));

        occupied(() -> {
            seen("Unknown");
            seen("True");
        });

        assertThat(log()).isEmpty();
        assertThat(effects).containsExactly("settled false");
    }

    @Test
    @Tag("L40")
    void asTheReferenceTaintsAreRemovedByASeparateWrite() {
        tainter = tainter(FeatureGates.ALL.without(ControllerFeature.SINGLE_TAINT_PATCH));
        is("False");
        transport.clear();

        is("Unknown");

        assertThat(log()).containsExactly(GET_CACHED, PATCH, GET_CACHED, PATCH);
        assertThat(taints()).containsExactly("unreachable:NoSchedule", "unreachable:NoExecute");
        assertThat(effects).endsWith("settled false", "written unreachable:NoSchedule unreachable:NoExecute");
    }

    @Test
    void serverThatDoesNotTakeWhatCameIsNotAskedForEver() {
        tainter = tainter(FeatureGates.ALL.without(ControllerFeature.SINGLE_TAINT_PATCH));
        is("False");
        transport.clear();
        fault = call ->
                call.method().equals("PATCH") ? Optional.of(FakeTransport.reply(200, stored.json())) : Optional.empty();

        is("Unknown");

        assertThat(log()).containsExactly(GET_CACHED, PATCH);
        assertThat(tainter.size()).isZero();
    }

    @Test
    @Tag("L50")
    void conflictIsFollowedByAReadPastTheCacheAfterAHundredToTwoHundredMilliseconds() {
        tainter = tainter(FeatureGates.ALL.without(ControllerFeature.SINGLE_TAINT_PATCH));
        onFirst("PATCH", () -> {
            throw ApiException.modified(ResourceType.NODES, "n1");
        });

        is("Unknown");
        time.advance(Duration.ofMillis(99));
        assertThat(log()).containsExactly(GET_CACHED, PATCH);
        time.advance(Duration.ofMillis(101));

        assertThat(log()).containsExactly(GET_CACHED, PATCH, GET, PATCH);
    }

    @Test
    void otherJobsRunWhileTheNextAttemptAfterAConflictWaits() {
        onFirst("PATCH", () -> {
            throw ApiException.modified(ResourceType.NODES, "n1");
        });
        is("Unknown");

        // when the only place in the work queue is needed for another job
        List<String> others = new ArrayList<>();
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> {
            others.add("done");
            return CompletableFuture.completedFuture(null);
        });

        assertThat(others).containsExactly("done");
        assertThat(tainter.size()).isEqualTo(1);
        time.advance(Duration.ofMillis(200));
        assertThat(log()).containsExactly(PATCH, GET, PATCH);
        assertThat(tainter.size()).isZero();
    }

    @Test
    @Tag("L50")
    void fiveConflictsEndARound() {
        fault = call -> call.method().equals("PATCH")
                ? Optional.of(FakeTransport.refusal(ApiException.modified(ResourceType.NODES, "n1")))
                : Optional.empty();

        is("Unknown");
        time.advance(Duration.ofMillis(1_050));
        assertThat(count(PATCH)).isEqualTo(5);
        fault = call -> Optional.empty();
        time.advance(Duration.ofMillis(800));

        assertThat(taints()).isNotEmpty();
    }

    @Test
    void failedWriteIsTriedAgainAfterOneTwoAndFourSeconds() {
        fault = call -> call.method().equals("PATCH") ? Optional.of(TestCluster.internalError()) : Optional.empty();

        is("Unknown");
        time.advance(Duration.ofMillis(999));
        assertThat(log()).containsExactly(PATCH);
        time.advance(Duration.ofMillis(9_000));

        assertThat(log()).containsExactly(PATCH, GET, PATCH, GET, PATCH, GET, PATCH);
    }

    @Test
    void failedReadIsTriedAgainAfterASecond() {
        onFirst("GET", () -> {
            throw new ApiException(500, "InternalError", "planted");
        });

        tainter.recheck(health);
        time.advance(Duration.ofMillis(999));
        assertThat(log()).containsExactly(GET);
        time.advance(Duration.ofMillis(1));

        assertThat(log()).containsExactly(GET, GET);
        assertThat(tainter.size()).isZero();
    }

    @Test
    void waitsBeginAgainAfterAWriteThatWentWell() {
        onFirst("PATCH", () -> {
            throw new ApiException(500, "InternalError", "planted");
        });
        rule = NoExecute.LEAVE;
        int[] patches = {0};
        Function<Call, Optional<Reply>> first = fault;
        fault = call -> {
            if (call.method().equals("PATCH") && ++patches[0] == 2) {
                rule = NoExecute.ADD;
                tainter.recheck(health);
            }
            return call.method().equals("PATCH") && patches[0] == 3
                    ? Optional.of(TestCluster.internalError())
                    : first.apply(call);
        };

        is("Unknown");
        time.advance(Duration.ofSeconds(1));
        assertThat(patches[0]).isEqualTo(3);
        time.advance(Duration.ofSeconds(1));

        assertThat(patches[0]).isEqualTo(4);
    }

    @Test
    void nodeThatIsGoneIsLeftAlone() {
        fault = call -> Optional.of(FakeTransport.refusal(ApiException.notFound(ResourceType.NODES, "n1")));

        is("Unknown");
        time.advance(Duration.ofMinutes(1));

        assertThat(log()).containsExactly(PATCH);
        assertThat(tainter.size()).isZero();
        assertThat(effects).isEmpty();
    }

    @Test
    void nodeThatIsGoneWhenItIsReadIsLeftAlone() {
        fault = call -> Optional.of(FakeTransport.refusal(ApiException.notFound(ResourceType.NODES, "n1")));

        tainter.recheck(health);
        time.advance(Duration.ofMinutes(1));

        assertThat(log()).containsExactly(GET);
        assertThat(tainter.size()).isZero();
    }

    @Test
    void anotherNodeOfThatNameIsNotWritten() {
        stored = node("uid-2", 9, "Unknown");

        tainter.recheck(health);
        time.advance(Duration.ZERO);

        assertThat(log()).containsExactly(GET);
        assertThat(tainter.size()).isZero();
    }

    @Test
    void nodeThatIsRemovedWhileItWaitsIsNotWritten() {
        occupied(() -> {
            seen("Unknown");
            heartbeats.remove(health);
        });

        assertThat(log()).isEmpty();
        assertThat(tainter.size()).isZero();
    }

    @Test
    void nodeThatIsDeletedDuringItsWriteIsNotReportedAsUnknown() {
        onFirst("PATCH", () -> heartbeats.remove(health));

        is("Unknown");

        assertThat(effects).containsExactly("settled true");
    }

    @Test
    void nothingIsWrittenOnceTheLanesAreClosed() {
        occupied(() -> {
            seen("Unknown");
            workQueue.close();
        });

        assertThat(log()).isEmpty();
    }

    @Test
    void recheckThatARunLeftOpenIsDoneAfterIt() {
        fault = call -> {
            if (call.method().equals("PATCH")) {
                tainter.recheck(health);
                return Optional.of(FakeTransport.refusal(ApiException.notFound(ResourceType.NODES, "n1")));
            }
            return Optional.empty();
        };

        seen("Unknown");
        stored = node("uid-1", 9, "True");
        time.advance(Duration.ZERO);

        assertThat(log()).containsExactly(PATCH, GET);
        assertThat(tainter.size()).isZero();
    }

    @Test
    void nodesThatWaitAreCounted() {
        fault = call -> call.method().equals("PATCH") ? Optional.of(TestCluster.internalError()) : Optional.empty();

        is("Unknown");

        assertThat(tainter.size()).isEqualTo(1);
    }

    private Tainter tainter(FeatureGates gates) {
        NoExecute.Rules rules = new NoExecute.Rules() {
            @Override
            public NoExecute rule(NodeHealth health) {
                return rule;
            }

            @Override
            public void settled(NodeHealth health, boolean tainted) {
                effects.add("settled " + tainted);
            }
        };
        return new Tainter(
                client,
                Randoms.seeded(1),
                heartbeats,
                workQueue,
                gates.has(ControllerFeature.SINGLE_TAINT_PATCH),
                rules,
                Damping.NONE,
                decision -> decisions.add(decision.kind() + " " + decision.node() + " " + decision.text()),
                (health, node) -> effects.add(("written " + String.join(" ", texts(node))).strip()));
    }

    /** The node's agent or a controller writes that, and the watch delivers it. */
    private void is(String status) {
        seen(status);
        time.advance(Duration.ZERO);
    }

    private void seen(String status) {
        stored = new Node(node("uid-1", version() + 1, status)
                .json()
                .with("spec", stored.json().object("spec")));
        tainter.seen(health, stored);
    }

    /** Does {@code action} while the only place in the work queue is taken. */
    private void occupied(Runnable action) {
        var lane = new CompletableFuture<Void>();
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> lane);
        action.run();
        time.advance(Duration.ZERO);
        assertThat(log()).isEmpty();
        lane.complete(null);
        time.advance(Duration.ZERO);
    }

    /** Does {@code action} with the first call of that method; what it throws is the answer. */
    private void onFirst(String method, Runnable action) {
        boolean[] done = {false};
        fault = call -> {
            if (!done[0] && call.method().equals(method)) {
                done[0] = true;
                try {
                    action.run();
                } catch (ApiException refused) {
                    return Optional.of(FakeTransport.refusal(refused));
                }
            }
            return Optional.empty();
        };
    }

    private Optional<Reply> serve(Call call) {
        return fault.apply(call).or(() -> {
            if (call.method().equals("PATCH")) {
                JsonObject patch = Json.parseObject(call.body());
                stored = new Node(node(
                                stored.uid(),
                                version() + 1,
                                stored.ready().orElseThrow().status())
                        .json()
                        .with(
                                "spec",
                                JsonObject.EMPTY.with(
                                        "taints", patch.object("spec").array("taints"))));
            }
            return Optional.of(FakeTransport.reply(200, stored.json()));
        });
    }

    private static Node node(String uid, int version, String status) {
        return new Node(JsonObject.EMPTY.with(
                        "metadata",
                        JsonObject.EMPTY
                                .with("name", "n1")
                                .with("uid", uid)
                                .with("resourceVersion", Integer.toString(version))))
                .withConditions(List.of(ready(status, B)));
    }

    private int version() {
        return Integer.parseInt(stored.resourceVersion());
    }

    private List<String> taints() {
        return texts(stored);
    }

    private static List<String> texts(Node node) {
        return node.taints().stream()
                .map((Taint taint) -> taint.key().substring("node.kubernetes.io/".length()) + ":" + taint.effect())
                .toList();
    }

    private List<String> log() {
        return transport.log();
    }

    private long count(String call) {
        return log().stream().filter(call::equals).count();
    }
}
