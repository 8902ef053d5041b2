package io.nodekeeper.agent.pods.sync;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeKind;
import io.nodekeeper.agent.pods.model.ProbeSpec;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.ContainerStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Init containers, sidecars, and containers that their probes end. */
class InitContainersTest {
    private static final String TWO =
            "{\"name\": \"first\", \"image\": \"i:1\"}, {\"name\": \"second\", \"image\": \"i:1\"}";
    private static final String SIDECAR = "{\"name\": \"proxy\", \"image\": \"p:1\", \"restartPolicy\": \"Always\","
            + " \"startupProbe\": {\"exec\": {\"command\": [\"up\"]}},"
            + " \"livenessProbe\": {\"exec\": {\"command\": [\"ok\"]}, \"terminationGracePeriodSeconds\": 5}}";

    @Test
    void shouldRunInitContainersOneAfterAnotherAndThenTheOthers() {
        PodFixture pod = new PodFixture(pod("Always", TWO));

        Decision creating = pod.settle();
        assertThat(started(pod)).containsExactly("first");
        assertThat(creating.waiting().get("app")).isEqualTo(new Decision.Waiting("PodInitializing", ""));

        pod.runtime.exitRunning("first", 0, pod.now);
        pod.settle();
        assertThat(started(pod)).containsExactly("first", "second");

        pod.runtime.exitRunning("second", 0, pod.now);
        pod.after(Duration.ofMinutes(20));
        assertThat(started(pod)).containsExactly("first", "second", "app", "log");
    }

    @Test
    void shouldRunAFailedInitContainerAgainWithPauses() {
        PodFixture pod = new PodFixture(pod("OnFailure", TWO));
        pod.settle();

        pod.runtime.exitRunning("first", 1, pod.now);
        pod.settle();
        assertThat(started(pod)).containsExactly("first", "first");

        pod.runtime.exitRunning("first", 1, pod.now);
        Decision waits = pod.settle();
        assertThat(requireNonNull(waits.waiting().get("first")).reason()).isEqualTo("CrashLoopBackOff");
        pod.after(Duration.ofSeconds(10));
        assertThat(started(pod)).containsExactly("first", "first", "first");
    }

    @Test
    void shouldEndAPodThatNeverRestartsWhenAnInitContainerFails() {
        PodFixture pod = new PodFixture(pod("Never", TWO));
        pod.settle();

        pod.runtime.exitRunning("first", 1, pod.now);
        pod.after(Duration.ofMinutes(1));

        assertThat(started(pod)).containsExactly("first");
        assertThat(kinds(pod)).endsWith("StopSandbox");
    }

    /** The init containers of {@link #TWO} end well. */
    private static void endBoth(PodFixture pod) {
        pod.runtime.exitRunning("first", 0, pod.now);
        pod.settle();
        pod.runtime.exitRunning("second", 0, pod.now);
        pod.settle();
    }

    @Test
    void shouldRunNothingAgainAfterARestartOfTheAgentEvenIfTheRuntimeForgotTheInitContainers() {
        PodFixture pod = new PodFixture(pod("Always", TWO + ", " + SIDECAR));
        pod.settle();
        endBoth(pod);
        pod.done.clear();

        pod.memory = PodMemory.EMPTY;
        pod.settle();
        assertThat(pod.done).isEmpty();

        pod.runtime.forget("first");
        pod.runtime.forget("second");
        pod.runtime.forget("proxy");
        pod.settle();
        assertThat(started(pod)).containsExactly("proxy");
    }

    @Test
    void shouldRunInitContainersAgainInANewSandbox() {
        PodFixture pod = new PodFixture(pod("Always", TWO));
        pod.settle();
        endBoth(pod);
        pod.done.clear();

        pod.runtime.sandboxDies(pod.now);
        pod.after(Duration.ofSeconds(1));
        assertThat(started(pod)).containsExactly("first");

        pod.runtime.exitRunning("first", 0, pod.now);
        pod.settle();
        pod.runtime.exitRunning("second", 0, pod.now);
        pod.after(Duration.ofMinutes(1));
        assertThat(started(pod)).containsExactly("first", "second", "app", "log");
    }

    @Test
    void shouldNotCycleThroughSandboxesThatAnInitContainerKills() {
        // given an init container that kills the pause process whenever it runs
        PodFixture pod = new PodFixture(pod("Always", TWO));

        for (int second = 0; second < 60; second++) {
            pod.settle();
            pod.runtime.sandboxDies(pod.now);
            pod.after(Duration.ofSeconds(1));
        }

        // then it runs at the start, at once again, 10 s later and 20 s after that
        assertThat(started(pod)).containsExactly("first", "first", "first", "first");
        assertThat(pod.runtime.sandboxes()).isLessThanOrEqualTo(2);
    }

    @Test
    void shouldStartWhatFollowsASidecarOnceThatHasStarted() {
        PodFixture pod = new PodFixture(pod("Always", SIDECAR));
        // The simulated runtime numbers what it makes: the sandbox is the first.
        pod.health = Map.of("c2", new ContainerHealth(false, false, Optional.empty()));
        pod.after(Duration.ofMinutes(1));
        assertThat(started(pod)).containsExactly("proxy");
        assertThat(id(pod, "proxy")).isEqualTo("c2");

        pod.health = Map.of();
        pod.settle();

        assertThat(started(pod)).containsExactly("proxy", "app", "log");
    }

    @Test
    void shouldStartASidecarAgainWhateverTheRestartPolicyIs() {
        PodFixture pod = new PodFixture(pod("Never", SIDECAR));
        pod.settle();

        pod.runtime.exitRunning("proxy", 0, pod.now);
        pod.settle();

        assertThat(pod.runtime.runs("proxy")).isTrue();
    }

