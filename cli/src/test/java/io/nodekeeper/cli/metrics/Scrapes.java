package io.nodekeeper.cli.metrics;

import io.nodekeeper.agent.eviction.EvictionSignal;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.metrics.CulpritKey;
import io.nodekeeper.agent.metrics.StartupTimes;
import io.nodekeeper.agent.pods.model.PodCounts;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.GuardMetrics;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.metrics.ObserveMetrics;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The metrics that an agent and a controller have when everything happened once, as Prometheus scrapes them.
 */
final class Scrapes {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Pattern SERIES = Pattern.compile("([\\w:]+)(?:\\{(.*)\\})? \\S+");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"(?:[^\"\\\\]|\\\\.)*\"");

    private Scrapes() {}

    static String controller() {
        ControllerMetrics all = new ControllerMetrics();
        ProcessFigures.register(all.registry());
        all.zone("z1", 3, 1);
        all.tainted("z1");
        all.judgedNode(0.1);
        all.judgedAllNodes(0.1);
        all.evicted(0.1);
        all.forceDeleted("default", "orphaned");
        all.forceDeleteFailed("default", "orphaned");
        all.leader("kube-controller-manager", true);
        all.lag(Hop.CANARY_WRITE, 0.1);
        all.detected(0.1);
        all.verdict("Unknown");
        all.blind("store", true);
        all.degraded("late", true);
        all.queue("node_lifecycle_controller").added(1);
        all.event("written");
        GuardMetrics guard = new GuardMetrics(all);
        guard.reviewed("refused", 0.1);
        ObserveMetrics observe = new ObserveMetrics(all);
        observe.withheld("PATCH", "nodes");
        return new String(all.scrape(), StandardCharsets.UTF_8);
    }

    static String agent() {
        VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
        LoopMonitor loops = new LoopMonitor(time.loop("agent").clock());
        loops.loop("heartbeat", SECOND);
        AgentMetrics all = new AgentMetrics(loops);
        ProcessFigures.register(all.registry());
        all.lastSeen(Instant.parse("2026-01-01T00:00:00Z"));
        all.running(1, Map.of(ContainerState.RUNNING, 1));
        all.ended("Status", SECOND, true);
        all.nodeName("n1");
        all.cgroupVersion(2);
        all.stuck(1);
        all.culprits(Map.of(new CulpritKey("shim", "ShimStopped"), 1));
        all.loads(Map.of("NodeOverloaded", 1));
        all.stalled(Map.of("memory", Map.of("full", 1.0)));
        all.late(Map.of("nodefs", 1.0));
        all.networkProbeStep("setup", SECOND);
        all.networkProbeEnded(true);
        all.pods().counted(new PodCounts(1, 1, 1, 1, 1));
        all.pods().rejected("OutOfcpu");
        all.evictions().evicted("memory.available");
        all.evictions().statsAge(EvictionSignal.MEMORY_AVAILABLE, SECOND);
        all.shutdownBegan(Instant.parse("2026-01-01T00:00:00Z"));
        all.clientCertificate(
                Instant.parse("2026-02-01T00:00:00Z"), time.loop("clock").clock());
        Optional<Duration> known = Optional.of(SECOND);
        all.startup(new StartupTimes(known, known, known, known, known));
        return new String(all.scrape(), StandardCharsets.UTF_8);
    }

    /** Metric → its labels, as {@code scrape} shows them. */
    static Map<String, Set<String>> labels(String scrape) {
        Map<String, Set<String>> labels = new TreeMap<>();
        scrape.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            Matcher series = SERIES.matcher(line);
            if (!series.matches()) {
                throw new IllegalArgumentException(line);
            }
            Set<String> found = labels.computeIfAbsent(series.group(1), name -> new TreeSet<>());
            Optional.ofNullable(series.group(2)).stream()
                    .flatMap(text -> LABEL.matcher(text).results())
                    .forEach(label -> found.add(label.group(1)));
        });
        return labels;
    }
}
