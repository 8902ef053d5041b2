package io.nodekeeper.agent.pods.cpus;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.CpuConfig;
import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A machine with four cores of two threads: core c has the processors c and c+4. */
class CpuManagerTest {
    private static final CpuConfig STATIC = new CpuConfig(true, Duration.ofSeconds(10), CpuSet.EMPTY);

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final List<String> faults = new ArrayList<>();

    @BeforeEach
    void machine() throws IOException {
        CpuTopology topology = Topologies.of(1, 4, 2);
        for (var cpu : topology.places().entrySet()) {
            Path files = Files.createDirectories(
                    directory.resolve("sys/devices/system/cpu/cpu" + cpu.getKey() + "/topology"));
            Files.writeString(
                    files.resolve("physical_package_id"), cpu.getValue().socket() + "\n");
            Files.writeString(files.resolve("core_id"), cpu.getValue().core() + "\n");
        }
        Files.writeString(directory.resolve("sys/devices/system/cpu/online"), "0-7\n");
    }

    private Optional<CpuManager> open(CpuConfig config, String reserved) {
        return CpuStateFile.open(directory, directory, config, Quantity.parse(reserved), new AtOnce(), loop, faults);
    }

    private CpuManager manager() {
        CpuManager manager = open(STATIC, "500m").orElseThrow(() -> new AssertionError(faults));
        assertThat(faults).isEmpty();
        return manager;
    }

    @Test
    void shouldGiveGuaranteedPodsWholeProcessors() {
        CpuManager manager = manager();

        assertThat(allocate(manager, pod("one", container("app", "2")))).isEmpty();
        assertThat(allocate(manager, pod("part", container("app", "1500m")))).isEmpty();
        assertThat(allocate(manager, burstable("weak"))).isEmpty();

        assertThat(manager.cpus("uid-one", "app")).isEqualTo("1,5");
        assertThat(manager.cpus("uid-part", "app")).isEqualTo("0,2-4,6-7");
        assertThat(manager.cpus("uid-weak", "app")).isEqualTo("0,2-4,6-7");
        assertThat(state())
                .startsWith(
                        "{\"policyName\":\"static\",\"defaultCpuSet\":\"0,2-4,6-7\",\"entries\":{\"uid-one\":{\"app\":\"1,5\"}},");
    }

    @Test
    void shouldRefuseAPodThatAsksForMoreThanIsLeft() {
        CpuManager manager = manager();
        allocate(manager, pod("one", container("app", "6")));

        assertThat(allocate(manager, pod("two", container("a", "1"), container("b", "1"))))
                .contains("not enough cpus available to satisfy request: requested=1, available=0");

        assertThat(manager.cpus("uid-two", "a")).isEqualTo(manager.cpus("uid-other", "app"));
        manager.retain(Set.of());
        assertThat(manager.cpus("uid-other", "app")).isEqualTo("0-7");
        assertThat(allocate(manager, pod("two", container("a", "1"), container("b", "1"))))
                .isEmpty();
    }

