package io.nodekeeper.agent.pods.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pleg.PodRef;
import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Decision;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The status that is reported for what the runtime shows. */
class PodReportTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:01:00Z");
    private static final long START = 1_767_225_600_000_000_000L;

    @Test
    void shouldReportANewPodAsPendingAndCreating() {
        JsonObject status = report(pod("Always"), shown(), Map.of());

        assertThat(status.text("phase")).isEqualTo("Pending");
        assertThat(status.text("startTime")).isEqualTo("2026-01-01T00:01:00Z");
        assertThat(condition(status, "PodReadyToStartContainers").text("status"))
                .isEqualTo("False");
        assertThat(condition(status, "Initialized").text("status")).isEqualTo("True");
        assertThat(condition(status, "PodScheduled").text("status")).isEqualTo("True");
        assertThat(condition(status, "Ready").text("message")).isEqualTo("containers with unready status: [app]");
        assertThat(container(status)).isEqualTo(Json.parseObject("""
                {"name": "app", "state": {"waiting": {"reason": "ContainerCreating"}}, "lastState": {}, "ready": false,
                 "restartCount": 0, "image": "app:1", "imageID": "", "started": false}
                """));
    }

    @Test
    void shouldReportARunningContainerAsReady() {
        JsonObject status = report(pod("Always"), shown(running("c1", 0)), Map.of());

        assertThat(status.text("phase")).isEqualTo("Running");
        assertThat(status.text("podIP")).isEqualTo("10.1.0.7");
        assertThat(status.text("hostIP")).isEqualTo("192.168.0.5");
        assertThat(status.text("qosClass")).isEqualTo("BestEffort");
        assertThat(condition(status, "Ready").text("status")).isEqualTo("True");
        assertThat(container(status)).isEqualTo(Json.parseObject("""
                {"name": "app", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, "lastState": {}, "ready": true,
                 "restartCount": 0, "image": "app:1", "imageID": "sha256:1", "containerID": "containerd://c1",
                 "started": true}
                """));
    }

    @Test
    void shouldReportABackedOffContainerWithItsLastEndAsRunningPod() {
        Decision.Waiting waiting = new Decision.Waiting("CrashLoopBackOff", "back-off 10s");

        JsonObject status = report(pod("Always"), shown(ended("c2", 1, 3)), Map.of("app", waiting));

        assertThat(status.text("phase")).isEqualTo("Running");
        JsonObject container = container(status);
        assertThat(container.object("state").object("waiting").text("reason")).isEqualTo("CrashLoopBackOff");
        assertThat(container.object("lastState").object("terminated").number("exitCode"))
                .contains(3L);
        assertThat(container.object("lastState").object("terminated").text("reason"))
                .isEqualTo("Error");
        assertThat(container.number("restartCount")).contains(1L);
    }

    @Test
    void shouldReportTheEndOfPodsThatDoNotRestart() {
        assertThat(report(pod("Never"), shown(ended("c1", 0, 0)), Map.of()).text("phase"))
                .isEqualTo("Succeeded");
        assertThat(report(pod("Never"), shown(ended("c1", 0, 1)), Map.of()).text("phase"))
                .isEqualTo("Failed");
        assertThat(report(pod("OnFailure"), shown(ended("c1", 0, 1)), Map.of()).text("phase"))
                .isEqualTo("Running");
        JsonObject succeeded = report(pod("Never"), shown(ended("c1", 0, 0)), Map.of());
        assertThat(condition(succeeded, "Ready").text("reason")).isEqualTo("PodCompleted");
    }

    /** One that a probe has ended, for example: the pod must not count as completed before the new container runs. */
    @Test
    void shouldReportAPodAsRunningOfWhichAContainerStartsAgainThoughItSucceeded() {
        Map<String, Decision.Waiting> again = Map.of("app", new Decision.Waiting("ContainerCreating", ""));

        assertThat(report(pod("OnFailure"), shown(ended("c1", 0, 0)), again).text("phase"))
                .isEqualTo("Running");
        assertThat(report(pod("Never"), shown(ended("c1", 0, 1)), again).text("phase"))
                .isEqualTo("Running");
        assertThat(report(pod("Never"), shown(ended("c1", 0, 1)), Map.of()).text("phase"))
                .isEqualTo("Failed");
    }

    @Test
    void shouldKeepTheTimesOfWhatDidNotChange() {
        JsonObject before = report(pod("Always"), shown(running("c1", 0)), Map.of());
        PodReport.Inputs later =
                new PodReport.Inputs(Map.of(), Map.of(), List.of("192.168.0.5"), "containerd", NOW.plusSeconds(60));

        JsonObject after = PodReport.status(Wanted.ofApi(pod("Always")), shown(running("c1", 0)), before, later);

        assertThat(after).isEqualTo(before);
    }

    @Test
    void shouldShareTheBytesOfMessagesAmongTheContainersOfAPod() {
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "app", "image": "app:1"},
                 {"name": "b", "image": "b:1"}, {"name": "c", "image": "c:1"}, {"name": "d", "image": "d:1"}]}}
                """));
        ContainerStatus ended = new ContainerStatus(
                "c1",
                "app",
                ContainerState.EXITED,
                START,
                START,
                1,
                "",
                "é".repeat(2_000),
                ContainerStatus.Origin.UNKNOWN);

        JsonObject status = report(pod, shown(ended), Map.of());

        assertThat(container(status).object("state").object("terminated").text("message"))
                .isEqualTo("é".repeat(1_536));
    }

    @Test
    void shouldReportEphemeralContainersApartAndNeverAsReady() {
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "m:1"}],
                 "ephemeralContainers": [{"name": "app", "image": "app:1"}]}}
                """));

        JsonObject status = report(pod, shown(running("c1", 0)), Map.of());

        assertThat(status.text("phase")).isEqualTo("Pending");
        assertThat(status.array("ephemeralContainerStatuses").objects()).containsExactly(Json.parseObject("""
                {"name": "app", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, "lastState": {}, "ready": false,
                 "restartCount": 0, "image": "app:1", "imageID": "sha256:1", "containerID": "containerd://c1"}
                """));
    }

    @Test
    void shouldReportADeletedPodThatEndedAsFailedWhateverItsRestartPolicy() {
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "deletionTimestamp": "2026-01-01T00:00:30Z"},
                 "spec": {"restartPolicy": "Always", "containers": [{"name": "app", "image": "app:1"}]}}
                """));

        assertThat(report(pod, shown(ended("c1", 0, 137)), Map.of()).text("phase"))
                .isEqualTo("Failed");
    }

    @Test
    void shouldGiveADeletedPodItsLastPhaseOnceNothingOfItRuns() {
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "deletionTimestamp": "2026-01-01T00:00:30Z"},
                 "spec": {"restartPolicy": "Always",
                  "containers": [{"name": "app", "image": "app:1"}, {"name": "other", "image": "o:1"}]}}
                """));
        List<Optional<ContainerStatus>> stages = List.of(
                Optional.empty(),
                Optional.of(created("c1")),
                Optional.of(ended("c1", 0, 0)),
                Optional.of(ended("c1", 0, 3)),
                Optional.of(running("c1", 0)));
        for (Optional<ContainerStatus> app : stages) {
            for (Optional<ContainerStatus> other : stages) {
                List<ContainerStatus> all = Stream.of(app, other.map(like -> named("other", like)))
                        .flatMap(Optional::stream)
                        .toList();

                JsonObject status = report(pod, shown(all.toArray(ContainerStatus[]::new)), Map.of());

                boolean runs = all.stream().anyMatch(each -> each.state() == ContainerState.RUNNING);
                boolean succeeded = all.size() == 2
                        && all.stream().allMatch(each -> each.state() == ContainerState.EXITED && each.exitCode() == 0);
                if (runs) {
                    assertThat(status.text("phase")).isIn("Pending", "Running");
                } else {
                    assertThat(status.text("phase")).isEqualTo(succeeded ? "Succeeded" : "Failed");
                    assertThat(status.array("containerStatuses").objects())
                            .allMatch(each -> each.object("state").has("terminated"));
                }
            }
        }
    }

    @Test
    void shouldReportAContainerThatNeverStartedAsAKubeletDoesAtTheEndOfItsPod() {
        Pod pod = deleted(pod("Always"));

        assertThat(container(report(pod, shown(), Map.of())).object("state")).isEqualTo(Json.parseObject("""
                {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown",
                 "message": "The container could not be located when the pod was terminated"}}
                """));
    }

    @Test
    void shouldFailADeletedPodThatInitializesAndSayWhatItGotTo() {
        Pod pod = deleted(initPod("Always"));

        JsonObject status = report(pod, shown(), Map.of());

        assertThat(status.text("phase")).isEqualTo("Failed");
        assertThat(status.array("initContainerStatuses").objects().map(PodReportTest::stateOf))
                .containsExactly("terminated", "waiting");
        assertThat(stateOf(container(status))).isEqualTo("waiting");
    }

    @Test
    void shouldNotEndADeletedPodWhileItsSidecarRuns() {
        Pod pod = deleted(initPod("Always"));

        JsonObject status = report(pod, shown(ended("c1", 0, 0), named("proxy", running("p1", 0))), Map.of());

        assertThat(status.text("phase")).isEqualTo("Running");
    }

    @Test
    void shouldReportAPodThatInitializesAsPending() {
        JsonObject status = report(initPod("Always"), shown(), Map.of());

        assertThat(status.text("phase")).isEqualTo("Pending");
        assertThat(condition(status, "Initialized").text("status")).isEqualTo("False");
        assertThat(condition(status, "Initialized").text("reason")).isEqualTo("ContainersNotInitialized");
        assertThat(condition(status, "Initialized").text("message"))
                .isEqualTo("containers with incomplete status: [setup proxy]");
        assertThat(condition(status, "Ready").text("message")).isEqualTo("containers with unready status: [proxy app]");
        assertThat(container(status).object("state").object("waiting").text("reason"))
                .isEqualTo("PodInitializing");
        assertThat(status.array("initContainerStatuses").objects().map(entry -> entry.text("name")))
                .containsExactly("setup", "proxy");
    }

    @Test
    void shouldFailAPodThatNeverRestartsWithItsInitContainer() {
        ContainerStatus failed = named("setup", ended("i1", 0, 2));

        assertThat(report(initPod("Never"), shown(failed), Map.of()).text("phase"))
                .isEqualTo("Failed");
        assertThat(report(initPod("OnFailure"), shown(failed), Map.of()).text("phase"))
                .isEqualTo("Pending");
    }

    @Test
    void shouldTakeAnInitContainerThatTheRuntimeForgotAsSucceededOnceOthersRun() {
        JsonObject status =
                report(initPod("Always"), shown(running("c1", 0), named("proxy", running("p1", 0))), Map.of());

        JsonObject setup =
                status.array("initContainerStatuses").objects().findFirst().orElseThrow();
        assertThat(setup.object("state").object("terminated").text("reason")).isEqualTo("Completed");
        assertThat(setup.bool("ready")).isTrue();
        assertThat(condition(status, "Initialized").text("status")).isEqualTo("True");
        assertThat(condition(status, "Ready").text("status")).isEqualTo("True");
    }

    @Test
    void shouldNotCompleteAPodWhileItsSidecarRuns() {
        ContainerStatus proxy = named("proxy", running("p1", 0));
        ContainerStatus setup = named("setup", ended("i1", 0, 0));

        assertThat(report(initPod("Never"), shown(setup, proxy, ended("c1", 0, 0)), Map.of())
                        .text("phase"))
                .isEqualTo("Running");
        assertThat(report(
                                initPod("Never"),
                                shown(setup, named("proxy", ended("p1", 0, 137)), ended("c1", 0, 0)),
                                Map.of())
                        .text("phase"))
                .isEqualTo("Succeeded");
    }

    @Test
    void shouldNotFailAPodWithItsInitContainerWhileItsSidecarRuns() {
        ContainerStatus failed = named("setup", ended("i1", 0, 2));
        ContainerStatus proxy = named("proxy", running("p1", 0));

        assertThat(after("Pending", Wanted.ofApi(initPod("Never")), shown(failed, proxy)))
                .isEqualTo("Pending");
        assertThat(after("Pending", Wanted.ofApi(initPod("Never")), shown(failed, named("proxy", ended("p1", 0, 137)))))
                .isEqualTo("Failed");
    }

    @Test
    void shouldNotCompleteAPodWhileAnEphemeralContainerRuns() {
        Wanted wanted = Wanted.ofApi(debugged());

        assertThat(after("Running", wanted, shown(ended("c1", 0, 0), named("debugger", running("e1", 0)))))
                .isEqualTo("Running");
        assertThat(after("", wanted, shown(ended("c1", 0, 0), named("debugger", running("e1", 0)))))
                .isEqualTo("Running");
        assertThat(after("Running", wanted, shown(ended("c1", 0, 0), named("debugger", ended("e1", 0, 1)))))
                .isEqualTo("Succeeded");
    }

    @Test
    void shouldFailAnEvictedPodOnceNothingOfItRuns() {
        Wanted evicted = Wanted.ofApi(debugged())
                .evicted(Duration.ZERO, new Wanted.Eviction("Evicted", "The node was low on resource: memory.", true));

        assertThat(after("Running", evicted, shown(ended("c1", 0, 0), named("debugger", running("e1", 0)))))
                .isEqualTo("Running");
        assertThat(after("Running", evicted, shown(ended("c1", 0, 0)))).isEqualTo("Failed");
        // A pod that the node refuses.
        assertThat(after("Pending", evicted, shown())).isEqualTo("Failed");
    }

    /** The runtime may never say what became of it; once the sandbox has stopped, nothing of it runs. */
    @Test
    void shouldWaitForAContainerWhoseStateIsLostAsLongAsItsSandboxIsReady() {
        ContainerStatus lost =
                named("proxy", new ContainerStatus("p1", "app", ContainerState.UNKNOWN, 0, 0, 0, "", "", origin(0)));
        PodStatus ready = shown(named("setup", ended("i1", 0, 2)), lost);
        PodStatus stopped = new PodStatus(
                ready.pod(),
                List.of(),
                List.of(new PodSandboxStatus(new PodSandbox("s1", "u1", "web", "shop", 0, false, START), List.of())),
                ready.containers());

        assertThat(after("Pending", Wanted.ofApi(initPod("Never")), ready)).isEqualTo("Pending");
        assertThat(after("Pending", Wanted.ofApi(initPod("Never")), stopped)).isEqualTo("Failed");
    }

    private static Pod debugged() {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web"},
                 "spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1"}],
                  "ephemeralContainers": [{"name": "debugger", "image": "d:1"}]}}
                """));
    }

    /** The phase that is reported after {@code phase}. */
    private static String after(String phase, Wanted wanted, PodStatus observed) {
        return PodReport.status(
                        wanted,
                        observed,
                        JsonObject.builder().put("phase", phase).build(),
                        new PodReport.Inputs(Map.of(), Map.of(), List.of("192.168.0.5"), "containerd", NOW))
                .text("phase");
    }

    @Test
    void shouldReportWhatProbesSay() {
        PodReport.Inputs unready = new PodReport.Inputs(
                Map.of(),
                Map.of("c1", new ContainerHealth(true, false, Optional.empty())),
                List.of("192.168.0.5"),
                "containerd",
                NOW);

        JsonObject status =
                PodReport.status(Wanted.ofApi(pod("Always")), shown(running("c1", 0)), JsonObject.EMPTY, unready);

        assertThat(status.text("phase")).isEqualTo("Running");
        assertThat(container(status).bool("ready")).isFalse();
        assertThat(container(status).bool("started")).isTrue();
        assertThat(condition(status, "ContainersReady").text("status")).isEqualTo("False");
    }

    @Test
    void shouldBeReadyOnlyWithTheConditionsOfItsGates() {
        Pod gated = new Pod(Json.parseObject("""
                {"metadata": {"name": "web"},
                 "spec": {"readinessGates": [{"conditionType": "a/b"}, {"conditionType": "c/d"}],
                  "containers": [{"name": "app", "image": "app:1"}]},
                 "status": {"conditions": [{"type": "a/b", "status": "False"}]}}
                """));

        JsonObject status = report(gated, shown(running("c1", 0)), Map.of());

        assertThat(condition(status, "ContainersReady").text("status")).isEqualTo("True");
        assertThat(condition(status, "Ready").text("reason")).isEqualTo("ReadinessGatesNotReady");
        assertThat(condition(status, "Ready").text("message"))
                .isEqualTo("the status of pod readiness gate \"a/b\" is not \"True\", but False,"
                        + " corresponding condition of pod readiness gate \"c/d\" does not exist.");
    }

    private static Pod deleted(Pod pod) {
        return new Pod(
                pod.json().with("metadata", Json.parseObject("{\"deletionTimestamp\": \"2026-01-01T00:00:30Z\"}")));
    }

    private static Pod initPod(String restartPolicy) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web"},
                 "spec": {"restartPolicy": "%s", "containers": [{"name": "app", "image": "app:1"}],
                  "initContainers": [{"name": "setup", "image": "s:1"},
                   {"name": "proxy", "image": "p:1", "restartPolicy": "Always"}]}}
                """.formatted(restartPolicy)));
    }

    private static ContainerStatus named(String name, ContainerStatus like) {
        return new ContainerStatus(
                like.id(),
                name,
                like.state(),
                like.startedAtNanos(),
                like.finishedAtNanos(),
                like.exitCode(),
                "",
                "",
                like.origin());
    }

    private static JsonObject report(Pod pod, PodStatus observed, Map<String, Decision.Waiting> waiting) {
        return PodReport.status(
                Wanted.ofApi(pod),
                observed,
                JsonObject.EMPTY,
                new PodReport.Inputs(waiting, Map.of(), List.of("192.168.0.5"), "containerd", NOW));
    }

    private static Pod pod(String restartPolicy) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web"},
                 "spec": {"restartPolicy": "%s", "containers": [{"name": "app", "image": "app:1"}]}}
                """.formatted(restartPolicy)));
    }

    private static PodStatus shown(ContainerStatus... containers) {
        List<PodSandboxStatus> sandboxes = containers.length == 0
                ? List.of()
                : List.of(new PodSandboxStatus(
                        new PodSandbox("s1", "u1", "web", "shop", 0, true, START), List.of("10.1.0.7")));
        return new PodStatus(
                new PodRef("u1", "web", "shop"),
                sandboxes.isEmpty() ? List.of() : List.of("10.1.0.7"),
                sandboxes,
                List.of(containers));
    }

    private static ContainerStatus created(String id) {
        return new ContainerStatus(id, "app", ContainerState.CREATED, 0, 0, 0, "", "", origin(0));
    }

    private static ContainerStatus running(String id, int attempt) {
        return new ContainerStatus(id, "app", ContainerState.RUNNING, START, 0, 0, "", "", origin(attempt));
    }

    private static ContainerStatus ended(String id, int attempt, int code) {
        return new ContainerStatus(
                id, "app", ContainerState.EXITED, START, START + 1_000_000_000L, code, "", "", origin(attempt));
    }

    private static ContainerStatus.Origin origin(int attempt) {
        return new ContainerStatus.Origin(attempt, START, "app:1", "sha256:1", Map.of());
    }

    private static String stateOf(JsonObject container) {
        return container.object("state").fields().keySet().iterator().next();
    }

    private static JsonObject container(JsonObject status) {
        return status.array("containerStatuses").objects().findFirst().orElseThrow();
    }

    private static JsonObject condition(JsonObject status, String type) {
        return status.array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals(type))
                .findFirst()
                .orElseThrow();
    }
}
