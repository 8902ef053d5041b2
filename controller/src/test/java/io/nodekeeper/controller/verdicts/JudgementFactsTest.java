package io.nodekeeper.controller.verdicts;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.controller.heartbeats.GraceState;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The facts of a judgement, its number of reads, and its end. The grace is 40 s. */
class JudgementFactsTest extends JudgementWorld {
    @Test
    void verdictHasItsTimes() {
        LogLines log = LogLines.of(JudgementRunner.class);

        run(add(), 42);

        assertThat(log.lines())
                .containsExactly("Node n1 is now Unknown: last signal first sight 40.1s ago, deadline missed by 100ms;"
                        + " wrote Ready and the pressure conditions as Unknown, was Ready");

        assertThat(facts)
                .containsExactly(
                        "DEADLINE_TO_DECISION 100",
                        "DECISION_TO_WRITE 0",
                        "Unknown",
                        "silenced, ready true, late 100, by first sight",
                        "wrote");
        assertThat(reads()).isEqualTo(1);
        assertThat(writes()).isEqualTo(1);
    }

    @Test
    void verdictOnANodeThatWasNotReadySaysSo() {
        LogLines log = LogLines.of(JudgementRunner.class);
        status = "False";

        run(add(), 42);

        assertThat(log.lines()).singleElement().asString().endsWith(" as Unknown, was not Ready");
        assertThat(facts).contains("silenced, ready false, late 100, by first sight");
    }

    @Test
    void nodeWithARenewalThatTheWatchMissedIsSpared() {
        NodeHealth health = add();
        renewed = Optional.of(lease(39));

        run(health, 42);

        assertThat(facts)
                .containsExactly(
                        "Spared",
                        "spared, lease renewed 2020-01-01T00:00:39.000000Z, status of 2020-01-01T00:00:00Z,"
                                + " 100ms after the deadline");
        assertThat(writes()).isZero();
        assertThat(health.grace()).isEqualTo(GraceState.ARMED);
    }

    @Test
    void nodeThatAnotherClientDeclaredUnknownIsNotDeclaredAgain() {
        NodeHealth health = add();
        status = "Unknown";

        run(health, 42);

        assertThat(facts).containsExactly("AlreadyUnknown");
        assertThat(writes()).isZero();
        assertThat(health.silenced()).isFalse();
    }

    @Test
    void writeThatWasStoredWithoutAnAnswerIsFoundAndReportedOnce() {
        NodeHealth health = add();
        answerIsLostOnce = true;

        run(health, 42);

        assertThat(writes()).isEqualTo(1);
        assertThat(reads()).isEqualTo(2);
        assertThat(facts).filteredOn(line -> line.startsWith("silenced")).hasSize(1);
        assertThat(facts).endsWith("AlreadyUnknown");
        assertThat(health.silenced()).isTrue();
    }

    @Test
    void nodeThatIsRemovedWhileItWaitsIsLetGo() {
        proven = false;
        NodeHealth health = add();
        run(health, 41);
        assertThat(judge.stage(health)).isEqualTo(Judgement.Stage.WAITING);

        heartbeats.remove(health);
        judge.checkWaiting();

        assertThat(judge.waiting().size()).isZero();
        assertThat(health.grace()).isEqualTo(GraceState.RESTING);
    }

    @Test
    void nodeThatIsRemovedWhileItIsReadIsReadNoMore() {
        NodeHealth health = add();
        fault = call -> {
            heartbeats.remove(health);
            return Optional.empty();
        };

        pass(40_100);
        time.advance(Duration.ZERO);
        assertThat(reads()).isEqualTo(1);
        assertThat(health.grace()).as("at once").isEqualTo(GraceState.RESTING);

        pass(20_000);
        assertThat(reads()).isEqualTo(1);
        assertThat(writes()).isZero();
    }

    @Test
    void nodeThatIsDeletedDuringItsWriteIsNotReportedAsUnknown() {
        NodeHealth health = add();
        fault = call -> {
            if (call.method().equals("PUT")) {
                heartbeats.remove(health);
            }
            return Optional.empty();
        };

        pass(60_000);

        assertThat(facts).containsExactly("DEADLINE_TO_DECISION 100", "DECISION_TO_WRITE 0");
        assertThat(health.silenced()).isFalse();
    }

