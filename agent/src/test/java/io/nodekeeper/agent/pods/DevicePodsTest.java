package io.nodekeeper.agent.pods;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.devices.DeviceFixture;
import io.nodekeeper.agent.devices.FakePlugin;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.config.ContainerConfig;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pods that need devices of plugins. */
class DevicePodsTest extends SimulatedNode {
    private static final String GPU = "example.com/gpu";

    private FakePlugin gpu;

    @BeforeEach
    void devices() {
        gpu = startDevices();
        gpu.list("a", "b");
    }

    private FakePlugin startDevices() {
        DeviceFixture fixture = new DeviceFixture(directory, loop);
        resources = new NodeResources(Optional.of(fixture.manager()), Optional.empty());
        return fixture.register(GPU);
    }

    private void addWith(String name, String resource, int count) {
        add(name, "\"resources\": {\"limits\": {\"%s\": \"%d\"}}".formatted(resource, count), "");
    }

    @Test
    void shouldStartAPodWithItsDevice() {
        addWith("web", GPU, 1);
        start(110);

        advance(5);

        assertThat(phase("web")).isEqualTo("Running");
        ContainerConfig config = created();
        assertThat(config.environment()).containsEntry("DEVICES", "a");
        assertThat(config.devices()).containsExactly(new ContainerConfig.Device("/dev/a", "/dev/null", "rw"));
    }

    @Test
    void shouldRefuseAPodForWhichTooFewDevicesAreLeft() {
        addWith("one", GPU, 2);
        start(110);
        advance(5);

        addWith("two", GPU, 1);
        advance(5);

        assertThat(phase("two")).isEqualTo("Failed");
        assertThat(stored("two").object("status").text("reason")).isEqualTo("UnexpectedAdmissionError");
        assertThat(stored("two").object("status").text("message"))
                .isEqualTo("Pod was rejected: Allocate failed due to requested number of devices unavailable for"
                        + " example.com/gpu. Requested: 1, Available: 0, which is unexpected");
        assertThat(events)
                .contains("two Warning UnexpectedAdmissionError Allocate failed due to requested number of devices"
                        + " unavailable for example.com/gpu. Requested: 1, Available: 0, which is unexpected");
    }

    @Test
    void shouldGiveADeviceAwayOnceItsPodHasEnded() {
        deletePodWithAllDevices("one");
        advance(40);
        assertThat(pods).doesNotContainKey("one");

        addWith("two", GPU, 1);
        advance(5);

        assertThat(phase("two")).isEqualTo("Running");
    }

    @Test
    void shouldGiveADeviceAwayAsSoonAsItsPodIsGoneFromTheApi() {
        deletePodWithAllDevices("one");
        for (int i = 0; i < 400 && pods.containsKey("one"); i++) {
            time.advance(Duration.ofMillis(100));
            if (i % 10 == 9 && pods.containsKey("one")) {
                manager().tick();
            }
        }
        assertThat(pods).doesNotContainKey("one");

        // The scheduler does not wait for the node's next second.
        addWith("two", GPU, 1);
        time.advance(Duration.ofMillis(100));

        assertThat(gpu.calls).containsExactly("allocate [a, b]", "allocate [a]");
        advance(5);
        assertThat(phase("two")).isEqualTo("Running");
    }

    @Test
    void shouldNotKeepADeviceForAnEndedPodThatTheLastListOfAllPodsStillShowed() {
        deletePodWithAllDevices("one");

        // Rounds of the manager that come much more often than lists.
        for (int i = 0; i < 800 && pods.containsKey("one"); i++) {
            tickSoon();
        }
        tickSoon();

        assertThat(pods).doesNotContainKey("one");
        assertThat(manager().size()).isZero();
        addWith("two", GPU, 1);
        tickSoon();
        assertThat(gpu.calls).containsExactly("allocate [a, b]", "allocate [a]");
        advance(5);
        assertThat(phase("two")).isEqualTo("Running");
    }

    @Test
    void shouldGiveAPodThatWaitsTheDeviceOfOneWhoseContainersHaveEnded() {
        // given a pod with most of the processor and all devices, whose files cannot be removed
        node = Optional.of(new Node(Json.parseObject("""
                {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "1"}}}""")));
        String large = "\"resources\": {\"requests\": {\"cpu\": \"800m\"}, \"limits\": {\"%s\": \"%d\"}}";
        add("one", large.formatted(GPU, 2), "");
        start(110);
        advance(5);
        files.hanging = "log of ";
        delete("one");

        // when another one waits for the processor
        add("two", large.formatted(GPU, 1), "");
        advance(10);

        // then it starts, and gets a device, once nothing of the first one runs
        assertThat(pods).containsKey("one");
        assertThat(phase("two")).isEqualTo("Running");
        assertThat(gpu.calls).containsExactly("allocate [a, b]", "allocate [a]");
    }

