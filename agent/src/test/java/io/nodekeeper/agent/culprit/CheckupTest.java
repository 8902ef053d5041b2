package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.diagnosis.CallOutcome;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Examinations in virtual time. */
class CheckupTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T18:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("doctor");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private CompletableFuture<List<ProcessInfo>> scan = CompletableFuture.completedFuture(ProcessFixtures.healthy());

    private final Queue<IOException> failures = new ArrayDeque<>();

    CheckupTest() {
        runtime.sandbox(ProcessFixtures.WEB, "w1", true);
        runtime.sandbox(ProcessFixtures.DB, "d1", true);
        runtime.container(ProcessFixtures.WEB_APP, "w1", "app", ContainerState.RUNNING);
        runtime.container(ProcessFixtures.DB_APP, "d1", "postgres", ContainerState.RUNNING);
    }

    @Test
    void healthyRuntimeIsExaminedWithinFiveSeconds() {
        Findings findings = examine(5);

        assertThat(findings.culprits()).isEmpty();
        assertThat(findings.answers()).hasSize(10).allMatch(CallOutcome::answered);
        assertThat(findings.processes()).hasSize(5);
    }

    @Test
    void hungContainerIsNamedBesideTheOneThatAnswers() {
        runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);

        Findings findings = examine(8);

        assertThat(findings.culprits().stream().map(Culprit::reason)).containsExactly("ContainerCallHung");
        assertThat(findings.culprits().getFirst().remedy()).isEqualTo(new Remedy.RemoveSandbox("s-w1"));
    }

    @Test
    void answerThatComesTheSecondTimeIsSlowAndNoHang() {
        runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
        runtime.hang("PodSandboxStatus:" + ProcessFixtures.DB);
        loop.schedule(Duration.ofSeconds(2), () -> {
            runtime.heal("ContainerStats:" + ProcessFixtures.WEB_APP);
            runtime.heal("PodSandboxStatus:" + ProcessFixtures.DB);
        });

        Findings findings = examine(8);

        assertThat(findings.culprits()).isEmpty();
        assertThat(findings.answers()).hasSize(10).allMatch(CallOutcome::answered);
        assertThat(runtime.calls("ContainerStats")).isEqualTo(3);
        assertThat(runtime.calls("PodSandboxStatus")).isEqualTo(3);
    }

    @Test
    void frozenRuntimeIsNamedThoughItListsNothing() {
        runtime.hang("*");
        scan = CompletableFuture.completedFuture(ProcessFixtures.healthyBut(ProcessFixtures.runtime('T')));

        assertThat(examine(15).culprits().stream().map(Culprit::reason)).containsExactly("RuntimeFrozen");
    }

    @Test
    void deadRuntimeIsNamed() {
        runtime.fail("*", new RuntimeCallException("Version", RuntimeCallException.Code.UNAVAILABLE, "refused"));
        scan = CompletableFuture.completedFuture(List.of());

        assertThat(examine(6).culprits().stream().map(Culprit::reason)).containsExactly("RuntimeUnreachable");
    }

    @Test
    void processesThatCannotBeSeenAreAFinding() {
        scan = CompletableFuture.failedFuture(new IOException("no /proc"));

        assertThat(examine(5).processError()).isEqualTo("no /proc");
    }

    @Test
    void diagnosisThatFailsIsAFinding() {
        // given an old command that the diagnosis cannot handle
        scan = CompletableFuture.completedFuture(ProcessFixtures.healthyBut(
                ProcessFixtures.broken(ProcessFixtures.runc(400, "create", ProcessFixtures.WEB_APP, 600))));

        // when the node is examined, then the calls are known, and that the diagnosis failed
        Findings findings = examine(15);
        assertThat(findings.processError()).isEqualTo("the diagnosis failed: broken");
        assertThat(findings.answers()).allMatch(CallOutcome::answered);
    }

    @Test
    void scanThatFailsIsRepeatedSoThatAStoppedProcessIsStillFound() {
        runtime.hang("*");
        scan = CompletableFuture.completedFuture(ProcessFixtures.healthyBut(ProcessFixtures.runtime('T')));
        failures.addAll(List.of(new IOException("slow"), new IOException("slow")));

        Findings findings = examine(15);

        assertThat(findings.culprits().stream().map(Culprit::reason)).containsExactly("RuntimeFrozen");
        assertThat(findings.processError()).isEmpty();
    }

    @Test
    void missingFirstScanIsAFindingAlthoughTheSecondOneSucceeds() {
        failures.addAll(List.of(new IOException("slow"), new IOException("slow"), new IOException("too slow")));

        assertThat(examine(5).processError()).isEqualTo("too slow");
    }

    @Test
    void containerThatEndsDuringTheCheckupIsNoFault() {
        runtime.fail(
                "ContainerStats:" + ProcessFixtures.WEB_APP,
                new RuntimeCallException("ContainerStats", RuntimeCallException.Code.NOT_FOUND, "no such task"));
        loop.schedule(
                Duration.ofSeconds(2),
                () -> runtime.container(ProcessFixtures.WEB_APP, "w1", "app", ContainerState.EXITED));

        Findings findings = examine(6);

        assertThat(findings.faults()).isEmpty();
        assertThat(findings.healthy()).isTrue();
    }

    @Test
    void callThatFailsTwiceIsAFaultWithItsError() {
        runtime.fail(
                "ContainerStats:" + ProcessFixtures.WEB_APP,
                new RuntimeCallException("ContainerStats", RuntimeCallException.Code.OTHER, "no space left on device"));

        Findings findings = examine(6);

        assertThat(findings.faults())
                .containsExactly("ContainerStats of container " + ProcessFixtures.WEB_APP
                        + " fails: ContainerStats: OTHER: no space left on device");
        assertThat(findings.culprits()).extracting(Culprit::reason).containsExactly("DiskFull");
        assertThat(findings.healthy()).isFalse();
        assertThat(runtime.calls("ContainerStats")).isEqualTo(3);
    }

    @Test
    void networkThatIsNotReadyIsAFaultWithItsReason() {
        runtime.status(new RuntimeStatus(
                List.of(
                        new RuntimeCondition(RuntimeCondition.RUNTIME_READY, true, "", ""),
                        new RuntimeCondition(
                                RuntimeCondition.NETWORK_READY,
                                false,
                                "NetworkPluginNotReady",
                                "no CNI configuration")),
                List.of(),
                Optional.empty()));

        Findings findings = examine(5);

        assertThat(findings.culprits()).isEmpty();
        assertThat(findings.faults())
                .containsExactly("NetworkReady is false: NetworkPluginNotReady: no CNI configuration");
        assertThat(findings.healthy()).isFalse();
    }

    @Test
    void scanOnceMoreFindsWhatHasChangedInTheProcesses() {
        scan = CompletableFuture.completedFuture(
                ProcessFixtures.healthyBut(ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T')));
        Checkup checkup = checkup();
        CompletableFuture<Findings> first = checkup.run();
        time.advance(Duration.ofSeconds(5));
        assertThat(first.join().culprits().stream().map(Culprit::reason)).containsExactly("ShimStopped");

        scan = CompletableFuture.completedFuture(ProcessFixtures.healthy());
        CompletableFuture<Findings> second = checkup.rescan();
        time.advance(Duration.ofMillis(1));

        assertThat(second.join().culprits()).isEmpty();
    }

    private Checkup checkup() {
        return new Checkup(
                runtime,
                (ids, deep) -> failures.isEmpty() ? scan : CompletableFuture.failedFuture(failures.poll()),
                "/run/c.sock",
                loop,
                Duration.ofSeconds(3),
                Checkup.Times.DOCTOR,
                said -> {});
    }

    private Findings examine(int seconds) {
        CompletableFuture<Findings> findings = checkup().run();
        time.advance(Duration.ofSeconds(seconds));
        assertThat(findings).isCompleted();
        return findings.join();
    }
}
