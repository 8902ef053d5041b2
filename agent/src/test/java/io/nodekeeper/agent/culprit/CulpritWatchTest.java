package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.calls.CallTracker;
import io.nodekeeper.agent.calls.OperationListener;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessTable;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Culprits in virtual time: named in time, cleared in time, never flapping, with bounded work. */
class CulpritWatchTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T18:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final CallTracker ledger = new CallTracker(runtime, loop, OperationListener.NONE);
    private final List<String> heard = new ArrayList<>();
    private final List<Boolean> depths = new ArrayList<>();
    private final List<List<ProcessInfo>> followed = new ArrayList<>();
    private boolean changed;
    private CompletableFuture<List<ProcessInfo>> scan = CompletableFuture.completedFuture(ProcessFixtures.healthy());
    private final CulpritWatch watch = new CulpritWatch(
            ledger,
            ledger,
            () -> ProcessFixtures.WORKLOAD,
            new ProcessTable() {
                @Override
                public CompletableFuture<List<ProcessInfo>> scan(Set<String> ids, boolean deep) {
                    depths.add(deep);
                    return scan;
                }

                @Override
                public CompletableFuture<Boolean> changed(List<ProcessInfo> processes) {
                    followed.add(processes);
                    return CompletableFuture.completedFuture(changed);
                }
            },
            "/run/c.sock",
            loop,
            Randoms.seeded(1),
            new CulpritListener() {
                @Override
                public void found(Culprit culprit) {
                    heard.add(time.elapsed().toSeconds() + " found " + culprit.reason());
                }

                @Override
                public void cleared(Culprit culprit) {
                    heard.add(time.elapsed().toSeconds() + " cleared " + culprit.reason());
                }
            });

    CulpritWatchTest() {
        runtime.sandbox(ProcessFixtures.WEB, "w1", true);
        runtime.sandbox(ProcessFixtures.DB, "d1", true);
        runtime.container(ProcessFixtures.WEB_APP, "w1", "app", ContainerState.RUNNING);
        runtime.container(ProcessFixtures.DB_APP, "d1", "postgres", ContainerState.RUNNING);
    }

    @Test
    void firstScanIsDeepAsAFaultMayBeOlderThanTheWatch() {
        watch.start();
        pass(60);

        assertThat(depths.getFirst()).isTrue();
        assertThat(depths.subList(1, depths.size())).isNotEmpty().containsOnly(false);
    }

    @Test
    void runtimeThatAnswersIsNotDegraded() {
        assertThat(watch.condition().status()).isEqualTo("Unknown");
        watch.start();
        pass(60);

        assertThat(watch.condition())
                .isEqualTo(new ConditionReport(
                        "RuntimeDegraded",
                        "False",
                        "RuntimeResponsive",
                        "the container runtime answers and none of its processes hangs"));
        assertThat(heard).isEmpty();
        assertThat(loop.nanoTime() - watch.lastBeat())
                .isLessThan(Duration.ofSeconds(6).toNanos());
    }

    @Test
    void diagnosisThatFailsIsToldUntilOneSucceeds() {
        // given a process that the diagnosis cannot handle
        watch.start();
        pass(60);
        processes(ProcessFixtures.healthyBut(
                ProcessFixtures.broken(ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T'))));

        // when it is scanned
        pass(20);

        // then the condition says that nothing is known
        assertThat(watch.condition())
                .isEqualTo(new ConditionReport(
                        "RuntimeDegraded",
                        "Unknown",
                        "DiagnosisFailed",
                        "it cannot be told whether the container runtime hangs, because the diagnosis failed: broken"));

        // and until the process is gone
        processes(ProcessFixtures.healthy());
        pass(20);
        assertThat(watch.condition().reason()).isEqualTo("RuntimeResponsive");
    }

    @Test
    void stoppedShimIsNamedWithinTwentySecondsAndClearedWithoutASecondCulprit() {
        watch.start();
        pass(60);

        processes(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T')));
        runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
        pass(20);
        ConditionReport named = watch.condition();
        pass(100);

        assertThat(named.status()).isEqualTo("True");
        assertThat(named.reason()).isEqualTo("ShimStopped");
        assertThat(named.message())
                .startsWith(
                        "the shim containerd-shim-runc-v2 (pid 200) of pod shop/web has been stopped (state T) since"
                                + " 2026-11-21T18:01:");
        assertThat(watch.condition()).isEqualTo(named);

        processes(ProcessFixtures.healthy());
        runtime.heal("ContainerStats:" + ProcessFixtures.WEB_APP);
        pass(20);

        assertThat(watch.condition().status()).isEqualTo("False");
        assertThat(heard).hasSize(2);
        assertThat(heard.get(0)).endsWith("found ShimStopped");
        assertThat(heard.get(1)).endsWith("cleared ShimStopped");
    }

    @Test
    void knownCulpritThatLastsIsScannedEverySixSeconds() {
        watch.start();
        processes(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T')));
        runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
        pass(60);
        int scans = depths.size();

        pass(600);

        assertThat(depths.size() - scans).isBetween(600 * 10 / 66, 600 / 6);
        assertThat(depths).containsOnly(true);
        assertThat(loop.nanoTime() - watch.lastBeat())
                .isLessThan(Duration.ofSeconds(2).toNanos());
    }

    @Test
    void processOfAKnownCulpritThatIsContinuedIsScannedWithinTwoSeconds() {
        watch.start();
        processes(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T')));
        pass(90);
        int scans = depths.size();
        processes(ProcessFixtures.healthy());
        changed = true;

        pass(2);

        assertThat(depths.size()).isGreaterThan(scans);
        assertThat(followed.getLast()).extracting(info -> info.ref().pid()).containsExactly(200);
    }

    @Test
    void overdueCallThatIsNotRepeatedDoesNotOutliveItsCause() {
        watch.start();
        processes(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T')));
        runtime.hang("StopPodSandbox:" + ProcessFixtures.WEB);
        ledger.call(new RuntimeCall.StopSandbox(ProcessFixtures.WEB), Duration.ofSeconds(30))
                .exceptionally(late -> null);
        pass(40);
        processes(ProcessFixtures.healthy());
        pass(120);

        assertThat(ledger.overdue(Duration.ZERO)).hasSize(1);
        assertThat(watch.culprits()).isEmpty();
        assertThat(heard).hasSize(2);
        pass(60);
        assertThat(ledger.overdue(Duration.ZERO)).isEmpty();
    }

    @Test
    void containerWhoseCallsHangIsNamedByProbesAlone() {
        watch.start();
        pass(60);
        runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
        pass(20);

        assertThat(watch.culprits().stream().map(Culprit::reason)).containsExactly("ContainerCallHung");
        assertThat(watch.culprits().getFirst().pod()).contains(ProcessFixtures.WEB_POD);

        pass(600);
        assertThat(heard).hasSize(1);
        runtime.heal("ContainerStats:" + ProcessFixtures.WEB_APP);
        pass(25);
        assertThat(watch.culprits()).isEmpty();
        assertThat(heard).hasSize(2);
    }

    @Test
    void hungStatusOfOneContainerIsNamedFromTheCallTracker() {
        watch.start();
        pass(60);
        runtime.hang("ContainerStatus:" + ProcessFixtures.WEB_APP);
        ledger.call(new RuntimeCall.GetContainer(ProcessFixtures.WEB_APP), Duration.ofSeconds(10))
                .exceptionally(late -> null);
        pass(12);

        assertThat(watch.culprits().stream().map(Culprit::reason)).containsExactly("ContainerCallHung");
        assertThat(watch.culprits().getFirst().containerId()).contains(ProcessFixtures.WEB_APP);
    }

    @Test
    void frozenRuntimeIsNamedOnceAndItsContainersAreLeftAlone() {
        watch.start();
        pass(60);
        processes(ProcessFixtures.healthyBut(ProcessFixtures.runtime('T')));
        runtime.hang("*");
        pass(20);
        assertThat(watch.condition().reason()).isEqualTo("RuntimeFrozen");
        long asked = runtime.calls("ContainerStats");
        pass(600);

        assertThat(heard).hasSize(1);
        assertThat(runtime.calls("ContainerStats")).isEqualTo(asked);

        processes(ProcessFixtures.healthy());
        runtime.heal("*");
        pass(25);
        assertThat(watch.culprits()).isEmpty();
        assertThat(heard).hasSize(2);
    }

    @Test
    void runtimeThatIsRestartedQuicklyIsNoCulpritOneThatStaysAwayIs() {
        RuntimeException refused =
                new RuntimeCallException("Version", RuntimeCallException.Code.UNAVAILABLE, "connection refused");
        watch.start();
        pass(61);
        runtime.fail("Version", refused);
        pass(3);
        runtime.heal("Version");
        pass(30);
        assertThat(heard).isEmpty();

        runtime.fail("Version", refused);
        pass(20);
        assertThat(watch.condition().reason()).isEqualTo("RuntimeUnreachable");
    }

    @Test
    void failedScanClearsNoCulpritAndHungScansDoNotAccumulate() {
        watch.start();
        processes(ProcessFixtures.healthyBut(ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T')));
        pass(20);
        scan = CompletableFuture.failedFuture(new IOException("2 earlier scans of /proc have not returned yet"));
        pass(60);
        assertThat(watch.condition().reason()).isEqualTo("ShimStopped");

        scan = new CompletableFuture<>();
        pass(600);
        assertThat(watch.condition().reason()).isEqualTo("ShimStopped");
        assertThat(heard).hasSize(1);
        assertThat(loop.nanoTime() - watch.lastBeat())
                .isLessThan(Duration.ofSeconds(10).toNanos());
    }

    @Test
    void culpritThatOneScanMissesIsHeld() {
        ProcessInfo stopped = ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T');
        processes(ProcessFixtures.healthyBut(stopped));
        watch.start();
        pass(20);
        for (int i = 0; i < 20; i++) {
            processes(ProcessFixtures.healthy());
            pass(2);
            processes(ProcessFixtures.healthyBut(stopped));
            pass(10);
        }

        assertThat(heard).hasSize(1);
    }

    @Test
    void dayWithAHungContainerHoldsNoMoreThanFourCalls() {
        watch.start();
        runtime.hang("ContainerStats");
        pass(86_400);

        assertThat(ledger.open().size()).isLessThanOrEqualTo(5);
        assertThat(heard).hasSize(1);
    }

    @Test
    void stoppedWatchMakesNoCalls() {
        watch.start();
        pass(30);
        watch.stop();
        pass(10);
        int calls = runtime.calls().size();
        pass(60);

        assertThat(runtime.calls()).hasSize(calls);
    }

    private void processes(List<ProcessInfo> now) {
        scan = CompletableFuture.completedFuture(now);
    }

    private void pass(int seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }
}
