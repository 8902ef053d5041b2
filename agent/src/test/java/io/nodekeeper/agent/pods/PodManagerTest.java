package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.PodCounts;
import io.nodekeeper.agent.pods.rotation.LogRotation;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.agent.stats.MountedVolume;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.config.ContainerConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pods of an API server. */
class PodManagerTest extends SimulatedNode {
    private static final String PORT_80 = "\"ports\": [{\"containerPort\": 80, \"hostPort\": 80}]";

    @Test
    void shouldRunAPodAndReportItAsReady() {
        add("web");
        start(110);

        advance(5);

        assertThat(phase("web")).isEqualTo("Running");
        assertThat(calls())
                .containsExactly(
                        "RunPodSandbox",
                        "ImageStatus",
                        "PullImage",
                        "ImageStatus",
                        "CreateContainer",
                        "StartContainer");
        assertThat(events)
                .contains(
                        "web Normal Pulling Pulling image \"app:1\"",
                        "web Normal Created Created container: app",
                        "web Normal Started Started container app");
    }

    @Test
    void shouldNotDelayAPodByAnotherWhoseCallHangs() {
        add("stuck");
        runtime.hang("RunPodSandbox:uid-stuck");
        start(110);
        advance(5);

        add("web");
        advance(5);

        assertThat(phase("stuck")).isEqualTo("Pending");
        assertThat(phase("web")).isEqualTo("Running");

        runtime.heal("RunPodSandbox:uid-stuck");
        advance(130);
        assertThat(phase("stuck")).isEqualTo("Running");
    }

    @Test
    void shouldEndPodsWhoseCallsAnswerWhileTheRuntimeHasAnErrorBecauseOfOthers() {
        // given ten pods, of which six hang at the runtime, which is an error of PLEG
        start(110);
        for (int pod = 0; pod < 10; pod++) {
            add("p" + pod);
            advance(3);
        }
        for (int pod = 0; pod < 6; pod++) {
            runtime.hang("StopContainer:made-" + (2 * pod + 2));
        }
        runtimeWorks = false;

        // when all are deleted
        for (int pod = 0; pod < 10; pod++) {
            delete("p" + pod);
        }
        advance(10);

        // then the other four are gone
        assertThat(pods).containsOnlyKeys("p0", "p1", "p2", "p3", "p4", "p5");
    }

    @Test
    @Tag("A102")
    void shouldEvictPodsAndShutThemDownWhileTheRuntimeHasAnErrorAndStartNone() {
        // given two pods, and an error of the runtime
        add("large");
        add("web");
        start(110);
        advance(5);
        runtimeWorks = false;
        runtime.calls().clear();

        // when a pod comes, one is evicted, and the machine is shut down
        add("new");
        advance(2);
        Wanted.Eviction evicted = new Wanted.Eviction("Evicted", "The node was low on resource: memory. ", true);
        loop.execute(() -> manager().evict(running("large"), Duration.ofSeconds(1), evicted));
        loop.execute(() -> manager().end(running("web"), Duration.ofSeconds(20), "Terminated", "Shutdown."));
        advance(10);

        // then both have ended, and the new one waits
        assertThat(phase("large")).isEqualTo("Failed");
        assertThat(stored("large").object("status").text("reason")).isEqualTo("Evicted");
        assertThat(phase("web")).isEqualTo("Failed");
        assertThat(stored("web").object("status").text("reason")).isEqualTo("Terminated");
        assertThat(calls())
                .containsOnly("StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox")
                .filteredOn("StopContainer"::equals)
                .hasSize(2);
        assertThat(phase("new")).isEqualTo("Pending");

        // until there is no error
        runtimeWorks = true;
        advance(5);
        assertThat(phase("new")).isEqualTo("Running");
    }

    @Test
    @Tag("A102")
    void shouldGiveAPodThatIsBeingDeletedLessTimeWhenTheMachineIsShutDownAndDeleteItAllTheSame() {
        // given a pod that was deleted with ten minutes to end
        startAndDeleteSlowly("web");
        runtime.heal("StopContainer");
        assertThat(manager().running()).isEmpty();
        assertThat(manager().left()).extracting(Pod::name).containsExactly("web");

        // when the machine is shut down
        end("web", 20);
        advance(10);

        // then its container has that time, and why it ends does not change
        assertThat(graces()).containsExactly(600L, 20L);
        assertThat(pods).isEmpty();
        assertThat(events).noneMatch(event -> event.contains("Terminated"));
    }

