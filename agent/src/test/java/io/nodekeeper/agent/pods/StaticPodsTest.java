package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.PodCounts;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Static pods and their copies in the API. */
class StaticPodsTest extends SimulatedNode {
    private static final String COPY = "web-n1";

    private Path file;

    @BeforeEach
    void manifests() throws IOException {
        Path path = Files.createDirectory(directory.resolve("manifests"));
        file = path.resolve("web.yaml");
        manifests = manifests.withPath(path);
        node = Optional.of(node("node-uid"));
    }

    private static Node node(String uid) {
        return new Node(Json.parseObject("""
                {"metadata": {"name": "n1", "uid": "%s"}}""".formatted(uid)));
    }

    private void write(String image) throws IOException {
        Files.writeString(file, """
                apiVersion: v1
                kind: Pod
                metadata: {name: web, namespace: shop}
                spec:
                  containers: [{name: app, image: "%s"}]
                """.formatted(image));
    }

    @Test
    @Tag("A107")
    void shouldRunAPodOfAFileAndShowACopyOfItInTheApi() throws IOException {
        start(110);
        advance(3);

        write("app:1");
        // Also where the kernel tells of no change.
        advance(22);

        JsonObject metadata = stored(COPY).object("metadata");
        JsonObject annotations = metadata.object("annotations");
        assertThat(annotations.text("kubernetes.io/config.source")).isEqualTo("file");
        assertThat(annotations.text("kubernetes.io/config.hash")).matches("[0-9a-f]{32}");
        assertThat(annotations.text("kubernetes.io/config.mirror"))
                .isEqualTo(annotations.text("kubernetes.io/config.hash"));
        assertThat(annotations.text("kubernetes.io/config.seen")).startsWith("2026-01-01T00:00:");
        assertThat(metadata.array("ownerReferences").objects()).containsExactly(Json.parseObject("""
                        {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "node-uid", "controller": true}"""));
        assertThat(phase(COPY)).isEqualTo("Running");
        assertThat(ready(COPY)).isEqualTo("True");
        assertThat(calls().stream().filter("StartContainer"::equals)).hasSize(1);
        assertThat(counts).contains(new PodCounts(0, 1, 0, 1, 1));
    }

    @Test
    @Tag("A107")
    void shouldRunAPodWhileTheApiDoesNotAnswerAndCopyItOnceTheNodeExists() throws IOException {
        write("app:1");
        transport.answer(call -> Optional.empty());
        node = Optional.empty();
        start(110);
        advance(10);
        assertThat(calls()).contains("StartContainer");

        transport.answer(this::serve);
        advance(60);
        assertThat(pods).isEmpty();

        node = Optional.of(node("late"));
        advance(3);
        assertThat(stored(COPY).object("metadata").array("ownerReferences").objects())
                .allMatch(owner -> owner.text("uid").equals("late"))
                .hasSize(1);
        assertThat(phase(COPY)).isEqualTo("Running");
    }

    @Test
    @Tag("A108")
    void shouldRunThePodsOfTheApiThoughThePathIsMissing() throws IOException {
        Files.delete(directory.resolve("manifests"));
        runtime.pod("orphan", "app");
        add("web");
        start(110);

        advance(40);

        assertThat(phase("web")).isEqualTo("Running");
        // Only once all sources were read.
        assertThat(calls()).contains("RemovePodSandbox");
    }

    @Test
    void shouldEndThePodThenItsCopyWhenTheFileIsRemoved() throws IOException {
        write("app:1");
        start(110);
        advance(5);

        Files.delete(file);
        advance(25);

        assertThat(calls()).endsWith("StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox");
        assertThat(pods).isEmpty();
        assertThat(manager().size()).isZero();
    }

    @Test
    void shouldNotBeEvictedAlsoWhileItEndsBecauseItsFileIsRemoved() throws IOException {
        write("app:1");
        start(110);
        advance(5);
        assertThat(manager().evictable()).isEmpty();
        runtime.hang("StopContainer");

        Files.delete(file);
        advance(25);

        assertThat(calls()).contains("StopContainer");
        assertThat(manager().left()).hasSize(1);
        assertThat(manager().evictable()).isEmpty();
    }

    @Test
    void shouldStartAChangedPodOnceTheOneBeforeHasEnded() throws IOException {
        write("app:1");
        start(110);
        advance(5);
        String before = stored(COPY).object("metadata").object("annotations").text("kubernetes.io/config.hash");
        runtime.calls().clear();

        write("app:2");
        advance(30);

        assertThat(calls()).containsSubsequence("StopContainer", "RemovePodSandbox", "RunPodSandbox", "StartContainer");
        assertThat(stored(COPY).object("metadata").object("annotations").text("kubernetes.io/config.mirror"))
                .isNotEqualTo(before);
        assertThat(phase(COPY)).isEqualTo("Running");
    }

    @Test
    void shouldRunAPodAgainWhoseFileCameBackBeforeItHadEnded() throws IOException {
        write("app:1");
        start(110);
        advance(5);
        runtime.hang("StopContainer");

        Files.delete(file);
        advance(25);
        write("app:1");
        advance(25);
        runtime.heal("StopContainer");
        advance(200);

        assertThat(phase(COPY)).isEqualTo("Running");
        assertThat(calls().stream().filter("StartContainer"::equals)).hasSize(2);
    }

