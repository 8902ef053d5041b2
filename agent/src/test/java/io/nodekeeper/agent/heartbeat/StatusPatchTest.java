package io.nodekeeper.agent.heartbeat;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.Fixtures;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.status.StatusComparison;
import io.nodekeeper.agent.status.StatusPatch;
import io.nodekeeper.agent.status.StatusSetters;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schemas;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class StatusPatchTest {

    private static Node healthy() {
        return StatusSetters.apply(Fixtures.bare(), Fixtures.inputs()).node();
    }

    private static Node later(Node node) {
        return StatusSetters.apply(node, Fixtures.inputs(Set.of(), ReadyErrors.NONE, Fixtures.NOW.plusSeconds(10)))
                .node();
    }

    private static Node with(Node node, String field, String json) {
        return new Node(node.json().update("status", status -> status.with(field, Json.parse(json))));
    }

    @Test
    @Tag("A25")
    void aHeartbeatHoldsNothingButHeartbeatTimes() {
        Node before = healthy();

        assertThat(StatusPatch.between(before, later(before))).isEqualTo(Json.parseObject("""
                        {"status":{"$setElementOrder/conditions":[{"type":"MemoryPressure"},{"type":"DiskPressure"},
                          {"type":"PIDPressure"},{"type":"Ready"}],
                         "conditions":[
                          {"lastHeartbeatTime":"2026-01-01T00:00:10Z","type":"MemoryPressure"},
                          {"lastHeartbeatTime":"2026-01-01T00:00:10Z","type":"DiskPressure"},
                          {"lastHeartbeatTime":"2026-01-01T00:00:10Z","type":"PIDPressure"},
                          {"lastHeartbeatTime":"2026-01-01T00:00:10Z","type":"Ready"}]}}"""));
    }

    @Test
    @Tag("A26")
    void replacesAddressesAsAWhole() {
        Node before = Fixtures.addresses(Fixtures.bare(), "InternalIP", "10.0.0.1", "Hostname", "n1");
        Node after = Fixtures.addresses(Fixtures.bare(), "InternalIP", "10.0.0.2", "Hostname", "n1");

        assertThat(StatusPatch.between(before, after)).isEqualTo(Json.parseObject("""
                        {"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.2"},
                         {"type":"Hostname","address":"n1"},{"$patch":"replace"}]}}"""));
        assertThat(StatusPatch.between(before, before)).isEqualTo(JsonObject.EMPTY);
        assertThat(StatusPatch.between(Fixtures.bare(), after).object("status").array("addresses"))
                .isEqualTo(after.status().array("addresses"));
    }

    @Test
    @Tag("A27")
    void twoAddressesOfOneTypeSurviveTheMerge() {
        Node before = Fixtures.addresses(Fixtures.bare(), "InternalIP", "10.0.0.1", "InternalIP", "10.0.0.2");
        Node after = Fixtures.addresses(Fixtures.bare(), "InternalIP", "10.0.0.3", "InternalIP", "10.0.0.4");

        assertThat(StrategicMergePatch.apply(before.json(), StatusPatch.between(before, after), Schemas.NODE))
                .isEqualTo(after.json());
    }

    @Test
    @Tag("A28")
    void comparesByMeaning() {
        Node before = with(healthy(), "images", "[{\"names\":[\"a\"]},{\"names\":[\"b\"]}]");
        List<Condition> reversed = new ArrayList<>(before.conditions());
        Collections.reverse(reversed);
        Node milli = Fixtures.status(
                before, "allocatable", before.status().object("allocatable").with("cpu", "4000m"));

        assertThat(StatusComparison.changed(before, milli)).isFalse();
        assertThat(StatusComparison.changed(before, before.withConditions(reversed)))
                .isFalse();
        assertThat(StatusComparison.changed(before, later(before))).isFalse();
        assertThat(StatusComparison.changed(with(before, "volumesInUse", "null"), with(before, "volumesInUse", "[]")))
                .isFalse();
        assertThat(StatusComparison.changed(
                        before, with(before, "images", "[{\"names\":[\"b\"]},{\"names\":[\"a\"]}]")))
                .isTrue();
        assertThat(StatusComparison.changed(before, before.withConditions(reversed.subList(0, 3))))
                .isTrue();
    }

    @Test
    @Tag("A29")
    void leavesOthersConditionsAloneButKeepsTheirPlace() {
        List<Condition> conditions = new ArrayList<>(healthy().conditions());
        conditions.add(1, Condition.of("KernelDeadlock", "False", "Fine", "fine", Fixtures.NOW, Fixtures.NOW));
        Node before = healthy().withConditions(conditions);

        JsonObject status = StatusPatch.between(before, later(before)).object("status");

        assertThat(status.array("conditions").objects().map(c -> c.text("type")))
                .containsExactly("MemoryPressure", "DiskPressure", "PIDPressure", "Ready");
        assertThat(status.array("$setElementOrder/conditions").objects().map(c -> c.text("type")))
                .containsExactly("MemoryPressure", "KernelDeadlock", "DiskPressure", "PIDPressure", "Ready");
        assertThat(later(before).condition("KernelDeadlock")).isEqualTo(before.condition("KernelDeadlock"));
    }

    @Test
    @Tag("A30")
    void neverPatchesTheSpec() {
        Node after = new Node(later(healthy()).json().update("spec", spec -> spec.with("providerID", "accident")));

        assertThat(StatusPatch.between(healthy(), after).fields()).containsOnlyKeys("status");
    }

    @Test
    void removesWhatIsGoneFromAMap() {
        Node before = Fixtures.status(Fixtures.bare(), "capacity", Fixtures.resources("cpu", "4", "old", "1"));
        Node after = Fixtures.status(Fixtures.bare(), "capacity", Fixtures.resources("cpu", "5"));

        assertThat(StatusPatch.between(before, after).object("status").object("capacity"))
                .isEqualTo(JsonObject.builder()
                        .put("cpu", "5")
                        .put("old", JsonNull.NULL)
                        .build());
    }

    @Test
    @Tag("A17")
    void anUnchangedStatusIsReportedAfterThePeriod() {
        ReportRule rule = new ReportRule(Duration.ofMinutes(5));
        assertThat(rule.due(false, 0)).isTrue();
        rule.sending(false, 0.5);
        rule.reported(0);

        assertThat(rule.due(false, Duration.ofSeconds(299).toNanos())).isFalse();
        assertThat(rule.due(false, Duration.ofSeconds(300).toNanos())).isTrue();
    }

    @Test
    @Tag("A18")
    void theWaitAfterAChangeIsRandomAndTheNextOneIsNot() {
        ReportRule early = new ReportRule(Duration.ofMinutes(5));
        early.sending(true, 0);
        early.reported(0);
        ReportRule late = new ReportRule(Duration.ofMinutes(5));
        late.sending(true, 0.999999);
        late.reported(0);

        assertThat(early.due(false, Duration.ofSeconds(149).toNanos())).isFalse();
        assertThat(early.due(false, Duration.ofSeconds(150).toNanos())).isTrue();
        assertThat(late.due(false, Duration.ofSeconds(449).toNanos())).isFalse();
        assertThat(late.due(false, Duration.ofSeconds(450).toNanos())).isTrue();

        early.sending(false, 0);
        early.reported(Duration.ofSeconds(150).toNanos());
        assertThat(early.due(false, Duration.ofSeconds(449).toNanos())).isFalse();
        assertThat(early.due(false, Duration.ofSeconds(450).toNanos())).isTrue();
    }
}
