package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.events.ObjectRef;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which states of a pod's node are changes. Each state is seen at the same moment; only the named part differs. */
class HostNodeTest {
    private static final Instant NOW = Instant.parse("2020-01-01T00:10:00Z");
    private static final long MONOTONIC = 600_000_000_000L;
    private static final HostNode.News NOTHING = new HostNode.News(false, false);
    private static final String TAINT =
            "{\"key\":\"k\",\"effect\":\"NoExecute\",\"timeAdded\":\"2020-01-01T00:09:00Z\"}";

    private final HostNode node = new HostNode("n1");

    @Test
    void firstStateIsNewsOfReadyAndOfTaints() {
        assertThat(saw("u1", "True", "2020-01-01T00:00:00Z", "")).isEqualTo(new HostNode.News(true, true));

        assertThat(node.known).isTrue();
        assertThat(node.uid).isEqualTo("u1");
        assertThat(node.ready).isEqualTo("True");
        assertThat(node.readySince).isEqualTo(1_577_836_800L);
        assertThat(node.taints).isEmpty();
        assertThat(node.news).isEqualTo(1);
    }

    @Test
    void sameStateAgainIsNoNews() {
        saw("u1", "True", "2020-01-01T00:00:00Z", TAINT);

        assertThat(saw("u1", "True", "2020-01-01T00:00:00Z", TAINT)).isEqualTo(NOTHING);

        assertThat(node.news).isEqualTo(1);
    }

    @Test
    void otherStatusOfReadyIsNewsOfReady() {
        saw("u1", "True", "2020-01-01T00:00:00Z", "");

        assertThat(saw("u1", "False", "2020-01-01T00:00:00Z", "")).isEqualTo(new HostNode.News(true, false));
        assertThat(node.ready).isEqualTo("False");
    }

    @Test
    void otherTimeOfReadyIsNewsOfReady() {
        saw("u1", "True", "2020-01-01T00:00:00Z", "");

        assertThat(saw("u1", "True", "2020-01-01T00:05:00Z", "")).isEqualTo(new HostNode.News(true, false));
        assertThat(node.readySince).isEqualTo(1_577_837_100L);
    }

    @Test
    void otherTaintsAreNewsOfTaints() {
        saw("u1", "True", "2020-01-01T00:00:00Z", "");

        assertThat(saw("u1", "True", "2020-01-01T00:00:00Z", TAINT)).isEqualTo(new HostNode.News(false, true));
        assertThat(node.taints).extracting(ActiveTaint::key).containsExactly("k");
    }

    @Test
    void anotherNodeOfTheSameNameIsNewsOfTaints() {
        saw("u1", "True", "2020-01-01T00:00:00Z", TAINT);

        assertThat(saw("u2", "True", "2020-01-01T00:00:00Z", TAINT)).isEqualTo(new HostNode.News(false, true));
        assertThat(node.uid).isEqualTo("u2");
    }

    @Test
    void stateThatALiveReadContradictedIsNewsOfTaintsOnce() {
        saw("u1", "True", "2020-01-01T00:00:00Z", "");
        node.disputed = true;

        assertThat(saw("u1", "True", "2020-01-01T00:00:00Z", "")).isEqualTo(new HostNode.News(false, true));
        assertThat(node.disputed).isFalse();
        assertThat(saw("u1", "True", "2020-01-01T00:00:00Z", "")).isEqualTo(NOTHING);
    }

    @Test
    void markAsOutOfServiceIsAChangeThoughNeitherReadyNorNoExecuteTaintsChange() {
        saw("u1", "Unknown", "2020-01-01T00:00:00Z", "");
        String mark = "{\"key\":\"node.kubernetes.io/out-of-service\",\"effect\":\"NoSchedule\"}";

        assertThat(saw("u1", "Unknown", "2020-01-01T00:00:00Z", mark)).isEqualTo(NOTHING);

        assertThat(node.outOfService).isTrue();
        assertThat(node.news).isEqualTo(2);
    }

    @Test
    void anotherTaintDoesNotMarkANodeAsOutOfService() {
        saw("u1", "True", "2020-01-01T00:00:00Z", TAINT);

        assertThat(node.outOfService).isFalse();
    }

