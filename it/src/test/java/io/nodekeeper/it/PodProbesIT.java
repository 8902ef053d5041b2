package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.v1.ExecSyncRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** Init containers, a sidecar, probes and hooks of a pod on a real containerd, driven with the real kubectl. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class PodProbesIT {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final Duration CALL = Duration.ofSeconds(10);

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;
    private Path shared;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        node = cluster.addNode();
        shared = Files.createDirectory(directory.resolve("shared"));
        node.containerd().connectNode();
        cluster.startAgent("");
    }

    @Test
    @Order(1)
    void aPodIsReadyOnceItsInitContainerSidecarHookAndProbesSaySo() throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: web}
                spec:
                  nodeName: %1$s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 20
                  volumes: [{name: shared, hostPath: {path: %3$s}}]
                  initContainers:
                  - name: setup
                    image: %2$s
                    command: [/bin/sh, -c, "echo hello > /shared/page; echo setup >> /shared/story"]
                    volumeMounts: [{name: shared, mountPath: /shared}]
                  - name: proxy
                    image: %2$s
                    restartPolicy: Always
                    command: [/bin/sh, -c, "trap 'echo proxy ended >> /shared/story; exit 0' TERM; echo proxy >> /shared/story; touch /tmp/up; while true; do sleep 0.2; done"]
                    startupProbe: {exec: {command: [cat, /tmp/up]}, periodSeconds: 1, failureThreshold: 30, timeoutSeconds: 10}
                    volumeMounts: [{name: shared, mountPath: /shared}]
                  containers:
                  - name: main
                    image: %2$s
                    command: [/bin/sh, -c, "echo main >> /shared/story; exec busybox httpd -f -p 8080 -h /shared"]
                    ports: [{name: http, containerPort: 8080}]
                    lifecycle:
                      postStart: {exec: {command: [touch, /tmp/alive]}}
                      preStop: {exec: {command: [/bin/sh, -c, "echo main stops >> /shared/story"]}}
                    startupProbe: {tcpSocket: {port: http}, periodSeconds: 1, failureThreshold: 30}
                    readinessProbe: {httpGet: {path: /page, port: http, httpHeaders: [{name: Host, value: shop.example}]}, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 5}
                    livenessProbe: {exec: {command: [cat, /tmp/alive]}, periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 5}
                    volumeMounts: [{name: shared, mountPath: /shared}]
                """.formatted(NODE, BusyboxImages.BUSYBOX, shared));

        cluster.awaitReady(SOON, "web");

        assertThat(Files.readAllLines(shared.resolve("story"))).containsExactly("setup", "proxy", "main");
        List<JsonObject> init =
                pods.status("web").array("initContainerStatuses").objects().toList();
        assertThat(init.get(0).object("state").object("terminated").text("reason"))
                .isEqualTo("Completed");
        assertThat(init.get(1).object("state").has("running")).isTrue();
        assertThat(init.get(1).bool("started")).isTrue();
    }

    @Test
    @Order(2)
    void theReadinessProbeDecidesWhetherThePodIsReady() throws Exception {
        Files.move(shared.resolve("page"), shared.resolve("kept"));
        Eventually.within(SOON, () -> !pods.isReady("web"));
        assertThat(kubectl.ok("get", "pod", "web")).containsPattern("Running +0 ");

        Files.move(shared.resolve("kept"), shared.resolve("page"));
        cluster.awaitReady(SOON, "web");
        Eventually.within(
                SOON,
                () -> kubectl.ok("get", "events")
                        .contains("Readiness probe failed: HTTP probe failed with statuscode: 404"));
    }

    @Test
    @Order(3)
    void anAgentThatIsRestartedRunsNothingAgainAndThePodStaysReady() throws Exception {
        String before = pods.container("web").text("containerID");

        node.agent().kill();
        cluster.startAgentAgain();
        kubectl.apply(job());

        // A pod with a sidecar completes.
        Eventually.within(SOON, () -> pods.status("job").text("phase").equals("Succeeded"));
        assertThat(pods.container("web").text("containerID")).isEqualTo(before);
        assertThat(pods.isReady("web")).isTrue();
        assertThat(Files.readAllLines(shared.resolve("story"))).containsExactly("setup", "proxy", "main");
    }

    @Test
    @Order(4)
    void aContainerWhoseLivenessProbeFailsIsStartedAgain() throws Exception {
        String id = pods.container("web").text("containerID").replaceFirst(".*://", "");
        node.pods()
                .stub(CALL)
                .execSync(ExecSyncRequest.newBuilder()
                        .setContainerId(id)
                        .addAllCmd(List.of("busybox", "rm", "/tmp/alive"))
                        .setTimeout(5)
                        .build());

        Eventually.within(
                SOON,
                () -> pods.isReady("web")
                        && pods.container("web").number("restartCount").orElse(0L) == 1);

        Eventually.within(SOON, () -> {
            String events = kubectl.ok("get", "events");
            return events.contains("Liveness probe failed: cat: can't open '/tmp/alive'")
                    && events.contains("Container main failed liveness probe, will be restarted");
        });
        assertThat(Files.readAllLines(shared.resolve("story")))
                .containsExactly("setup", "proxy", "main", "main stops", "main");
    }

    @Test
    @Order(5)
    void aDeletedPodEndsWithItsHookFirstAndItsSidecarLast() throws Exception {
        kubectl.ok("delete", "pod", "web", "job", "--timeout=60s");

        List<String> story = Files.readAllLines(shared.resolve("story"));
        assertThat(story.subList(5, story.size())).containsExactly("main stops", "proxy ended");
        assertThat(Leftovers.children(cluster.logs())).isEmpty();
    }

    private static String job() {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: job}
                spec:
                  nodeName: %1$s
                  automountServiceAccountToken: false
                  restartPolicy: Never
                  terminationGracePeriodSeconds: 2
                  initContainers:
                  - {name: helper, image: "%2$s", restartPolicy: Always, command: [sleep, "1000"]}
                  containers:
                  - {name: main, image: "%2$s", command: [/bin/sh, -c, "exit 0"]}
                """.formatted(NODE, BusyboxImages.BUSYBOX);
    }
}