    @Test
    void stopDuringAReadIsHeeded() {
        add();
        fault = call -> {
            workQueue.close();
            return Optional.empty();
        };

        pass(42_000);

        assertThat(writes()).isZero();
        assertThat(reads()).isEqualTo(1);
    }

    @Test
    void nodeThatIsLateAgainWhileItIsReadIsReadOnce() {
        NodeHealth health = add();
        fault = call -> call.method().equals("GET")
                ? Optional.of(FakeTransport.refusal(new ApiException(500, "InternalError", "planted")))
                : Optional.empty();
        run(health, 44);
        int before = reads();
        assertThat(judge.stage(health)).isEqualTo(Judgement.Stage.WORKING);

        for (int i = 0; i < 10; i++) {
            judge.overdue(health);
        }
        time.advance(Duration.ZERO);

        assertThat(reads()).isEqualTo(before);
    }

    @Test
    void answersAreUsedThatAreAsOldAsACallMayTake() {
        standStill(2_000);

        assertThat(reads()).isEqualTo(1);
        assertThat(writes()).isEqualTo(1);
    }

    @Test
    void answersThatAreOlderAreReadAgainAtOnce() {
        standStill(2_001);

        assertThat(reads()).isEqualTo(2);
        assertThat(writes()).isEqualTo(1);
    }

    /** For so long between the answers and their use. */
    private void standStill(int millis) {
        NodeHealth health = add();
        run(health, 40);
        time.advance(Duration.ofMillis(100));
        wheel.poll(now(), judge::overdue);
        loop.freeze();
        time.advance(Duration.ofMillis(millis));
        loop.thaw();
        time.advance(Duration.ZERO);
        assertThat(health.ready()).isEqualTo("Unknown");
    }

    @Test
    void replacedNodeIsReadEveryFiveSeconds() {
        NodeHealth health = add();
        uid = "uid-2";

        run(health, 45);
        assertThat(reads()).isEqualTo(1);
        run(health, 60);

        assertThat(reads()).isEqualTo(4);
    }

    @Test
    void nodeWhoseNewDeadlineIsNotProvenIsReadEveryFiveSeconds() {
        NodeHealth health = add();
        // The proof reaches up to its first deadline, and no further.
        fault = call -> {
            proven = false;
            return Optional.empty();
        };
        run(health, 44);
        assertThat(reads()).isEqualTo(1);
        assertThat(writes()).isZero();

        fault = call -> Optional.empty();
        proven = true;
        run(health, 45);
        assertThat(writes()).isZero();
        run(health, 46);
        assertThat(writes()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"409, 1", "403, 1", "499, 1", "500, 2", "503, 2"})
    void writeThatMayHaveBeenTakenIsFollowedUpThoughTheNodeIsHeard(int code, int reads) {
        NodeHealth health = add();
        fault = call -> {
            if (!call.method().equals("PUT")) {
                return Optional.empty();
            }
            heartbeats.saw(lease(40), Heartbeats.Source.LATE, now());
            return Optional.of(FakeTransport.refusal(new ApiException(code, "Planted", "planted")));
        };

        run(health, 60);

        assertThat(reads()).isEqualTo(reads);
        assertThat(writes()).isEqualTo(1);
        assertThat(health.grace()).isEqualTo(GraceState.ARMED);
    }

    @Test
    void conflictIsTriedAgainSoonAndThenLessOften() {
        NodeHealth health = add();
        fault = call -> call.method().equals("PUT")
                ? Optional.of(FakeTransport.refusal(ApiException.modified(ResourceType.NODES, "n1")))
                : Optional.empty();

        run(health, 41);
        assertThat(writes()).as("after 0, 20, 60, 140, 300 and 620 ms").isEqualTo(6);
        run(health, 60);
        assertThat(writes()).as("after 1.26, 2.54, 5.1 and 10 s, and each 5 s").isBetween(10, 12);
    }

    @Test
    void eighthFailureIsLoggedAsAWarningOnce() {
        LogLines log = LogLines.of(JudgementRunner.class);
        NodeHealth health = add();
        serverIsAway = true;

        run(health, 42);
        assertThat(log.warnings()).isEmpty();
        run(health, 120);

        assertThat(log.warnings())
                .singleElement()
                .asString()
                .startsWith("Node n1 is late, but could not be judged 8 times: ");
    }
}
