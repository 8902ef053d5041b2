package io.nodekeeper.agent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CulpritReporterTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final ProcessRef PLUGIN = new ProcessRef(4711, 99, "/opt/cni/bin/bridge");

    private final AgentMetrics metrics = new AgentMetrics(
            new LoopMonitor(new VirtualTime(START).loop("agent").clock()));
    private final List<String> events = new ArrayList<>();
    private final CulpritReporter news = new CulpritReporter(
            "n1",
            (about, type, reason, message) -> events.add(about.kind() + " " + about.namespace() + "/" + about.name()
                    + " " + type + " " + reason + ": " + message),
            metrics);

    private static Culprit plugin(Optional<PodIdentity> pod) {
        return new Culprit(
                Layer.CNI_PLUGIN,
                "CNIPluginHung",
                "the CNI plugin bridge (pid 4711) hangs",
                START,
                pod,
                Optional.empty(),
                Optional.empty(),
                Optional.of(PLUGIN),
                Optional.empty(),
                List.of(),
                List.of(new Remedy.KillProcesses(List.of(PLUGIN))),
                Confidence.CERTAIN);
    }

    private List<String> gauge() {
        return gauge("nodekeeper_agent_runtime_culprits");
    }

    private List<String> gauge(String name) {
        return new String(metrics.scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(name + "{"))
                .toList();
    }

    @Test
    void aLoadIsNoWarningAndNoCulpritOfTheMetric() {
        Culprit load = Culprit.of(
                Layer.RUNTIME,
                "NodeOverloaded",
                "the node has more work than processors",
                START,
                new Remedy.Advice("reduce the load of the node"));

        news.found(load);

        assertThat(events)
                .containsExactly("Node /n1 Normal NodeOverloaded: the node has more work than processors;"
                        + " remedy: reduce the load of the node");
        assertThat(gauge()).isEmpty();
        assertThat(gauge("nodekeeper_agent_runtime_loads"))
                .containsExactly("nodekeeper_agent_runtime_loads{reason=\"NodeOverloaded\"} 1.0");

        news.cleared(load);

        assertThat(gauge("nodekeeper_agent_runtime_loads")).isEmpty();
    }

    @Test
    void aCulpritIsReportedOnTheNodeAndOnTheAffectedPod() {
        news.found(plugin(Optional.of(new PodIdentity("u1", "web", "shop"))));

        String message = "the CNI plugin bridge (pid 4711) hangs; remedy: kill -KILL 4711";
        assertThat(events)
                .containsExactly(
                        "Node /n1 Warning CNIPluginHung: " + message, "Pod shop/web Warning CNIPluginHung: " + message);
        assertThat(gauge())
                .containsExactly(
                        "nodekeeper_agent_runtime_culprits{layer=\"CNI plugin\",reason=\"CNIPluginHung\"} 1.0");
    }

    @Test
    void itsEndIsReportedOnTheNodeAndRemovedFromTheMetric() {
        Culprit culprit = plugin(Optional.empty());
        news.found(culprit);

        news.cleared(culprit);

        assertThat(events.getLast())
                .isEqualTo("Node /n1 Normal CNIPluginHungCleared: resolved: the CNI plugin bridge (pid 4711) hangs");
        assertThat(gauge()).isEmpty();
    }
}
