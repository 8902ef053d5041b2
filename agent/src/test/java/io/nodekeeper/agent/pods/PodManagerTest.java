package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PlegConfig;
import io.nodekeeper.agent.pleg.PlegMetrics;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pods of an API server on a simulated runtime, with everything in between, in virtual time. */
class PodManagerTest {
    private static final Duration CALL = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final FakeTransport transport = new FakeTransport();
    private final Map<String, JsonObject> pods = new LinkedHashMap<>();
    private final List<String> events = new ArrayList<>();
    private Optional<Node> node = Optional.empty();

    /** An agent with its watch of the runtime. */
    private record Node(Pleg pleg, PodManager manager) {}

    @BeforeEach
    void server() {
        transport.answer(this::serve);
    }

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
    void shouldRejectAPodBeyondTheLimit() {
        add("web");
        start(1);
        advance(5);

        add("more");
        advance(5);

        assertThat(stored("more").object("status").text("reason")).isEqualTo("OutOfpods");
        assertThat(phase("more")).isEqualTo("Failed");
        assertThat(events)
                .contains("more Warning OutOfpods Pod was rejected: Node didn't have enough resource: pods,"
                        + " requested: 1, used: 1, capacity: 1");
        assertThat(calls().stream().filter("RunPodSandbox"::equals)).hasSize(1);
    }

    @Test
    void shouldShowWhyAnImageCannotBePulled() {
        runtime.fail(
                "PullImage", new RuntimeCallException("PullImage", RuntimeCallException.Code.NOT_FOUND, "no app:1"));
        add("web");
        start(110);

        advance(1);

        JsonObject waiting = stored("web")
                .object("status")
                .array("containerStatuses")
                .objects()
                .findFirst()
                .orElseThrow()
                .object("state")
                .object("waiting");
        assertThat(waiting.text("reason")).isEqualTo("ErrImagePull");
        assertThat(waiting.text("message")).isEqualTo("PullImage: NOT_FOUND: no app:1");
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

    private void start(int maxPods) {
        node.ifPresent(old -> {
            old.manager().stop();
            old.pleg().stop();
        });
        KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(10));
        Pleg pleg = new Pleg(runtime, loop, PlegConfig.PARALLEL, PlegMetrics.NONE);
        PodPorts ports = new PodPorts(
                runtime,
                CALL,
                client,
                (about, type, reason, message) -> events.add(about.name() + " " + type + " " + reason + " " + message),
                loop,
                new PodFiles(directory.resolve("root"), directory.resolve("logs")),
                new AtOnce(),
                directory.resolve("resolv.conf"),
                () -> NodeSettings.of("n1", Optional.empty(), directory.resolve("logs"), List.of(), ""));
        PodManager manager = new PodManager(ports, pleg, new Works(), "n1", maxPods, pod -> false, Randoms.seeded(1));
        node = Optional.of(new Node(pleg, manager));
        pleg.start();
        loop.execute(manager::start);
    }

    private PodManager manager() {
        return node.orElseThrow().manager();
    }

    private void advance(int seconds) {
        for (int second = 0; second < seconds; second++) {
            time.advance(Duration.ofSeconds(1));
            manager().tick();
        }
        time.advance(Duration.ofMillis(1));
    }

    /** The calls that changed something, or asked for an image. */
    private List<String> calls() {
        return runtime.calls().stream()
                .map(call -> call.method())
                .filter(method -> !method.startsWith("List")
                        && !method.equals("PodSandboxStatus")
                        && !method.equals("ContainerStatus"))
                .toList();
    }

    private String phase(String name) {
        return stored(name).object("status").text("phase");
    }

    private JsonObject stored(String name) {
        return Objects.requireNonNull(pods.get(name), name);
    }

    private static JsonObject pod(String name) {
        return Json.parseObject("""
                {"metadata": {"name": "%1$s", "namespace": "shop", "uid": "uid-%1$s", "resourceVersion": "1"},
                 "spec": {"nodeName": "n1", "containers": [{"name": "app", "image": "app:1"}]},
                 "status": {"phase": "Pending"}}
                """.formatted(name));
    }

    private void add(String name) {
        change(name, pod(name));
    }

    private void change(String name, JsonObject pod) {
        JsonObject kept =
                pods.containsKey(name) ? pod.with("status", pods.get(name).object("status")) : pod;
        pods.put(name, kept);
        tell("MODIFIED", kept);
    }

    private void tell(String type, JsonObject pod) {
        transport.watches().stream()
                .filter(watch -> !watch.cancelled())
                .forEach(watch -> loop.execute(() -> watch.event(type, pod)));
    }

    private Optional<Reply> serve(Call call) {
        String[] words = call.toString().split(" ");
        if (words[1].startsWith("/api/v1/pods?")) {
            return Optional.of(FakeTransport.reply(
                    200,
                    JsonObject.builder()
                            .put(
                                    "metadata",
                                    JsonObject.builder()
                                            .put("resourceVersion", "1")
                                            .build())
                            .put("items", new JsonArray(List.<JsonValue>copyOf(pods.values())))
                            .build()));
        }
        String name = words[1].replaceFirst("/status$", "").replaceFirst(".*/", "");
        JsonObject pod = pods.get(name);
        if (pod == null) {
            return Optional.of(FakeTransport.reply(404, JsonObject.EMPTY));
        }
        if (words[0].equals("DELETE")) {
            pods.remove(name);
            tell("DELETED", pod);
            return Optional.of(FakeTransport.reply(200, pod));
        }
        JsonObject changed = pod.with("status", Json.parseObject(call.body()).object("status"));
        pods.put(name, changed);
        tell("MODIFIED", changed);
        return Optional.of(FakeTransport.reply(200, changed));
    }

    /** The runtime and its network work. */
    private static final class Works implements PodWorker.Readiness {
        @Override
        public boolean runtime() {
            return true;
        }

        @Override
        public boolean network() {
            return true;
        }

        @Override
        public String runtimeName() {
            return "containerd";
        }
    }

    /** Work on files happens at once. */
    private static final class AtOnce implements PodPorts.Disk {
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
