package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.v1.ContainerStatus;
import io.nodekeeper.cri.v1.ContainerStatusRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** An agent that runs pods on a real containerd, driven with the real kubectl. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Isolated("It measures.")
@Tag("long")
class PodLifecycleIT {
    private static final int PODS = 20;
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration CALL = Duration.ofSeconds(10);
    private static final String SLEEP = "[\"/bin/sh\", \"-c\", \"trap 'exit 0' TERM; while true; do sleep 0.2; done\"]";

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        node = cluster.addNode();
        cluster.startAgent("");
    }

    @Test
    @Order(1)
    void twentyPodsThatAreAppliedBecomeReady() throws Exception {
        List<String> names = IntStream.range(0, PODS).mapToObj(i -> "web-" + i).toList();

        kubectl.apply(names.stream().map(name -> pod(name, SLEEP, "")).toArray(String[]::new));

        Eventually.within(SOON, () -> names.stream().allMatch(pods::isReady));
        List<Long> times = names.stream()
                .map(name -> pods.toReady(name).toMillis())
                .sorted()
                .toList();
        System.out.println("bind to Ready of " + PODS + " pods: p50 " + times.get(PODS / 2) + " ms, p99 "
                + times.getLast() + " ms");
        JsonObject status = pods.status("web-0");
        assertThat(status.text("phase")).isEqualTo("Running");
        assertThat(status.text("podIP")).startsWith("10.88.");
        assertThat(status.text("hostIP")).isNotEmpty();
        assertThat(status.text("qosClass")).isEqualTo("BestEffort");
        assertThat(pods.container("web-0").text("containerID")).startsWith("containerd://");
        assertThat(kubectl.ok("get", "pod", "web-0")).containsPattern("web-0 +1/1 +Running +0 ");
        Eventually.within(SOON, () -> kubectl.ok("get", "events").contains("Started container main"));
    }

    @Test
    @Order(2)
    void anAgentThatIsKilledFindsItsContainersAgainAndStartsNone() throws Exception {
        Map<String, String> before = containers();
        assertThat(before).hasSize(PODS);

        node.agent().kill();
        cluster.startAgentAgain();
        kubectl.apply(pod("after-the-kill", SLEEP, ""));

        cluster.awaitReady(SOON, "after-the-kill");
        Map<String, String> after = containers();
        after.remove("after-the-kill");
        assertThat(after).isEqualTo(before);
        assertThat(pods.container("web-0").number("restartCount")).contains(0L);
    }

    @Test
    @Order(3)
    void aShimThatHangsDelaysNoOtherPod() throws Exception {
        long shim = node.containerd().shim(sandbox("web-1"));
        Command.signal(shim, "STOP");
        try {
            kubectl.ok("delete", "pod", "web-1", "--wait=false");
            Eventually.within(
                    SOON,
                    () -> pods.pod("web-1")
                            .filter(pod -> pod.object("metadata").has("deletionTimestamp"))
                            .isPresent());
            kubectl.apply(pod("beside", SLEEP, ""));

            // The shim is stopped for as long as this takes.
            cluster.awaitReady(SOON, "beside");
            assertThat(pods.pod("web-1")).isPresent();
        } finally {
            Command.signal(shim, "CONT");
        }
        Eventually.within(Duration.ofSeconds(60), () -> pods.pod("web-1").isEmpty());
    }

    @Test
    @Order(4)
    void deletedPodsLeaveNothing() throws Exception {
        kubectl.ok("delete", "pods", "--all", "--wait=false");

        Eventually.within(
                Duration.ofSeconds(60),
                () -> kubectl.ok("get", "pods", "-o", "name").isEmpty());
        assertThat(containers()).isEmpty();
        assertThat(node.pods().sandboxes()).isEmpty();
        assertThat(Leftovers.children(cluster.logs())).isEmpty();
        assertThat(Leftovers.children(node.directory().resolve("agent/pods"))).isEmpty();
    }

    @Test
    @Order(5)
    void aContainerThatCrashesIsBackedOffAndCounted() throws Exception {
        kubectl.apply(pod("crash", "[\"/bin/sh\", \"-c\", \"exit 3\"]", ""));

        Eventually.within(SOON, () -> pods.waited("crash").contains("CrashLoopBackOff"));
        JsonObject container = pods.container("crash");
        assertThat(container.number("restartCount").orElse(0L)).isPositive();
        assertThat(container.object("lastState").object("terminated").number("exitCode"))
                .contains(3L);
        assertThat(pods.status("crash").text("phase")).isEqualTo("Running");
    }

    @Test
    @Order(6)
    void anImageThatCannotBePulledIsNamed() throws Exception {
        kubectl.apply(pod("typo", SLEEP, "").replace(BusyboxImages.BUSYBOX, "localhost:1/nothing:1"));

        Eventually.within(SOON, () -> pods.waited("typo").containsAll(List.of("ErrImagePull", "ImagePullBackOff")));
        assertThat(pods.container("typo").object("state").object("waiting").text("message"))
                .contains("localhost:1/nothing:1");
    }

    @Test
    @Order(7)
    void theEnvironmentComesFromConfigMapsAndFields() throws Exception {
        kubectl.ok("create", "configmap", "settings", "--from-literal=COLOUR=green");
        kubectl.apply(pod("env", "[\"/bin/sh\", \"-c\", \"echo $COLOUR $NAME $IP > /out/env; exec sleep 1000\"]", """
                    env:
                    - {name: COLOUR, valueFrom: {configMapKeyRef: {name: settings, key: COLOUR}}}
                    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
                    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
                    volumeMounts:
                    - {name: out, mountPath: /out}
                """)
                .replace("  containers:", "  volumes:\n  - {name: out, emptyDir: {}}\n  containers:"));

        cluster.awaitReady(SOON, "env");
        JsonObject pod = pods.pod("env").orElseThrow();
        Path out = node.directory()
                .resolve("agent/pods/" + pod.object("metadata").text("uid")
                        + "/volumes/kubernetes.io~empty-dir/out/env");
        Eventually.within(
                SOON, () -> Files.exists(out) && !Files.readString(out).isEmpty());
        assertThat(Files.readString(out))
                .isEqualTo("green env " + pod.object("status").text("podIP") + "\n");
    }

    @Test
    @Order(8)
    void aPodThatNeedsMoreThanTheAgentDoesIsRefusedByTheFieldsName() throws Exception {
        kubectl.apply(pod("refused", SLEEP, "").replace("  containers:", "  hostUsers: false\n  containers:"));

        Eventually.within(SOON, () -> pods.waited("refused").contains("UnsupportedField"));
        assertThat(pods.container("refused").object("state").object("waiting").text("message"))
                .isEqualTo("spec.hostUsers is not supported by this node's agent");
        assertThat(containers()).doesNotContainKey("refused");
        kubectl.ok("delete", "pod", "refused", "typo", "crash", "env", "--timeout=60s");
        assertThat(node.pods().sandboxes()).isEmpty();
    }

    @Test
    @Order(9)
    void aPodThatEndsIsSucceeded() throws Exception {
        kubectl.apply(pod("job", "[\"/bin/sh\", \"-c\", \"exit 0\"]", "")
                .replace("  containers:", "  restartPolicy: Never\n  containers:"));

        Eventually.within(SOON, () -> pods.status("job").text("phase").equals("Succeeded"));
        assertThat(pods.container("job").object("state").object("terminated").text("reason"))
                .isEqualTo("Completed");
        TimeUnit.SECONDS.sleep(2);
        assertThat(pods.container("job").number("restartCount")).contains(0L);
    }

    private static String pod(String name, String command, String more) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  # The time to Ready is that of pods without volumes; PodVolumesIT has those with a token.
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  containers:
                  - name: main
                    image: %s
                    command: %s
                """.formatted(name, NODE, BusyboxImages.BUSYBOX, command) + more;
    }

    /** The id and start time of each container, by its pod. */
    private Map<String, String> containers() {
        Map<String, String> found = new TreeMap<>();
        node.pods().containers().forEach(container -> {
            ContainerStatus status = node.pods()
                    .stub(CALL)
                    .containerStatus(ContainerStatusRequest.newBuilder()
                            .setContainerId(container.getId())
                            .build())
                    .getStatus();
            String name = container.getLabelsOrThrow("io.kubernetes.pod.name");
            found.merge(name, container.getId() + " " + status.getStartedAt(), (a, b) -> a + ", " + b);
        });
        return found;
    }

    private String sandbox(String pod) {
        return node.pods().sandboxes().stream()
                .filter(sandbox -> sandbox.getMetadata().getName().equals(pod))
                .findFirst()
                .orElseThrow()
                .getId();
    }
}
