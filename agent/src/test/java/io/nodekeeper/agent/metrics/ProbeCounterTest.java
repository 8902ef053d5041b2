package io.nodekeeper.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeKind;
import io.nodekeeper.agent.pods.probes.ProbeResult;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProbeCounterTest {
    private final AgentMetrics metrics = new AgentMetrics(
            new LoopMonitor(new VirtualTime(Instant.EPOCH).loop("agent").clock()));

    private static Pod pod(String uid, String spec) {
        return new Pod(Json.parseObject(
                "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"" + uid + "\"}" + spec + "}"));
    }

    private List<String> series() {
        return new String(metrics.scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("prober_probe_total"))
                .toList();
    }

    /** What is known of a large pod that is gone has no containers. */
    @Test
    void podThatIsGoneHasNoSeriesAlsoIfItsContainersAreNotKnownAnyMore() {
        String spec = ",\"spec\":{\"containers\":[{\"name\":\"c\"}]}";
        metrics.probes().probed(pod("u1", spec), "c", ProbeKind.LIVENESS, ProbeResult.Outcome.SUCCESS);
        metrics.probes().probed(pod("u1", spec), "c", ProbeKind.READINESS, ProbeResult.Outcome.FAILURE);
        metrics.probes().probed(pod("u2", spec), "c", ProbeKind.LIVENESS, ProbeResult.Outcome.SUCCESS);
        assertThat(series()).hasSize(3);

        metrics.probes().forget(pod("u1", ""));

        assertThat(series()).hasSize(1).allMatch(line -> line.contains("pod_uid=\"u2\""));
    }
}
