package io.nodekeeper.controller.taints;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.condition;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.TestCluster;
import io.nodekeeper.controller.taints.TaintPlan.Manner;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Which taints are added and removed for which conditions. */
class TaintPlanTest {
    private static final String NOT_READY = "node.kubernetes.io/not-ready";
    private static final String UNREACHABLE = "node.kubernetes.io/unreachable";
    private static final Instant NOW = B.plusSeconds(100);

    private static final Manner ADD = new Manner(NoExecute.ADD, false, true);
    private static final Manner LEAVE = new Manner(NoExecute.LEAVE, false, true);
    private static final Manner HELD = new Manner(NoExecute.ADD, true, true);
    private static final Manner TWO_WRITES = new Manner(NoExecute.ADD, false, false);

    @ParameterizedTest
    @Tag("L40")
    @CsvSource({"False,node.kubernetes.io/not-ready", "Unknown,node.kubernetes.io/unreachable"})
    void nodeThatIsNotReadyGetsBothTaints(String status, String key) {
        TaintPlan plan = plan(node(ready(status, B)), ADD);

        assertThat(texts(plan)).containsExactly(key + ":NoSchedule@100", key + ":NoExecute@100");
        assertThat(plan.added()).containsExactly(key + ":NoSchedule", key + ":NoExecute");
        assertThat(plan.removed()).isEmpty();
        assertThat(plan.tainted()).isTrue();
        assertThat(plan.more()).isFalse();
        assertThat(plan.version()).isEqualTo("7");
    }

    @Test
    @Tag("L40")
    void nodeThatReturnsLosesBothTaints() {
        TaintPlan plan = plan(node(ready("True", B), unreachable("NoSchedule"), unreachable("NoExecute")), ADD);

        assertThat(plan.taints()).isEmpty();
        assertThat(plan.added()).isEmpty();
        assertThat(plan.removed()).containsExactly(UNREACHABLE + ":NoSchedule", UNREACHABLE + ":NoExecute");
        assertThat(plan.tainted()).isFalse();
        assertThat(plan.more()).isFalse();
        assertThat(plan.patch().toString())
                .isEqualTo("{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"taints\":null}}");
    }

    @Test
    void nodeWhoseTaintsAreRightIsLeftAlone() {
        Node node = node(ready("Unknown", B), unreachable("NoSchedule"), unreachable("NoExecute"));

        assertThat(TaintPlan.of(node, ADD, NOW)).isEmpty();
        assertThat(TaintPlan.of(node(ready("True", B)), ADD, NOW)).isEmpty();
    }

    @Test
    @Tag("L40")
    void taintThatReplacesTheOtherInOneWriteKeepsItsTime() {
        TaintPlan plan = plan(node(ready("Unknown", B), notReady("NoSchedule"), notReady("NoExecute")), ADD);

        assertThat(texts(plan)).containsExactly(UNREACHABLE + ":NoSchedule@100", UNREACHABLE + ":NoExecute@5");
        assertThat(plan.removed()).containsExactly(NOT_READY + ":NoSchedule", NOT_READY + ":NoExecute");
        assertThat(plan.tainted()).as("it was tainted already").isFalse();
        assertThat(plan.more()).isFalse();
    }

    @Test
    void withTwoWritesWhatComesIsWrittenFirstAndHasANewTime() {
        TaintPlan plan = plan(node(ready("Unknown", B), notReady("NoSchedule"), notReady("NoExecute")), TWO_WRITES);

        assertThat(texts(plan))
                .containsExactly(
                        NOT_READY + ":NoSchedule@5",
                        NOT_READY + ":NoExecute@5",
                        UNREACHABLE + ":NoSchedule@100",
                        UNREACHABLE + ":NoExecute@100");
        assertThat(plan.removed()).isEmpty();
        assertThat(plan.more()).isTrue();
    }

    @Test
    void withTwoWritesAChangeInOneDirectionNeedsOne() {
        assertThat(plan(node(ready("Unknown", B)), TWO_WRITES).more()).isFalse();
        TaintPlan removal = plan(node(ready("True", B), notReady("NoSchedule")), TWO_WRITES);
        assertThat(removal.more()).isFalse();
        assertThat(removal.removed()).containsExactly(NOT_READY + ":NoSchedule");
    }

