package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.CriRelay;
import io.nodekeeper.cri.v1.Image;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** An agent on a real containerd with thirty real pods, looked at with the real kubectl. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Isolated("It measures.")
@Tag("long")
class RuntimeIT {
    private static final int PODS = 30;
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String NODE = "thirty";

    @TempDir
    static Path directory;

    private Running server;
    private Path kubeconfig;
    private Kubectl kubectl;
    private ConditionLog conditions;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        Path data = directory.resolve("data");
        server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"));
        server.awaitReady();
        kubeconfig = data.resolve("admin.kubeconfig");
        kubectl = new Kubectl(directory, kubeconfig);
        conditions = new ConditionLog(kubeconfig);
        node = new RealNode(Files.createDirectory(directory.resolve(NODE)), NODE, kubeconfig, false, PODS);
        node.startAgent();
        node.awaitReady(conditions);
    }

    @AfterAll
    void stop() throws Exception {
        node.close();
        conditions.close();
        server.close();
    }

    @Test
    @Order(1)
    void describeShowsTheTrueRuntimeVersion() throws Exception {
        // "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+b1"; a kubelet shows no distribution's
        // suffix.
        String version = "containerd://"
                + Command.ok("containerd", "--version").strip().split(" ")[2].split("~")[0];

        JsonObject info = Json.parseObject(kubectl.ok("get", "node", NODE, "-o", "json"))
                .object("status")
                .object("nodeInfo");

        assertThat(info.text("containerRuntimeVersion")).isEqualTo(version);
        assertThat(kubectl.ok("describe", "node", NODE)).contains("Container Runtime Version:  " + version);
    }

    @Test
    @Order(2)
    void theImagesAreThoseOfTheRuntimeWithTheirSizes() throws Exception {
        Map<String, Long> expected = new TreeMap<>();
        for (Image image : node.pods().images()) {
            expected.put(image.getRepoTags(0), image.getSize());
        }
        assertThat(expected).containsOnlyKeys(BusyboxImages.BUSYBOX, BusyboxImages.PAUSE);
        assertThat(expected.values()).allMatch(size -> size > 0);

        Eventually.within(Duration.ofSeconds(45), () -> images().equals(expected));
    }

    private Map<String, Long> images() throws Exception {
        Map<String, Long> images = new TreeMap<>();
        Json.parseObject(kubectl.ok("get", "node", NODE, "-o", "json"))
                .object("status")
                .array("images")
                .objects()
                .forEach(image -> image.array("names")
                        .strings()
                        .filter(name -> name.endsWith(":1"))
                        .forEach(name ->
                                images.put(name, image.number("sizeBytes").orElse(-1L))));
        return images;
    }

    @Test
    @Order(3)
    void itKnowsEveryPodAndNoKnowledgeIsOld() throws Exception {
        Set<String> names = node.running().stream().map(Pods.RealPod::name).collect(Collectors.toSet());

        Eventually.within(SOON, () -> {
            Map<String, AgentPage.PodKnowledge> known = node.page().pods();
            return known.keySet().equals(names)
                    && known.values().stream().allMatch(pod -> !pod.stuck() && pod.ageSeconds() <= FaultRow.FRESH);
        });
    }

    @Test
    @Order(4)
    void metricsFollowPodsThatStopAndStart() throws Exception {
        assertThat(node.page().metric("kubelet_running_pods")).hasValue(PODS);

        node.pods().stop(node.running().getLast()).get(30, TimeUnit.SECONDS);
        Eventually.within(SOON, () -> node.page().metric("kubelet_running_pods").orElse(-1) == PODS - 1);

        node.pods().run("another");
        Eventually.within(SOON, () -> node.page().metric("kubelet_running_pods").orElse(-1) == PODS);
        Eventually.within(
                SOON,
                () -> node.page()
                                .metric("kubelet_running_containers{container_state=\"running\"}")
                                .orElse(-1)
                        == PODS);
    }

    @Test
    @Order(5)
    void aRuntimeThatIsKilledAndStartedAgainHurtsNobody() throws Exception {
        long killed = System.nanoTime();
        node.containerd().kill();
        node.containerd().start();
        node.pods().run("after-the-kill");

        Eventually.within(SOON, () -> node.page().pods().containsKey("after-the-kill"));
        Eventually.within(
                SOON, () -> node.page().pods().values().stream().allMatch(pod -> pod.ageSeconds() <= FaultRow.FRESH));
        // The status is looked at each 10 s.
        Thread.sleep(12_000);
        assertThat(conditions.since(killed, NODE, Condition.READY)).allMatch(entry -> entry.says(Condition.TRUE));
        assertThat(conditions.is(NODE, Condition.READY, Condition.TRUE)).isTrue();
        assertThat(conditions.is(NODE, "RuntimeDegraded", Condition.TRUE)).isFalse();
    }

    @Test
    @Order(6)
    void anAgentThatComesBeforeItsRuntimeIsReadySoonAfterIt() throws Exception {
        String name = "early";
        Path own = Files.createDirectory(directory.resolve(name));
        int port = AgentPage.freePort();
        try (Containerd containerd = Containerd.make(own.resolve("containerd"), false);
                Running agent = Running.startSmall(
                        own,
                        "agent",
                        List.of(
                                "agent",
                                "--kubeconfig",
                                kubeconfig.toString(),
                                "--node-name",
                                name,
                                "--root-dir",
                                own.toString(),
                                "--healthz-port=" + port,
                                "--container-runtime-endpoint=" + containerd.endpoint()))) {
            Eventually.within(
                    SOON,
                    () -> conditions.is(name, Condition.READY, Condition.FALSE)
                            && conditions.now(name, Condition.READY).isPresent());
            assertThat(conditions.now(name, Condition.READY).orElseThrow().message())
                    .contains("container runtime status check may not have completed yet");

            containerd.start();
            containerd.importImages();

            Eventually.within(SOON, () -> conditions.is(name, Condition.READY, Condition.TRUE));
        }
    }

    @Test
    @Order(7)
    @Tag("A88")
    void anAgentThatStartsWhileAContainerHangsIsReadyWithinTenSeconds() throws Exception {
        // Given an agent that asks through a relay, and a container about which nothing is answered.
        node.agent().kill();
        node.relayed();
        node.relay().fault("*:" + node.victim().container(), new CriRelay.Fault.Hang());

        // When it is started again; what the API still says is the old agent's.
        long begin = System.nanoTime();
        node.startAgent();
        // How long a process takes to begin on a busy machine says nothing.
        Eventually.within(SOON, () -> node.page().runtime().isPresent());

        // Then it says Ready, and knows all other pods.
        Eventually.within(
                Duration.ofSeconds(10),
                () -> conditions.nowSince(begin, NODE, Condition.READY).isPresent() && knowsTheOthers());
        assertThat(conditions.since(begin, NODE, Condition.READY)).allMatch(entry -> entry.says(Condition.TRUE));
        node.relay().heal("*:" + node.victim().container());
    }

    private boolean knowsTheOthers() {
        Map<String, AgentPage.PodKnowledge> known = node.page().pods();
        return node.running().subList(1, PODS - 1).stream()
                .map(pod -> known.get(pod.name()))
                .allMatch(pod -> pod != null && pod.ageSeconds() <= FaultRow.FRESH);
    }
}
