package io.nodekeeper.agent.pods.probes;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeKind;
import io.nodekeeper.agent.pods.model.ProbeSpec;
import io.nodekeeper.agent.pods.turns.PodTurns;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** When probes run and what their results mean, in virtual time. The action of each probe is the command of its name. */
class PodProbesTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final VirtualTime time = new VirtualTime(START);
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final Map<String, ProbeResult> answers = new HashMap<>();
    private final List<String> runs = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private int changes;

    /** Commands without an answer hang until their timeout. */
    private final Prober prober = (target, action, timeout) -> {
        String command = ((Action.Exec) action).command().getFirst();
        runs.add(time.elapsed().toSeconds() + " " + command);
        ProbeResult answer = answers.get(command);
        return answer == null
                ? Deadlines.sleep(loop, timeout).thenApply(done -> ProbeResult.failure("too late"))
                : CompletableFuture.completedFuture(answer);
    };

    private final PodProbes probes = probes(new PodTurns(64));

    @Test
    void shouldProbeFromTheInitialDelayOnOncePerPeriod() {
        answers.put("readinessProbe", ProbeResult.success(""));
        Pod pod = pod(probe("readinessProbe", "\"initialDelaySeconds\": 3, \"periodSeconds\": 5"));

        update(pod, running("c1"));
        time.advance(Duration.ofSeconds(14));

        assertThat(runs).containsExactly("3 readinessProbe", "8 readinessProbe", "13 readinessProbe");
    }

    @Test
    void shouldBeReadyOnceTheReadinessProbeSucceededAndUnreadyAfterThreeFailures() {
        answers.put("readinessProbe", ProbeResult.success(""));
        Pod pod = pod(probe("readinessProbe", "\"periodSeconds\": 1"));

        assertThat(update(pod, running("c1")).ready()).isFalse();
        time.advance(Duration.ofMillis(1));
        assertThat(requireNonNull(probes.health().get("c1")).ready()).isTrue();
        assertThat(changes).isEqualTo(1);

        answers.put("readinessProbe", ProbeResult.failure("busy"));
        time.advance(Duration.ofSeconds(2));
        assertThat(requireNonNull(probes.health().get("c1")).ready()).isTrue();
        time.advance(Duration.ofSeconds(1));
        assertThat(requireNonNull(probes.health().get("c1")).ready()).isFalse();
        assertThat(requireNonNull(probes.health().get("c1")).failed()).isEmpty();
        assertThat(warnings.getLast()).isEqualTo("Unhealthy Readiness probe failed: busy");
    }

    @Test
    void shouldCountSuccessesInARowBeforeItIsReady() {
        answers.put("readinessProbe", ProbeResult.success(""));
        Pod pod = pod(probe("readinessProbe", "\"periodSeconds\": 1, \"successThreshold\": 3"));

        update(pod, running("c1"));
        time.advance(Duration.ofMillis(1_500));
        assertThat(requireNonNull(probes.health().get("c1")).ready()).isFalse();
        time.advance(Duration.ofSeconds(1));

        assertThat(requireNonNull(probes.health().get("c1")).ready()).isTrue();
    }

    @Test
    void shouldEndTheContainerAfterAsManyLivenessFailuresAsTheThresholdSaysAndThenProbeItNoMore() {
        answers.put("livenessProbe", ProbeResult.failure("no"));
        Pod pod = pod(probe("livenessProbe", "\"periodSeconds\": 10, \"failureThreshold\": 2"));

        update(pod, running("c1"));
        time.advance(Duration.ofSeconds(9));
        assertThat(requireNonNull(probes.health().get("c1")).failed()).isEmpty();
        time.advance(Duration.ofMinutes(1));

        assertThat(requireNonNull(probes.health().get("c1")).failed().map(ProbeSpec::kind))
                .contains(ProbeKind.LIVENESS);
        assertThat(runs).containsExactly("0 livenessProbe", "10 livenessProbe");
        assertThat(warnings)
                .containsExactly("Unhealthy Liveness probe failed: no", "Unhealthy Liveness probe failed: no");
        // The next container begins again.
        answers.put("livenessProbe", ProbeResult.success(""));
        assertThat(update(pod, running("c2"))).isEqualTo(ContainerHealth.GOOD);
    }

    @Test
    void shouldRunOtherProbesOnlyOnceTheStartupProbeSucceeded() {
        answers.put("startupProbe", ProbeResult.failure("not yet"));
        answers.put("livenessProbe", ProbeResult.success(""));
        answers.put("readinessProbe", ProbeResult.success(""));
        Pod pod = pod(probe("startupProbe", "\"periodSeconds\": 2, \"failureThreshold\": 30") + ", "
                + probe("livenessProbe", "\"periodSeconds\": 10") + ", "
                + probe("readinessProbe", "\"periodSeconds\": 10"));

        assertThat(update(pod, running("c1")).started()).isFalse();
        time.advance(Duration.ofSeconds(3));
        answers.put("startupProbe", ProbeResult.success(""));
        time.advance(Duration.ofSeconds(2));

        assertThat(runs)
                .containsExactly(
                        "0 startupProbe", "2 startupProbe", "4 startupProbe", "4 livenessProbe", "4 readinessProbe");
        assertThat(requireNonNull(probes.health().get("c1"))).isEqualTo(ContainerHealth.GOOD);
        time.advance(Duration.ofMinutes(1));
        assertThat(runs.stream().filter(run -> run.endsWith("startupProbe"))).hasSize(3);
    }

    @Test
    void shouldEndAContainerWhoseStartupProbeFailsForGood() {
        answers.put("startupProbe", ProbeResult.failure("no"));
        Pod pod = pod(probe("startupProbe", "\"periodSeconds\": 1, \"failureThreshold\": 2"));

        update(pod, running("c1"));
        time.advance(Duration.ofSeconds(2));

        assertThat(requireNonNull(probes.health().get("c1")).failed().map(ProbeSpec::kind))
                .contains(ProbeKind.STARTUP);
    }

    @Test
    void shouldNotCountWhatCouldNotBeTried() {
        answers.put("livenessProbe", ProbeResult.error("the runtime is away"));
        Pod pod = pod(probe("livenessProbe", "\"periodSeconds\": 1, \"failureThreshold\": 1"));

        update(pod, running("c1"));
        time.advance(Duration.ofSeconds(5));

        assertThat(requireNonNull(probes.health().get("c1")).failed()).isEmpty();
        assertThat(warnings.getFirst())
                .isEqualTo("Unhealthy Liveness probe errored and resulted in unknown state: the runtime is away");
    }

    @Test
    void shouldNotDelayOtherProbesByOneThatHangs() {
        answers.put("readinessProbe", ProbeResult.success(""));
        Pod pod = pod(probe("livenessProbe", "\"periodSeconds\": 1, \"timeoutSeconds\": 30") + ", "
                + probe("readinessProbe", "\"periodSeconds\": 1"));

        update(pod, running("c1"));
        time.advance(Duration.ofMillis(3_500));

        assertThat(runs)
                .containsExactly(
                        "0 livenessProbe",
                        "0 readinessProbe",
                        "1 readinessProbe",
                        "2 readinessProbe",
                        "3 readinessProbe");
    }

    @Test
    void shouldRunABoundedNumberAtTheSameTime() {
        PodProbes bounded = probes(new PodTurns(1, 0));
        Pod pod = pod(probe("livenessProbe", "\"timeoutSeconds\": 4") + ", " + probe("readinessProbe", ""));
        answers.put("readinessProbe", ProbeResult.success(""));

        bounded.update(pod, false, List.of(running("c1")), "10.1.0.7", JsonObject.EMPTY);
        bounded.update(pod, false, List.of(running("c1")), "10.1.0.7", JsonObject.EMPTY);
        time.advance(Duration.ofSeconds(15));

        // Both begin within their first period, because the container ran before the agent; the second waits for the
        // first.
        assertThat(runs).hasSizeGreaterThanOrEqualTo(2);
        assertThat(requireNonNull(bounded.health().get("c1")).ready()).isTrue();
    }

    @Test
    void shouldKeepWhatTheApiShowsOfAContainerThatRanBeforeTheAgentUntilAProbeSaysOtherwise() {
        answers.put("readinessProbe", ProbeResult.failure("no"));
        answers.put("startupProbe", ProbeResult.failure("no"));
        Pod pod = pod(probe("readinessProbe", "\"periodSeconds\": 10, \"failureThreshold\": 1") + ", "
                + probe("startupProbe", ""));
        JsonObject before = Json.parseObject("""
                {"containerStatuses": [{"name": "app", "containerID": "containerd://c1", "ready": true, "started": true}]}
                """);
        PodProbes restarted = probes(new PodTurns(64));

        ContainerHealth first = restarted
                .update(pod, false, List.of(running("c1")), "10.1.0.7", before)
                .get("c1");
        assertThat(first).isEqualTo(ContainerHealth.GOOD);
        assertThat(runs).isEmpty();
        time.advance(Duration.ofSeconds(10));

        // Somewhere in the first period, so that a restarted agent does not probe all pods at once.
        assertThat(runs)
                .hasSize(1)
                .first()
                .asString()
                .endsWith("readinessProbe")
                .isNotEqualTo("0 readinessProbe");
        assertThat(requireNonNull(restarted.health().get("c1")).ready()).isFalse();
    }

    @Test
    void shouldProbeAPodThatMustEndForReadinessOnly() {
        answers.put("livenessProbe", ProbeResult.success(""));
        answers.put("readinessProbe", ProbeResult.success(""));
        Pod pod = pod(probe("livenessProbe", "\"periodSeconds\": 1") + ", "
                + probe("readinessProbe", "\"periodSeconds\": 1"));
        update(pod, running("c1"));
        time.advance(Duration.ofMillis(500));
        runs.clear();

        probes.update(pod, true, List.of(running("c1")), "10.1.0.7", JsonObject.EMPTY);
        time.advance(Duration.ofSeconds(2));
        assertThat(runs).containsExactly("1 readinessProbe", "2 readinessProbe");

        probes.update(pod, true, List.of(), "10.1.0.7", JsonObject.EMPTY);
        time.advance(Duration.ofSeconds(5));
        assertThat(runs).hasSize(2);
    }

    private PodProbes probes(PodTurns turns) {
        ProbePorts ports = new ProbePorts(
                prober, new BoundedProber(prober, turns, turns), loop, Randoms.seeded(1), ProbeMetrics.NONE);
        return new PodProbes(ports, new ProbeListener() {
            @Override
            public void warning(String reason, String message) {
                warnings.add(reason + " " + message);
            }

            @Override
            public void changed() {
                changes++;
            }
        });
    }

    /** The health of the container, of a pod that this agent has seen before. */
    private ContainerHealth update(Pod pod, ContainerStatus status) {
        probes.update(pod, false, List.of(), "", JsonObject.EMPTY);
        Map<String, ContainerHealth> health = probes.update(pod, false, List.of(status), "10.1.0.7", JsonObject.EMPTY);
        return health.getOrDefault(status.id(), ContainerHealth.GOOD);
    }

    private static Pod pod(String probes) {
        return new Pod(
                Json.parseObject("{\"metadata\": {\"name\": \"web\", \"uid\": \"u1\"}, \"spec\": {\"containers\":"
                        + " [{\"name\": \"app\", " + probes + "}]}}"));
    }

    private static String probe(String kind, String more) {
        return "\"" + kind + "\": {\"exec\": {\"command\": [\"" + kind + "\"]}" + (more.isEmpty() ? "" : ", ") + more
                + "}";
    }

    private ContainerStatus running(String id) {
        Instant now = loop.clock().wallTime();
        long nanos = Duration.between(Instant.EPOCH, now).toNanos();
        return new ContainerStatus(id, "app", ContainerState.RUNNING, nanos, 0, 0, "");
    }
}
