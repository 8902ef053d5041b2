package io.nodekeeper.agent.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.facts.DeviceCapacity.Amount;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.devices.PluginDevice;
import io.nodekeeper.cri.devices.PluginOptions;
import io.nodekeeper.cri.devices.PluginRegistration;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Devices in virtual time, with plugins that are told what to do. */
class DeviceManagerTest {
    private static final String GPU = "example.com/gpu";
    private static final String NIC = "example.com/nic";

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private DeviceFixture fixture;
    private FakePlugin gpu;
    private DeviceManager manager;

    @BeforeEach
    void start() {
        restart();
        gpu = register("gpu.sock", GPU);
    }

    private void restart() {
        fixture = new DeviceFixture(directory, loop);
        manager = fixture.manager();
    }

    private FakePlugin register(String endpoint, String resource) {
        return fixture.register(endpoint, resource);
    }

    @Test
    void shouldCountHealthyAndUnhealthyDevices() {
        gpu.list("a", "b!");

        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(2, 1)));

        gpu.list("a", "b", "c");

        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(3, 3)));
        assertThat(fixture.registered()).containsExactly(GPU);
    }

    @Test
    @Tag("A103")
    void shouldKeepTheCapacityFor5MinutesAfterThePluginHasEnded() {
        gpu.list("a", "b");

        gpu.die();

        assertThat(gpu.closed).isTrue();
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(2, 0)));
        advance(Duration.ofSeconds(299));
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(2, 0)));
        advance(Duration.ofSeconds(1));
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, Amount.ZERO));
        assertThat(checkpoint()).contains("\"RegisteredDevices\":{}");
        advance(Duration.ofHours(1));
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, Amount.ZERO));
    }

    @Test
    @Tag("A103")
    void shouldCountDevicesAgainWhenThePluginComesBack() {
        gpu.list("a", "b");
        gpu.die();
        advance(Duration.ofMinutes(4));

        FakePlugin again = register("gpu.sock", GPU);

        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(2, 0)));
        again.list("a", "b");
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(2, 2)));
        advance(Duration.ofMinutes(10));
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(2, 2)));
    }

    @Test
    @Tag("A104")
    void shouldHaveNoDevicesAfterARestartUntilThePluginRegisters() {
        gpu.list("a", "b");
        advance(Duration.ZERO);

        restart();

        assertThat(manager.hasCheckpoint()).isTrue();
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, Amount.ZERO));
        register("gpu.sock", GPU).list("a", "b");
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(2, 2)));
    }

    @Test
    void shouldHaveNoCheckpointOnAMachineThatIsNewAndLeaveOneForTheNextAgent() {
        manager.begin();

        assertThat(manager.hasCheckpoint()).isFalse();
        assertThat(checkpoint()).startsWith("{\"Data\":{\"PodDeviceEntries\":[],\"RegisteredDevices\":{");

        gpu.list("a");

        assertThat(manager.hasCheckpoint()).isTrue();
    }

    @Test
    void shouldTakeTheDevicesOfTheNewestPluginOnly() {
        gpu.list("a");

        FakePlugin next = register("other.sock", GPU);
        next.list("x", "y", "z");
        gpu.list("a", "b");
        gpu.die();

        assertThat(gpu.closed).isTrue();
        assertThat(manager.capacity().amounts()).isEqualTo(Map.of(GPU, new Amount(3, 3)));
    }

    @Test
    void shouldRefuseOtherVersionsAndNames() {
        assertRefused(
                "v1alpha",
                "x.sock",
                GPU,
                "requested API version \"v1alpha\" is not supported by kubelet."
                        + " Supported version is [\"v1beta1\"]");
        assertRefused("v1beta1", "x.sock", "gpu", "the ResourceName \"gpu\" is invalid");
        assertRefused("v1beta1", "x.sock", "kubernetes.io/gpu", "the ResourceName \"kubernetes.io/gpu\" is invalid");
        assertRefused(
                "v1beta1",
                "../x.sock",
                GPU,
                "the Endpoint \"../x.sock\" is invalid; expected the name of a socket" + " in " + directory);
    }

    private void assertRefused(String version, String endpoint, String resource, String why) {
        assertThatThrownBy(() -> manager.register(new PluginRegistration(version, endpoint, resource))
                        .join())
                .cause()
                .hasMessage(why);
    }

    @Test
    void shouldRefuseMoreResourcesThanANodeHas() {
        for (int i = 1; i < DeviceManager.MOST_RESOURCES; i++) {
            register("p" + i, "example.com/r" + i);
        }

        assertRefused("v1beta1", "more", "example.com/more", "256 resources of device plugins are registered already");
        register("gpu.sock", GPU).list("a");
        assertThat(manager.capacity().amounts()).containsEntry(GPU, new Amount(1, 1));
    }

    @Test
    void shouldGiveEachPodDevicesOfItsOwn() {
        gpu.list("a", "b!", "c", "d");

        assertThat(allocate(pod("one", container("app", GPU, 1)))).isEmpty();
        assertThat(allocate(pod("two", container("app", GPU, 2)))).isEmpty();

        assertThat(gpu.calls).containsExactly("allocate [a]", "allocate [c, d]");
        assertThat(allocate(pod("three", container("app", GPU, 1))))
                .contains("requested number of devices unavailable for example.com/gpu. Requested: 1, Available: 0");
        assertThat(checkpoint()).contains("\"PodUID\":\"uid-two\"").contains("{\"-1\":[\"c\",\"d\"]}");
    }

    @Test
    void shouldFreeDevicesOfPodsThatHaveEnded() {
        gpu.list("a");
        allocate(pod("one", container("app", GPU, 1)));

        manager.retain(Set.of("uid-other"));

        assertThat(allocate(pod("two", container("app", GPU, 1)))).isEmpty();
        manager.retain(Set.of("uid-two"));
        assertThat(allocate(pod("three", container("app", GPU, 1)))).isNotEmpty();
        assertThat(checkpoint()).contains("uid-two").doesNotContain("uid-one");
    }

    @Test
    void shouldGiveDevicesOfInitContainersToTheNextContainers() {
        gpu.list("a", "b", "c");
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"uid": "uid-p"}, "spec": {
                 "initContainers": [%s, {"name": "side", "restartPolicy": "Always",
                                         "resources": {"limits": {"example.com/gpu": "1"}}}],
                 "containers": [%s]}}
                """.formatted(container("init", GPU, 2), container("app", GPU, 2))));

        assertThat(allocate(pod)).isEmpty();

        // The sidecar keeps what it has; the container gets the rest of the init container's and one more.
        assertThat(gpu.calls).containsExactly("allocate [a, b]", "allocate [a]", "allocate [b, c]");
    }

    @Test
    void shouldChooseWhatThePluginPrefers() {
        FakePlugin chooser = new FakePlugin();
        chooser.options = new PluginOptions(false, true);
        chooser.preferred = List.of("z", "unknown");
        fixture.put("nic.sock", chooser);
        manager.register(new PluginRegistration("v1beta1", "nic.sock", NIC)).join();
        chooser.list("x", "y", "z");

        assertThat(allocate(pod("one", container("app", NIC, 2)))).isEmpty();

        assertThat(chooser.calls).containsExactly("preferred [x, y, z] [] 2", "allocate [x, z]");
    }

    @Test
    void shouldFailWhenThePluginFails() {
        gpu.list("a");
        gpu.error = "rpc error: code = Internal desc = it is broken";

        assertThat(allocate(pod("one", container("app", GPU, 1))))
                .contains("rpc error: code = Internal desc = it is broken");

        gpu.error = "";
        assertThat(allocate(pod("two", container("app", GPU, 1)))).isEmpty();
    }

    @Test
    void shouldNotGiveADeviceTwiceWhileAPluginThinks() {
        gpu.list("a", "b");
        gpu.hangs = true;
        CompletableFuture<Void> first = manager.allocate(pod("one", container("app", GPU, 1)));
        CompletableFuture<Void> second = manager.allocate(pod("two", container("app", GPU, 1)));
        FakePlugin nic = register("nic.sock", NIC);
        nic.list("n");

        assertThat(allocate(pod("beside", container("app", NIC, 1)))).isEmpty();
        assertThat(allocate(pod("three", container("app", GPU, 1)))).isNotEmpty();
        assertThat(first).isNotDone();
        gpu.answer();
        advance(Duration.ZERO);

        assertThat(first).isCompleted();
        assertThat(second).isCompleted();
        assertThat(gpu.calls).containsExactly("allocate [a]", "allocate [b]");
    }

    @Test
    void shouldFreeWhatAPodGotBeforeItsNextResourceFailed() {
        gpu.list("a");
        FakePlugin nic = register("nic.sock", NIC);
        nic.list("n!");

        assertThat(allocate(pod("one", container("app", GPU, 1), container("net", NIC, 1))))
                .contains("no healthy devices present; cannot allocate unhealthy devices example.com/nic");

        assertThat(allocate(pod("two", container("app", GPU, 1)))).isEmpty();
    }

    @Test
    void shouldIgnoreExtendedResourcesThatNoPluginHas() {
        assertThat(allocate(pod("one", container("app", "example.com/dongle", 1))))
                .isEmpty();
        assertThat(manager.isDevice("example.com/dongle")).isFalse();
    }

    @Test
    @Tag("A104")
    void shouldKeepTheDevicesOfPodsOverARestart() {
        gpu.list("a", "b");
        Pod one = pod("one", container("app", GPU, 1));
        allocate(one);

        restart();
        FakePlugin again = register("gpu.sock", GPU);
        again.list("a", "b");

        assertThat(prepare(one).environment()).isEqualTo(Map.of("DEVICES", "a"));
        assertThat(allocate(pod("two", container("app", GPU, 1)))).isEmpty();
        assertThat(again.calls).containsExactly("allocate [b]");
    }

    @Test
    void shouldRefuseAPodWhoseDevicesAreNotHealthyAfterARestart() {
        gpu.list("a");
        Pod one = pod("one", container("app", GPU, 1));
        allocate(one);

        restart();

        assertThat(allocate(one))
                .contains("no healthy devices present; cannot allocate unhealthy devices example.com/gpu");
    }

    @Test
    void shouldPrepareEachStartOfAContainer() {
        FakePlugin nic = new FakePlugin();
        nic.options = new PluginOptions(true, false);
        fixture.put("nic.sock", nic);
        manager.register(new PluginRegistration("v1beta1", "nic.sock", NIC)).join();
        nic.list("n");
        Pod pod = pod("one", container("app", NIC, 1));
        allocate(pod);

        ContainerDevices first = prepare(pod);
        prepare(pod);

        assertThat(first.devices()).containsExactly(new ContainerConfig.Device("/dev/n", "/dev/null", "rw"));
        assertThat(nic.calls).containsExactly("allocate [n]", "preStart [n]", "preStart [n]");
        nic.error = "no";
        assertThatThrownBy(() -> prepare(pod)).hasMessage("device plugin PreStartContainer rpc failed with err: no");
    }

    @Test
    void shouldGiveDevicesToARunningPodThatTheAgentForgot() {
        gpu.list("a");
        Pod pod = pod("one", container("app", GPU, 1));

        assertThat(prepare(pod).environment()).isEqualTo(Map.of("DEVICES", "a"));
        assertThat(checkpoint()).contains("uid-one");
    }

    @Test
    void shouldRememberTheNumaNodesOfDevices() {
        gpu.list(List.of(
                new PluginDevice("a", true, Set.of(0L)),
                new PluginDevice("b", true, Set.of(0L, 1L)),
                new PluginDevice("c", true, Set.of())));

        allocate(pod("one", container("app", GPU, 3)));

        assertThat(checkpoint()).contains("\"DeviceIDs\":{\"-1\":[\"c\"],\"0\":[\"a\",\"b\"],\"1\":[\"b\"]}");
    }

    @Test
    void shouldRefuseAPodWhoseDevicesCannotBeWrittenDown() throws IOException {
        gpu.list("a");
        advance(Duration.ZERO);
        // A file of that name would be removed first; a directory that is not empty cannot be.
        Files.createDirectories(directory.resolve(".kubelet_internal_checkpoint.tmp/inside"));

        assertThat(allocate(pod("one", container("app", GPU, 1)))).isPresent();
    }

    /** Why it failed; empty if it did not. */
    private Optional<String> allocate(Pod pod) {
        CompletableFuture<Void> done = manager.allocate(pod);
        advance(Duration.ZERO);
        assertThat(done).isDone();
        return done.isCompletedExceptionally() ? Optional.of(Failures.text(done.exceptionNow())) : Optional.empty();
    }

    private ContainerDevices prepare(Pod pod) {
        ContainerSpec container = pod.containers().getFirst();
        CompletableFuture<ContainerDevices> done = manager.prepare(pod, container);
        advance(Duration.ZERO);
        if (done.isCompletedExceptionally()) {
            throw new IllegalStateException(Failures.text(done.exceptionNow()));
        }
        return done.join();
    }

    private String checkpoint() {
        advance(Duration.ZERO);
        try {
            return Files.readString(directory.resolve(DeviceDirectory.CHECKPOINT));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void advance(Duration duration) {
        time.advance(duration.plusNanos(1));
    }

    private static String container(String name, String resource, int count) {
        return """
                {"name": "%s", "resources": {"limits": {"%s": "%d"}}}""".formatted(name, resource, count);
    }

    private static Pod pod(String name, String... containers) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "%1$s", "uid": "uid-%1$s"}, "spec": {"containers": [%2$s]}}
                """.formatted(name, String.join(",", containers))));
    }
}
