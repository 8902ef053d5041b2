package io.nodekeeper.agent;

import static io.nodekeeper.agent.FakeCluster.STATUS;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.calls.CallTracker;
import io.nodekeeper.agent.calls.OperationListener;
import io.nodekeeper.agent.culprit.CulpritListener;
import io.nodekeeper.agent.culprit.CulpritWatch;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.eviction.PressureListener;
import io.nodekeeper.agent.facts.NodeDevices;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PlegConfig;
import io.nodekeeper.agent.pleg.PlegMetrics;
import io.nodekeeper.agent.problems.ProblemView;
import io.nodekeeper.agent.runtime.RuntimeWatch;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.ImageFilesystem;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import io.nodekeeper.time.Randoms;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Incidents of container runtimes, replayed with a whole agent in virtual time. */
class RuntimeIncidentTest {
    private static final RuntimeCallException REFUSED =
            new RuntimeCallException("Status", RuntimeCallException.Code.UNAVAILABLE, "connection refused");

    private final FakeCluster cluster = new FakeCluster();
    private final FakeRuntime runtime = new FakeRuntime(cluster.loop);
    private final MeasuredHost host = new MeasuredHost();
    private final LoopMonitor loops = new LoopMonitor(cluster.loop.clock());
    private final List<String> ready = new ArrayList<>();
    private Optional<Duration> liveVersion = Optional.empty();

    RuntimeIncidentTest() {
        for (int pod = 0; pod < 10; pod++) {
            runtime.pod("p" + pod, "main");
        }
    }

    private Agent start() {
        return start(PlegConfig.PARALLEL);
    }

    private Agent start(PlegConfig pleg) {
        CallTracker ledger = new CallTracker(runtime, cluster.loop.clock(), OperationListener.NONE);
        Pleg generator = new Pleg(ledger, cluster.loop, pleg, PlegMetrics.NONE);
        CulpritWatch culprits = new CulpritWatch(
                ledger,
                ledger,
                () -> ContainerIndex.of(
                        generator.inventory().sandboxes(), generator.inventory().containers()),
                (ids, deep) -> CompletableFuture.completedFuture(List.of()),
                "/run/runtime.sock",
                cluster.loop,
                Randoms.seeded(1),
                CulpritListener.NONE);
        RuntimeWatch watch = new RuntimeWatch(
                cluster.loop,
                new RuntimeWatch.Parts(ledger, generator, Optional.of(culprits), Optional.empty(), true, liveVersion),
                loops,
                Randoms.seeded(2));
        Agent agent = new Agent(
                Fixtures.config(),
                cluster.ports(),
                host,
                watch,
                ProblemView.NONE,
                loops,
                StartListener.NONE,
                PressureListener.NONE,
                () -> false,
                NodeDevices.NONE);
        watch.start();
        agent.start();
        return agent;
    }

    private Condition readyCondition() {
        return Fixtures.condition(cluster.node.orElseThrow(), Condition.READY);
    }

    /** Advances time in steps of a second; records each change of Ready with the second at which it was seen. */
    private void watch(Duration duration) {
        long begin = cluster.time.elapsed().toSeconds();
        for (long second = 0; second < duration.toSeconds(); second++) {
            cluster.advance(Duration.ofSeconds(1));
            String now =
                    cluster.node.flatMap(Node::ready).map(Condition::status).orElse("");
            String last = ready.isEmpty() ? "" : ready.getLast().split(" ")[1];
            if (!now.equals(last)) {
                ready.add((cluster.time.elapsed().toSeconds() - begin) + "s " + now);
            }
        }
    }

