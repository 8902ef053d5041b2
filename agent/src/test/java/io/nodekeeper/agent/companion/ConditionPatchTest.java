package io.nodekeeper.agent.companion;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.status.StatusPatch;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schemas;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ConditionPatchTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:10:00Z");
    private static final List<String> OWN = List.of("RuntimeDegraded", "KubeletDegraded", "ClockSkew");
    private static final List<String> KUBELETS = List.of("Ready", "MemoryPressure", "DiskPressure", "PIDPressure");

    private static Node node(String... conditions) {
        return new Node(Json.parseObject(
                "{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"7\"},\"status\":{\"conditions\":["
                        + String.join(",", conditions) + "]}}"));
    }

    private static String stored(String type, String status, String reason, String message) {
        return "{\"type\":\"" + type + "\",\"status\":\"" + status
                + "\",\"lastHeartbeatTime\":\"2026-01-01T00:00:00Z\","
                + "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"reason\":\"" + reason + "\",\"message\":\""
                + message
                + "\"}";
    }

    @Test
    void aPatchHasEntriesOfChangedConditionsAndNothingElse() {
        Node before = node(
                stored("Ready", "True", "KubeletReady", "fine"),
                stored("RuntimeDegraded", "False", "RuntimeResponsive", "fine"),
                stored("ClockSkew", "False", "ClockInSync", "fine"));

        Optional<JsonObject> patch = ConditionPatch.changes(
                before,
                List.of(
                        new ConditionReport("RuntimeDegraded", "True", "ShimStopped", "stopped"),
                        new ConditionReport("ClockSkew", "False", "ClockInSync", "fine"),
                        new ConditionReport("KubeletDegraded", "False", "KubeletHealthy", "fine")),
                NOW);

        assertThat(patch.map(Json::write)).hasValue("""
                {"status":{"conditions":[\
                {"type":"RuntimeDegraded","status":"True","lastHeartbeatTime":"2026-01-01T00:10:00Z",\
                "lastTransitionTime":"2026-01-01T00:10:00Z","reason":"ShimStopped","message":"stopped"},\
                {"type":"KubeletDegraded","status":"False","lastHeartbeatTime":"2026-01-01T00:10:00Z",\
                "lastTransitionTime":"2026-01-01T00:10:00Z","reason":"KubeletHealthy","message":"fine"}]}}""");
    }

    @Test
    void aRefreshKeepsTheTransitionTimesAndNoChangeMakesNoPatch() {
        Node before = node(stored("ClockSkew", "False", "ClockInSync", "fine"));
        List<ConditionReport> same = List.of(new ConditionReport("ClockSkew", "False", "ClockInSync", "fine"));

        assertThat(ConditionPatch.changes(before, same, NOW)).isEmpty();
        assertThat(ConditionPatch.refresh(before, same, NOW).map(Json::write)).hasValue("""
                {"status":{"conditions":[\
                {"type":"ClockSkew","status":"False","lastHeartbeatTime":"2026-01-01T00:10:00Z",\
                "lastTransitionTime":"2026-01-01T00:00:00Z","reason":"ClockInSync","message":"fine"}]}}""");
        assertThat(ConditionPatch.refresh(before, List.of(), NOW)).isEmpty();
    }

    @Test
    void theEndMakesTheOwnStoredConditionsUnknownOnce() {
        Node before = node(
                stored("Ready", "True", "KubeletReady", "fine"),
                stored("ClockSkew", "True", "ClockFarOff", "20 s behind"));
        List<ConditionReport> reports = List.of(
                new ConditionReport("ClockSkew", "True", "ClockFarOff", "20 s behind"),
                new ConditionReport("RuntimeDegraded", "False", "RuntimeResponsive", "fine"));

        JsonObject patch = ConditionPatch.withdrawal(before, reports, NOW).orElseThrow();
        Node after = new Node(StrategicMergePatch.apply(before.json(), patch, Schemas.NODE));

        assertThat(after.conditions()).extracting(Condition::type).containsExactly("Ready", "ClockSkew");
        assertThat(after.condition("ClockSkew").orElseThrow().status()).isEqualTo("Unknown");
        assertThat(after.condition("ClockSkew").orElseThrow().reason()).isEqualTo("CompanionStopped");
        assertThat(after.condition("ClockSkew").orElseThrow().message())
                .isEqualTo("the companion on this node has stopped; its last report was True, reason ClockFarOff");
        assertThat(after.isReady()).isTrue();
        assertThat(ConditionPatch.withdrawal(after, reports, NOW)).isEmpty();
    }

    /**
     * A step of two writers that do not know of each other: even numbers are the kubelet's, which computes a two-way patch from
     * a Node that it read up to ten steps ago; odd numbers are the companion's.
     */
    @Property(tries = 500)
    void whateverTheOrderOfWritesEachFindsItsLastConditions(
            @ForAll @Size(max = 30) List<@IntRange(max = 239) Integer> steps) {
        List<Node> history = new ArrayList<>(List.of(node()));
        Map<String, String> last = new TreeMap<>();
        for (int step : steps) {
            Node stored = history.getLast();
            Node seen = history.get(Math.max(0, history.size() - 1 - step % 10));
            String reason = "R" + history.size();
            JsonObject patch;
            if (step % 2 == 0) {
                String type = KUBELETS.get(step / 2 % KUBELETS.size());
                patch = StatusPatch.between(seen, with(seen, type, reason));
                last.put(type, reason);
            } else {
                String type = OWN.get(step / 2 % OWN.size());
                List<ConditionReport> report = List.of(new ConditionReport(type, "True", reason, "m"));
                patch = ConditionPatch.changes(seen, report, NOW).orElseThrow();
                last.put(type, reason);
            }
            history.add(new Node(StrategicMergePatch.apply(stored.json(), patch, Schemas.NODE)));
        }

        Map<String, String> found = new TreeMap<>();
        history.getLast().conditions().forEach(condition -> found.put(condition.type(), condition.reason()));
        assertThat(found).isEqualTo(last);
    }

    /** The Node with a condition of the kubelet, which copies all others, also foreign ones. */
    private static Node with(Node seen, String type, String reason) {
        List<Condition> all = new ArrayList<>(seen.conditions());
        all.removeIf(condition -> condition.type().equals(type));
        all.add(Condition.of(type, "True", reason, "m", NOW, NOW));
        return seen.withConditions(all);
    }
}
