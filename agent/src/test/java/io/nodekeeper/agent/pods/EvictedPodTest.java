package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCall;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A pod that the node itself ends. */
class EvictedPodTest extends SimulatedNode {
    private static final String WHY = "The node was low on resource: memory. ";

    private void evict(String name) {
        loop.execute(() -> {
            Pod pod = manager().evictable().stream()
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElseThrow();
            manager().evict(pod, Duration.ofSeconds(1), new Wanted.Eviction("Evicted", WHY, true));
        });
    }

    private JsonObject status(String name) {
        return stored(name).object("status");
    }

    @Test
    void shouldEndAndStayInTheApiAsFailed() {
        add("web");
        start(110);
        advance(5);
        runtime.calls().clear();

        evict("web");
        advance(10);

        assertThat(calls()).containsExactly("StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox");
        // A kubelet gives each container two seconds at least.
        assertThat(runtime.calls()).contains(new RuntimeCall.StopContainer("made-2", Duration.ofSeconds(2)));
        assertThat(status("web").text("phase")).isEqualTo("Failed");
        assertThat(status("web").text("reason")).isEqualTo("Evicted");
        assertThat(status("web").text("message")).isEqualTo(WHY);
        assertThat(status("web").array("conditions").objects())
                .anyMatch(condition -> condition.text("type").equals("DisruptionTarget")
                        && condition.text("status").equals("True")
                        && condition.text("reason").equals("TerminationByKubelet")
                        && condition.text("message").equals(WHY));
        assertThat(status("web").array("containerStatuses").objects())
                .allMatch(container -> container.object("state").has("terminated"))
                .hasSize(1);
        assertThat(events).contains("web Warning Evicted " + WHY);
        // Its files are gone, which may be what was short.
        assertThat(directory.resolve("root/pods")).isEmptyDirectory();
    }

    @Test
    void shouldNotRunAgainAfterARestartOfTheAgentAndGoWhenItIsDeleted() {
        add("web");
        start(110);
        advance(5);
        evict("web");
        advance(10);
        runtime.calls().clear();

        start(110);
        advance(30);
        assertThat(calls()).isEmpty();
        assertThat(status("web").text("reason")).isEqualTo("Evicted");

        delete("web");
        advance(10);
        assertThat(pods).isEmpty();
        assertThat(manager().size()).isZero();
    }

    @Test
    void shouldGoWhenItIsDeletedWhileItEnds() {
        add("web");
        start(110);
        advance(5);
        runtime.delay("StopContainer", Duration.ofSeconds(5));

        evict("web");
        advance(2);
        delete("web");
        advance(20);

        assertThat(pods).isEmpty();
    }

    @Test
    void shouldHaveLessTimeIfItIsBeingDeletedAndStillGo() {
        // given a pod that was deleted with an hour to end
        add("web");
        start(110);
        advance(5);
        runtime.hang("StopContainer");
        delete("web", 3_600);
        advance(5);
        List<String> last = new ArrayList<>();
        transport.answer(call -> {
            if (call.method().equals("DELETE")) {
                last.add(phase("web") + " " + status("web").text("reason"));
            }
            return serve(call);
        });

        // when the node evicts it, then it has no more time than any other, and is not evicted twice
        evict("web");
        advance(1);
        assertThat(graces()).containsExactly(3_600L, 2L);
        assertThat(manager().evictable()).isEmpty();
        assertThat(events).contains("web Warning Evicted " + WHY);

        // when its object changes again, and the stop has to be repeated
        delete("web", 3_600);
        runtime.heal("StopContainer");
        advance(130);

        // then it still has that time, its last status says why, and it leaves the API
        assertThat(graces()).containsExactly(3_600L, 2L, 2L);
        assertThat(last).containsExactly("Failed Evicted");
        assertThat(pods).isEmpty();
    }

    @Test
    void shouldNotBeEvictedOnceItsContainersHaveEndedThoughItsFilesCannotBeRemoved() {
        add("web");
        start(110);
        advance(5);
        files.hanging = "log of ";

        delete("web");
        advance(5);

        assertThat(pods).containsKey("web");
        assertThat(manager().evictable()).isEmpty();
    }

    @Test
    void shouldKeepTheStatusOfItsEndWhenContainersOfAPodThatHasEndedAreRemoved() {
        add("job", "", ", \"restartPolicy\": \"Never\"");
        start(110);
        advance(5);
        add("web");
        advance(5);
        String ended = runtime.calls().stream()
                .filter(RuntimeCall.StartContainer.class::isInstance)
                .map(call -> ((RuntimeCall.StartContainer) call).id())
                .findFirst()
                .orElseThrow();
        runtime.container(ended, "uid-job", "app", ContainerState.EXITED);
        advance(5);
        assertThat(phase("job")).isEqualTo("Succeeded");
        JsonObject before = status("job");

        assertThat(manager().settled())
                .extracting(container -> container.pod().uid() + " " + container.name() + " " + container.id())
                .containsExactly("uid-job app " + ended);
        runtime.remove(ended);
        advance(90);

        assertThat(status("job")).isEqualTo(before);
        assertThat(ready("web")).isEqualTo("True");
        assertThat(manager().images()).containsExactly("app:1");
    }

