package io.nodekeeper.controller.verdicts;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Node;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.Reply;
import io.nodekeeper.controller.heartbeats.GraceState;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.observer.ProofKind;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A node under judgement is always in exactly one state, even if calls fail, and nothing is written without a proof.
 */
class JudgementRunnerTest extends JudgementWorld {
    @ParameterizedTest
    @CsvSource({
        "isProven,1", "read,1", "rearm,1", "took,1", "silenced,1", "judged,1", "wrote,1",
        "isProven,9", "read,9", "rearm,9", "took,9", "silenced,9", "judged,9", "wrote,9"
    })
    void verdictIsReachedThoughAStepThrows(String step, int times) {
        NodeHealth health = add();
        failing = step;
        failures = times;

        run(health, 41 + 60);

        assertThat(failures).as("the step was reached").isLessThan(times);
        assertThat(status).isEqualTo("Unknown");
        assertThat(health.grace()).isEqualTo(GraceState.RESTING);
        assertThat(judge.waiting().size()).isZero();
    }

    @Test
    void followerThatAlwaysThrowsDelaysNoVerdict() {
        NodeHealth health = add();
        failing = "read";
        failures = Integer.MAX_VALUE;

        run(health, 42);

        assertThat(status).isEqualTo("Unknown");
    }

    @Test
    void nodeThatFallsSilentOftenWaitsOnlyOnceForAProof() {
        proven = false;
        NodeHealth health = add();
        for (int second = 50; second <= 3_600; second += 50) {
            run(health, second);
            assertThat(judge.waiting().size()).isEqualTo(1);
            heartbeats.saw(lease(second), Heartbeats.Source.LATE, now());
        }
        assertThat(writes()).isZero();
    }

    @Test
    void nodeThatWasReplacedWithoutAWordOfTheWatchIsNotWritten() {
        NodeHealth health = add();
        uid = "uid-2";

        run(health, 120);

        assertThat(transport.log()).contains("GET /api/v1/nodes/n1");
        assertThat(writes()).isZero();
    }

    @Test
    void readThatTheWatchOvertookDoesNotReplaceTheNewerState() {
        NodeHealth health = add();
        // given an answer at version 1, after which the watch delivers version 101 before the answer is used
        fault = call -> {
            if (!call.method().equals("GET") || health.version().equals("101")) {
                return Optional.empty();
            }
            Reply before = FakeTransport.reply(200, node());
            version = 101;
            status = "False";
            heartbeats.saw(health, new Node(node()), Heartbeats.Source.LATE, now());
            return Optional.of(before);
        };

        run(health, 45);

        assertThat(reads()).isEqualTo(1);
        assertThat(health.version()).isEqualTo("101");
        assertThat(health.ready()).isEqualTo("False");
        assertThat(writes()).isZero();
        assertThat(health.grace()).isEqualTo(GraceState.ARMED);
    }

    @Test
    void readThatIsOlderThanWhatWasSeenBeforeItIsTheStateOfARestoredServer() {
        version = 100;
        NodeHealth health = add();
        version = 50;
        status = "False";

        run(health, 45);

        assertThat(health.version()).isEqualTo("50");
        assertThat(health.ready()).isEqualTo("False");
    }

    @Test
    void writeIsNotRepeatedBeforeItsNewDeadlineIsProven() {
        NodeHealth health = add();
        answersAreLost = true;
        run(health, 41);
        assertThat(writes()).isPositive();

        // It comes back, and is silent again while first no read succeeds and then nothing can be proven.
        heartbeats.saw(lease(41), Heartbeats.Source.LATE, now());
        proven = false;
        serverIsAway = true;
        run(health, 41 + 60);
        serverIsAway = false;
        answersAreLost = false;
        int before = writes();
        run(health, 41 + 200);

        assertThat(writes()).isEqualTo(before);
        assertThat(status).isEqualTo("True");

        proven = true;
        run(health, 41 + 210);
        assertThat(status).isEqualTo("Unknown");
    }

    @Test
    void answersThatLayWhileThisProcessStoodStillAreNotUsed() {
        run(add(), 39);
        time.advance(Duration.ofMillis(1_050));
        asksGuard = true;
        guard.seen(now(), true, ProofKind.WATCH, now());
        wheel.poll(now(), judge::overdue);
        loop.freeze();
        time.advance(Duration.ofSeconds(60));
        renewed = Optional.of(lease(60));
        loop.thaw();
        time.advance(Duration.ofSeconds(1));

        assertThat(transport.log()).contains("GET /api/v1/nodes/n1");
        assertThat(writes()).isZero();
    }
}
