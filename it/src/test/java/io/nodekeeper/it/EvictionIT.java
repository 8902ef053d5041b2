package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Pods that are evicted for real memory, process ids and disk, on a real containerd. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("Others would use what is short.")
@Tag("long")
class EvictionIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final long MI = 1 << 20;
    /** What a pod uses, and how far the threshold is from what is free. */
    private static final long USED_MI = 1_500;

    private static final long APART_MI = 750;
    private static final long PROCESSES = 3_000;

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private ConditionLog conditions;
    private PodLog pods;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        conditions = cluster.conditions();
        pods = cluster.pods();
        node = cluster.addNode();
    }

    @AfterEach
    void endAgent() throws Exception {
        kubectl.ok("delete", "pods", "--all", "--timeout=60s");
        node.agent().kill();
    }

    private void startAgent(String evictionHard) throws Exception {
        cluster.startAgent("""
                evictionHard: {%s}
                evictionPressureTransitionPeriod: 5s
                """.formatted(evictionHard));
    }

    private void apply(String name, String command, String volume) throws Exception {
        kubectl.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  volumes: [{name: space, emptyDir: {%s}}]
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "%s"]
                    volumeMounts: [{name: space, mountPath: /space}]
                """.formatted(name, NODE, volume, BusyboxImages.BUSYBOX, command));
    }

    private boolean isEvicted(String name) {
        return pods.status(name).text("phase").equals("Failed")
                && pods.status(name).text("reason").equals("Evicted");
    }

    /** The memory that the agent finds available, in bytes. */
    private Optional<Long> free() {
        return node.page()
                .get("/stats/summary")
                .flatMap(text ->
                        Json.parseObject(text).object("node").object("memory").number("availableBytes"));
    }

    @Test
    void thePodThatUsesMostMemoryIsEvictedAndTheOthersRunOn() throws Exception {
        startAgent("memory.available: 100Mi");
        Eventually.within(SOON, () -> free().isPresent());
        long free = free().orElseThrow();
        node.agent().kill();
        long begin = System.nanoTime();
        startAgent("memory.available: \"" + (free / MI - APART_MI) + "Mi\"");
        apply("small", "exec sleep 100000", "");
        cluster.awaitReady(SOON, "small");

        apply(
                "large",
                "dd if=/dev/zero of=/space/file bs=1M count=" + USED_MI + "; exec sleep 100000",
                "medium: Memory");

        Eventually.within(SOON, () -> isEvicted("large"));
        assertThat(pods.status("large").text("message"))
                .matches("The node was low on resource: memory\\. Threshold quantity: \\d+Mi, available: \\d+\\w*\\. "
                        + "Container main was using \\d+\\w*, request is 0, has larger consumption of memory\\. ");
        assertThat(pods.isReady("small")).isTrue();
        Eventually.within(SOON, () -> conditions.is(NODE, Condition.MEMORY_PRESSURE, Condition.FALSE));
        assertThat(conditions.since(begin, NODE, Condition.MEMORY_PRESSURE))
                .anyMatch(entry -> entry.says(Condition.TRUE));
        Eventually.within(SOON, () -> kubectl.ok("get", "events").contains("Attempting to reclaim memory"));
        assertThat(pods.isReady("small")).isTrue();
    }

    @Test
    void thePodWithMostProcessesIsEvictedWhenTheyRunOut() throws Exception {
        long most = Math.min(
                Long.parseLong(Command.ok("cat", "/proc/sys/kernel/pid_max").strip()),
                Long.parseLong(Command.ok("cat", "/proc/sys/kernel/threads-max").strip()));
        long used = Long.parseLong(Command.ok("cat", "/proc/loadavg").split("[ /]")[4]);
        startAgent("pid.available: \"" + (most - used - PROCESSES / 2) + "\"");
        apply("small", "exec sleep 100000", "");
        cluster.awaitReady(SOON, "small");

        apply("many", "i=0; while [ $i -lt " + PROCESSES + " ]; do sleep 100000 & i=$((i+1)); done; wait", "");

        Eventually.within(SOON, () -> isEvicted("many"));
        assertThat(pods.status("many").text("message"))
                .startsWith("The node was low on resource: pids. Threshold quantity: ");
        assertThat(pods.isReady("small")).isTrue();
    }

    @Test
    void aPodThatFillsItsVolumeBeyondTheLimitIsEvicted() throws Exception {
        startAgent("memory.available: 100Mi");
        apply("within", "dd if=/dev/zero of=/space/file bs=1M count=2; exec sleep 100000", "sizeLimit: 5Mi");
        // A file with a hole occupies nothing.
        apply("hole", "dd if=/dev/zero of=/space/file bs=1M count=1 seek=1000; exec sleep 100000", "sizeLimit: 5Mi");

        apply("beyond", "dd if=/dev/zero of=/space/file bs=1M count=20; exec sleep 100000", "sizeLimit: 5Mi");

        Eventually.within(SOON, () -> isEvicted("beyond"));
        assertThat(pods.status("beyond").text("message"))
                .isEqualTo("Usage of EmptyDir volume \"space\" exceeds the limit \"5Mi\". ");
        assertThat(pods.isReady("within")).isTrue();
        assertThat(pods.isReady("hole")).isTrue();
    }
}