    @Test
    void shouldMakeACopyAgainThatSomebodyDeletes() throws IOException {
        write("app:1");
        start(110);
        advance(5);
        String uid = stored(COPY).object("metadata").text("uid");
        runtime.calls().clear();

        delete(COPY);
        advance(10);

        assertThat(stored(COPY).object("metadata").text("uid")).isNotEqualTo(uid);
        assertThat(phase(COPY)).isEqualTo("Running");
        assertThat(calls()).isEmpty();
    }

    @Test
    void shouldRemoveTheCopyOfAPodThatNoFileHas() {
        add("old-n1");
        change(
                "old-n1",
                stored("old-n1")
                        .update(
                                "metadata",
                                metadata -> metadata.with(
                                        "annotations",
                                        JsonObject.builder()
                                                .put("kubernetes.io/config.mirror", "0123")
                                                .build())));
        start(110);

        advance(5);

        assertThat(pods).isEmpty();
        assertThat(calls()).isEmpty();
    }

    @Test
    void shouldKeepAPodWhoseFileIsBroken() throws IOException {
        write("app:1");
        start(110);
        advance(5);

        Files.writeString(file, "apiVersion: v1\nkind: Po");
        advance(60);

        assertThat(phase(COPY)).isEqualTo("Running");
        assertThat(calls()).doesNotContain("StopContainer");
    }

    @Test
    void shouldFindItsPodAgainAfterARestartOfTheAgent() throws IOException {
        write("app:1");
        start(110);
        advance(5);
        runtime.calls().clear();

        start(110);
        advance(40);

        assertThat(calls()).isEmpty();
        assertThat(stored(COPY).object("metadata").text("uid")).isEqualTo("copy-1");
    }

    @Test
    void shouldRemoveTheVolumesOfAPodThatHasEndedAndMakeThemAgainIfItRunsAgain() throws IOException {
        Files.writeString(file, """
                apiVersion: v1
                kind: Pod
                metadata: {name: web, namespace: shop}
                spec:
                  restartPolicy: Never
                  containers: [{name: app, image: "app:1"}]
                  volumes: [{name: scratch, emptyDir: {}}]
                """);
        start(110);
        advance(5);
        String uid = manager().pods().getFirst().uid();
        Path volumes = directory.resolve("root/pods").resolve(uid).resolve("volumes");
        assertThat(volumes).exists();

        runtime.container("made-2", uid, "app", ContainerState.EXITED);
        advance(15);
        assertThat(phase(COPY)).isEqualTo("Succeeded");
        assertThat(volumes).doesNotExist();

        // The runtime forgets the container, which then counts as never started.
        runtime.remove("made-2");
        advance(75);
        assertThat(phase(COPY)).isEqualTo("Running");
        assertThat(volumes.resolve("kubernetes.io~empty-dir/scratch")).exists();
    }

    @Test
    void shouldRunBesideAPodOfTheApiThatHasEndedAndHasItsName() throws IOException {
        add(COPY);
        change(COPY, stored(COPY).with("status", Json.parseObject("{\"phase\": \"Succeeded\"}")));
        start(110);
        advance(5);

        write("app:1");
        advance(30);

        assertThat(calls()).contains("StartContainer");
    }

    @Test
    void shouldRunAStaticPodBeyondTheLimit() throws IOException {
        add("web");
        start(1);
        advance(5);

        write("app:1");
        advance(30);

        assertThat(phase(COPY)).isEqualTo("Running");
    }

    @Test
    void shouldEndOthersWhenThereIsTooLittleRoomAndStartOnceTheyHaveEnded() throws IOException {
        node = Optional.of(new Node(Json.parseObject("""
                {"metadata": {"name": "n1", "uid": "node-uid"}, "status": {"allocatable": {"cpu": "1"}}}""")));
        add("large", "\"resources\": {\"requests\": {\"cpu\": \"800m\"}}", ", \"terminationGracePeriodSeconds\": 4");
        add("small", "\"resources\": {\"requests\": {\"cpu\": \"100m\"}}", "");
        start(110);
        advance(3);
        assertThat(ready("large")).isEqualTo("True");
        runtime.delay("StopContainer", Duration.ofSeconds(5));

        Files.writeString(file, """
                apiVersion: v1
                kind: Pod
                metadata: {name: web, namespace: shop}
                spec:
                  containers: [{name: app, image: "app:1", resources: {requests: {cpu: 700m}}}]
                """);
        advance(23);

        assertThat(stored("large").object("status").text("reason")).isEqualTo("Preempting");
        assertThat(stored("large").object("status").text("message"))
                .isEqualTo("Preempted in order to admit critical pod");
        assertThat(events).contains("large Warning Preempting Preempted in order to admit critical pod");
        assertThat(ready("small")).isEqualTo("True");
        advance(10);
        assertThat(phase(COPY)).isEqualTo("Running");
        List<String> calls = calls();
        assertThat(calls.lastIndexOf("StartContainer")).isGreaterThan(calls.indexOf("StopContainer"));
        // The room that it made is its own.
        assertThat(stored("small").object("status").text("phase")).isEqualTo("Running");
    }
}
