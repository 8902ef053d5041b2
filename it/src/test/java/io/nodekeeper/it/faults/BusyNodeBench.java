package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.it.ConditionLog;
import io.nodekeeper.it.Eventually;
import io.nodekeeper.it.LoopDisk;
import io.nodekeeper.it.Pods;
import io.nodekeeper.it.RealNode;
import io.nodekeeper.it.Running;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A node that is busy but healthy: the agent accuses nothing, and its condition is never True, though it may say that the
 * load makes calls late. {@code -Dbusy.seconds=N} is the time of each way to be busy.
 */
@Isolated("It measures.")
@Tag("long")
class BusyNodeBench {
    private static final Duration BUSY = Duration.ofSeconds(Integer.getInteger("busy.seconds", 20));
    /** A busy node is slow, but it gets on. */
    private static final Duration ENDED = Duration.ofMinutes(2);

    private static final int PODS = 3;
    private static final int EXECS = 200;
    /** Pods that start and end at the same time, which is about as many a second as two cores can do. */
    private static final int CHURN = 5;
    /** Processor time of containerd in each 100 ms: 2 % of one core. */
    private static final Duration LITTLE = Duration.ofMillis(2);

    @TempDir
    Path directory;

    private Running server;
    private ConditionLog conditions;
    private RealNode node;
    private LoopDisk volume;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger done = new AtomicInteger();
    private final ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor();

    @BeforeEach
    void startNode() throws Exception {
        Path data = directory.resolve("data");
        server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"));
        server.awaitReady();
        Path kubeconfig = data.resolve("admin.kubeconfig");
        conditions = new ConditionLog(kubeconfig);
        node = new RealNode(directory, "busy", kubeconfig, true, PODS);
        volume = node.opened(LoopDisk.mount(directory.resolve("volume.img"), directory.resolve("volume")));
        node.startAgent();
        node.awaitReady(conditions);
    }

    @AfterEach
    void stopNode() throws Exception {
        stop.set(true);
        node.close();
        pool.shutdownNow();
        conditions.close();
        server.close();
    }

    @Test
    void twoHundredCommandsAtOnceAreNoFault() throws Exception {
        for (int i = 0; i < EXECS; i++) {
            Pods.RealPod pod = node.running().get(i % PODS);
            again(() -> node.pods().exec(pod, "/bin/sleep", "0.2").join());
        }
        assertThat(accusations()).isEmpty();
        Eventually.within(ENDED, () -> done.get() > 0);
    }

    @Test
    void podsThatComeAndGoOnABusyDiskAreNoFault() throws Exception {
        node.pods()
                .run(
                        "writer",
                        "while :; do dd if=/dev/zero of=/data/f bs=64k count=200 conv=fsync 2>/dev/null; done",
                        Map.of(volume.mountPoint(), "/data"));
        AtomicInteger number = new AtomicInteger();
        for (int i = 0; i < CHURN; i++) {
            again(() -> node.pods()
                    .remove(node.pods().run("churn-" + number.incrementAndGet()))
                    .join());
        }
        assertThat(accusations()).isEmpty();
        Eventually.within(ENDED, () -> done.get() > 0);
    }

    @Test
    void aRuntimeWithTooLittleProcessorTimeIsOnlyThrottled() throws Exception {
        node.containerd().slow(LITTLE, Duration.ofMillis(100));
        AtomicInteger number = new AtomicInteger();
        again(() -> node.pods()
                .remove(node.pods().run("slow-" + number.incrementAndGet()))
                .join());
        Map<String, Integer> named = accusations();
        node.containerd().fast();
        named.remove("RuntimeThrottled");
        assertThat(named).isEmpty();
    }

    private void again(Runnable action) {
        CompletableFuture.runAsync(
                () -> {
                    while (!stop.get()) {
                        try {
                            action.run();
                            done.incrementAndGet();
                        } catch (RuntimeException e) {
                            // A runtime that is this busy may refuse; it is asked again.
                            sleep();
                        }
                    }
                },
                pool);
    }

    private static void sleep() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Looks twice a second; how often the page accuses for each reason, and the condition. */
    private Map<String, Integer> accusations() throws Exception {
        Map<String, Integer> reasons = new TreeMap<>();
        Map<String, Integer> conditionsTrue = new TreeMap<>();
        Map<String, Integer> loads = new TreeMap<>();
        Map<String, String> texts = new TreeMap<>();
        int looks = 0;
        long end = System.nanoTime() + BUSY.toNanos();
        while (System.nanoTime() < end) {
            var page = node.page().runtime();
            if (page.isPresent()) {
                looks++;
                List<Named> culprits = named(page.get(), "culprits");
                List<Named> busy = named(page.get(), "loads");
                Stream.concat(culprits.stream(), busy.stream())
                        .forEach(named -> texts.putIfAbsent(named.reason(), named.text()));
                reasons(culprits).forEach(reason -> reasons.merge(reason, 1, Integer::sum));
                reasons(busy).forEach(reason -> loads.merge(reason, 1, Integer::sum));
            }
            conditions
                    .now("busy", "RuntimeDegraded")
                    .filter(condition -> condition.status().equals("True"))
                    .ifPresent(condition -> conditionsTrue.merge(condition.reason(), 1, Integer::sum));
            Thread.sleep(500);
        }
        System.out.println("busy: " + looks + " looks in " + BUSY.toSeconds() + " s, " + done + " ended, accused: "
                + reasons + ", condition True: " + conditionsTrue + ", loads: " + loads);
        texts.values().forEach(text -> System.out.println("busy: " + text));
        assertThat(looks).as("looks at the agent's page").isPositive();
        conditionsTrue.forEach((reason, count) -> reasons.merge(reason, count, Integer::sum));
        return reasons;
    }

    private static List<Named> named(JsonObject page, String list) {
        return page.array(list).objects().map(Named::of).toList();
    }

    private static Set<String> reasons(List<Named> named) {
        return named.stream().map(Named::reason).collect(Collectors.toSet());
    }
}