    @Test
    void firstNoExecuteTaintHasTheTimeOfItsWriteThoughTheOtherTaintsAreOlder() {
        TaintPlan plan = plan(node(ready("False", B), notReady("NoSchedule")), ADD);

        assertThat(texts(plan)).containsExactly(NOT_READY + ":NoSchedule@5", NOT_READY + ":NoExecute@100");
    }

    @ParameterizedTest
    @EnumSource(
            value = NoExecute.class,
            names = {"LEAVE", "FOLLOW", "STRIP"})
    void noRuleButOneAddsANoExecuteTaint(NoExecute rule) {
        TaintPlan plan = plan(node(ready("Unknown", B)), new Manner(rule, false, true));

        assertThat(plan.added()).containsExactly(UNREACHABLE + ":NoSchedule");
        assertThat(plan.tainted()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "LEAVE,False,not-ready",
        "LEAVE,True,not-ready",
        "FOLLOW,Unknown,unreachable",
        "FOLLOW,True,''",
        "FOLLOW,False,not-ready",
        "STRIP,False,''",
        "STRIP,True,''",
        "ADD,True,''",
        "ADD,Unknown,unreachable"
    })
    void noExecuteTaintThatIsThereFollowsTheRule(NoExecute rule, String status, String left) {
        Node node = node(ready(status, B), notReady("NoExecute"));

        List<String> after =
                TaintPlan.of(node, new Manner(rule, false, true), NOW)
                        .map(TaintPlan::taints)
                        .orElse(node.taints())
                        .stream()
                        .filter(taint -> taint.effect().equals("NoExecute"))
                        .map(taint -> taint.key().substring("node.kubernetes.io/".length()))
                        .toList();

        assertThat(after).isEqualTo(left.isEmpty() ? List.of() : List.of(left));
    }

    @Test
    void nodeWithoutAReadyConditionKeepsItsNoExecuteTaintAndGetsNone() {
        Node tainted = node(condition("MemoryPressure", "False", B), notReady("NoExecute"));

        assertThat(TaintPlan.of(tainted, ADD, NOW)).isEmpty();
        assertThat(TaintPlan.of(node(condition("MemoryPressure", "False", B)), ADD, NOW))
                .isEmpty();
    }

    @Test
    void dampedNodeThatIsReadyKeepsWhatSaysThatItIsNotAndLosesItsPressure() {
        Node node = node(
                ready("True", B),
                notReady("NoSchedule"),
                unreachable("NoExecute"),
                taint(Taint.DISK_PRESSURE, "NoSchedule"));

        TaintPlan plan = plan(node, HELD);

        assertThat(texts(plan)).containsExactly(NOT_READY + ":NoSchedule@5", UNREACHABLE + ":NoExecute@5");
        assertThat(plan.removed()).containsExactly("node.kubernetes.io/disk-pressure:NoSchedule");
    }

    @Test
    @Tag("W8")
    void readyNodeLosesAllTaintsOnceItIsNoLongerDamped() {
        Node node = node(
                ready("True", B),
                notReady("NoSchedule"),
                notReady("NoExecute"),
                taint(Taint.MEMORY_PRESSURE, "NoSchedule"));

        TaintPlan held = plan(node, new Manner(NoExecute.FOLLOW, true, true));
        TaintPlan free = plan(node, new Manner(NoExecute.FOLLOW, false, true));

        assertThat(held.removed()).containsExactly("node.kubernetes.io/memory-pressure:NoSchedule");
        assertThat(texts(held)).containsExactly(NOT_READY + ":NoSchedule@5", NOT_READY + ":NoExecute@5");
        assertThat(free.taints()).isEmpty();
    }

    @Test
    void dampedNodeThatIsNotReadyIsTaintedAsAnyOther() {
        TaintPlan plan = plan(node(ready("False", B), unreachable("NoSchedule"), unreachable("NoExecute")), HELD);

        assertThat(texts(plan)).containsExactly(NOT_READY + ":NoSchedule@100", NOT_READY + ":NoExecute@5");
    }

