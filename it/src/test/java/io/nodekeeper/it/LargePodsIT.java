package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.config.Kubeconfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** An agent with its own small heap, and pods that are as large as the API allows, made of the smallest values. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class LargePodsIT {
    private static final int PODS = 16;
    /** Each variable is seven objects in memory. */
    private static final String VARIABLES =
            "{\"name\":\"a\",\"value\":\"b\"},".repeat(55_000) + "{\"name\":\"a\",\"value\":\"b\"}";

    private static final Duration SOON = Duration.ofSeconds(90);

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        node = cluster.addNode();
        node.startsByScript();
        cluster.startAgent("nodeLeaseDurationSeconds: 8\n");
    }

    @Test
    void agentRefusesThemAndGoesOnWithItsNodeAndOtherPods() throws Exception {
        HttpTransport transport = new HttpTransport(Kubeconfig.load(cluster.kubeconfig()));
        try {
            for (int i = 0; i < PODS; i++) {
                String pod = "{\"metadata\":{\"name\":\"large-" + i + "\"},\"spec\":{\"nodeName\":\"" + NODE
                        + "\",\"automountServiceAccountToken\":false,\"terminationGracePeriodSeconds\":0,\"containers\":[{\"name\":\"c\",\"image\":\""
                        + BusyboxImages.BUSYBOX + "\",\"env\":[" + VARIABLES + "]}]}}";
                int status = Fleet.await(transport.send(new Call(
                                "POST",
                                ResourceType.PODS.path("default"),
                                "application/json",
                                pod.getBytes(StandardCharsets.UTF_8))))
                        .status();
                assertThat(status).isEqualTo(201);
            }
        } finally {
            transport.close();
        }

        Eventually.within(SOON, () -> refused() > PODS / 2);
        runs("beside");
        assertThat(ProcessHandle.of(node.agent().pid())).isPresent();

        // and an agent that starts meets all of them at once
        node.agent().kill();
        cluster.startAgentAgain();
        runs("later");
        assertThat(cluster.conditions().is(NODE, Condition.READY, "True")).isTrue();
        assertThat(ProcessHandle.of(node.agent().pid())).isPresent();
    }

    private long refused() {
        return IntStream.range(0, PODS)
                .filter(i -> cluster.pods().status("large-" + i).text("reason").equals("OutOfAgentMemory"))
                .count();
    }

    private void runs(String name) throws Exception {
        cluster.kubectl().apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 0
                  containers:
                  - {name: c, image: "%s", command: [sleep, "1000"]}
                """.formatted(name, NODE, BusyboxImages.BUSYBOX));
        cluster.awaitReady(SOON, name);
    }
}
