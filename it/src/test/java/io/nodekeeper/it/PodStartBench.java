package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.CriRelay;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How long pods need from their binding to Ready on a real containerd, where the time goes, how long their end takes, and
 * what is left. It is not one of the tests: {@code scripts/bench-pods} runs it. {@code -Dpods.count=N} pods are applied at once,
 * {@code -Dpods.static=N} of them as manifests; {@code -Dpods.rounds=N} times; {@code -Dpods.relay=true} records the calls to
 * the runtime, which costs some ms of each; processor time is that of server, agent, runtime and containers, and differs less than
 * time does on a machine that does other things, too; {@code -Dpods.runtime=true} also starts as many pods with the runtime alone;
 * {@code -Dpods.calm=N} measures for N minutes what the agent costs while all pods run, started as users start it.
 */
class PodStartBench {
    private static final int PODS = Integer.getInteger("pods.count", 20);
    private static final int STATIC = Integer.getInteger("pods.static", 0);
    private static final int ROUNDS = Integer.getInteger("pods.rounds", 3);
    private static final boolean RELAY = Boolean.getBoolean("pods.relay");
    private static final boolean RUNTIME = Boolean.getBoolean("pods.runtime");
    private static final int CALM_MINUTES = Integer.getInteger("pods.calm", 0);
    private static final Duration LONGEST = Duration.ofMinutes(3);

    @TempDir
    Path directory;

    private final BenchReport report = new BenchReport();
    private final Map<String, Long> calls = new TreeMap<>();

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;
    private Path manifests;
    private ProcessorUse used;

