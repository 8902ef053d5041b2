package io.nodekeeper.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What proves that a recorder sees everything. */
class RecorderSightTest {
    private final RecorderSight sight = new RecorderSight(at(0));

    private static long at(double seconds) {
        return (long) (seconds * Duration.ofSeconds(1).toNanos());
    }

    @Test
    void aChangeOfTheRevisionOrALaterOneProvesWhatWasStoredBeforeTheQuestion() {
        sight.asked(50, at(3));
        sight.seen(49);
        assertThat(sight.age(at(4))).isEqualTo(at(4));

        sight.seen(51);

        assertThat(sight.age(at(4))).isEqualTo(at(1));
    }

    @Test
    void sightIsLostFiveSecondsAfterTheLastProofAndSinceThatProof() {
        sight.asked(50, at(1));
        sight.seen(50);

        assertThat(sight.lost(at(6))).isEmpty();
        assertThat(sight.lost(at(6.1))).contains(at(1));
        // said once
        assertThat(sight.lost(at(7))).isEmpty();
        assertThat(sight.found(at(7))).isFalse();
    }

    @Test
    void aLateChangeProvesOnlyTheTimeOfItsQuestion() {
        sight.asked(50, at(1));
        assertThat(sight.lost(at(10))).isPresent();

        sight.seen(50);
        assertThat(sight.found(at(10))).isFalse();

        sight.asked(60, at(9));
        sight.seen(60);
        assertThat(sight.found(at(10))).isTrue();
        assertThat(sight.lost(at(10))).isEmpty();
    }

    @Test
    void aListWithNothingNewProvesToo() {
        sight.listed(at(8));

        assertThat(sight.lost(at(12))).isEmpty();
    }

    @Test
    void aRevisionThatIsNoNumberProvesNothing() {
        sight.asked(-12, at(3));
        sight.seen(100);

        assertThat(sight.age(at(4))).isEqualTo(at(4));
    }

    @Test
    void theOldestOfManyOpenQuestionsAreForgotten() {
        for (int second = 1; second <= 1_000; second++) {
            sight.asked(second, at(second));
        }

        sight.seen(900);

        // Questions 937 to 1000 are open.
        assertThat(sight.age(at(1_000))).isEqualTo(at(1_000));
        sight.seen(940);
        assertThat(sight.age(at(1_000))).isEqualTo(at(60));
    }
}
