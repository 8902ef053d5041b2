package io.nodekeeper.controller.pods;

import static io.nodekeeper.controller.pods.PodWorld.B;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.controller.history.Decision;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods of nodes that are not ready are not ready either. */
class MarkingTest {
    private static PodWorld world(boolean better) {
        PodWorld world = new PodWorld(better ? WorkloadConfig.DEFAULT : WorkloadConfig.REFERENCE);
        world.addNode("n1");
        return world;
    }

    private static String write(boolean better) {
        return better ? "PATCH" : "PUT";
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L4")
    @Tag("L30")
    @Tag("L35")
    void podsOfASilentNodeAreMarked(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod0", "n1");
        world.addPod("bare", "n1");
        world.patchPod("bare", "{\"status\":{\"conditions\":null}}");
        world.start();
        world.advanceTo("50S");

        world.silence("n1");
        world.advanceTo("51S");

        assertThat(world.conditions("pod0")).containsExactly("Ready=False Fine 2015-01-01T12:00:50Z");
        assertThat(world.podReady("bare")).isEqualTo("none");
        assertThat(world.calls(write(better), "/status")).isEqualTo(1);
        assertThat(world.events)
                .containsExactly("node-controller Warning NodeNotReady Pod default/pod0: Node is not ready");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L31")
    void fiftyNodesWithAHundredPodsEachAreFiveThousandWrites(boolean better) {
        PodWorld world = world(better);
        for (int node = 0; node < 50; node++) {
            world.addNode("node" + node);
            for (int pod = 0; pod < 100; pod++) {
                world.addPod("pod" + node + "-" + pod, "node" + node);
            }
        }
        world.start();

        for (int node = 0; node < 50; node++) {
            world.silence("node" + node);
        }
        world.advanceTo("30S");

        assertThat(world.calls(write(better), "/status")).isEqualTo(5000);
        assertThat(world.events("NodeNotReady")).hasSize(5000);
        if (better) {
            assertThat(world.decisions)
                    .hasSize(50)
                    .allMatch(decision ->
                            decision.text().equals("100 pods of node " + decision.node() + " marked not ready"));
        }
    }

    @Test
    @Tag("L32")
    void referenceRepeatsAFailedMarkOnceWithTheNextPass() {
        PodWorld world = world(false);
        world.addPod("pod0", "n1");
        world.start();
        int[] failures = {1};
        world.fault = call -> call.method().equals("PUT") && failures[0]-- > 0
                ? Optional.of(PodWorld.unavailable())
                : Optional.empty();

        world.silence("n1");
        world.advanceTo("1S");
        world.ready("n1", "False", B.plusSeconds(1));
        world.advanceTo("60S");

        assertThat(world.calls("PUT", "/status")).isEqualTo(2);
        assertThat(world.podReady("pod0")).isEqualTo("False");
    }

    @Test
    @Tag("L32")
    void referenceForgetsAFailedMarkWhenTheNodeReturns() {
        PodWorld world = world(false);
        world.addPod("pod0", "n1");
        world.start();
        world.fault = call -> call.method().equals("PUT") ? Optional.of(PodWorld.unavailable()) : Optional.empty();

        world.silence("n1");
        world.advanceTo("1S");
        world.ready("n1", "True", B.plusSeconds(1));
        world.advanceTo("60S");

        assertThat(world.calls("PUT", "/status")).isEqualTo(1);
    }

    @Test
    @Tag("L32")
    @Tag("W4")
    void failedMarkIsRepeatedUntilItIsWritten() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.fault = call -> call.method().equals("PATCH") ? Optional.of(PodWorld.unavailable()) : Optional.empty();
        world.silence("n1");
        world.advanceTo("20S");
        long tries = world.calls("PATCH", "/status");

        world.fault = call -> Optional.empty();
        world.advanceTo("30S");

        assertThat(tries).isBetween(6L, 10L);
        assertThat(world.podReady("pod0")).isEqualTo("False");
        assertThat(world.events("NodeNotReady")).hasSize(1);
        assertThat(world.calls("PATCH", "/status")).isEqualTo(tries + 1);
    }

    @Test
    @Tag("L33")
    void podsThatBecomeKnownLateAreMarkedThen() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.fault = call ->
                call.target().equals("/api/v1/pods?limit=500") ? Optional.of(PodWorld.unavailable()) : Optional.empty();
        world.start();
        world.advanceTo("1S");
        world.silence("n1");
        world.advanceTo("2S");
        assertThat(world.calls("PATCH", "/status")).isZero();

        world.fault = call -> Optional.empty();
        world.advanceTo("10S");

        assertThat(world.calls("PATCH", "/status")).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L33")
    void podsThatCannotBeReadWhileTheNodeIsReadyAreMarkedWhenItIsNot(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod0", "n1");
        world.fault = call ->
                call.target().equals("/api/v1/pods?limit=500") ? Optional.of(PodWorld.unavailable()) : Optional.empty();
        world.start();
        world.advanceTo("1S");
        world.fault = call -> Optional.empty();
        world.advanceTo("20S");
        assertThat(world.calls(write(better), "/status")).isZero();

        world.silence("n1");
        world.advanceTo("40S");

        assertThat(world.calls(write(better), "/status")).isEqualTo(1);
        assertThat(world.podReady("pod0")).isEqualTo("False");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L35")
    void podsOfDaemonSetsAndOfTheKubeletItselfAreMarkedToo(boolean better) {
        PodWorld world = world(better);
        world.addPod("daemon", "n1");
        world.patchPod(
                "daemon",
                "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\","
                        + "\"name\":\"d\",\"uid\":\"d-uid\",\"controller\":true}]}}");
        world.addPod("mirror", "n1");
        world.patchPod("mirror", "{\"metadata\":{\"annotations\":{\"kubernetes.io/config.mirror\":\"abc\"}}}");
        world.start();

        world.silence("n1");
        world.advanceTo("20S");

        assertThat(world.podReady("daemon")).isEqualTo("False");
        assertThat(world.podReady("mirror")).isEqualTo("False");
        assertThat(world.calls(write(better), "/status")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L34")
    void podThatIsNotReadyIsLeftAlone(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod0", "n1");
        world.podReady("pod0", "False", B.minusSeconds(50));
        world.start();

        world.silence("n1");
        world.advanceTo("20S");

        assertThat(world.conditions("pod0")).containsExactly("Ready=False Fine 2015-01-01T11:59:10Z");
        assertThat(world.calls(write(better), "/status")).isZero();
        assertThat(world.events).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L36")
    void podThatComesToANodeThatIsNotReadyIsMarked(boolean better) {
        PodWorld world = world(better);
        world.addNode("good");
        world.start();
        world.ready("n1", "False", B);
        world.advanceTo("10S");

        world.addPod("pod0", "n1");
        world.addPod("pod1", "good");
        world.advanceTo("20S");

        assertThat(world.podReady("pod0")).isEqualTo("False");
        assertThat(world.podReady("pod1")).isEqualTo("True");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L37")
    @Tag("W4")
    void podsOfANodeThatSaysItIsNotReadyAreMarkedButNotByTheReference(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod0", "n1");
        world.start();

        world.ready("n1", "False", B);
        world.advanceTo("20S");

        assertThat(world.podReady("pod0")).isEqualTo(better ? "False" : "True");
    }

    @Test
    @Tag("W4")
    void kubeletThatSetsItsPodBackIsNotContradicted() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.ready("n1", "False", B);
        world.advanceTo("5S");
        assertThat(world.podReady("pod0")).isEqualTo("False");

        world.podReady("pod0", "True", B.plusSeconds(6));
        world.ready("n1", "False", B);
        world.advanceTo("300S");
        assertThat(world.podReady("pod0")).isEqualTo("True");

        // when the node recovers and fails once more
        world.ready("n1", "True", B.plusSeconds(300));
        world.ready("n1", "False", B.plusSeconds(310));
        world.advanceTo("320S");
        assertThat(world.podReady("pod0")).isEqualTo("False");
    }

    @Test
    @Tag("W4")
    void kubeletThatSetsItsPodBackWithTheOldTimeIsNotContradicted() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        // given a kubelet that is not ready, and writes its own last status of the pod after each mark
        world.ready("n1", "False", B);
        for (int i = 0; i < 30; i++) {
            world.advance(Duration.ofSeconds(10));
            world.podReady("pod0", "True", B.minusSeconds(100));
        }

        assertThat(world.time.elapsed()).isEqualTo(Duration.ofSeconds(300));
        assertThat(world.calls("PATCH", "/status")).isEqualTo(1);
        assertThat(world.podReady("pod0")).isEqualTo("True");

        // when the node recovers and fails once more, it is marked again, once
        world.ready("n1", "True", B.plusSeconds(300));
        world.ready("n1", "False", B.plusSeconds(310));
        world.advanceTo("320S");
        assertThat(world.podReady("pod0")).isEqualTo("False");
        world.podReady("pod0", "True", B.minusSeconds(100));
        world.advanceTo("600S");
        assertThat(world.calls("PATCH", "/status")).isEqualTo(2);

        // when the node falls silent
        world.silence("n1");
        world.advanceTo("601S");
        assertThat(world.podReady("pod0")).isEqualTo("False");
    }

    @Test
    @Tag("W4")
    void podsAreMarkedWhenANodeThatSaidItIsNotReadyFallsSilent() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.ready("n1", "False", B);
        world.podReady("pod0", "True", B.plusSeconds(1));
        world.advanceTo("100S");
        assertThat(world.podReady("pod0")).isEqualTo("True");

        world.silence("n1");
        world.advanceTo("200S");

        assertThat(world.podReady("pod0")).isEqualTo("False");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L38")
    @Tag("W4")
    void newLeaderFinishesTheMarkingUnlessItIsTheReference(boolean better) {
        PodWorld world = world(better);
        for (int pod = 0; pod < 10; pod++) {
            world.addPod("pod" + pod, "n1");
        }
        world.start();
        int[] writes = {0};
        world.afterwards = () -> {
            if (world.calls(write(better), "/status") == 3 && writes[0]++ == 0) {
                world.kill();
            }
        };
        world.silence("n1");
        world.advanceTo("20S");
        assertThat(world.running()).isFalse();

        world.start();
        world.advanceTo("120S");

        long marked = IntStream.range(0, 10)
                .filter(pod -> world.podReady("pod" + pod).equals("False"))
                .count();
        if (better) {
            assertThat(marked).isEqualTo(10);
        } else {
            assertThat(marked).isLessThan(10);
        }
    }

    @Test
    @Tag("W15")
    void conflictWithTheKubeletIsDecidedByWhatTheKubeletSaid() {
        // given a kubelet that says itself that the pod is not ready, in the moment of the mark
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        int[] once = {1};
        world.fault = call -> {
            if (isMark(call) && once[0]-- > 0) {
                world.podReady("pod0", "False", B.plusSeconds(7));
                return Optional.of(FakeTransport.refusal(ApiException.modified(ResourceType.PODS, "pod0")));
            }
            return Optional.empty();
        };
        world.advanceTo("7S");

        world.silence("n1");
        world.advanceTo("60S");

        assertThat(world.calls("PATCH", "/status")).isEqualTo(1);
        assertThat(world.conditions("pod0")).containsExactly("Ready=False Fine 2015-01-01T12:00:07Z");
        assertThat(world.events).isEmpty();
    }

    @Test
    void podThatIsSetBackOnASilentNodeIsMarkedAgainOnceAMinute() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.silence("n1");
        for (int i = 0; i < 12; i++) {
            world.advance(Duration.ofSeconds(10));
            world.podReady("pod0", "True", world.time.wallTime());
        }
        world.advanceTo("125S");

        assertThat(world.calls("PATCH", "/status")).isEqualTo(3);
        assertThat(world.decisions).extracting(Decision::kind).containsOnly("PodsMarked");
    }

    @Test
    void podThatIsGoneUnseenIsTriedOnceAndNotReported() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.podWatchStalled = true;
        world.removePod("pod0");

        world.silence("n1");
        world.advanceTo("50S");

        assertThat(world.calls("PATCH", "/status")).isEqualTo(1);
        assertThat(world.events).isEmpty();
        assertThat(world.decisions).isEmpty();
        assertThat(world.sizes()).containsEntry("marks", 0);
    }

    @Test
    void eachEpisodeIsOneDecisionWithTheNumberOfItsPods() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.addPod("pod1", "n1");
        world.start();
        world.silence("n1");
        world.advanceTo("10S");

        world.addPod("pod2", "n1");
        world.advanceTo("20S");

        assertThat(world.decisions)
                .extracting(decision -> decision.kind() + " " + decision.node() + " " + decision.uid() + ": "
                        + decision.text() + " " + decision.details())
                .containsExactly(
                        "PodsMarked n1 n1-uid: 2 pods of node n1 marked not ready {\"pods\":2}",
                        "PodsMarked n1 n1-uid: 1 pods of node n1 marked not ready {\"pods\":1}");
    }

    @Test
    void podThatIsSetBackAMinuteAfterItsMarkIsMarkedAtOnceAndOneThatIsSetBackBeforeWaits() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.silence("n1");
        world.advanceTo("59S");
        world.podReady("pod0", "True", world.time.wallTime());
        world.advanceTo("59.999S");
        assertThat(world.calls("PATCH", "/status")).isEqualTo(1);
        assertThat(world.sizes()).containsEntry("marks", 1);
        world.advanceTo("60S");
        assertThat(world.calls("PATCH", "/status")).isEqualTo(2);

        world.advanceTo("120S");
        world.podReady("pod0", "True", world.time.wallTime());
        world.advance(Duration.ZERO);

        assertThat(world.calls("PATCH", "/status")).isEqualTo(3);
    }