    @Test
    void changeEndsTheValidityOfAnEarlierRead() {
        saw("u1", "True", "2020-01-01T00:00:00Z", "");
        node.liveRead = CompletableFuture.completedFuture(Optional.empty());

        saw("u1", "False", "2020-01-01T00:00:00Z", "");

        assertThat(node.liveRead).isNull();
    }

    @Test
    void deletedNodeIsUnknownFromThatMoment() {
        saw("u1", "True", "2020-01-01T00:00:00Z", TAINT);
        node.outOfService = true;

        node.gone(7);

        assertThat(node.known).isFalse();
        assertThat(node.uid).isEmpty();
        assertThat(node.ready).isEmpty();
        assertThat(node.readySince).isEqualTo(HostNode.NO_TIME);
        assertThat(node.taints).isEmpty();
        assertThat(node.outOfService).isFalse();
        assertThat(node.missingSince).isEqualTo(7);
        assertThat(node.news).isEqualTo(2);
        assertThat(node.isSame(state("", "True", "2020-01-01T00:00:00Z", ""))).isFalse();
    }

    @Test
    void conditionWithoutATimeHasNoTime() {
        saw("u1", "True", "", "");

        assertThat(node.readySince).isEqualTo(HostNode.NO_TIME);
    }

    @Test
    void nodeWithTensOfThousandsOfTaintsIsSeenInAMoment() {
        // given a node with as many taints as fit into an object
        String taints = IntStream.range(0, 30_000)
                .mapToObj(i -> "{\"key\":\"example.com/k%d\",\"effect\":\"NoExecute\"}".formatted(i))
                .collect(Collectors.joining(","));
        Node state = state("u1", "True", "2020-01-01T00:00:00Z", taints);
        saw("u1", "True", "2020-01-01T00:00:00Z", taints);

        // when it is seen 20 times, then no taint is searched for among all of them, which would take minutes
        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
            for (int i = 0; i < 20; i++) {
                assertThat(node.saw(state, NOW, MONOTONIC + i)).isEqualTo(NOTHING);
            }
        });
        assertThat(node.taints).hasSize(30_000);
    }

    @Test
    void allPodsOfANodeShareWhatItsLiveReadSaysAboutItsTaints() {
        Node live = state("u1", "True", "2020-01-01T00:00:00Z", TAINT);
        saw("u1", "True", "2020-01-01T00:00:00Z", "");
        node.liveRead = CompletableFuture.completedFuture(Optional.of(live));

        List<ActiveTaint> first = node.taintsThatCount(live, NOW, MONOTONIC);

        assertThat(first).extracting(ActiveTaint::key).containsExactly("k");
        assertThat(node.taintsThatCount(live, NOW, MONOTONIC + 1)).isSameAs(first);
    }

    @Test
    void taintsOfALiveReadAreComputedAgainOnceTheNodeHasChanged() {
        Node live = state("u1", "True", "2020-01-01T00:00:00Z", TAINT);
        saw("u1", "True", "2020-01-01T00:00:00Z", "");
        node.liveRead = CompletableFuture.completedFuture(Optional.of(live));
        node.taintsThatCount(live, NOW, MONOTONIC);

        // when it is seen once more without the taint, a moment later
        node.saw(state("u1", "True", "2020-01-01T00:00:00Z", ""), NOW, MONOTONIC + 7);

        assertThat(node.taintsThatCount(live, NOW, MONOTONIC + 8))
                .extracting(ActiveTaint::since)
                .containsExactly(MONOTONIC + 7);
    }

    @Test
    void nodeIsWrittenByItsName() {
        assertThat(node).hasToString("n1");
    }

    @Test
    void podIsReferredToByNamespaceNameAndUid() {
        TrackedPod pod = new TrackedPod("default", "web", "p1", node);

        assertThat(pod.reference()).isEqualTo(new ObjectRef("v1", "Pod", "default", "web", "p1"));
        assertThat(pod).hasToString("default/web");
    }

    private HostNode.News saw(String uid, String ready, String since, String taint) {
        return node.saw(state(uid, ready, since, taint), NOW, MONOTONIC);
    }

    private static Node state(String uid, String ready, String since, String taint) {
        return new Node(Json.parseObject("""
                {"metadata": {"name": "n1", "uid": "%s"},
                 "spec": {"taints": [%s]},
                 "status": {"conditions": [{"type": "Ready", "status": "%s", "lastTransitionTime": "%s"}]}}
                """.formatted(uid, taint, ready, since)));
    }
}
