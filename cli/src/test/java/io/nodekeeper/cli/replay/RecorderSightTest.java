package io.nodekeeper.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What proves that a watch has shown everything. Times are seconds here. */
class RecorderSightTest {
    private final RecorderSight sight = new RecorderSight(0);

    @Test
    void aChangeOfTheRevisionOrALaterOneProvesWhatWasStoredBeforeTheQuestion() {
        sight.answered(sight.ask(3), 50);
        sight.seen(49);
        assertThat(sight.provenAt()).isZero();

        sight.seen(51);

        assertThat(sight.provenAt()).isEqualTo(3);
    }

    @Test
    void aQuestionWithoutAnythingNewIsItsOwnProof() {
        sight.seen(50);

        sight.answered(sight.ask(7), 50);

        assertThat(sight.provenAt()).isEqualTo(7);
    }

    @Test
    void aLateChangeProvesOnlyTheTimeOfItsQuestion() {
        sight.answered(sight.ask(1), 50);
        sight.answered(sight.ask(9), 60);

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
        sight.answered(sight.ask(3), -12);
        sight.seen(100);

        assertThat(sight.provenAt()).isZero();
    }

    @Test
    void revisionsOfAStoreBeforeItsRestorationProveNothing() {
        sight.seen(1_000);
        sight.answered(sight.ask(2), 1_100);

        sight.restart();
        sight.seen(900);
        sight.answered(sight.ask(5), 910);
        assertThat(sight.provenAt()).isZero();

        sight.seen(911);
        assertThat(sight.provenAt()).isEqualTo(5);
    }

    @Test
    void aSmallerRevisionThanWasSeenProvesNothing() {
        sight.seen(1_000);

        // Asked of a store that was restored, while the watch hangs at the old one.
        sight.answered(sight.ask(7), 910);

        assertThat(sight.provenAt()).isZero();
    }

    @Test
    void aRevisionThatTheWatchOvertookProves() {
        RecorderSight.Question question = sight.ask(7);
        sight.seen(1_000);

        sight.answered(question, 990);

        assertThat(sight.provenAt()).isEqualTo(7);
    }

    @Test
    void anAnswerFromBeforeAnotherListProvesNothing() {
        RecorderSight.Question question = sight.ask(7);
        sight.restart();
        sight.seen(1_000);

        sight.answered(question, 990);

        assertThat(sight.provenAt()).isZero();
    }

    @Test
    void theOldestOfManyOpenQuestionsAreForgotten() {
        for (int second = 1; second <= 1_000; second++) {
            sight.answered(sight.ask(second), second);
        }

        sight.seen(900);

        // Questions 937 to 1000 are open.
        assertThat(sight.provenAt()).isZero();
        sight.seen(940);
        assertThat(sight.provenAt()).isEqualTo(940);
    }
}