    @Test
    @Tag("A102")
    void shouldNotKeepTheMachineForThePodsOfAnApiServerThatDoesNotAnswer() {
        // given a pod that was deleted, and an API server that does not carry out deletions any more
        add("web");
        start(110);
        advance(5);
        runtime.delay("StopContainer", Duration.ofSeconds(10));
        transport.answer(call -> call.method().equals("DELETE") ? Optional.empty() : serve(call));
        delete("web");
        advance(5);
        Pod web = manager().left().getFirst();
        assertThat(manager().isEnding(web)).isTrue();

        // when nothing of it is left on the node
        advance(10);

        // then a shutdown does not wait for it
        assertThat(pods).containsKey("web");
        assertThat(manager().left()).isEmpty();
        assertThat(manager().isEnding(web)).isFalse();
    }

    @Test
    @Tag("A102")
    void shouldGiveAPodThatNoSourceHasLessTimeWhenTheMachineIsShutDown() {
        // given a pod with ten minutes to end, which was removed from the API while there was no agent
        startAndRemoveWithoutAgent("web");
        runtime.hang("StopContainer");
        start(110);
        advance(30);
        runtime.heal("StopContainer");

        end("web", 20);
        advance(10);

        assertThat(graces()).containsExactly(600L, 20L);
        assertThat(manager().left()).isEmpty();
    }

    /** As a shutdown of the machine ends it. */
    private void end(String name, int seconds) {
        Pod pod = manager().left().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
        loop.execute(() -> manager().end(pod, Duration.ofSeconds(seconds), "Terminated", "Shutdown."));
    }

    @Test
    void shouldRotateTheLogsOfContainersWhosePodIsEnding() {
        // given a pod that was deleted with ten minutes to end
        add("web");
        start(110);
        advance(5);
        runtime.hang("StopContainer");

        delete("web", 600);
        advance(5);

        // then the log of its container is among those that are rotated
        assertThat(PodAssembly.runningLogs(manager(), pleg(), Path.of("/logs")))
                .containsExactly(new LogRotation.RunningLog("made-2", Path.of("/logs/shop_web_uid-web/app/0.log")));
    }

