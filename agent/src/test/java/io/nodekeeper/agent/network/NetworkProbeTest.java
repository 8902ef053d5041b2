package io.nodekeeper.agent.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeCallException.Code;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NetworkProbeTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration INTERVAL = Duration.ofSeconds(60);
    private static final ConditionReport GOOD = new ConditionReport(
            "PodNetworkUnavailable",
            "False",
            "NetworkProbeSucceeded",
            "a test sandbox was set up, got an address and was torn down");

    private final VirtualTime time = new VirtualTime(START);
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final AgentMetrics metrics = new AgentMetrics(new LoopMonitor(loop.clock()));
    private final List<ConditionReport> news = new ArrayList<>();
    private ConditionReport seen = ProbeFinding.PENDING;
    private final NetworkProbe probe = probe(7);

    private NetworkProbe probe(long seed) {
        return new NetworkProbe("n1", "/var/log/nk", INTERVAL, runtime, loop, new Random(seed), metrics);
    }

    /** Records each change of the condition. */
    private void observe() {
        if (!condition().equals(seen)) {
            seen = condition();
            news.add(seen);
        }
        loop.schedule(Duration.ofMillis(100), this::observe);
    }

    private ConditionReport condition() {
        return probe.condition();
    }

    @Test
    void nothingIsKnownBeforeTheFirstProbeHasEnded() {
        runtime.delay("RunPodSandbox", Duration.ofSeconds(3));

        start(Duration.ofSeconds(2));

        assertThat(condition())
                .isEqualTo(new ConditionReport(
                        "PodNetworkUnavailable",
                        "Unknown",
                        "NetworkProbePending",
                        "the first probe of the pod network has not ended yet"));
        time.advance(Duration.ofSeconds(2));
        assertThat(condition()).isEqualTo(GOOD);
    }

    @Test
    void successfulProbeRunsAllStepsAndLeavesNothing() {
        start(Duration.ofSeconds(1));

        assertThat(methods())
                .containsExactly(
                        "ListPodSandbox", "RunPodSandbox", "PodSandboxStatus", "StopPodSandbox", "RemovePodSandbox");
        assertThat(configs().getFirst())
                .isEqualTo(new SandboxConfig(
                        configs().getFirst().podUid(), "nodekeeper-network-probe-n1", "kube-system", 0, "/var/log/nk"));
        assertThat(sandboxes()).isEmpty();
        assertThat(news).containsExactly(GOOD);
        assertThat(metric("nodekeeper_agent_network_probe_success")).isEqualTo("1.0");
    }

    @Test
    void eachProbeHasAnAttemptOfItsOwnAndTheSamePod() {
        start(Duration.ofMinutes(5));

        assertThat(configs()).extracting(SandboxConfig::attempt).startsWith(0, 1, 2, 3);
        assertThat(configs())
                .extracting(SandboxConfig::podUid)
                .containsOnly(configs().getFirst().podUid());
        assertThat(news).containsExactly(GOOD);
    }

    @Test
    void failedSetupIsReportedWithTheRuntimesErrorAndOnceWhileItIsTheSame() {
        fail("RunPodSandbox", "failed to setup network for sandbox \"" + "0a".repeat(32) + "\": no IP left");
        start(Duration.ofSeconds(30));
        fail("RunPodSandbox", "failed to setup network for sandbox \"" + "1b".repeat(32) + "\": no IP left");
        time.advance(Duration.ofMinutes(10));

        assertThat(news)
                .containsExactly(new ConditionReport(
                        "PodNetworkUnavailable",
                        "True",
                        "NetworkSetupFailed",
                        "setting up a test sandbox failed, first at 2026-01-01T00:00:00Z: RunPodSandbox: OTHER: failed"
                                + " to setup network for sandbox \"ID\": no IP left"));
        assertThat(metric("nodekeeper_agent_network_probe_success")).isEqualTo("0.0");
        assertThat(configs()).extracting(SandboxConfig::attempt).startsWith(0, 1, 2, 3);
    }

    @Test
    void hungSetupIsFoundInTwentySecondsAndItsEndWithTheNextProbe() {
        runtime.hang("RunPodSandbox");
        start(Duration.ofMillis(20_001));

        assertThat(condition())
                .isEqualTo(new ConditionReport(
                        "PodNetworkUnavailable",
                        "True",
                        "NetworkSetupHung",
                        "setting up a test sandbox did not end within 20s, first at 2026-01-01T00:00:20Z"));

        runtime.heal("RunPodSandbox");
        time.advance(Duration.ofSeconds(67));
        assertThat(condition()).isEqualTo(GOOD);
    }

    @Test
    void sandboxWithoutAnAddressIsNoNetwork() {
        runtime.delay("PodSandboxStatus", Duration.ofSeconds(1));
        start(Duration.ofMillis(500));
        runtime.ips("made-1", List.of());
        time.advance(Duration.ofSeconds(1));

        assertThat(condition().status()).isEqualTo("True");
        assertThat(condition().reason()).isEqualTo("NoPodAddress");
        assertThat(condition().message())
                .isEqualTo("a test sandbox was set up and got no address, first at 2026-01-01T00:00:01Z");
        assertThat(sandboxes()).isEmpty();
    }

    @Test
    void failedTeardownIsReportedAndNoSecondSandboxIsMadeUntilTheFirstIsGone() {
        fail("StopPodSandbox", "plugin refuses");
        start(Duration.ofMinutes(5));

        assertThat(condition())
                .isEqualTo(new ConditionReport(
                        "PodNetworkUnavailable",
                        "True",
                        "NetworkTeardownFailed",
                        "tearing down a test sandbox failed, first at 2026-01-01T00:00:00Z: StopPodSandbox: OTHER:"
                                + " plugin refuses"));
        assertThat(sandboxes()).hasSize(1);
        assertThat(configs()).hasSize(1);

        runtime.heal("StopPodSandbox");
        time.advance(Duration.ofSeconds(67));
        assertThat(condition()).isEqualTo(GOOD);
        assertThat(sandboxes()).isEmpty();
        assertThat(configs()).hasSize(2);
    }

    @Test
    void hungTeardownAndHungRemovalAreReported() {
        runtime.hang("StopPodSandbox");
        start(Duration.ofMillis(20_001));
        assertThat(condition().reason()).isEqualTo("NetworkTeardownHung");
        assertThat(condition().message())
                .isEqualTo("tearing down a test sandbox did not end within 20s, first at 2026-01-01T00:00:20Z");

        runtime.heal("StopPodSandbox");
        runtime.hang("RemovePodSandbox");
        time.advance(Duration.ofSeconds(90));
        assertThat(condition().reason()).isEqualTo("NetworkTeardownHung");
        assertThat(condition().message()).startsWith("removing a test sandbox did not end within 20s, first at ");
    }

    @Test
    void sandboxRemovedByAnotherClientIsNoFault() {
        runtime.fail("StopPodSandbox", new RuntimeCallException("StopPodSandbox", Code.NOT_FOUND, "no such sandbox"));
        start(Duration.ofSeconds(1));

        assertThat(condition()).isEqualTo(GOOD);
    }

    @Test
    void runtimeThatDoesNotAnswerSaysNothingAboutTheNetwork() {
        runtime.hang("*");
        start(Duration.ofMillis(10_001));

        assertThat(condition())
                .isEqualTo(new ConditionReport(
                        "PodNetworkUnavailable",
                        "Unknown",
                        "RuntimeNotAnswering",
                        "listing sandboxes failed, first at 2026-01-01T00:00:10Z: ListPodSandbox did not answer within"
                                + " 10s"));
        assertThat(configs()).isEmpty();
    }

    @Test
    void refusedConnectionDuringSetupSaysNothingAboutTheNetwork() {
        runtime.fail("RunPodSandbox", new RuntimeCallException("RunPodSandbox", Code.UNAVAILABLE, "refused"));
        start(Duration.ofSeconds(1));

        assertThat(condition().status()).isEqualTo("Unknown");
        assertThat(condition().reason()).isEqualTo("RuntimeNotAnswering");
    }

    @Test
    void leftOversOfEarlierLivesAreRemovedFirstAndNothingElseIs() {
        runtime.hang("StopPodSandbox");
        NetworkProbe earlier = probe(1);
        earlier.start();
        time.advance(Duration.ofSeconds(5));
        earlier.stop();
        runtime.pod("a", "c");
        runtime.heal("StopPodSandbox");
        time.advance(Duration.ofSeconds(30));
        assertThat(sandboxes()).hasSize(2);
        runtime.calls().clear();

        start(Duration.ofSeconds(1));

        assertThat(methods())
                .containsExactly(
                        "ListPodSandbox",
                        "StopPodSandbox",
                        "RemovePodSandbox",
                        "RunPodSandbox",
                        "PodSandboxStatus",
                        "StopPodSandbox",
                        "RemovePodSandbox");
        assertThat(sandboxes()).extracting(PodSandbox::id).containsExactly("s-a");
    }

    @Test
    void slowProbesDoNotOverlap() {
        runtime.delay("RunPodSandbox", Duration.ofSeconds(15));
        runtime.delay("StopPodSandbox", Duration.ofSeconds(15));
        start(Duration.ofSeconds(89));

        assertThat(configs()).hasSize(1);
        time.advance(Duration.ofSeconds(8));
        assertThat(configs()).hasSize(2);
    }

    @Test
    void stopDuringAProbeTakesItsSandboxDownAndBeginsNoOther() {
        runtime.delay("RunPodSandbox", Duration.ofSeconds(5));
        start(Duration.ofSeconds(2));

        probe.stop();
        time.advance(Duration.ofMinutes(10));

        assertThat(methods()).containsExactly("ListPodSandbox", "RunPodSandbox", "StopPodSandbox", "RemovePodSandbox");
        assertThat(sandboxes()).isEmpty();
        assertThat(news).isEmpty();
    }

    @Test
    void probesAreDistinguishedFromPods() {
        assertThat(NetworkProbe.isProbe(sandbox("kube-system", "nodekeeper-network-probe-n1")))
                .isTrue();
        assertThat(NetworkProbe.isProbe(sandbox("default", "nodekeeper-network-probe-n1")))
                .isFalse();
        assertThat(NetworkProbe.isProbe(sandbox("kube-system", "coredns"))).isFalse();
    }

    private static PodSandbox sandbox(String namespace, String name) {
        return new PodSandbox("id", "uid", name, namespace, 0, true, 1);
    }

    private void start(Duration advance) {
        observe();
        probe.start();
        time.advance(advance);
    }

    private void fail(String method, String message) {
        runtime.fail(method, new RuntimeCallException(method, Code.OTHER, message));
    }

    private List<String> methods() {
        return runtime.calls().stream().<String>map(RuntimeCall::method).toList();
    }

    private List<SandboxConfig> configs() {
        return runtime.calls().stream()
                .filter(RuntimeCall.RunSandbox.class::isInstance)
                .map(call -> ((RuntimeCall.RunSandbox) call).config())
                .toList();
    }

    private List<PodSandbox> sandboxes() {
        var answer = runtime.call(new RuntimeCall.ListSandboxes(Optional.empty()), Duration.ofSeconds(1));
        runtime.calls().removeLast();
        time.advance(Duration.ZERO);
        return answer.join();
    }

    private String metric(String name) {
        return new String(metrics.scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .map(line -> line.substring(name.length() + 1))
                .findFirst()
                .orElse("absent");
    }
}
