package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.shutdown.SystemdLogind;
import io.nodekeeper.api.Condition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

/** The end of a machine, as a real systemd-logind announces it to an agent with pods on a real containerd. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class ShutdownIT {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final String NODE = "runner";

    @TempDir
    static Path directory;

    private SystemBus bus;
    private Running server;
    private Kubectl kubectl;
    private ConditionLog conditions;
    private PodLog pods;
    private RealNode node;
    private String[] flags;

    @BeforeAll
    void start() throws Exception {
        assertThat(SystemdLogind.DROP).doesNotExist();
        bus = new SystemBus(directory);
        Path data = directory.resolve("data");
        server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"));
        server.awaitReady();
        Path kubeconfig = data.resolve("admin.kubeconfig");
        kubectl = new Kubectl(directory, kubeconfig);
        conditions = new ConditionLog(kubeconfig);
        pods = new PodLog(kubeconfig);
        node = new RealNode(Files.createDirectory(directory.resolve(NODE)), NODE, kubeconfig, false, 0);
        node.variable("DBUS_SYSTEM_BUS_ADDRESS", bus.address());
        Path config = Files.writeString(directory.resolve("kubelet.yaml"), """
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                podLogsDir: %s
                shutdownGracePeriod: 30s
                shutdownGracePeriodCriticalPods: 10s
                featureGates:
                  PodLifecycle: true
                """.formatted(directory.resolve("logs")));
        flags = new String[] {"--config", config.toString()};
        node.startAgent(flags);
        node.awaitReady(conditions);
    }

    @AfterAll
    void stop() throws Exception {
        node.close();
        pods.close();
        conditions.close();
        server.close();
        bus.close();
        Files.deleteIfExists(SystemdLogind.DROP);
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
        apply("slow", "sleep 4");
        Eventually.within(SOON, () -> pods.isReady("quick") && pods.isReady("slow"));

        bus.powerOff();

        Eventually.within(
                Duration.ofSeconds(3),
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
        node.startAgent(flags);
        Eventually.within(SOON, () -> node.agent().log().contains("The machine is shut down already"));
        apply("later", "true");

        Eventually.within(SOON, () -> isFailed("later", "NodeShutdown"));
        assertThat(pods.status("later").text("message"))
                .isEqualTo("Pod was rejected: Pod was rejected as the node is shutting down.");
        assertThat(conditions.is(NODE, Condition.READY, Condition.FALSE)).isTrue();
    }
}