    @Test
    void shouldGiveProcessorsOfInitContainersToTheNextContainers() {
        CpuManager manager = manager();
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"uid": "uid-p"}, "spec": {"initContainers": [%s], "containers": [%s]}}
                """.formatted(container("init", "4"), container("app", "2"))));

        assertThat(allocate(manager, pod)).isEmpty();

        CpuSet init = CpuSet.parse(manager.cpus("uid-p", "init"));
        assertThat(init.size()).isEqualTo(4);
        assertThat(init.containsAll(CpuSet.parse(manager.cpus("uid-p", "app")))).isTrue();
        manager.release("uid-p");
        assertThat(manager.cpus("uid-p", "app")).isEqualTo("0-7");
    }

    @Test
    void shouldKeepProcessorsOverARestart() {
        allocate(manager(), pod("one", container("app", "2")));

        CpuManager again = manager();

        assertThat(again.cpus("uid-one", "app")).isEqualTo("1,5");
        assertThat(allocate(again, pod("one", container("app", "2")))).isEmpty();
        assertThat(again.cpus("uid-one", "app")).isEqualTo("1,5");
        allocate(again, pod("two", container("app", "1")));
        assertThat(again.cpus("uid-two", "app")).isEqualTo("4");
    }

    @Test
    void shouldNotStartWithTheStateOfAnotherPolicy() {
        assertThat(open(CpuConfig.DEFAULT, "0")).isEmpty();
        assertThat(state()).isEqualTo("{\"policyName\":\"none\",\"defaultCpuSet\":\"\",\"checksum\":1353318690}");

        assertThat(open(STATIC, "1")).isEmpty();

        assertThat(faults)
                .containsExactly(
                        "could not restore state from checkpoint: configured policy \"static\" differs from state"
                                + " checkpoint policy \"none\", please drain this node and delete the CPU manager checkpoint file"
                                + " \"" + directory.resolve("cpu_manager_state") + "\" before restarting the agent");
    }

    @Test
    void shouldNotStartWithAStateOfAnotherMachine() throws IOException {
        manager();
        Files.writeString(directory.resolve("sys/devices/system/cpu/online"), "0-5\n");

        assertThat(open(STATIC, "1")).isEmpty();

        assertThat(faults)
                .singleElement()
                .asString()
                .endsWith("current set of available CPUs \"0-5\" doesn't match with CPUs in state \"0-7\"");
    }

    @Test
    void shouldNotStartWithoutReservedProcessors() {
        assertThat(open(STATIC, "0")).isEmpty();
        assertThat(open(new CpuConfig(true, Duration.ofSeconds(1), CpuSet.parse("7-8")), "0"))
                .isEmpty();

        assertThat(faults)
                .containsExactly(
                        "cpuManagerPolicy static requires systemReserved.cpu + kubeReserved.cpu to be greater than zero and"
                                + " at most 8, or reservedSystemCPUs, got 0",
                        "reservedSystemCPUs: 8 are not online; expected some of 0-7");
    }

    @Test
    void shouldNotGiveAwayListedProcessors() {
        CpuManager manager = open(new CpuConfig(true, Duration.ofSeconds(1), CpuSet.parse("0-5")), "6")
                .orElseThrow();

        assertThat(allocate(manager, pod("one", container("app", "2")))).isEmpty();

        assertThat(manager.cpus("uid-one", "app")).isEqualTo("6-7");
        assertThat(allocate(manager, pod("two", container("app", "1")))).isPresent();
    }

    @Test
    void shouldMoveRunningContainersWhenTheSharedProcessorsChange() {
        CpuManager manager = manager();
        FakeRuntime runtime = new FakeRuntime(loop);
        CpuReconciler reconciler = new CpuReconciler(manager, runtime, Duration.ofSeconds(5));
        Container shared = runs("c1", "app", "uid-web");
        runtime.container("c1", "uid-web", "app", ContainerState.RUNNING);
        Container foreign = runs("c2", "app", "uid-foreign");
        Container ended = new Container("c3", "s", "old", "uid-web", ContainerState.EXITED, 1);
        List<Container> all = List.of(shared, foreign, ended);

        reconcile(reconciler, all);
        allocate(manager, pod("one", container("app", "2")));
        reconcile(reconciler, all);
        reconcile(reconciler, all);

        assertThat(pins(runtime))
                .containsExactly(
                        new RuntimeCall.PinContainer("c1", "0-7"), new RuntimeCall.PinContainer("c1", "0,2-4,6-7"));
    }

    @Test
    void shouldTryAgainWhatFailed() {
        CpuManager manager = manager();
        FakeRuntime runtime = new FakeRuntime(loop);
        CpuReconciler reconciler = new CpuReconciler(manager, runtime, Duration.ofSeconds(5));
        List<Container> all = List.of(runs("gone", "app", "uid-web"));

        reconcile(reconciler, all);
        reconcile(reconciler, all);

        assertThat(pins(runtime)).hasSize(2);
    }

    private void reconcile(CpuReconciler reconciler, List<Container> containers) {
        reconciler.reconcile(containers, Set.of("uid-web"));
        time.advance(Duration.ofSeconds(1));
    }

    private static List<RuntimeCall<?>> pins(FakeRuntime runtime) {
        return runtime.calls().stream()
                .<RuntimeCall<?>>map(call -> call)
                .filter(RuntimeCall.PinContainer.class::isInstance)
                .toList();
    }

    private static Container runs(String id, String name, String uid) {
        return new Container(id, "s", name, uid, ContainerState.RUNNING, 1);
    }

    private Optional<String> allocate(CpuManager manager, Pod pod) {
        CompletableFuture<Void> done = manager.allocate(pod);
        time.advance(Duration.ofNanos(1));
        assertThat(done).isDone();
        return done.isCompletedExceptionally() ? Optional.of(Failures.text(done.exceptionNow())) : Optional.empty();
    }

    private String state() {
        time.advance(Duration.ofNanos(1));
        try {
            return Files.readString(directory.resolve("cpu_manager_state"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String container(String name, String cpu) {
        return """
                {"name": "%s", "resources": {"limits": {"cpu": "%s", "memory": "1Gi"}}}""".formatted(name, cpu);
    }

    private static Pod burstable(String name) {
        return pod(name, "{\"name\": \"app\", \"resources\": {\"requests\": {\"cpu\": \"2\"}}}");
    }

    private static Pod pod(String name, String... containers) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "%1$s", "uid": "uid-%1$s"}, "spec": {"containers": [%2$s]}}
                """.formatted(name, String.join(",", containers))));
    }

    /** Work on files happens at once. */
    private static final class AtOnce implements BlockingCalls {
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