    @BeforeEach
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        manifests = Files.createDirectory(directory.resolve("manifests"));
        node = cluster.addNode();
        if (RELAY) {
            node.relayed();
        }
        if (CALM_MINUTES > 0) {
            node.startsByScript();
        }
        cluster.startAgent("""
                staticPodPath: %s
                maxPods: 250
                """.formatted(manifests));
        used = node.opened(ProcessorUse.of(
                node.containerd().cgroup(),
                List.of(
                        cluster.server().pid(),
                        node.agent().pid(),
                        node.containerd().pid())));
    }

    @Test
    void podsBecomeReadyAndEnd() throws Exception {
        round("warm-up", 3, 0);
        for (int i = 0; i < ROUNDS; i++) {
            round("one-" + i, 1, 0);
            round("all-" + i, PODS - STATIC, STATIC);
        }
        report.add("agent: %.1f s of processor time, %.1f MB resident; API server: %.1f s; containerd: %.1f s"
                .formatted(
                        ProcessFacts.cpuSeconds(node.agent().pid()),
                        ProcessFacts.residentKb(node.agent().pid()) / 1024.0,
                        ProcessFacts.cpuSeconds(cluster.server().pid()),
                        ProcessFacts.cpuSeconds(node.containerd().pid())));
        if (RUNTIME) {
            // The agent would end pods that it does not know.
            node.agent().kill();
            runtimeAlone();
        }
    }

    private double[] parts() throws Exception {
        return new double[] {
            ProcessFacts.cpuSeconds(cluster.server().pid()),
            ProcessFacts.cpuSeconds(node.agent().pid()),
            ProcessFacts.cpuSeconds(node.containerd().pid())
        };
    }

    private void round(String name, int bound, int fixed) throws Exception {
        report.now(name);
        Leftover none = Leftover.of(node, directory);
        double idle = used.seconds();
        double[] before = parts();
        List<String> names = new ArrayList<>(
                IntStream.range(0, bound).mapToObj(i -> name + "-" + i).toList());
        if (RELAY) {
            node.relay().record();
        }
        for (int i = 0; i < fixed; i++) {
            String pod = name + "-static-" + i;
            Files.writeString(manifests.resolve(pod + ".yaml"), pod(pod, ""));
            names.add(pod + "-" + NODE);
        }
        kubectl.apply(names.stream()
                .limit(bound)
                .map(pod -> pod(pod, "  nodeName: " + NODE + "\n"))
                .toArray(String[]::new));
        Map<String, Double> work = new LinkedHashMap<>();
        Eventually.within(LONGEST, () -> {
            names.stream()
                    .filter(pod -> !work.containsKey(pod) && pods.isReady(pod))
                    .toList()
                    .forEach(pod -> work.put(pod, used.seconds()));
            return work.size() == names.size();
        });
        double[] after = parts();
        List<Long> works = work.values().stream()
                .map(seconds -> Math.round((seconds - idle) * 1_000))
                .sorted()
                .toList();
        List<Long> times =
                names.stream().map(pod -> pods.toReady(pod).toMillis()).sorted().toList();
        report.add(("%s: %d pods: bind to Ready p50 %d, p99 %d, max %d ms; first bind to last Ready %d ms;"
                        + " processor time until Ready p50 %d, p99 %d ms")
                .formatted(
                        name,
                        names.size(),
                        percentile(times, 50),
                        percentile(times, 99),
                        times.getLast(),
                        pods.span(names).toMillis(),
                        percentile(works, 50),
                        percentile(works, 99)));
        double all = (works.getLast()) / 1_000.0;
        report.add("    of it API server %.2f, agent %.2f, containerd %.2f, what it starts %.2f s"
                .formatted(
                        after[0] - before[0],
                        after[1] - before[1],
                        after[2] - before[2],
                        all - after[0] - after[1] - after[2] + before[0] + before[1] + before[2]));
        if (RELAY) {
            steps(names);
        }
        if (names.size() == PODS) {
            calm(name);
        }
        long began = System.nanoTime();
        if (fixed > 0) {
            for (Path manifest : Leftovers.children(manifests)) {
                Files.delete(manifest);
            }
        }
        kubectl.ok("delete", "pods", "--all", "--wait=false");
        Eventually.within(
                LONGEST,
                () -> names.stream().allMatch(pod -> pods.pod(pod).isEmpty())
                        && node.pods().sandboxes().isEmpty()
                        && node.pods().containers().isEmpty());
        report.add("%s: all ended after %d ms; left: %s"
                .formatted(
                        name,
                        (System.nanoTime() - began) / 1_000_000,
                        Leftover.of(node, directory).minus(none)));
    }

    /** What the agent costs while its pods run and nothing happens, after a minute in which it comes to rest. */
    private void calm(String name) throws Exception {
        long agent = node.agent().pid();
        for (int minute = 0; minute <= CALM_MINUTES && CALM_MINUTES > 0; minute++) {
            report.now(name + ": calm, minute " + minute + " of " + CALM_MINUTES);
            double before = ProcessFacts.cpuSeconds(agent);
            Thread.sleep(60_000);
            report.add("%s: calm, minute %d: agent %.2f %% of a core, %.1f MB resident, %.1f MB of it no files"
                    .formatted(
                            name,
                            minute,
                            (ProcessFacts.cpuSeconds(agent) - before) / 60 * 100,
                            ProcessFacts.residentKb(agent) / 1024.0,
                            ProcessFacts.anonymousKb(agent) / 1024.0));
        }
    }

    /** Where the time goes: the medians, in ms. */
    private void steps(List<String> names) throws Exception {
        PodCalls recorded = new PodCalls(node.relay().calls());
        Map<String, List<Long>> steps = new LinkedHashMap<>();
        calls.clear();
        for (String name : names) {
            String uid = pods.pod(name).map(pod -> uid(pod)).orElseThrow();
            CriRelay.Call sandbox = recorded.first(uid, "RunPodSandbox").orElseThrow();
            CriRelay.Call create = recorded.first(uid, "CreateContainer").orElseThrow();
            CriRelay.Call start = recorded.first(uid, "StartContainer").orElseThrow();
            long bound = pods.boundAt(name);
            add(steps, "bind to RunPodSandbox", bound, sandbox.began());
            add(steps, "RunPodSandbox", sandbox.began(), sandbox.ended());
            add(steps, "to CreateContainer", sandbox.ended(), create.began());
            add(steps, "CreateContainer", create.began(), create.ended());
            add(steps, "to StartContainer", create.ended(), start.began());
            add(steps, "StartContainer", start.began(), start.ended());
            add(steps, "to Ready seen", start.ended(), pods.readyAt(name));
            recorded.of(uid).forEach(call -> calls.merge(call.call().method(), 1L, Long::sum));
        }
        StringBuilder line = new StringBuilder("    ");
        steps.forEach((step, values) -> {
            List<Long> sorted = values.stream().sorted().toList();
            line.append(String.format(
                    Locale.ROOT,
                    "%s %d (%d), ",
                    step,
                    percentile(sorted, 50) / 1_000_000,
                    sorted.getLast() / 1_000_000));
        });
        report.add(line + "\n    calls about them: " + calls);
    }

    private static String uid(JsonObject pod) {
        String hash = pod.object("metadata").object("annotations").text("kubernetes.io/config.mirror");
        return hash.isEmpty() ? pod.object("metadata").text("uid") : hash;
    }

    private static void add(Map<String, List<Long>> steps, String step, long from, long to) {
        steps.computeIfAbsent(step, name -> new ArrayList<>()).add(to - from);
    }

    /** The same pods made by the runtime alone, all at once. */
    private void runtimeAlone() throws Exception {
        long began = System.nanoTime();
        List<Pods.RealPod> made = node.pods().runMany("alone", PODS);
        report.add(
                "runtime alone: %d pods at once within %d ms".formatted(PODS, (System.nanoTime() - began) / 1_000_000));
        for (Pods.RealPod pod : made) {
            node.pods().remove(pod).join();
        }
        began = System.nanoTime();
        Pods.RealPod one = node.pods().run("alone-1");
        report.add("runtime alone: one pod within %d ms".formatted((System.nanoTime() - began) / 1_000_000));
        node.pods().remove(one).join();
    }

    private static long percentile(List<Long> sorted, int percent) {
        return sorted.get(Math.min(sorted.size() - 1, sorted.size() * percent / 100));
    }

    private static String pod(String name, String more) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                %s  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  containers:
                  - name: main
                    image: %s
                    command: ["/bin/sh", "-c", "trap 'exit 0' TERM; sleep 1000000 & wait"]
                """.formatted(name, more, BusyboxImages.BUSYBOX);
    }
}