    @Test
    void podOfANodeThatFailsOnceMoreIsMarkedWithoutAWait() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.silence("n1");
        world.advanceTo("10S");
        world.ready("n1", "True", B.plusSeconds(10));
        world.podReady("pod0", "True", B.plusSeconds(10));

        world.advanceTo("20S");
        world.silence("n1");
        world.advance(Duration.ZERO);

        assertThat(world.calls("PATCH", "/status")).isEqualTo(2);
    }

    @Test
    void podThatBecameReadyInTheSecondInWhichItsNodeDidNotIsLeftAlone() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.podReady("pod0", "True", B);

        world.ready("n1", "False", B);
        world.advanceTo("20S");

        assertThat(world.podReady("pod0")).isEqualTo("True");
    }

    @Test
    void podThatMovesToAnotherSilentNodeWhileItIsMarkedIsMarkedThere() {
        PodWorld world = world(true);
        world.addNode("n2");
        world.addPod("pod0", "n1");
        world.start();
        world.latency = call -> isMark(call) ? Duration.ofMillis(1_500) : Duration.ZERO;
        world.silence("n1");
        world.advanceTo("1.200S");

        // Given the pod on another node, ready there and not marked, before the answer to the first mark comes.
        world.patchPod("pod0", "{\"spec\":{\"nodeName\":\"n2\"}}");
        world.podReady("pod0", "True", B.plusSeconds(1));
        world.silence("n2");
        world.advanceTo("4S");

        assertThat(world.calls("PATCH", "/status")).isEqualTo(2);
        assertThat(world.podReady("pod0")).isEqualTo("False");
    }

    @Test
    void cacheHasTheMarkBeforeTheWatchDeliversIt() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.podWatchStalled = true;
        world.silence("n1");
        world.advanceTo("1S");

        // When the node has news, the pod is known to be marked.
        world.ready("n1", "False", B.plusSeconds(1));
        world.silence("n1");
        world.advanceTo("100S");

        assertThat(world.calls("PATCH", "/status")).isEqualTo(1);
    }

    @Test
    void nodeIsNotReadFirstIfObserverGuardIsDisabled() {
        PodWorld world = new PodWorld(new WorkloadConfig(false, true, true, true, true, 0, Duration.ofSeconds(5)));
        world.addNode("n1");
        world.addPod("pod0", "n1");
        world.start();

        world.silence("n1");
        world.advanceTo("1S");

        assertThat(world.calls("GET", "/nodes/n1")).isZero();
        assertThat(world.podReady("pod0")).isEqualTo("False");
    }

    @Test
    void markWaitsForANodeThatHasChanged() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        LogLines log = LogLines.of(PodMarker.class);
        // Given a node that is Unknown for the watch, and Ready for the API again.
        world.silence("n1");
        world.nodeWatchStalled = true;
        world.ready("n1", "True", B);
        world.advanceTo("11S");

        assertThat(world.calls("GET", "/nodes/n1")).as("at 0, 5 and 10 s").isEqualTo(3);
        assertThat(world.calls("PATCH", "/status")).isZero();
        assertThat(log.lines()).hasSize(3).containsOnly("Pod default/pod0 is not marked for now: node n1 has changed");
        assertThat(world.sizes()).containsEntry("marks", 1);

        world.nodeWatchStalled = false;
        world.ready("n1", "True", B.plusSeconds(11));
        world.advanceTo("16S");
        assertThat(world.sizes()).containsEntry("marks", 0);
        assertThat(world.calls("PATCH", "/status")).isZero();
    }

    @Test
    void changeOfTheNodeDuringTheReadCausesAnotherRead() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.nodeWatchStalled = true;
        world.ready("n1", "True", B);
        world.nodeWatchStalled = false;
        boolean[] first = {true};
        // Given a look that shows the node as it was before it fell silent, and is still on its way when that is known.
        world.fault = call -> {
            if (call.target().endsWith("/nodes/n1") && first[0]) {
                first[0] = false;
                world.ready("n1", "Unknown", B.plusSeconds(1));
                return Optional.of(FakeTransport.refusal(ApiException.notFound(ResourceType.NODES, "n1")));
            }
            return Optional.empty();
        };
        world.latency = call -> call.target().endsWith("/nodes/n1") ? Duration.ofMillis(100) : Duration.ZERO;
        world.silence("n1");
        world.advanceTo("0.2S");

        assertThat(world.calls("GET", "/nodes/n1")).isEqualTo(2);
        assertThat(world.podReady("pod0")).isEqualTo("False");
    }

    @Test
    void failedMarkIsLoggedAndTriedAgainAfterATenthOfASecondAtFirst() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        LogLines log = LogLines.of(PodMarker.class);
        world.fault = call -> isMark(call) ? Optional.of(PodWorld.unavailable()) : Optional.empty();

        world.silence("n1");
        world.advanceTo("0.350S");

        assertThat(world.calls("PATCH", "/status")).as("at 0, 100 and 300 ms").isEqualTo(3);
        assertThat(log.lines())
                .containsExactly(
                        "Marking pod default/pod0 failed: not now; retrying in PT0.1S",
                        "Marking pod default/pod0 failed: not now; retrying in PT0.2S",
                        "Marking pod default/pod0 failed: not now; retrying in PT0.4S");
    }

    @Test
    void nothingIsMarkedOnceItIsStopped() {
        PodWorld world = world(true);
        world.addPod("pod0", "n1");
        world.start();
        world.fault = call -> isMark(call) ? Optional.of(PodWorld.unavailable()) : Optional.empty();
        world.silence("n1");
        world.advanceTo("1S");
        long tries = world.calls("PATCH", "/status");

        world.stop();
        world.advanceTo("60S");

        assertThat(world.calls("PATCH", "/status")).isEqualTo(tries);
    }

    private static boolean isMark(Call call) {
        return call.method().equals("PATCH");
    }
}
