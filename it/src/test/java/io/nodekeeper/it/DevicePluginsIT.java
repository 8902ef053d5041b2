package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.cri.StubDevicePlugin;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** Devices of a plugin that is a process of its own, and processors, in pods on a real containerd. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class DevicePluginsIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String RESOURCE = "example.com/gpu";

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;
    private Path sockets;
    private @Nullable Process plugin;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        node = cluster.addNode();
        sockets = node.directory().resolve("agent/device-plugins");
        cluster.startAgent("""
                nodeStatusUpdateFrequency: 1s
                cpuManagerPolicy: static
                cpuManagerReconcilePeriod: 1s
                reservedSystemCPUs: "0"
                """);
    }

    @AfterAll
    void stop() {
        if (plugin != null) {
            plugin.destroyForcibly();
        }
    }

    private Process running() {
        return requireNonNull(plugin, "a plugin was started");
    }

    @Test
    @Order(1)
    void theNodeShowsTheDevicesOfThePlugin() throws Exception {
        startPlugin();

        awaitDevices("2", "2");

        tell("gpu-1 Unhealthy");
        awaitDevices("2", "1");
    }

    @Test
    @Order(2)
    void aPodSeesItsDevice() throws Exception {
        kubectl.apply(pod("first"));

        cluster.awaitReady(SOON, "first");
        Eventually.within(SOON, () -> log("first").contains("gpu-0 writable device"));
    }

    @Test
    @Order(3)
    void aPodForWhichNoDeviceIsLeftIsRefused() throws Exception {
        kubectl.apply(pod("refused"));

        Eventually.within(SOON, () -> pods.status("refused").text("phase").equals("Failed"));
        assertThat(pods.status("refused").text("reason")).isEqualTo("UnexpectedAdmissionError");
        assertThat(pods.status("refused").text("message"))
                .isEqualTo("Pod was rejected: Allocate failed due to requested number of devices unavailable for"
                        + " example.com/gpu. Requested: 1, Available: 0, which is unexpected");
    }

    @Test
    @Order(4)
    @Tag("A103")
    void devicesAreUnhealthyWhileTheirPluginIsGone() throws Exception {
        running().destroyForcibly().waitFor();

        awaitDevices("2", "0");
        assertThat(pods.isReady("first")).isTrue();

        startPlugin();
        awaitDevices("2", "2");
    }

    @Test
    @Order(5)
    @Tag("A104")
    void anAgentThatIsKilledKnowsWhoHasWhichDevice() throws Exception {
        node.agent().kill();
        cluster.startAgentAgain();

        // The plugin registers by itself, because the agent makes its socket again.
        Eventually.within(
                SOON,
                () -> node.page()
                        .get("/healthz?verbose")
                        .filter(page -> page.contains("[+]device-plugin ok"))
                        .isPresent());
        Eventually.within(
                SOON, () -> Files.readString(directory.resolve("plugin.log")).contains("registered again"));
        awaitDevices("2", "2");
        kubectl.apply(pod("second"));

        cluster.awaitReady(SOON, "second");
        Eventually.within(SOON, () -> log("second").contains("gpu-1 writable device"));
        assertThat(pods.container("first").number("restartCount")).contains(0L);
    }

    @Test
    @Order(6)
    void aDeviceIsFreeOnceItsPodHasEnded() throws Exception {
        kubectl.ok("delete", "pod", "first", "--timeout=60s");
        kubectl.apply(pod("third"));

        cluster.awaitReady(SOON, "third");
        Eventually.within(SOON, () -> log("third").contains("gpu-0 writable device"));
        kubectl.ok("delete", "pods", "--all", "--timeout=60s");
        Eventually.within(
                SOON,
                () -> Files.readString(sockets.resolve("kubelet_internal_checkpoint"))
                        .contains("\"PodDeviceEntries\":[]"));
    }

    @Test
    @Order(7)
    void aGuaranteedPodHasAProcessorForItself() throws Exception {
        kubectl.apply(processors("shares", "{}"));
        Eventually.within(SOON, () -> log("shares").contains("Cpus_allowed_list"));

        kubectl.apply(processors("alone", "{limits: {cpu: 1, memory: 64Mi}}"));

        Eventually.within(SOON, () -> log("alone").contains("Cpus_allowed_list"));
        CpuSet own = cpus("alone");
        assertThat(own.size()).isEqualTo(1);
        assertThat(own).isNotEqualTo(CpuSet.parse("0"));
        Eventually.within(SOON, () -> !cpus("shares").overlaps(own));
        assertThat(cpus("shares").containsAll(CpuSet.parse("0"))).isTrue();

        kubectl.ok("delete", "pod", "alone", "--timeout=60s");
        Eventually.within(SOON, () -> cpus("shares").containsAll(own));
        kubectl.ok("delete", "pods", "--all", "--timeout=60s");
    }

    /** Those that the container saw last. */
    private CpuSet cpus(String pod) throws IOException {
        String last = log(pod).lines().reduce("", (before, line) -> line);
        return CpuSet.parse(last.substring(last.lastIndexOf(':') + 1));
    }

    /** A pod that writes every half second which processors it may use. */
    private static String processors(String name, String resources) {
        return pod(name, resources, """
                trap 'exit 0' TERM
                while true; do grep Cpus_allowed_list /proc/self/status; sleep 0.5; done
                """);
    }

    private void startPlugin() throws IOException {
        plugin = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath(),
                        StubDevicePlugin.class.getName(),
                        sockets.toString(),
                        "gpu.sock",
                        RESOURCE,
                        "gpu-0",
                        "gpu-1")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("plugin.log").toFile()))
                .start();
    }

    private void tell(String line) throws IOException {
        running().getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        running().getOutputStream().flush();
    }

    /** The stub, and the distribution, which contains what the stub needs. */
    private static String classPath() {
        Path stub = Path.of(StubDevicePlugin.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath());
        return stub + ":" + Path.of(System.getProperty("nodekeeper.dist"), "lib", "*");
    }

    private void awaitDevices(String capacity, String allocatable) throws Exception {
        try {
            await("capacity", capacity);
            await("allocatable", allocatable);
        } catch (AssertionError e) {
            throw new AssertionError(
                    "expected " + capacity + " and " + allocatable + "; plugin: "
                            + Files.readString(directory.resolve("plugin.log")) + "; agent: "
                            + node.agent().log(),
                    e);
        }
    }

    private void await(String field, String value) throws Exception {
        kubectl.ok(
                "wait",
                "node/" + NODE,
                "--for=jsonpath={.status." + field + ".example\\.com/gpu}=" + value,
                "--timeout=" + SOON.toSeconds() + "s");
    }

    /** What the container has written so far; empty before it has started. */
    private String log(String pod) throws IOException {
        String uid = pods.pod(pod)
                .map(object -> object.object("metadata").text("uid"))
                .orElse("");
        Path file = cluster.logs().resolve("default_" + pod + "_" + uid).resolve("main/0.log");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    /** A pod with one device, which says whether it sees it. */
    private static String pod(String name) {
        return pod(name, "{limits: {example.com/gpu: 1}}", """
                device=/dev/$STUB_DEVICES
                echo x > $device && writable=writable
                test -c $device && kind=device
                echo "$STUB_DEVICES $writable $kind"
                trap 'exit 0' TERM
                while true; do sleep 0.2; done
                """);
    }

    private static String pod(String name, String resources, String script) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  containers:
                  - name: main
                    image: %s
                    resources: %s
                    command:
                    - /bin/sh
                    - -c
                    - |
                """.formatted(name, NODE, BusyboxImages.BUSYBOX, resources) + script.indent(6);
    }
}