    @Test
    void shouldEndSidecarsOnceTheOthersHaveCompleted() {
        PodFixture pod = new PodFixture(pod("OnFailure", SIDECAR));
        pod.settle();

        pod.runtime.exitRunning("app", 0, pod.now);
        pod.settle();
        assertThat(pod.runtime.runs("proxy")).isTrue();
        pod.runtime.exitRunning("log", 0, pod.now);
        pod.after(Duration.ofMinutes(1));

        assertThat(pod.runtime.runs("proxy")).isFalse();
        assertThat(started(pod)).containsExactly("proxy", "app", "log");
    }

    @Test
    void shouldEndAndRestartWhatALivenessProbeCondemnsWithinTheProbesGrace() {
        PodFixture pod = new PodFixture(pod("Always", SIDECAR));
        pod.settle();
        pod.done.clear();
        ContainerSpec proxy = pod.wanted.pod().initContainers().getFirst();

        pod.health = Map.of(id(pod, "proxy"), new ContainerHealth(true, true, ProbeSpec.of(proxy, ProbeKind.LIVENESS)));
        String id = id(pod, "proxy");
        pod.settle();

        assertThat(pod.done.getFirst())
                .isEqualTo(new PodCommand.KillContainers(
                        List.of(new PodCommand.Kill(id, "proxy", "Init container proxy failed liveness probe")),
                        Duration.ofSeconds(5)));
        assertThat(pod.runtime.runs("proxy")).isTrue();
    }

    @Test
    void shouldReplaceASidecarWhoseImageChangedAndLeaveTheOthers() {
        PodFixture pod = new PodFixture(pod("Never", SIDECAR + ", " + TWO));
        pod.settle();
        endBoth(pod);
        String old = id(pod, "proxy");
        pod.done.clear();

        pod.wanted = Wanted.ofApi(pod("Never", SIDECAR.replace("p:1", "p:2") + ", " + TWO));
        pod.settle();

        assertThat(pod.done.getFirst())
                .isEqualTo(new PodCommand.KillContainers(
                        List.of(new PodCommand.Kill(old, "proxy", "Init container proxy definition changed")),
                        Duration.ofSeconds(30)));
        assertThat(started(pod)).containsExactly("proxy");
        assertThat(pod.runtime.image("proxy")).contains("p:2");
    }

    /** As with a kubelet. */
    @Test
    void shouldReplaceASidecarWhoseImageChangedOnlyOnceItHasStarted() {
        PodFixture pod = new PodFixture(pod("Always", SIDECAR));
        pod.health = Map.of("c2", new ContainerHealth(false, false, Optional.empty()));
        pod.settle();
        assertThat(id(pod, "proxy")).isEqualTo("c2");

        pod.wanted = Wanted.ofApi(pod("Always", SIDECAR.replace("p:1", "p:2")));
        pod.after(Duration.ofMinutes(1));
        assertThat(pod.runtime.image("proxy")).contains("p:1");

        pod.health = Map.of();
        pod.settle();
        assertThat(pod.runtime.image("proxy")).contains("p:2");
    }

    @Test
    void shouldLeaveAnInitContainerThatRunsThoughItsImageChanged() {
        PodFixture pod = new PodFixture(pod("Always", TWO));
        pod.settle();

        pod.wanted = Wanted.ofApi(pod("Always", TWO.replace("i:1", "i:2")));
        pod.after(Duration.ofMinutes(1));

        assertThat(started(pod)).containsExactly("first");
        assertThat(pod.runtime.image("first")).contains("i:1");
    }

    @Test
    void shouldNotRestartWhatALivenessProbeCondemnsInAPodThatNeverRestarts() {
        String probe = ", \"livenessProbe\": {\"tcpSocket\": {\"port\": 80}}";
        PodFixture pod = new PodFixture(new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
                 "spec": {"restartPolicy": "%s", "containers": [{"name": "app", "image": "app:1"%s}]}}
                """.formatted("Never", probe))));
        pod.settle();
        ContainerSpec app = pod.wanted.pod().containers().getFirst();
        String id = id(pod, "app");
        pod.done.clear();

        pod.health = Map.of(id, new ContainerHealth(true, true, ProbeSpec.of(app, ProbeKind.LIVENESS)));
        pod.after(Duration.ofMinutes(1));

        assertThat(pod.done.getFirst())
                .isEqualTo(new PodCommand.KillContainers(
                        List.of(new PodCommand.Kill(id, "app", "Container app failed liveness probe")),
                        Duration.ofSeconds(30)));
        assertThat(pod.runtime.runs("app")).isFalse();
    }

    private static Pod pod(String policy, String init) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
                 "spec": {"restartPolicy": "%s", "terminationGracePeriodSeconds": 30, "initContainers": [%s],
                  "containers": [{"name": "app", "image": "app:1"}, {"name": "log", "image": "log:1"}]}}
                """.formatted(policy, init)));
    }

    private static String id(PodFixture pod, String name) {
        return pod.runtime.status().containers().stream()
                .filter(container -> container.name().equals(name))
                .map(ContainerStatus::id)
                .reduce((older, newer) -> newer)
                .orElseThrow();
    }

    private static List<String> started(PodFixture pod) {
        return pod.done.stream()
                .filter(PodCommand.StartContainer.class::isInstance)
                .map(command ->
                        ((PodCommand.StartContainer) command).container().name())
                .toList();
    }

    private static List<String> kinds(PodFixture pod) {
        return pod.done.stream()
                .map(command -> command.getClass().getSimpleName())
                .toList();
    }
}
