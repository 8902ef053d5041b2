package io.nodekeeper.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What proves that a watch has shown everything. Times are seconds here. */
class RecorderSightTest {
    private final RecorderSight sight = new RecorderSight(0);

    @Test
    void aChangeOfTheRevisionOrALaterOneProvesWhatWasStoredBeforeTheQuestion() {
        sight.asked(50, 3);
        sight.seen(49);
        assertThat(sight.provenAt()).isZero();

        sight.seen(51);

        assertThat(sight.provenAt()).isEqualTo(3);
    }

    @Test
    void aQuestionWithoutAnythingNewIsItsOwnProof() {
        sight.seen(50);

        sight.asked(50, 7);

        assertThat(sight.provenAt()).isEqualTo(7);
    }

    @Test
    void aLateChangeProvesOnlyTheTimeOfItsQuestion() {
        sight.asked(50, 1);
        sight.asked(60, 9);

        sight.seen(55);

        assertThat(sight.provenAt()).isEqualTo(1);
    }

    @Test
    void aListWithNothingNewProvesToo() {
        sight.listed(8);
        sight.listed(6);

        assertThat(sight.provenAt()).isEqualTo(8);
    }

    @Test
    void aRevisionThatIsNoNumberProvesNothing() {
        sight.asked(-12, 3);
        sight.seen(100);

        assertThat(sight.provenAt()).isZero();
    }

    @Test
    void revisionsOfAStoreBeforeItsRestorationProveNothing() {
        sight.seen(1_000);
        sight.asked(1_100, 2);

        sight.restart();
        sight.seen(900);
        sight.asked(910, 5);
        assertThat(sight.provenAt()).isZero();

        sight.seen(911);
        assertThat(sight.provenAt()).isEqualTo(5);
    }

    @Test
    void theOldestOfManyOpenQuestionsAreForgotten() {
        for (int second = 1; second <= 1_000; second++) {
            sight.asked(second, second);
        }

        sight.seen(900);

        // Questions 937 to 1000 are open.
        assertThat(sight.provenAt()).isZero();
        sight.seen(940);
        assertThat(sight.provenAt()).isEqualTo(940);
    }
}
