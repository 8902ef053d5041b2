package io.nodekeeper.agent.pods.sync;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Ephemeral containers, which are added to a pod that runs. */
class EphemeralContainersTest {
    private static final String DEBUGGER = "{\"name\": \"debugger\", \"image\": \"box:1\"}";

    @Test
    void shouldStartAnAddedContainerOnceAndLeaveTheOthers() {
        PodFixture pod = new PodFixture(pod("Always", ""));
        pod.settle();
        pod.wanted = Wanted.ofApi(pod("Always", DEBUGGER));

        pod.settle();
        assertThat(started(pod)).containsExactly("app", "debugger");

        pod.runtime.exitRunning("debugger", 1, pod.now);
        pod.after(Duration.ofMinutes(10));
        assertThat(started(pod)).containsExactly("app", "debugger");
    }

    @Test
    void shouldShowItTheProcessesOfItsTarget() {
        PodFixture pod = new PodFixture(pod("Always", DEBUGGER.replace("}", ", \"targetContainerName\": \"app\"}")));

        pod.settle();

        String app =
                new Observed(pod.runtime.status()).newest("app").orElseThrow().id();
        assertThat(starts(pod).getLast().target()).isEqualTo(Optional.of(app));
        assertThat(starts(pod).getFirst().target()).isEmpty();
    }

    @Test
    void shouldLetAContainerWaitWhoseTargetWasNotCreated() {
        PodFixture pod = new PodFixture(pod("Always", DEBUGGER.replace("}", ", \"targetContainerName\": \"app\"}")));
        pod.runtime.missing("app:1");

        Decision waits = pod.after(Duration.ofSeconds(5));

        assertThat(waits.waiting().get("debugger"))
                .isEqualTo(new Decision.Waiting("CreateContainerConfigError", "unable to find target container app"));
        assertThat(pod.events.stream().filter(event -> event.message().contains("unable to find target")))
                .hasSize(1);
        assertThat(started(pod)).doesNotContain("debugger");
    }

    @Test
    void shouldPullItsImageAgainWithPausesWhileTheOthersRun() {
        PodFixture pod = new PodFixture(pod("Always", DEBUGGER));
        pod.runtime.missing("box:1");

        Decision waits = pod.after(Duration.ofSeconds(5));
        assertThat(requireNonNull(waits.waiting().get("debugger")).reason()).isEqualTo("ImagePullBackOff");
        assertThat(running(pod)).containsExactly("app");

        pod.runtime.available("box:1");
        pod.after(Duration.ofSeconds(10));
        assertThat(running(pod)).containsExactlyInAnyOrder("app", "debugger");
    }

    @Test
    void shouldEndWithItsPod() {
        PodFixture pod = new PodFixture(pod("Never", DEBUGGER));
        pod.settle();

        pod.runtime.exitRunning("app", 0, pod.now);
        pod.settle();

        assertThat(running(pod)).isEmpty();
    }

    @Test
    void shouldRefuseOneThatAsksForMoreThanTheAgentDoesAndLetItsPodRun() {
        PodFixture pod =
                new PodFixture(pod("Always", DEBUGGER.replace("}", ", \"volumeDevices\": [{\"name\": \"v\"}]}")));

        Decision decision = pod.settle();

        assertThat(decision.waiting().get("debugger"))
                .isEqualTo(new Decision.Waiting(
                        "UnsupportedField",
                        "spec.ephemeralContainers[debugger].volumeDevices is not supported by this node's agent"));
        assertThat(running(pod)).containsExactly("app");
    }

    private static List<PodCommand.StartContainer> starts(PodFixture pod) {
        return pod.done.stream()
                .filter(PodCommand.StartContainer.class::isInstance)
                .map(PodCommand.StartContainer.class::cast)
                .toList();
    }

    private static List<String> started(PodFixture pod) {
        return starts(pod).stream().map(start -> start.container().name()).toList();
    }

    private static List<String> running(PodFixture pod) {
        return new Observed(pod.runtime.status())
                .containers().stream()
                        .filter(Observed::mayRun)
                        .map(container -> container.name())
                        .toList();
    }

    private static Pod pod(String restartPolicy, String ephemeral) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
                 "spec": {"restartPolicy": "%s", "containers": [{"name": "app", "image": "app:1"}],
                  "ephemeralContainers": [%s]}}
                """.formatted(restartPolicy, ephemeral)));
    }
}