    @Test
    @Tag("A61")
    void aNodeWithARuntimeIsReadyAtOnce() {
        start();

        cluster.advance(Duration.ofSeconds(1));

        assertThat(readyCondition().status()).isEqualTo("True");
        JsonObject info = cluster.node.orElseThrow().status().object("nodeInfo");
        assertThat(info.text("containerRuntimeVersion")).isEqualTo("docker://1.2.3");
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "RuntimeDegraded")
                        .status())
                .isEqualTo("Unknown");
        cluster.advance(Duration.ofSeconds(14));
        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "RuntimeDegraded")
                        .status())
                .isEqualTo("False");
    }

    @Test
    void theAgentMeasuresTheFileSystemThatTheRuntimeNames() {
        runtime.filesystems(List.of(new ImageFilesystem("/images", 1, 1), new ImageFilesystem("/others", 1, 1)));
        start();

        cluster.advance(Duration.ofMinutes(1));

        assertThat(cluster.node.orElseThrow().condition("PressureUnknown")).isEmpty();
        assertThat(host.measured).containsOnly(Path.of("/images"));
    }

    @Test
    void aRuntimeThatDoesNotNameItsImagesFileSystemIsACondition() {
        runtime.filesystems(List.of());
        start();

        cluster.advance(Duration.ofMinutes(1));

        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "PressureUnknown")
                        .message())
                .isEqualTo("imagefs.available, imagefs.inodesFree cannot be measured: the container runtime reported"
                        + " no image file system: its list has no absolute path; DiskPressure keeps its last status");
    }

    @Test
    @Tag("A84")
    @Tag("long")
    void oneStuckPodNeverMakesTheNodeNotReadyInADay() {
        start();
        cluster.advance(Duration.ofMinutes(1));
        runtime.container("p3-second", "p3", "second", io.nodekeeper.cri.ContainerState.RUNNING);
        runtime.hang("PodSandboxStatus:s-p3");

        watch(Duration.ofHours(24));

        assertThat(ready).containsExactly("1s True");
    }

    @Test
    @Tag("A85")
    void withTheReferenceAlgorithmTheSamePodMakesTheNodeNotReadyEveryFourMinutes() {
        start(PlegConfig.REFERENCE_1_21);
        cluster.advance(Duration.ofMinutes(1));
        runtime.container("p3-second", "p3", "second", io.nodekeeper.cri.ContainerState.RUNNING);
        runtime.hang("PodSandboxStatus:s-p3");

        watch(Duration.ofHours(4));

        long falls = ready.stream().filter(change -> change.endsWith("False")).count();
        assertThat(falls).isBetween(57L, 60L);
    }

    @Test
    @Tag("A88")
    void aRestartWithAHungContainerIsReadyWithinTenSeconds() {
        runtime.hang("ContainerStatus:p7-main");
        runtime.hang("ContainerStats:p7-main");
        start();

        watch(Duration.ofSeconds(120));

        assertThat(ready).hasSize(1);
        assertThat(ready.getFirst()).isIn("1s True", "2s True", "3s True");
    }

    @Test
    @Tag("A88")
    void aStartWithAHungRuntimeIsNotReadyWithTheReasonAndRecovers() {
        runtime.hang("*");
        start();

        watch(Duration.ofSeconds(60));

        assertThat(ready).hasSize(1);
        assertThat(readyCondition().status()).isEqualTo("False");
        assertThat(readyCondition().message())
                .contains("container runtime status check may not have completed yet")
                .contains("PLEG is not healthy: pleg has yet to be successful")
                .contains("start-up step \"runtime status\" has been waiting since 2026-01-01T00:00:00Z")
                .contains("start-up step \"pod list\"");

        runtime.heal("*");
        watch(Duration.ofSeconds(20));

        assertThat(readyCondition().status()).isEqualTo("True");
    }

    @Test
    void aContainerWhoseCallsHangIsNamedWithinTwentySeconds() {
        start();
        cluster.advance(Duration.ofMinutes(1));
        runtime.hang("ContainerStatus:p7-main");
        runtime.hang("ContainerStats:p7-main");

        cluster.advance(Duration.ofSeconds(20));

        Condition degraded = Fixtures.condition(cluster.node.orElseThrow(), "RuntimeDegraded");
        assertThat(degraded.status()).isEqualTo("True");
        assertThat(degraded.reason()).isEqualTo("ContainerCallHung");
        assertThat(degraded.message()).contains("default/pod-p7");
        assertThat(readyCondition().status()).isEqualTo("True");
    }

    @Test
    void aListThatHangsIsNamedWithinTwentySeconds() {
        start();
        cluster.advance(Duration.ofMinutes(1));
        runtime.hang("ListContainers");

        cluster.advance(Duration.ofSeconds(20));

        Condition degraded = Fixtures.condition(cluster.node.orElseThrow(), "RuntimeDegraded");
        assertThat(degraded.message()).contains("ListContainers");
    }

    @Test
    @Tag("A54")
    void beforeAnythingIsKnownTheMessageIsKubernetes() {
        runtime.hang("*");
        start();

        cluster.advance(Duration.ofSeconds(8));

        assertThat(readyCondition().message())
                .isEqualTo(
                        "[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet"
                                + " to be successful, network state unknown]");
    }

    @Test
    void aHealthyNodeKeepsItsReadyOverARestartOfItsAgent() {
        Agent first = start();
        cluster.advance(Duration.ofMinutes(1));
        first.stop();
        runtime.delay("Status", Duration.ofSeconds(4));
        runtime.delay("ListPodSandbox", Duration.ofSeconds(4));

        start();
        watch(Duration.ofSeconds(60));

        assertThat(ready).containsExactly("1s True");
    }

    @Test
    @Tag("A89")
    void aFrozenRuntimeIsNotReadyWithinFortyFiveSeconds() {
        start();
        cluster.advance(Duration.ofMinutes(1));
        runtime.hang("*");

        watch(Duration.ofSeconds(60));

        assertThat(ready).hasSize(2);
        assertThat(ready.getLast()).endsWith("False");
        assertThat(Integer.parseInt(ready.getLast().split("s")[0])).isBetween(25, 45);
        assertThat(readyCondition().message()).contains("container runtime is down");
        assertThat(cluster.node.orElseThrow().status().object("nodeInfo").text("containerRuntimeVersion"))
                .startsWith("docker://");
    }

    @Test
    @Tag("A89")
    void withTheReferencesLiveQuestionTheReportOfAFrozenRuntimeWaitsTwoMinutes() {
        liveVersion = Optional.of(Duration.ofMinutes(2));
        start();
        cluster.advance(Duration.ofMinutes(1));
        runtime.hang("*");

        watch(Duration.ofSeconds(200));

        assertThat(ready.getLast()).endsWith("False");
        assertThat(Integer.parseInt(ready.getLast().split("s")[0])).isBetween(105, 140);
    }

    @Test
    @Tag("A75")
    void aRuntimeThatRefusesIsDownAfterThirtySecondsAndBackAtOnce() {
        start();
        cluster.advance(Duration.ofMinutes(1));
        runtime.fail("*", REFUSED);

        watch(Duration.ofSeconds(60));
        runtime.heal("*");
        watch(Duration.ofSeconds(60));

        assertThat(ready).hasSize(3);
        assertThat(Integer.parseInt(ready.get(1).split("s")[0])).isBetween(25, 35);
        assertThat(Integer.parseInt(ready.get(2).split("s")[0])).isLessThanOrEqualTo(7);
    }

    @Test
    @Tag("A55")
    void aNetworkThatGoesAwayIsSeenWithinSeconds() {
        start();
        cluster.advance(Duration.ofMinutes(1));
        runtime.status(new RuntimeStatus(
                List.of(
                        new RuntimeCondition(RuntimeCondition.RUNTIME_READY, true, "", ""),
                        new RuntimeCondition(
                                RuntimeCondition.NETWORK_READY,
                                false,
                                "NetworkPluginNotReady",
                                "Network plugin returns error: cni plugin not initialized")),
                List.of(),
                Optional.empty()));

        watch(Duration.ofSeconds(10));

        assertThat(ready.getLast()).endsWith("False");
        assertThat(readyCondition().message())
                .isEqualTo("container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
                        + " message:Network plugin returns error: cni plugin not initialized");
    }

    @Test
    @Tag("A73")
    void theLeaseIsRenewedWhileTheRuntimeIsDead() {
        start();
        cluster.advance(Duration.ofMinutes(1));
        runtime.hang("*");
        cluster.transport.clear();

        cluster.advance(Duration.ofMinutes(10));

        assertThat(cluster.count("PUT " + FakeCluster.LEASE)).isBetween(57L, 61L);
    }

    @Test
    @Tag("A24")
    void thePodCidrReachesTheRuntimeOnce() {
        start();
        cluster.advance(Duration.ofSeconds(5));
        give("10.0.0.0/24", "fd00::/64");

        cluster.advance(Duration.ofMinutes(2));

        assertThat(runtime.calls())
                .filteredOn(call -> call.method().equals("UpdateRuntimeConfig"))
                .containsExactly(new io.nodekeeper.cri.RuntimeCall.SetPodCidr("10.0.0.0/24,fd00::/64"));
    }

    @Test
    @Tag("A24")
    void aRuntimeThatDoesNotTakeThePodCidrIsAskedAtEveryTickWithoutPatches() {
        runtime.fail("UpdateRuntimeConfig", REFUSED);
        start();
        cluster.advance(Duration.ofSeconds(5));
        give("10.0.0.0/24");
        cluster.advance(Duration.ofSeconds(11));
        cluster.transport.clear();

        cluster.advance(Duration.ofSeconds(101));

        assertThat(runtime.calls("UpdateRuntimeConfig")).isBetween(9L, 12L);
        assertThat(cluster.count("PATCH " + STATUS)).isZero();
    }

    @Test
    @Tag("A87")
    void everyLoopGivesSignsOfLifeEvenWhileTheRuntimeHangs() {
        runtime.hang("*");
        start();

        cluster.advance(Duration.ofMinutes(30));

        assertThat(loops.silences().keySet()).contains("syncloop", "lease", "pressure", "runtime");
        assertThat(loops.silences().keySet())
                .allSatisfy(name -> assertThat(loops.failure(name)).isEmpty());
    }

    private void give(String... cidrs) {
        Node node = cluster.node.orElseThrow();
        cluster.store(new Node(node.json()
                .update("spec", spec -> spec.with("podCIDRs", JsonArray.ofStrings(List.of(cidrs))))));
    }
}