    @ParameterizedTest
    @Tag("L39")
    @Tag("L41")
    @CsvSource({
        "MemoryPressure,memory-pressure",
        "DiskPressure,disk-pressure",
        "PIDPressure,pid-pressure",
        "NetworkUnavailable,network-unavailable"
    })
    void pressureIsTaintedWhileItsConditionIsTrue(String type, String key) {
        String text = "node.kubernetes.io/" + key + ":NoSchedule";
        JsonObject taint = taint("node.kubernetes.io/" + key, "NoSchedule");

        assertThat(plan(node(ready("True", B), condition(type, "True", B)), LEAVE)
                        .added())
                .containsExactly(text);
        for (String status : List.of("False", "Unknown")) {
            assertThat(TaintPlan.of(node(ready("True", B), condition(type, status, B)), LEAVE, NOW))
                    .isEmpty();
            assertThat(plan(node(ready("True", B), condition(type, status, B), taint), LEAVE)
                            .removed())
                    .containsExactly(text);
        }
    }

    @Test
    void conditionsOfOthersHaveNoTaint() {
        Node node = node(ready("True", B), condition("KernelDeadlock", "True", B));

        assertThat(TaintPlan.of(node, LEAVE, NOW)).isEmpty();
    }

    @Test
    @Tag("L42")
    void cordonIsTaintedUntilItEnds() {
        Node node = node(ready("True", B));
        Node cordoned = new Node(TestCluster.cordon(node.json(), true));

        assertThat(plan(cordoned, LEAVE).added()).containsExactly("node.kubernetes.io/unschedulable:NoSchedule");
        assertThat(plan(node(ready("True", B), taint(Taint.UNSCHEDULABLE, "NoSchedule")), LEAVE)
                        .removed())
                .containsExactly("node.kubernetes.io/unschedulable:NoSchedule");
    }

    @Test
    @Tag("L42")
    void foreignTaintsStayAsTheyAre() {
        Node node = node(
                ready("True", B),
                taint("dedicated", "NoSchedule"),
                taint("maintenance", "NoExecute"),
                taint(NOT_READY, "PreferNoSchedule"),
                taint(Taint.DISK_PRESSURE, "NoExecute"));

        assertThat(TaintPlan.of(node, ADD, NOW)).isEmpty();
        assertThat(texts(plan(new Node(TestCluster.taint(node.json(), UNREACHABLE, "NoSchedule")), ADD)))
                .containsExactly(
                        "dedicated:NoSchedule@5",
                        "maintenance:NoExecute@5",
                        NOT_READY + ":PreferNoSchedule@5",
                        "node.kubernetes.io/disk-pressure:NoExecute@5");
    }

    @Test
    @Tag("L50")
    void patchNamesTheVersionItWasMadeForAndAllTaints() {
        TaintPlan plan = plan(node(ready("False", B), taint("dedicated", "NoSchedule")), LEAVE);

        assertThat(Json.write(plan.patch()))
                .isEqualTo("{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"taints\":["
                        + "{\"key\":\"dedicated\",\"effect\":\"NoSchedule\",\"timeAdded\":\"2015-01-01T12:00:05Z\"},"
                        + "{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\","
                        + "\"timeAdded\":\"2015-01-01T12:01:40Z\"}]}}");
    }

    private static TaintPlan plan(Node node, Manner manner) {
        return TaintPlan.of(node, manner, NOW).orElseThrow();
    }

    /** A node of version 7 with these conditions and taints. */
    private static Node node(Object... parts) {
        List<Condition> conditions = Arrays.stream(parts)
                .filter(Condition.class::isInstance)
                .map(Condition.class::cast)
                .toList();
        JsonArray taints = JsonArray.EMPTY;
        for (Object part : parts) {
            taints = part instanceof JsonObject taint ? taints.plus(taint) : taints;
        }
        JsonObject json = JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", "n1").with("resourceVersion", "7"))
                .with("spec", JsonObject.EMPTY.with("taints", taints));
        return new Node(json).withConditions(conditions);
    }

    private static JsonObject notReady(String effect) {
        return taint(NOT_READY, effect);
    }

    private static JsonObject unreachable(String effect) {
        return taint(UNREACHABLE, effect);
    }

    /** Added at 5 s. */
    private static JsonObject taint(String key, String effect) {
        return Taint.of(key, effect, B.plusSeconds(5)).json();
    }

    /** As {@code key:effect@second}. */
    private static List<String> texts(TaintPlan plan) {
        return plan.taints().stream()
                .map(taint -> taint.key() + ":" + taint.effect() + "@"
                        + Optional.of(Instant.parse(taint.json().text("timeAdded")))
                                .map(time -> time.getEpochSecond() - B.getEpochSecond())
                                .orElseThrow())
                .toList();
    }
}