    @Test
    void shouldLoseItsVolumesWhenItHasEndedAlsoAfterARestartOfTheAgent() throws Exception {
        add("job", "", ", \"restartPolicy\": \"Never\", \"volumes\": [{\"name\": \"s\", \"emptyDir\": {}}]");
        start(110);
        advance(5);
        Path volumes = directory.resolve("root/pods/uid-job/volumes");
        assertThat(volumes).exists();
        runtime.container("made-2", "uid-job", "app", ContainerState.EXITED);
        advance(15);
        assertThat(phase("job")).isEqualTo("Succeeded");
        assertThat(volumes).doesNotExist();
        assertThat(directory.resolve("root/pods/uid-job/containers")).exists();

        // given those that an earlier agent left
        Files.createDirectories(volumes.resolve("kubernetes.io~empty-dir/s"));
        start(110);
        advance(15);

        assertThat(volumes).doesNotExist();
        assertThat(phase("job")).isEqualTo("Succeeded");
    }

    @Test
    void shouldBeFailedThoughItsContainersNeverStarted() {
        runtime.hang("PullImage");
        add("web");
        start(110);
        advance(5);

        evict("web");
        advance(10);

        assertThat(status("web").text("phase")).isEqualTo("Failed");
        assertThat(calls()).doesNotContain("StartContainer").endsWith("StopPodSandbox", "RemovePodSandbox");
        assertThat(events).noneMatch(event -> event.contains("Failed to pull"));
    }

    /** A call that stays open counts for a quarter of an hour, and with many such pods the runtime's client refuses others. */
    @Test
    void shouldLeaveNoPullOpenAtTheRuntimeWhenThePodMustEnd() {
        // given a pull that hangs, with the first of two credentials
        String auths = "{\"auths\": {\"reg.io/team\": {\"username\": \"a\", \"password\": \"p\"},"
                + " \"reg.io\": {\"username\": \"b\", \"password\": \"p\"}}}";
        secrets.put("pulls", Json.parseObject("""
                {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "%s"}}
                """.formatted(
                        Base64.getEncoder().encodeToString(auths.getBytes(StandardCharsets.UTF_8)))));
        runtime.hang("PullImage");
        change("web", Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "uid-web", "resourceVersion": "1"},
                 "spec": {"nodeName": "n1", "containers": [{"name": "app", "image": "reg.io/team/app:1"}],
                  "imagePullSecrets": [{"name": "pulls"}]}, "status": {"phase": "Pending"}}
                """));
        start(110);
        advance(5);
        assertThat(runtime.open("PullImage")).isEqualTo(1);

        // when the pod is evicted
        evict("web");
        advance(2);

        // then the call has ended, and no other one was made
        assertThat(runtime.open("PullImage")).isZero();
        assertThat(runtime.calls("PullImage")).isEqualTo(1);
    }

    @Test
    void shouldBeRefusedWhileTheNodeIsUnderPressure() {
        start(110);
        advance(2);
        loop.execute(() -> manager().underPressure(Set.of(Pressure.DISK)));
        advance(1);

        add("web");
        advance(5);

        assertThat(status("web").text("phase")).isEqualTo("Failed");
        assertThat(status("web").text("message"))
                .isEqualTo("Pod was rejected: The node had condition: [DiskPressure]. ");
        assertThat(calls()).isEmpty();
    }

    @Test
    void shouldStayRefusedThoughThePressureEndsAndThePodChanges() {
        start(110);
        advance(2);
        loop.execute(() -> manager().underPressure(Set.of(Pressure.DISK)));
        transport.answer(call -> call.toString().startsWith("PATCH") ? Optional.empty() : serve(call));
        add("web");
        advance(2);

        loop.execute(() -> manager().underPressure(Set.of()));
        change("web", stored("web").update("metadata", metadata -> metadata.with("labels", JsonObject.EMPTY)));
        advance(5);
        transport.answer(this::serve);
        advance(60);

        assertThat(status("web").text("phase")).isEqualTo("Failed");
        assertThat(calls()).isEmpty();
    }

    @Test
    void shouldBeFailedOnlyOnceItsInitContainersHaveEndedToo() {
        add("web", "", """
                , "initContainers": [{"name": "first", "image": "app:1"}]""");
        start(110);
        advance(5);
        runtime.delay("StopContainer", Duration.ofSeconds(5));

        evict("web");
        advance(2);
        assertThat(status("web").text("phase")).isEqualTo("Pending");
        advance(10);
        assertThat(status("web").text("phase")).isEqualTo("Failed");
    }

    @Test
    void shouldBeDeletedThoughItSaysThatItCameFromAFile() {
        add("web");
        change(
                "web",
                stored("web")
                        .update(
                                "metadata",
                                metadata -> metadata.with(
                                        "annotations",
                                        JsonObject.builder()
                                                .put("kubernetes.io/config.source", "file")
                                                .build())));
        start(110);
        advance(5);
        assertThat(status("web").text("phase")).isEqualTo("Running");

        delete("web");
        advance(10);

        assertThat(pods).isEmpty();
    }

    @Test
    void shouldNotBeRefusedIfItRanBeforeTheAgent() {
        add("web");
        start(110);
        advance(5);

        start(110);
        loop.execute(() -> manager().refuseAll(true));
        advance(10);
        assertThat(status("web").text("phase")).isEqualTo("Running");

        add("late");
        advance(5);
        assertThat(status("late").text("reason")).isEqualTo("NodeShutdown");
    }

    @Test
    void shouldBeKnownToAShutdownSoonAfterARestartOfTheAgent() {
        // given a pod that runs
        add("web");
        start(110);
        advance(5);

        // when the agent starts again while the runtime's first list takes a while
        runtime.delay("ListContainers", Duration.ofMillis(2_500));
        start(110);
        loop.execute(() -> manager().refuseAll(true));
        advance(2);

        // then its pods count as known once it is among them
        assertThat(manager().areKnown()).isFalse();
        assertThat(manager().running()).isEmpty();
        runtime.heal("ListContainers");
        advance(3);
        assertThat(manager().areKnown()).isTrue();
        assertThat(manager().running()).extracting(Pod::name).containsExactly("web");
    }
}