    @Test
    void shouldKeepTheDevicesOfAPodThatMustEndWhileItsSandboxIsMade() {
        runtime.delay("RunPodSandbox", Duration.ofSeconds(20));
        addWith("one", GPU, 2);
        start(110);
        advance(2);
        delete("one");
        advance(2);

        addWith("two", GPU, 1);
        advance(5);

        assertThat(stored("two").object("status").text("reason")).isEqualTo("UnexpectedAdmissionError");
    }

    private void deletePodWithAllDevices(String name) {
        addWith(name, GPU, 2);
        start(110);
        advance(5);
        delete(name);
    }

    private void tickSoon() {
        time.advance(Duration.ofMillis(50));
        manager().tick();
    }

    @Test
    void shouldDelayNoOtherPodWhileAPluginHangs() {
        gpu.hangs = true;
        addWith("stuck", GPU, 1);
        start(110);
        advance(2);
        add("web");
        advance(5);

        assertThat(phase("stuck")).isEqualTo("Pending");
        assertThat(phase("web")).isEqualTo("Running");
        assertThat(gpu.calls).containsExactly("allocate [a]");

        gpu.answer();
        advance(5);
        assertThat(phase("stuck")).isEqualTo("Running");
    }

    @Test
    void shouldFreeTheDevicesOfAPodThatIsDeletedWhileThePluginHangs() {
        gpu.hangs = true;
        addWith("stuck", GPU, 2);
        start(110);
        advance(2);
        tell("DELETED", requireNonNull(pods.remove("stuck")));
        advance(2);
        gpu.answer();
        gpu.hangs = false;

        addWith("next", GPU, 2);
        advance(5);

        assertThat(phase("next")).isEqualTo("Running");
    }

    @Test
    @Tag("A102")
    void shouldRefuseAPodWhoseDevicesComeAfterAShutdownHasBegun() {
        // given a pod that waits for its device
        gpu.hangs = true;
        addWith("stuck", GPU, 1);
        start(110);
        advance(2);

        // when the machine is shut down before the plugin answers
        loop.execute(() -> manager().refuseAll(true));
        advance(1);
        gpu.answer();
        advance(5);

        // then nothing of it starts, as of one that comes during a shutdown
        JsonObject status = stored("stuck").object("status");
        assertThat(status.text("phase")).isEqualTo("Failed");
        assertThat(status.text("reason")).isEqualTo("NodeShutdown");
        assertThat(status.text("message"))
                .isEqualTo("Pod was rejected: Pod was rejected as the node is shutting down.");
        assertThat(calls()).isEmpty();
        assertThat(manager().running()).isEmpty();
    }

    @Test
    @Tag("A104")
    void shouldKeepTheDevicesOfAPodThatStillRunsThoughItWasDeletedWhileNoAgentRan() {
        // given a pod with all devices
        addWith("one", GPU, 2);
        start(110);
        advance(5);
        runtime.calls().clear();

        // when the agent starts again, the API has another pod instead, and the runtime's first list takes a while
        FakePlugin again = startDevices();
        again.list("a", "b");
        runtime.delay("ListContainers", Duration.ofMillis(2_500));
        runtime.delay("StopContainer", Duration.ofSeconds(5));
        start(110);
        pods.remove("one");
        addWith("two", GPU, 1);
        advance(2);
        runtime.heal("ListContainers");
        advance(2);

        // then no device is given away while the first pod ends
        assertThat(runtime.calls("StopContainer")).isEqualTo(1);
        assertThat(stored("two").object("status").text("reason")).isEqualTo("UnexpectedAdmissionError");
        assertThat(again.calls).isEmpty();

        // and they are free once it has ended
        advance(20);
        addWith("three", GPU, 1);
        advance(5);
        assertThat(phase("three")).isEqualTo("Running");
        assertThat(again.calls).containsExactly("allocate [a]");
    }

    @Test
    @Tag("A104")
    void shouldKeepDevicesOverARestartOfTheAgent() {
        addWith("one", GPU, 1);
        start(110);
        advance(5);

        FakePlugin again = startDevices();
        again.list("a", "b");
        start(110);
        advance(5);
        addWith("two", GPU, 1);
        advance(5);

        assertThat(phase("one")).isEqualTo("Running");
        assertThat(again.calls).containsExactly("allocate [b]");
        assertThat(calls().stream().filter("CreateContainer"::equals)).hasSize(2);
    }

    private ContainerConfig created() {
        return runtime.calls().stream()
                .filter(RuntimeCall.CreateContainer.class::isInstance)
                .map(RuntimeCall.CreateContainer.class::cast)
                .findFirst()
                .orElseThrow()
                .config();
    }
}
