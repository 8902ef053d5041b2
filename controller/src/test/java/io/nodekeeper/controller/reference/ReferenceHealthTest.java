package io.nodekeeper.controller.reference;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.TestCluster;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.reference.ReferenceHealth.Evaluation;
import io.nodekeeper.controller.reference.ReferenceHealth.Saved;
import io.nodekeeper.controller.reference.ReferenceHealth.SeenLease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The table of the reference's evaluation, row by row. */
class ReferenceHealthTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long NOW = 1_000 * SECOND;
    private static final long OLD = 900 * SECOND;
    private static final long OLDER = 800 * SECOND;
    private static final Optional<SeenLease> NO_LEASE = Optional.empty();
    private static final SeenLease LEASE = new SeenLease("2015-01-01T12:00:00.000000Z", "5", true);
    private static final SeenLease RENEWED = new SeenLease("2015-01-01T12:00:10.000000Z", "6", true);
    private static final SeenLease BACKWARDS = new SeenLease("2015-01-01T11:00:00.000000Z", "7", true);

    private final ReferenceHealth rules = new ReferenceHealth(TestCluster.CONFIG, false);
    private final ReferenceHealth immune = new ReferenceHealth(TestCluster.CONFIG, true);

    @Test
    void b1FirstSightIsNow() {
        Evaluation look = rules.evaluate(Optional.empty(), node(ready("True", 0, 0)), NO_LEASE, NOW, B);

        assertThat(look.saved()).isEqualTo(saved(Optional.of(ready("True", 0, 0)), NOW, NOW, NO_LEASE));
        assertThat(look.observedReady()).isEqualTo("True");
        assertThat(look.deadline()).isEqualTo(NOW + 50 * SECOND);
    }

    @Test
    void nodeWithoutReadyCountsFromItsCreation() {
        Evaluation look = rules.evaluate(Optional.empty(), created("2015-01-01T11:59:30Z"), NO_LEASE, NOW, B);

        assertThat(look.saved()).isEqualTo(saved(Optional.empty(), NOW - 30 * SECOND, NOW - 30 * SECOND, NO_LEASE));
        assertThat(look.observedReady()).isEqualTo("Unknown");
        assertThat(look.deadline()).isEqualTo(NOW + 30 * SECOND);
    }

    @Test
    void nodeThatWasCreatedInTheFutureOfThisClockHasMoreTime() {
        Evaluation look = rules.evaluate(Optional.empty(), created("2015-01-01T12:00:30Z"), NO_LEASE, NOW, B);

        assertThat(look.deadline()).isEqualTo(NOW + 90 * SECOND);
    }

    @Test
    void nodeWithoutACreationTimeIsOverdue() {
        Evaluation look = rules.evaluate(Optional.empty(), created(""), NO_LEASE, NOW, B);

        assertThat(look.deadline()).isLessThan(NOW);
    }

    @Test
    void b2NodeThatStillReportsNothingKeepsItsTime() {
        Saved before = saved(Optional.empty(), OLD, OLDER, Optional.of(LEASE));

        Evaluation look = rules.evaluate(Optional.of(before), node(), NO_LEASE, NOW, B);

        assertThat(look.saved()).isEqualTo(before);
        assertThat(look.deadline()).isEqualTo(OLD + 60 * SECOND);
    }

    @Test
    void b3FirstReportIsNowAndForgetsTheLease() {
        Saved before = saved(Optional.empty(), OLD, OLDER, Optional.of(LEASE));

        Evaluation look = rules.evaluate(Optional.of(before), node(ready("True", 0, 0)), Optional.of(LEASE), NOW, B);

        assertThat(look.saved()).isEqualTo(saved(Optional.of(ready("True", 0, 0)), NOW, NOW, NO_LEASE));
    }

    @Test
    @Tag("L23")
    void b4VanishedReadyConditionIsNoChange() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));

        Evaluation look = rules.evaluate(Optional.of(before), node(), NO_LEASE, NOW, B);

        assertThat(look.saved()).isEqualTo(saved(Optional.empty(), OLD, OLDER, Optional.of(LEASE)));
        assertThat(look.observedReady()).isEqualTo("Unknown");
        assertThat(look.deadline()).isEqualTo(OLD + 60 * SECOND);
    }

    @Test
    void b5SameHeartbeatTimeIsNothingWhateverElseChanged() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));

        Evaluation look = rules.evaluate(Optional.of(before), node(ready("False", 0, 7)), NO_LEASE, NOW, B);

        assertThat(look.saved()).isEqualTo(before);
        assertThat(look.observedReady()).isEqualTo("False");
    }

    @Test
    void b6HeartbeatWithoutTransitionKeepsTheTimeOfTheTransitionAndForgetsTheLease() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));

        Evaluation look = rules.evaluate(Optional.of(before), node(ready("True", 10, 0)), Optional.of(LEASE), NOW, B);

        assertThat(look.saved()).isEqualTo(saved(Optional.of(ready("True", 10, 0)), NOW, OLDER, NO_LEASE));
    }

    @Test
    void b7HeartbeatWithTransitionIsBothNow() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));

        Evaluation look =
                rules.evaluate(Optional.of(before), node(ready("False", -10, 10)), Optional.of(LEASE), NOW, B);

        assertThat(look.saved()).isEqualTo(saved(Optional.of(ready("False", -10, 10)), NOW, NOW, NO_LEASE));
    }

    @Test
    void laterRenewalIsAHeartbeat() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));

        Evaluation look = rules.evaluate(Optional.of(before), node(ready("True", 0, 0)), Optional.of(RENEWED), NOW, B);

        assertThat(look.saved()).isEqualTo(saved(Optional.of(ready("True", 0, 0)), NOW, OLDER, Optional.of(RENEWED)));
    }

    @Test
    @Tag("L24")
    void leaseThatWasForgottenIsAHeartbeatAgain() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, NO_LEASE);

        Evaluation look = rules.evaluate(Optional.of(before), node(ready("True", 0, 0)), Optional.of(LEASE), NOW, B);

        assertThat(look.saved().probe()).isEqualTo(NOW);
        assertThat(look.saved().lease()).contains(LEASE);
    }

    @Test
    @Tag("L14")
    @Tag("W12")
    void earlierRenewalCountsOnlyWithClockImmunity() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));
        Node node = node(ready("True", 0, 0));

        assertThat(rules.evaluate(Optional.of(before), node, Optional.of(BACKWARDS), NOW, B)
                        .saved())
                .isEqualTo(before);
        assertThat(immune.evaluate(Optional.of(before), node, Optional.of(BACKWARDS), NOW, B)
                        .saved()
                        .probe())
                .isEqualTo(NOW);
    }

    @Test
    void leaseWithoutATimeIsNoRenewal() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));
        Optional<SeenLease> timeless = Optional.of(new SeenLease("", "9", true));

        for (ReferenceHealth each : List.of(rules, immune)) {
            Evaluation look = each.evaluate(Optional.of(before), node(ready("True", 0, 0)), timeless, NOW, B);

            assertThat(look.saved()).isEqualTo(before);
        }
    }

    @Test
    @Tag("L14")
    void changesByOtherClientsCountInNeitherMode() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));
        Node node = node(ready("True", 0, 0));
        // A label was set, and the lease was written with the same time in another form.
        SeenLease labelled = new SeenLease(LEASE.renewTime(), "9", true);
        SeenLease rewritten = new SeenLease("2015-01-01T12:00:00Z", "9", true);

        for (ReferenceHealth each : List.of(rules, immune)) {
            for (SeenLease lease : List.of(labelled, rewritten)) {
                Evaluation look = each.evaluate(Optional.of(before), node, Optional.of(lease), NOW, B);

                assertThat(look.saved()).isEqualTo(before);
                assertThat(each.evaluateLive(look, node, lease, NOW)).isEmpty();
            }
        }
    }

    @Test
    void leaseOfAnotherHolderCountsOnlyWithoutClockImmunity() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));
        Node node = node(ready("True", 0, 0));
        Optional<SeenLease> taken = Optional.of(new SeenLease(RENEWED.renewTime(), "6", false));

        assertThat(immune.evaluate(Optional.of(before), node, taken, NOW, B).saved())
                .isEqualTo(before);
        assertThat(rules.evaluate(Optional.of(before), node, taken, NOW, B)
                        .saved()
                        .probe())
                .isEqualTo(NOW);
    }

    @Test
    @Tag("L26")
    void cacheThatLagsBehindALiveReadCausesNoHeartbeat() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, Optional.of(LEASE));
        Node node = node(ready("True", 0, 0));
        for (ReferenceHealth each : List.of(rules, immune)) {
            Evaluation late = each.evaluate(Optional.of(before), node, Optional.of(LEASE), NOW, B);

            Evaluation live = each.evaluateLive(late, node, RENEWED, NOW).orElseThrow();
            Evaluation next = each.evaluate(Optional.of(live.saved()), node, Optional.of(LEASE), NOW + SECOND, B);

            assertThat(live.deadline()).isEqualTo(NOW + 50 * SECOND);
            assertThat(next.saved()).isEqualTo(live.saved());
            assertThat(each.evaluateLive(next, node, RENEWED, NOW + SECOND)).isEmpty();
        }
    }

    @Test
    void writtenVerdictKeepsTheTimeOfTheHeartbeat() {
        Saved before = saved(Optional.of(ready("True", 0, 0)), OLD, OLDER, NO_LEASE);
        Evaluation look = rules.evaluate(Optional.of(before), node(ready("True", 0, 0)), NO_LEASE, NOW, B);

        Saved after = rules.written(look, node(ready("Unknown", 0, 100)), Optional.of(LEASE), NOW);

        assertThat(after).isEqualTo(saved(Optional.of(ready("Unknown", 0, 100)), OLD, NOW, Optional.of(LEASE)));
    }

    @Test
    void longestGraceDoesNotOverflow() {
        ReferenceHealth patient = new ReferenceHealth(
                new ControllerConfig(Duration.ofSeconds(5), Duration.ofNanos(Long.MAX_VALUE), Duration.ofSeconds(60)),
                true);

        Evaluation look = patient.evaluate(Optional.empty(), node(ready("True", 0, 0)), NO_LEASE, NOW, B);

        assertThat(look.deadline()).isGreaterThan(NOW);
    }

    private static Saved saved(Optional<Condition> ready, long probe, long transition, Optional<SeenLease> lease) {
        return new Saved(ready, probe, transition, lease);
    }

    private static Condition ready(String status, int heartbeat, int transition) {
        return Condition.of("Ready", status, "Said", "said", B.plusSeconds(heartbeat), B.plusSeconds(transition));
    }

    private static Node node(Condition... conditions) {
        return created(KubeTime.format(K)).withConditions(List.of(conditions));
    }

    private static Node created(String time) {
        return new Node(JsonObject.EMPTY.with(
                "metadata", JsonObject.EMPTY.with("name", "n1").with("creationTimestamp", time)));
    }
}
