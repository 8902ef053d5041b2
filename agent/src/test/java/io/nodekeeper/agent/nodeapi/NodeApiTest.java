package io.nodekeeper.agent.nodeapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pleg.PodRef;
import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.VirtualTime;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers of the node's API for one pod, web, with the container main. */
class NodeApiTest {
    @TempDir
    Path logs;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final List<ContainerStatus> containers = new ArrayList<>();
    private boolean sandbox = true;
    private String waiting = "";

    @Test
    void aRunningContainerHasALog() throws Exception {
        container("c0", 0, ContainerState.RUNNING);
        Path file = logs.resolve("default_web_u1/main/0.log");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "2026-01-01T00:00:01Z stdout F one\n");

        assertThat(answer("GET", "/containerLogs/default/web/main"))
                .isInstanceOfSatisfying(
                        Answer.Log.class, log -> assertThat(log.pod()).isEqualTo("u1"));
        assertThat(answer("GET", "/containerLogs/default/web/main?previous=true"))
                .satisfies(is(400, "previous terminated container \"main\" in pod \"web\" not found\n"));
    }

    @Test
    void theLogOfALaterAttemptIsAnotherFile() throws Exception {
        container("c1", 1, ContainerState.RUNNING);
        container("c0", 0, ContainerState.EXITED);

        assertThat(answer("GET", "/containerLogs/default/web/main"))
                .satisfies(is(
                        404, "the log of container \"main\" does not exist: " + logs + "/default_web_u1/main/1.log\n"));
        assertThat(answer("GET", "/containerLogs/default/web/main?previous=true"))
                .satisfies(is(
                        404, "the log of container \"main\" does not exist: " + logs + "/default_web_u1/main/0.log\n"));
    }

    /** Its status says that it waits, and that its last state is the end. */
    @Test
    void thePreviousLogOfAContainerThatWaitsForItsNextStartIsThatOfItsEnd() {
        container("c1", 1, ContainerState.EXITED);
        container("c0", 0, ContainerState.EXITED);
        waiting = "CrashLoopBackOff";

        assertThat(answer("GET", "/containerLogs/default/web/main?previous=true"))
                .satisfies(is(
                        404, "the log of container \"main\" does not exist: " + logs + "/default_web_u1/main/1.log\n"));
    }

    @Test
    void thePreviousLogOfAContainerThatIsBeingStartedIsThatOfTheLastEnd() {
        container("c2", 2, ContainerState.CREATED);
        container("c1", 1, ContainerState.EXITED);
        container("c0", 0, ContainerState.EXITED);
        waiting = "ContainerCreating";

        assertThat(answer("GET", "/containerLogs/default/web/main?previous=true"))
                .satisfies(is(
                        404, "the log of container \"main\" does not exist: " + logs + "/default_web_u1/main/1.log\n"));
    }

    @Test
    void whyThereIsNoLogIsSaidInAKubeletsWords() {
        container("c0", 0, ContainerState.CREATED);
        waiting = "ContainerCreating";

        assertThat(answer("GET", "/containerLogs/default/web/main"))
                .satisfies(is(400, "container \"main\" in pod \"web\" is waiting to start: ContainerCreating\n"));

        waiting = "ErrImagePull";
        assertThat(answer("GET", "/containerLogs/default/web/main"))
                .satisfies(is(400, "container \"main\" in pod \"web\" is waiting to start: image can't be pulled\n"));

        assertThat(answer("GET", "/containerLogs/default/none/main"))
                .satisfies(is(404, "pod \"none\" does not exist\n"));
        assertThat(answer("GET", "/containerLogs/default/web/other"))
                .satisfies(is(404, "container \"other\" not found in pod \"web\"\n"));
    }

    @Test
    void streamsAreServedByTheRuntime() {
        runtime.pod("u1", "main");
        container("u1-main", 0, ContainerState.RUNNING);

        assertThat(answer("POST", "/exec/default/web/main?command=ls&output=1"))
                .isEqualTo(new Answer.Stream("u1", URI.create("http://127.0.0.1:1/exec/u1-main")));
        assertThat(answer("POST", "/attach/default/web/main?output=1"))
                .isEqualTo(new Answer.Stream("u1", URI.create("http://127.0.0.1:1/attach/u1-main")));
        assertThat(answer("POST", "/portForward/default/web"))
                .isEqualTo(new Answer.Stream("u1", URI.create("http://127.0.0.1:1/portforward/s-u1")));
    }

    @Test
    void thereAreNoStreamsToWhatDoesNotRun() {
        container("c0", 0, ContainerState.EXITED);
        sandbox = false;

        assertThat(answer("POST", "/exec/default/web/main?command=ls&output=1"))
                .satisfies(is(500, "container not found (\"main\")\n"));
        assertThat(answer("POST", "/exec/default/web/uid-of-another/main?command=ls&output=1"))
                .satisfies(is(404, "pod does not exist\n"));
        assertThat(answer("POST", "/attach/default/web/main?output=1"))
                .satisfies(is(500, "container main not found in pod web\n"));
        assertThat(answer("POST", "/portForward/default/web"))
                .satisfies(is(500, "not found: pod default/web has no sandbox that is ready\n"));
    }

    @Test
    void aRuntimeThatHangsIsAnError() {
        runtime.pod("u1", "main");
        container("u1-main", 0, ContainerState.RUNNING);
        runtime.hang("Exec");

        assertThat(answer("POST", "/exec/default/web/main?command=ls&output=1"))
                .isInstanceOfSatisfying(
                        Answer.Whole.class,
                        whole -> assertThat(whole.page().status()).isEqualTo(500));
    }

    @Test
    void podsAreListed() {
        Answer answer = answer("GET", "/pods");

        assertThat(answer).isInstanceOfSatisfying(Answer.Whole.class, whole -> {
            var list = Json.parseObject(whole.page().body());
            assertThat(list.text("kind")).isEqualTo("PodList");
            assertThat(list.array("items")
                            .objects()
                            .map(pod -> pod.object("metadata").text("name")))
                    .containsExactly("web");
        });
    }

    @Test
    void pagesAreThoseOfTheOtherPort() {
        assertThat(answer("GET", "/healthz?verbose")).satisfies(is(200, "/healthz verbose\n"));
    }

    private static Consumer<Answer> is(int status, String text) {
        return answer -> assertThat(answer).isInstanceOfSatisfying(Answer.Whole.class, whole -> {
            assertThat(new String(whole.page().body(), StandardCharsets.UTF_8)).isEqualTo(text);
            assertThat(whole.page().status()).isEqualTo(status);
        });
    }

    private void container(String id, int attempt, ContainerState state) {
        containers.add(new ContainerStatus(
                id, "main", state, 1, 0, 0, "", "", new ContainerStatus.Origin(attempt, attempt, "", "", Map.of())));
    }

    private Answer answer(String method, String uri) {
        NodeApi api = new NodeApi(
                new PodSource() {
                    @Override
                    public List<Pod> pods() {
                        return List.of(web());
                    }

                    @Override
                    public PodStatus status(String uid) {
                        return new PodStatus(
                                new PodRef("u1", "web", "default"),
                                List.of(),
                                List.of(new PodSandboxStatus(
                                        new PodSandbox("s-u1", "u1", "web", "default", 0, sandbox, 1), List.of())),
                                containers);
                    }
                },
                runtime,
                logs,
                (path, query) -> CompletableFuture.completedFuture(Page.text(200, path + " " + query)),
                new Direct(),
                loop);
        String[] parts = uri.split("\\?", 2);
        Map<String, List<String>> query = new HashMap<>();
        if (parts.length == 2) {
            for (String pair : parts[1].split("&")) {
                String[] sides = pair.split("=", 2);
                query.put(sides[0], List.of(sides.length == 2 ? sides[1] : ""));
            }
        }
        CompletableFuture<Answer> answer =
                api.answer(method, parts[0], new Query(query), parts.length == 2 ? parts[1] : "");
        time.advance(Duration.ofSeconds(30));
        assertThat(answer).isCompleted();
        return answer.join();
    }

    private Pod web() {
        return new Pod(Json.parseObject("""
                {"metadata":{"name":"web","namespace":"default","uid":"u1"},
                 "spec":{"containers":[{"name":"main","image":"app:1"}]},
                 "status":{"containerStatuses":[{"name":"main","state":{"waiting":{"reason":"%s"}}}]}}
                """.formatted(waiting)));
    }

    /** Runs everything at once. */
    private static final class Direct implements BlockingCalls {
        @Override
        public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
            try {
                return CompletableFuture.completedFuture(work.call());
            } catch (Exception e) {
                return CompletableFuture.failedFuture(e);
            }
        }
    }
}
