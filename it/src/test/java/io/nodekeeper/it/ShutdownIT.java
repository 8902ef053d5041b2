package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.shutdown.SystemdLogind;
import io.nodekeeper.api.Condition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** The end of a machine, as a real systemd-logind announces it to an agent with pods on a real containerd. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class ShutdownIT {
    private static final Duration SOON = Duration.ofSeconds(40);

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private ConditionLog conditions;
    private PodLog pods;
    private RealNode node;
    private SystemBus bus;

    @BeforeAll
    void start() throws Exception {
        assertThat(SystemdLogind.DROP).doesNotExist();
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        conditions = cluster.conditions();
        pods = cluster.pods();
        cluster.<AutoCloseable>opened(() -> Files.deleteIfExists(SystemdLogind.DROP));
        bus = cluster.opened(new SystemBus(directory));
        node = cluster.addNode();
        node.variable("DBUS_SYSTEM_BUS_ADDRESS", bus.address());
        cluster.startAgent("""
                shutdownGracePeriod: 30s
                shutdownGracePeriodCriticalPods: 10s
                """);
    }

    private void apply(String name, String onEnd) throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "trap '%s; exit 0' TERM; while true; do sleep 0.2; done"]
                """.formatted(name, NODE, BusyboxImages.BUSYBOX, onEnd));
    }

    private boolean isFailed(String name, String reason) {
        return pods.status(name).text("phase").equals("Failed")
                && pods.status(name).text("reason").equals(reason);
    }

    @Test
    @Order(0)
    void aSignalThatAnotherUserOfTheBusSendsIsNotBelieved() throws Exception {
        Eventually.within(
                SOON, () -> node.agent().log().contains("A shutdown of the machine waits up to 30s for pods"));

        bus.pretendShutdown();

        TimeUnit.SECONDS.sleep(3);
        assertThat(node.agent().log()).doesNotContain("Shutdown manager detected shutdown event");
        assertThat(conditions.is(NODE, Condition.READY, Condition.TRUE)).isTrue();
    }

    @Test
    @Order(1)
    @Tag("A101")
    @Tag("A102")
    void podsEndBeforeTheMachine() throws Exception {
        Eventually.within(
                SOON, () -> node.agent().log().contains("A shutdown of the machine waits up to 30s for pods"));
        assertThat(Files.readString(SystemdLogind.DROP)).contains("[Login]\nInhibitDelayMaxSec=30\n");
        apply("quick", "true");
        // Longer than the Ready below may take, and shorter than the 20 s that the node grants.
        apply("slow", "sleep 14");
        Eventually.within(SOON, () -> pods.isReady("quick") && pods.isReady("slow"));

        bus.powerOff();

        Eventually.within(
                Duration.ofSeconds(10),
                () -> conditions
                        .now(NODE, Condition.READY)
                        .filter(ready -> ready.message().equals("node is shutting down"))
                        .isPresent());
        assertThat(bus.started()).isEmpty();
        Eventually.within(SOON, () -> !bus.started().isEmpty());
        assertThat(bus.started()).containsExactly("poweroff.target");
        assertThat(node.pods().containers()).isEmpty();
        Eventually.within(SOON, () -> isFailed("quick", "Terminated") && isFailed("slow", "Terminated"));
        assertThat(pods.status("slow").text("message"))
                .isEqualTo("Pod was terminated in response to imminent node shutdown.");
        assertThat(kubectl.ok("get", "events")).contains("Shutdown manager detected shutdown event");
    }

    @Test
    @Order(2)
    @Tag("A102")
    void aPodThatComesMeanwhileIsRefusedAlsoByAnAgentThatWasRestarted() throws Exception {
        apply("late", "true");
        Eventually.within(SOON, () -> isFailed("late", "NodeShutdown"));

        node.agent().kill();
        cluster.startAgentAgain();
        Eventually.within(SOON, () -> node.agent().log().contains("The machine is shut down already"));
        apply("later", "true");

        Eventually.within(SOON, () -> isFailed("later", "NodeShutdown"));
        assertThat(pods.status("later").text("message"))
                .isEqualTo("Pod was rejected: Pod was rejected as the node is shutting down.");
        assertThat(conditions.is(NODE, Condition.READY, Condition.FALSE)).isTrue();
    }
}
