package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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

/** An agent on a real dockerd with pods as dockershim made them: the incidents I-4 and I-5 where they happened. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Isolated("It measures.")
@Tag("long")
class DockerIT {
    private static final int PODS = 5;
    private static final Duration SOON = Duration.ofSeconds(10);
    /** A culprit is named within 20 s of the fault; a busy machine may take twice as long. */
    private static final Duration NAMED = Duration.ofSeconds(40);
    /** A pod that cannot be inspected for that long stays so: enough for several attempts, and for the diagnosis. */
    private static final Duration WHILE = Duration.ofSeconds(10);
    /** Lists come each 1.5 s, and later on a busy machine; what is known of a pod that waits for another gets as old as {@link #WHILE}. */
    private static final double FRESH_ON_A_BUSY_MACHINE = 5;
    /** After 30 s without a status the runtime counts as down; the agent reports each 2 s here. */
    private static final Duration DOWN = Duration.ofSeconds(40);

    private static final String NODE = "docker";

    @TempDir
    static Path directory;

    private Running server;
    private Path kubeconfig;
    private ConditionLog conditions;
    private Dockerd docker;
    private List<Dockerd.DockerPod> pods;
    private Running agent;
    private AgentPage page;

    @BeforeAll
    void start() throws Exception {
        Path data = directory.resolve("data");
        server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"));
        docker = Dockerd.start(directory.resolve("d"));
        pods = docker.pods(PODS);
        server.awaitReady();
        kubeconfig = data.resolve("admin.kubeconfig");
        conditions = new ConditionLog(kubeconfig);
        startAgent();
    }

    @AfterAll
    void stop() throws Exception {
        agent.close();
        docker.close();
        conditions.close();
        server.close();
    }

    private void startAgent() throws Exception {
        int port = AgentPage.freePort();
        agent = Running.startSmall(
                directory,
                "agent",
                List.of(
                        "agent",
                        "--kubeconfig",
                        kubeconfig.toString(),
                        "--node-name",
                        NODE,
                        "--root-dir",
                        Files.createDirectories(directory.resolve("agent")).toString(),
                        "--healthz-port=" + port,
                        "--node-status-update-frequency=2s",
                        "--container-runtime-endpoint=" + docker.endpoint()));
        page = new AgentPage(port);
    }

    private void within(Duration limit, Eventually.Condition condition) throws Exception {
        try {
            Eventually.within(limit, condition);
        } catch (AssertionError e) {
            throw new AssertionError(
                    e.getMessage() + "; Ready: " + conditions.now(NODE, Condition.READY) + ", RuntimeDegraded: "
                            + conditions.now(NODE, "RuntimeDegraded") + ", page: " + page.runtime() + ", log: "
                            + agent.log(),
                    e);
        }
    }

    private boolean isFresh(List<Dockerd.DockerPod> some) {
        return isKnown(some, FaultRow.FRESH);
    }

    private boolean isKnown(List<Dockerd.DockerPod> some, double ageSeconds) {
        Map<String, AgentPage.PodKnowledge> known = page.pods();
        return some.stream()
                .map(pod -> known.get(pod.name()))
                .allMatch(pod -> pod != null && !pod.stuck() && pod.ageSeconds() <= ageSeconds);
    }

    private boolean isReady() {
        return conditions.is(NODE, Condition.READY, Condition.TRUE);
    }

    private boolean isDegraded(String... words) {
        return conditions
                .now(NODE, "RuntimeDegraded")
                .filter(now -> now.status().equals(Condition.TRUE))
                .filter(now -> List.of(words).stream().allMatch((now.reason() + " " + now.message())::contains))
                .isPresent();
    }

    /** Waits until the agent's process has begun: how long Java takes for that on a busy machine says nothing. */
    private void awaitPage() throws Exception {
        within(
                Duration.ofSeconds(30),
                () -> page.get("/healthz").isPresent() || page.runtime().isPresent());
    }

    /** Waits until the daemon does not answer an inspection of the pod's container. */
    private void awaitHang(Dockerd.DockerPod pod) throws Exception {
        within(
                SOON,
                () -> docker.run(Duration.ofSeconds(1), "inspect", pod.container())
                                .code()
                        == -1);
    }

    private void awaitHealth() throws Exception {
        within(
                Duration.ofSeconds(30),
                () -> isReady() && isFresh(pods) && conditions.is(NODE, "RuntimeDegraded", Condition.FALSE));
    }

    private List<Dockerd.DockerPod> others() {
        return pods.subList(1, PODS);
    }

    @Test
    @Order(1)
    void aHealthyNodeIsReadyWithTheVersionOfDockerAndAccusesNobody() throws Exception {
        awaitHealth();

        Kubectl kubectl = new Kubectl(directory, kubeconfig);
        JsonObject status =
                Json.parseObject(kubectl.ok("get", "node", NODE, "-o", "json")).object("status");
        String version = docker.docker("version", "--format", "{{.Server.Version}}");
        assertThat(status.object("nodeInfo").text("containerRuntimeVersion")).isEqualTo("docker://" + version);
        assertThat(agent.log()).contains("is used over the API of Docker Engine");
        assertThat(page.pods()).hasSize(PODS);
        assertThat(page.metric("kubelet_running_pods")).hasValue(PODS);
        assertThat(page.metric("kubelet_running_containers{container_state=\"running\"}"))
                .hasValue(PODS);
        assertThat(conditions.since(0, NODE, "RuntimeDegraded")).noneMatch(entry -> entry.says(Condition.TRUE));

        // An event of Docker shows a new pod.
        docker.pod("late");
        within(SOON, () -> page.pods().containsKey("late"));
    }

    @Test
    @Order(2)
    @Tag("A88")
    @Tag("I-4")
    void oneInspectionThatHangsIsNamedAndARestartedAgentIsReady() throws Exception {
        // Given a container whose shim is stopped, so that the daemon holds its lock.
        Dockerd.DockerPod victim = pods.getFirst();
        long shim = docker.containerd().shim(victim.container());
        long begin = System.nanoTime();
        Command.signal(shim, "STOP");
        Process kill = docker.begin("kill", victim.container());
        awaitHang(victim);

        // Then the culprit is named, the node is Ready, and all others are fresh.
        within(NAMED, () -> isDegraded("ShimStopped", "default/" + victim.name(), "pid " + shim) && isFresh(others()));

        // When the agent is killed and started again.
        agent.kill();
        long killed = System.nanoTime();
        startAgent();
        awaitPage();

        // Then it reports Ready, knows all others, names the culprit, and never says that the runtime is down.
        within(SOON, () -> conditions.nowSince(killed, NODE, Condition.READY).isPresent());
        within(NAMED, () -> isDegraded("ShimStopped", "default/" + victim.name(), "pid " + shim) && isFresh(others()));
        assertThat(conditions.since(begin, NODE, Condition.READY)).allMatch(entry -> entry.says(Condition.TRUE));

        // When the shim continues, the kill ends and nothing is accused any more.
        Command.signal(shim, "CONT");
        assertThat(kill.waitFor(20, TimeUnit.SECONDS)).isTrue();
        awaitHealth();
    }

    @Test
    @Order(3)
    @Tag("I-5")
    void aPluginThatHoldsThePodsLockDelaysNoOtherPod() throws Exception {
        // Given a network plugin that hangs while the daemon starts a container, whose lock it holds meanwhile.
        Dockerd.DockerPod victim = pods.getFirst();
        Path hang = Files.createFile(directory.resolve("hang"));
        Path plugin = Files.writeString(directory.resolve("calico"), "while [ -e " + hang + " ]; do sleep 0.2; done\n");
        docker.containerd()
                .runc()
                .hook(
                        "create",
                        victim.container(),
                        "CNI_COMMAND=ADD CNI_IFNAME=eth0 CNI_NETNS=/none CNI_PATH=/none CNI_CONTAINERID="
                                + victim.sandbox()
                                + " CNI_ARGS='K8S_POD_NAMESPACE=default;K8S_POD_NAME=" + victim.name() + ";K8S_POD_UID="
                                + victim.uid() + "' sh " + plugin);
        long begin = System.nanoTime();
        Process start = docker.begin("start", victim.container());

        // When an agent starts that has to inspect each pod.
        awaitHang(victim);
        agent.kill();
        startAgent();
        awaitPage();

        // Then the plugin is named, and for the whole time all others are fresh and the node is Ready.
        List<String> late = new ArrayList<>();
        within(NAMED, () -> isFresh(others()) && isDegraded("default/" + victim.name(), "calico"));
        long end = System.nanoTime() + WHILE.toNanos();
        boolean overslept = false;
        while (System.nanoTime() < end) {
            if (!overslept && !isKnown(others(), FRESH_ON_A_BUSY_MACHINE)) {
                late.add(page.pods().toString());
            }
            overslept = FaultCase.oversleeps(Duration.ofMillis(500));
        }
        assertThat(late).isEmpty();
        assertThat(start.isAlive()).isTrue();
        assertThat(page.metric("nodekeeper_agent_stuck_pods")).hasValue(1);
        assertThat(conditions.since(begin, NODE, Condition.READY)).allMatch(entry -> entry.says(Condition.TRUE));

        // When the plugin ends, the container starts.
        docker.containerd().runc().unhook("create");
        Files.delete(hang);
        assertThat(start.waitFor(20, TimeUnit.SECONDS)).isTrue();
        awaitHealth();
    }

    @Test
    @Order(4)
    void aDaemonThatHangsIsNamedAndItsNodeIsNotReadyUntilItContinues() throws Exception {
        docker.signal("STOP");

        within(NAMED, () -> isDegraded("RuntimeFrozen", "dockerd (pid " + docker.pid()));
        within(
                DOWN,
                () -> conditions
                        .now(NODE, Condition.READY)
                        .filter(now -> now.status().equals(Condition.FALSE))
                        .filter(now -> now.message().contains("container runtime is down"))
                        .isPresent());

        docker.signal("CONT");
        awaitHealth();
    }

    @Test
    @Order(5)
    void aDaemonThatIsKilledAndStartedAgainHurtsNobody() throws Exception {
        long killed = System.nanoTime();

        docker.restart();
        pods.add(docker.pod("after-the-kill"));

        awaitHealth();
        assertThat(conditions.since(killed, NODE, Condition.READY)).allMatch(entry -> entry.says(Condition.TRUE));
    }
}