    private Pod running(String name) {
        return manager().running().stream()
                .filter(pod -> pod.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldFindItsContainersAgainAfterARestartOfTheAgent() {
        add("web");
        start(110);
        advance(5);
        runtime.calls().clear();

        start(110);
        advance(30);

        assertThat(calls()).isEmpty();
        assertThat(phase("web")).isEqualTo("Running");
    }

    @Test
    void shouldKeepTheLastAddressOfAPodThatHasEndedOverARestartOfTheAgent() {
        // given a pod that has ended, whose sandbox has no address any more
        add("once", "", ", \"restartPolicy\": \"Never\"");
        start(110);
        advance(5);
        runtime.container("made-2", "uid-once", "app", ContainerState.EXITED);
        advance(5);
        assertThat(phase("once")).isEqualTo("Succeeded");

        // when another agent writes its status
        overwrite("once", status -> status.without("conditions"));
        start(110);
        advance(5);

        // then the address stays
        assertThat(ready("once")).isEqualTo("False");
        assertThat(stored("once").object("status").text("podIP")).isEqualTo("10.1.0.9");
        assertThat(stored("once").object("status").array("podIPs").objects())
                .containsExactly(Json.parseObject("{\"ip\": \"10.1.0.9\"}"));
    }

    @Test
    void shouldReportAgainWhatTheControllerHasOverwritten() {
        add("web");
        start(110);
        advance(5);
        assertThat(ready("web")).isEqualTo("True");
        transport.clear();

        overwrite("web", status -> Json.parseObject("""
                {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}"""));
        assertThat(ready("web")).isEqualTo("False");
        advance(5);

        assertThat(ready("web")).isEqualTo("True");
        assertThat(transport.log()).containsExactly("PATCH /api/v1/namespaces/shop/pods/web/status");
    }

    @Test
    void shouldReportTheEndOfADeletedPodBeforeItIsRemovedFromTheApi() {
        add("web");
        start(110);
        advance(5);
        transport.clear();
        runtime.calls().clear();

        change(
                "web",
                pod("web").update("metadata", metadata -> metadata.with("deletionTimestamp", "2026-01-01T00:00:40Z")));
        advance(10);

        assertThat(pods).isEmpty();
        assertThat(transport.log())
                .containsExactly(
                        "PATCH /api/v1/namespaces/shop/pods/web/status", "DELETE /api/v1/namespaces/shop/pods/web");
        assertThat(calls()).containsExactly("StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox");
        assertThat(directory.resolve("root/pods")).isEmptyDirectory();
        assertThat(manager().size()).isZero();
    }

    @Test
    void shouldEndPodsThatNoSourceHasOnceTheApiWasListed() {
        runtime.pod("orphan", "app");
        transport.answer(call -> Optional.empty());
        start(110);
        advance(30);
        assertThat(calls()).isEmpty();

        transport.answer(this::serve);
        advance(60);

        assertThat(calls()).contains("StopContainer", "RemovePodSandbox");
        assertThat(calls()).doesNotContain("RunPodSandbox");
    }

    @Test
    void shouldEndAPodThatNoSourceHasWithTheGracePeriodOfItsContainersHoweverLateTheseAreSeen() {
        // given a pod with ten minutes to end, which is removed from the API while there is no agent
        startAndRemoveWithoutAgent("web");

        // when a new agent sees it in a list long before it sees its containers
        runtime.delay("ContainerStatus", Duration.ofSeconds(5));
        start(110);
        advance(30);

        // then its container has that time
        assertThat(runtime.calls()).contains(new RuntimeCall.StopContainer("made-2", Duration.ofSeconds(600)));
        assertThat(runtime.calls("StopContainer")).isEqualTo(1);
    }

    @Test
    void shouldFailAPodThatIsDeletedBeforeItsContainerStartedThenRemoveItFromTheApi() {
        // given a pod of a Job, whose owner waits for its last phase, that cannot be started
        runtime.fail(
                "PullImage", new RuntimeCallException("PullImage", RuntimeCallException.Code.NOT_FOUND, "no app:1"));
        add("web");
        start(110);
        advance(5);
        transport.clear();
        List<String> phases = new ArrayList<>();
        transport.answer(call -> {
            if (call.method().equals("DELETE")) {
                phases.add(phase("web"));
            }
            return serve(call);
        });

        delete("web");
        advance(10);

        assertThat(phases).containsExactly("Failed");
        assertThat(pods).isEmpty();
        assertThat(transport.log())
                .containsExactly(
                        "PATCH /api/v1/namespaces/shop/pods/web/status", "DELETE /api/v1/namespaces/shop/pods/web");
    }

    @Test
    void shouldRejectAPodBeyondTheLimit() {
        add("web");
        start(1);
        advance(5);

        add("more");
        advance(5);

        assertThat(stored("more").object("status").text("reason")).isEqualTo("OutOfpods");
        assertThat(phase("more")).isEqualTo("Failed");
        assertThat(events)
                .contains("more Warning OutOfpods Node didn't have enough resource: pods,"
                        + " requested: 1, used: 1, capacity: 1");
        assertThat(calls().stream().filter("RunPodSandbox"::equals)).hasSize(1);
        assertThat(rejections).containsExactly("OutOfpods");
        // The one that was refused is still in the API.
        assertThat(counts).contains(new PodCounts(2, 0, 1, 0, 0));
    }

    @Test
    void shouldCountPodsThatRunAlreadyThoughANewOneComesFirstAfterARestartOfTheAgent() {
        // given a pod with a port of the host, and while there is no agent a new one for the same port
        add("web", PORT_80, "");
        start(110);
        advance(5);
        manager().stop();
        JsonObject web = stored("web");
        pods.clear();
        add("new", PORT_80, "");
        pods.put("web", web);

        // when another agent lists the new one first
        start(110);
        advance(5);

        // then what runs goes on, and the new one is refused
        assertThat(stored("new").object("status").text("reason")).isEqualTo("NodePorts");
        assertThat(phase("web")).isEqualTo("Running");
        assertThat(calls().stream().filter("RunPodSandbox"::equals)).hasSize(1);
    }

    @Test
    void shouldLetAPodWaitForTheRoomOfOneThatIsEnding() {
        // given a pod with a port of the host that takes 20 s to end
        add("web", PORT_80, "");
        start(110);
        advance(5);
        runtime.delay("StopContainer", Duration.ofSeconds(20));
        delete("web");
        advance(5);

        // when others come, of which one needs the port
        add("next", PORT_80, "");
        add("other");
        advance(5);

        // then it waits until the port is free
        assertThat(phase("other")).isEqualTo("Running");
        assertThat(phase("next")).isEqualTo("Pending");
        advance(25);
        assertThat(pods).doesNotContainKey("web");
        assertThat(phase("next")).isEqualTo("Running");
    }

    /** As after {@code kubectl delete --force}: no source has the pod, and its room is taken until its processes end. */
    @Test
    void shouldNotRefuseAPodBecauseOfOneThatWasDeletedByForce() {
        add("web", PORT_80, "");
        start(110);
        advance(5);
        runtime.delay("StopContainer", Duration.ofSeconds(20));
        JsonObject web = stored("web");
        pods.remove("web");
        tell("DELETED", web);
        add("next", PORT_80, "");
        advance(5);

        assertThat(phase("next")).isEqualTo("Pending");
        advance(60);
        assertThat(phase("next")).isEqualTo("Running");
    }

    /**
     * A machine with one processor on which {@code web} is ending, and {@code other} runs.
     *
     * @param grace the seconds that {@code web} has to end
     * @param takes the time that it takes
     */
    private void endSlowly(String web, String other, int grace, Duration takes) {
        node = Optional.of(new Node(Json.parseObject("""
                {"metadata": {"name": "n1", "uid": "node-uid"}, "status": {"allocatable": {"cpu": "1"}}}""")));
        add("web", requests(web), "");
        add("other", requests(other), "");
        start(110);
        advance(5);
        runtime.delay("StopContainer", takes);
        delete("web", grace);
        advance(5);
    }

    private void addCritical(String name, String container) {
        add(name, container, ", \"priority\": 2000000000");
    }

    @Test
    void shouldLetACriticalPodWaitForTheRoomOfOneThatIsEndingAndEndNoOther() {
        // given a pod that is ending, and another one
        endSlowly("400m", "400m", 30, Duration.ofSeconds(20));

        // when a critical pod needs that room, and an ordinary one the rest
        addCritical("vital", requests("500m"));
        add("late", requests("200m"), "");
        advance(5);

        // then the critical one starts once the room is free, which goes to no other
        assertThat(pods).containsKey("web");
        assertThat(phase("vital")).isEqualTo("Pending");
        assertThat(stored("late").object("status").text("reason")).isEqualTo("OutOfcpu");
        advance(15);
        assertThat(pods).doesNotContainKey("web");
        assertThat(phase("vital")).isEqualTo("Running");
        assertThat(phase("other")).isEqualTo("Running");
    }

    @Test
    void shouldEndNoMorePodsForACriticalOneThanAreNeededBesideThoseThatAreEnding() {
        // given a pod that is ending, and two others
        endSlowly("400m", "500m", 30, Duration.ofSeconds(20));
        add("small", requests("100m"), "");
        advance(5);

        // when a critical pod needs more than what becomes free
        addCritical("vital", requests("500m"));
        advance(5);

        // then only the small one ends for it, and it starts when both have ended
        assertThat(stored("small").object("status").text("reason")).isEqualTo("Preempting");
        assertThat(phase("vital")).isEqualTo("Pending");
        advance(10);
        assertThat(pods).doesNotContainKey("web");
        assertThat(phase("vital")).isEqualTo("Pending");
        advance(15);
        assertThat(phase("vital")).isEqualTo("Running");
        assertThat(phase("other")).isEqualTo("Running");
    }

    @Test
    void shouldLetACriticalPodWaitForThePortOfOneThatIsEnding() {
        add("web", PORT_80, "");
        start(110);
        advance(5);
        runtime.delay("StopContainer", Duration.ofSeconds(20));
        delete("web");
        advance(5);

        addCritical("vital", PORT_80);
        advance(5);

        assertThat(phase("vital")).isEqualTo("Pending");
        advance(20);
        assertThat(phase("vital")).isEqualTo("Running");
    }

    @Test
    void shouldStartACriticalPodAfterTenMinutesHoweverLongOthersMayTakeToEnd() {
        // given a pod that has a week to end, and takes it
        endSlowly("400m", "400m", 604_800, Duration.ofDays(7));

        addCritical("vital", requests("500m"));
        advance(595);
        assertThat(phase("vital")).isEqualTo("Pending");
        advance(10);

        assertThat(pods).containsKey("web");
        assertThat(phase("vital")).isEqualTo("Running");
        assertThat(phase("other")).isEqualTo("Running");
    }

    @Test
    void shouldStartACriticalPodAfterOneAndAHalfTimesTheGraceOfAPodThatDoesNotEnd() {
        endSlowly("400m", "400m", 30, Duration.ofMinutes(2));

        addCritical("vital", requests("500m"));
        advance(40);
        assertThat(phase("vital")).isEqualTo("Pending");
        advance(10);

        assertThat(pods).containsKey("web");
        assertThat(phase("vital")).isEqualTo("Running");
    }

    private static String requests(String cpu) {
        return "\"resources\": {\"requests\": {\"cpu\": \"" + cpu + "\"}}";
    }

    @Test
    void shouldMeasureVolumesThoughAPodHasAPathThatTheMachineCannotHave() {
        // given a pod with an impossible path and one with a volume
        add("odd", "", """
                , "volumes": [{"name": "data", "hostPath": {"path": "/a\\u0000b"}}]""");
        add("web", "", """
                , "volumes": [{"name": "work", "emptyDir": {}}]""");
        start(110);
        advance(5);

        // then the volume is there for statistics, and the first one says what is wrong with it
        assertThat(manager().mountedVolumes().stream().map(MountedVolume::name)).containsExactly("work");
        assertThat(events)
                .contains("odd Warning FailedMount MountVolume.SetUp failed for volume \"data\" : \"/a?b\" cannot be a"
                        + " path: Nul character not allowed");
        assertThat(phase("odd")).isEqualTo("Pending");
        assertThat(phase("web")).isEqualTo("Running");
    }

    @Test
    void shouldShowWhyAnImageCannotBePulled() {
        runtime.fail(
                "PullImage", new RuntimeCallException("PullImage", RuntimeCallException.Code.NOT_FOUND, "no app:1"));
        add("web");
        start(110);

        advance(1);

        JsonObject waiting = containerState("web").object("waiting");
        assertThat(waiting.text("reason")).isEqualTo("ErrImagePull");
        assertThat(waiting.text("message")).isEqualTo("PullImage: NOT_FOUND: no app:1");
    }

    @Test
    void shouldTryAgainAfterItsPauseAlthoughTheClockWasSetBack() {
        // given a pod that rests after a failed pull
        runtime.fail(
                "PullImage", new RuntimeCallException("PullImage", RuntimeCallException.Code.NOT_FOUND, "no app:1"));
        add("web");
        start(110);
        advance(5);
        runtime.heal("PullImage");

        // when the clock is set back
        loop.skewWallClock(Duration.ofHours(-8));
        advance(10);

        // then its pause is as long as before
        assertThat(phase("web")).isEqualTo("Running");
    }

    @Test
    void shouldLookAtAPodAgainAfterAFailureThatNobodyForesaw() {
        // given a container that ends while its message cannot even be asked for
        add("web");
        start(110);
        advance(5);
        files.throwing = true;
        runtime.container("made-2", "uid-web", "app", ContainerState.EXITED);
        advance(3);
        assertThat(calls().stream().filter("StartContainer"::equals)).hasSize(1);

        // when it can be
        files.throwing = false;
        advance(10);

        // then it is started again
        assertThat(calls().stream().filter("StartContainer"::equals)).hasSize(2);
        assertThat(phase("web")).isEqualTo("Running");
    }

    @Test
    void shouldStartAContainerAgainThatEnded() {
        add("web");
        start(110);
        advance(5);
        String container = "made-2";

        runtime.container(container, "uid-web", "app", ContainerState.EXITED);
        advance(10);

        assertThat(calls().stream().filter("StartContainer"::equals)).hasSize(2);
        assertThat(phase("web")).isEqualTo("Running");
    }

    @Test
    void shouldStartContainersInANewSandboxWhileTheRemovalOfAnEarlierOneHangs() {
        // given a pod whose sandbox has been replaced once, and a container of the first one that cannot be removed
        add("web");
        start(110);
        advance(5);
        runtime.hang("RemoveContainer:made-2");
        stopSandbox("made-1");
        advance(5);
        assertThat(runtime.calls("StartContainer")).isEqualTo(2);

        // when the next sandbox dies, too
        stopSandbox("made-3");
        advance(15);

        // then the pod runs in another one
        assertThat(runtime.open("RemoveContainer")).isEqualTo(1);
        assertThat(runtime.calls("RunPodSandbox")).isEqualTo(3);
        assertThat(runtime.calls("StartContainer")).isEqualTo(3);
        assertThat(ready("web")).isEqualTo("True");
    }

    /** A sandbox dies. */
    private void stopSandbox(String id) {
        runtime.call(new RuntimeCall.StopSandbox(id), Duration.ofSeconds(1));
    }

    @Test
    void shouldStartAContainerAgainAndEndItsPodWhileTheRemovalOfAnEarlierOneHangs() {
        // given a container that has ended twice, of which the first cannot be removed
        add("web");
        start(110);
        advance(5);
        runtime.hang("RemoveContainer:made-2");
        runtime.container("made-2", "uid-web", "app", ContainerState.EXITED);
        advance(5);
        runtime.container("made-3", "uid-web", "app", ContainerState.EXITED);
        advance(15);
        assertThat(runtime.open("RemoveContainer")).isEqualTo(1);

        // when it ends again
        runtime.container("made-4", "uid-web", "app", ContainerState.EXITED);
        advance(25);

        // then it is started again
        assertThat(runtime.calls("StartContainer")).isEqualTo(4);

        // and when the pod is deleted, its containers end at once, and the removal does not begin a second time
        delete("web");
        advance(5);
        assertThat(calls()).contains("StopContainer", "StopPodSandbox");
        assertThat(runtime.calls().stream().filter(new RuntimeCall.RemoveContainer("made-2")::equals))
                .hasSize(1);
        runtime.heal("RemoveContainer:made-2");
        advance(130);
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldRestartAContainerWhoseLivenessProbeFails() {
        runtime.command("alive", 1, "dead");
        add("web", """
                "livenessProbe": {"exec": {"command": ["alive"]}, "periodSeconds": 1, "failureThreshold": 2}""", "");
        start(110);

        advance(5);
        runtime.command("alive", 0, "");
        advance(10);

        assertThat(events)
                .contains(
                        "web Warning Unhealthy Liveness probe failed: dead",
                        "web Normal Killing Container app failed liveness probe, will be restarted");
        assertThat(calls().stream().filter("StartContainer"::equals)).hasSizeGreaterThan(1);
        assertThat(runtime.calls().getLast())
                .isInstanceOfSatisfying(
                        RuntimeCall.ExecSync.class,
                        probe -> assertThat(probe.most()).isEqualTo(32_768));
        assertThat(phase("web")).isEqualTo("Running");
        assertThat(ready("web")).isEqualTo("True");
    }

    @Test
    void shouldReportAtOnceWhatAReadinessProbeSays() {
        runtime.command("ready", 1, "busy");
        add("web", """
                "readinessProbe": {"exec": {"command": ["ready"]}, "periodSeconds": 1, "failureThreshold": 1}""", "");
        start(110);
        advance(5);
        assertThat(phase("web")).isEqualTo("Running");
        assertThat(ready("web")).isEqualTo("False");

        runtime.command("ready", 0, "");
        advance(1);
        assertThat(ready("web")).isEqualTo("True");

        runtime.command("ready", 1, "busy");
        advance(1);
        assertThat(ready("web")).isEqualTo("False");
    }

    @Test
    void shouldEndAContainerWhoseHookAfterTheStartFails() {
        runtime.command("warm up", 1, "cold");
        add("web", """
                "lifecycle": {"postStart": {"exec": {"command": ["warm", "up"]}}}""", "");
        start(110);

        advance(1);

        assertThat(events)
                .contains(
                        "web Warning FailedPostStartHook PostStartHook failed: cold",
                        "web Normal Killing FailedPostStartHook");
        assertThat(calls()).containsSubsequence("StartContainer", "ExecSync", "StopContainer");
        runtime.command("warm up", 0, "");
        advance(60);
        assertThat(ready("web")).isEqualTo("True");
    }

    @Test
    void shouldNotBeRunningBeforeTheHookAfterTheStartEndsAndGiveItUpWhenThePodMustEnd() {
        runtime.hang("ExecSync");
        add("web", """
                "lifecycle": {"postStart": {"exec": {"command": ["warm", "up"]}}}""", "");
        start(110);
        advance(30);
        assertThat(phase("web")).isEqualTo("Pending");
        assertThat(ready("web")).isEqualTo("False");
        assertThat(runtime.calls())
                .as("it may write more than commands of which many run at once")
                .anyMatch(call -> call instanceof RuntimeCall.ExecSync hook && hook.most() == 131_072);

        delete("web");
        advance(10);

        assertThat(pods).isEmpty();
        assertThat(events).noneMatch(event -> event.contains("FailedPostStartHook"));
    }

    @Test
    void shouldStartNoFurtherContainerOnceThePodMustEnd() {
        // given a pod of two containers, the first of which has a hook after its start that does not end
        change("web", Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "uid-web", "resourceVersion": "1"},
                 "spec": {"nodeName": "n1", "containers": [
                   {"name": "app", "image": "app:1", "lifecycle": {
                     "postStart": {"exec": {"command": ["warm", "up"]}}, "preStop": {"exec": {"command": ["drain"]}}}},
                   {"name": "other", "image": "other:1"}]},
                 "status": {"phase": "Pending"}}
                """));
        runtime.hang("ExecSync");
        start(110);
        advance(30);
        assertThat(commands()).containsExactly("warm up");
        runtime.heal("ExecSync");

        // when it is deleted
        delete("web");
        advance(10);

        // then the second one is not started, and the first one ends as usual
        assertThat(runtime.calls("StartContainer")).isEqualTo(1);
        assertThat(runtime.calls("PullImage")).isEqualTo(1);
        assertThat(commands()).containsExactly("warm up", "drain");
        assertThat(calls()).containsSubsequence("StopContainer", "StopPodSandbox", "RemoveContainer");
        assertThat(pods).isEmpty();
    }

    /** A pod that is deleted while the runtime is at that call. */
    private void deleteDuring(String call) {
        runtime.delay(call, Duration.ofSeconds(5));
        add("web");
        start(110);
        advance(2);

        delete("web");
        advance(10);
    }

    /** A pull may take a quarter of an hour. */
    @Test
    void shouldPullNoImageIfThePodIsDeletedWhileTheNodeIsAskedForIt() {
        deleteDuring("ImageStatus");

        assertThat(calls()).containsExactly("RunPodSandbox", "ImageStatus", "StopPodSandbox", "RemovePodSandbox");
        assertThat(events).noneMatch(event -> event.contains("Failed"));
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldNotStartAContainerIfThePodIsDeletedWhileItIsCreated() {
        deleteDuring("CreateContainer");

        assertThat(calls())
                .contains("CreateContainer", "RemoveContainer", "RemovePodSandbox")
                .doesNotContain("StartContainer");
        assertThat(events).noneMatch(event -> event.contains("Failed"));
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldRunOnlyTheHookBeforeTheStopIfThePodIsDeletedWhileItsContainerIsStarted() {
        runtime.delay("StartContainer", Duration.ofSeconds(5));
        add("web", """
                "lifecycle": {"postStart": {"exec": {"command": ["warm", "up"]}},
                  "preStop": {"exec": {"command": ["drain"]}}}""", "");
        start(110);
        advance(2);

        delete("web");
        advance(10);

        assertThat(commands()).containsExactly("drain");
        assertThat(runtime.calls()).contains(new RuntimeCall.StopContainer("made-2", Duration.ofSeconds(30)));
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldMakeNoSandboxIfThePodIsDeletedWhileItsFilesAreRead() {
        files.hanging = directory.resolve("resolv.conf").toString();
        add("web");
        start(110);
        advance(2);

        delete("web");
        advance(1);
        files.goOn();
        advance(10);

        assertThat(calls()).isEmpty();
        assertThat(pods).isEmpty();
    }

    /** The commands that ran in containers. */
    private List<String> commands() {
        return runtime.calls().stream()
                .filter(RuntimeCall.ExecSync.class::isInstance)
                .map(call -> String.join(" ", ((RuntimeCall.ExecSync) call).command()))
                .toList();
    }

    @Test
    void shouldRunTheHookBeforeTheStopWithinTheGracePeriod() {
        runtime.command("drain", 1, "not drained");
        add("web", """
                "lifecycle": {"preStop": {"exec": {"command": ["drain"]}}}""", "");
        start(110);
        advance(5);
        runtime.delay("ExecSync", Duration.ofSeconds(4));

        delete("web");
        advance(10);

        assertThat(events).contains("web Warning FailedPreStopHook PreStopHook failed: not drained");
        assertThat(runtime.calls()).contains(new RuntimeCall.StopContainer("made-2", Duration.ofSeconds(26)));
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldLeaveAContainerTwoSecondsWhenItsHookUsedTheGracePeriodUp() {
        runtime.fail(
                "ExecSync",
                new RuntimeCallException("ExecSync", RuntimeCallException.Code.DEADLINE_EXCEEDED, "timeout"));
        add("web", """
                "lifecycle": {"preStop": {"sleep": {"seconds": 600}}}""", "");
        start(110);
        advance(5);

        delete("web");
        advance(29);
        assertThat(calls()).doesNotContain("StopContainer");
        advance(5);

        assertThat(runtime.calls()).contains(new RuntimeCall.StopContainer("made-2", Duration.ofSeconds(2)));
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldEndWithinAShorterGraceThatComesLater() {
        // given pods that have ten minutes to end: one whose container does not, and one whose hook does not
        add("slow");
        add("hooked", """
                "lifecycle": {"preStop": {"sleep": {"seconds": 600}}}""", "");
        start(110);
        advance(5);
        runtime.delay("StopContainer", Duration.ofMinutes(10));
        delete("slow", 600);
        delete("hooked", 600);
        advance(20);
        assertThat(runtime.calls("StopContainer")).isEqualTo(1);
        runtime.heal("StopContainer");

        // when they have five seconds
        delete("slow", 5);
        delete("hooked", 5);
        advance(10);

        // then they are gone, and their containers had that time
        assertThat(pods).isEmpty();
        assertThat(graces()).containsExactly(600L, 5L, 2L);
        assertThat(events).noneMatch(event -> event.contains("FailedKillPod"));
    }

    @Test
    void shouldEndSidecarsAfterTheOthersInReverseOrder() {
        add("web", "", """
                , "initContainers": [{"name": "one", "image": "app:1", "restartPolicy": "Always"},
                  {"name": "two", "image": "app:1", "restartPolicy": "Always"}]""");
        start(110);
        advance(5);
        assertThat(ready("web")).isEqualTo("True");
        runtime.delay("StopContainer", Duration.ofSeconds(1));

        delete("web");
        advance(10);

        assertThat(runtime.calls().stream()
                        .filter(RuntimeCall.StopContainer.class::isInstance)
                        .map(call -> call.containerId().orElseThrow()))
                .containsExactly("made-4", "made-3", "made-2");
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldCompleteAPodOnceItsEphemeralContainerHasEndedToo() {
        // given a pod that is debugged
        add("web", "", """
                , "restartPolicy": "Never", "ephemeralContainers": [{"name": "debugger", "image": "app:1"}]""");
        start(110);
        advance(5);
        assertThat(runtime.calls("StartContainer")).isEqualTo(2);
        runtime.delay("StopContainer", Duration.ofSeconds(10));

        // when its work is done
        runtime.container("made-3", "uid-web", "app", ContainerState.EXITED);
        advance(5);

        // then the agent ends the debugger, and the pod is complete after that
        assertThat(runtime.calls()).contains(new RuntimeCall.StopContainer("made-2", Duration.ofSeconds(30)));
        assertThat(phase("web")).isEqualTo("Running");
        advance(10);
        assertThat(phase("web")).isEqualTo("Succeeded");
    }

    @Test
    void shouldGiveContainersTheAddressesOfServicesWithOneReadForContainersThatStartTogether() {
        services.add(Json.parseObject("{\"metadata\": {\"name\": \"front\"}, \"spec\": {\"clusterIP\": \"10.96.0.7\","
                + " \"ports\": [{\"port\": 80}]}}"));
        add("web");
        add("other");
        add("alone", "", ", \"enableServiceLinks\": false");
        start(110);

        advance(5);

        assertThat(created("web").environment()).containsEntry("FRONT_SERVICE_HOST", "10.96.0.7");
        assertThat(created("other").environment()).containsEntry("FRONT_PORT", "tcp://10.96.0.7:80");
        assertThat(created("alone").environment()).isEmpty();
        assertThat(serviceReads).isEqualTo(1);
    }

    @Test
    void shouldReportWhatAContainerWroteAboutItsEnd() throws Exception {
        add("web", "\"command\": [\"run\"]", ", \"restartPolicy\": \"Never\"");
        start(110);
        advance(5);
        ContainerConfig.Mount mount = created("web").mounts().getLast();
        assertThat(mount.containerPath()).isEqualTo("/dev/termination-log");
        Path file = Path.of(mount.hostPath());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-rw-rw-");

        Files.writeString(file, "out of ideas");
        runtime.container("made-2", "uid-web", "app", ContainerState.EXITED);
        advance(5);

        assertThat(terminationMessage("web")).isEqualTo("out of ideas");
    }

    @Test
    void shouldTryTheCredentialsOfThePodAndThenThoseOfTheNodeAndNameASecretThatIsMissing() throws Exception {
        secrets.put("pulls", Json.parseObject("""
                {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "%s"}}
                """.formatted(Base64.getEncoder()
                .encodeToString("{\"auths\": {\"reg.example.com\": {\"username\": \"pod\", \"password\": \"p\"}}}"
                        .getBytes(StandardCharsets.UTF_8)))));
        Files.createDirectories(directory.resolve("root"));
        Files.writeString(
                directory.resolve("root/config.json"),
                "{\"auths\": {\"reg.example.com\": {\"username\": \"node\", \"password\": \"p\"}}}");
        runtime.fail(
                "PullImage", new RuntimeCallException("PullImage", RuntimeCallException.Code.OTHER, "not authorized"));
        change("web", Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "uid-web", "resourceVersion": "1"},
                 "spec": {"nodeName": "n1", "containers": [{"name": "app", "image": "reg.example.com/app:1"}],
                  "imagePullSecrets": [{"name": "pulls"}, {"name": "none"}]}, "status": {"phase": "Pending"}}
                """));
        start(110);

        advance(5);

        assertThat(runtime.calls().stream()
                        .filter(RuntimeCall.PullImage.class::isInstance)
                        .map(call -> ((RuntimeCall.PullImage) call)
                                .credentials()
                                .orElseThrow()
                                .username()))
                .containsExactly("pod", "node");
        assertThat(events)
                .contains(
                        "web Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (none);"
                                + " attempting to pull the image may not succeed.");
    }

    private ContainerConfig created(String pod) {
        return runtime.calls().stream()
                .filter(RuntimeCall.CreateContainer.class::isInstance)
                .map(RuntimeCall.CreateContainer.class::cast)
                .filter(call -> call.sandboxConfig().podName().equals(pod))
                .findFirst()
                .orElseThrow()
                .config();
    }

    /** Starts an agent with a pod that has ten minutes to end; the agent stops, and the API has the pod no more. */
    private void startAndRemoveWithoutAgent(String name) {
        add(name, "", """
                , "terminationGracePeriodSeconds": 600""");
        start(110);
        advance(5);
        manager().stop();
        pods.clear();
        runtime.calls().clear();
    }
}
