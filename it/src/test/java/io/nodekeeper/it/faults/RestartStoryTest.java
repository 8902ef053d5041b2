package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RestartStoryTest {
    private static final Truth SHIM = Truth.process("shim", () -> Set.of(7L), "frozen");
    private static final RestartLook SILENT = look("", List.of());
    private static final RestartLook UNKNOWN = look("Unknown", List.of());
    private static final RestartLook WELL = look("False", List.of());
    private static final RestartLook TRUE = look("True", List.of(named("CgroupFrozen", "certain", 7)));
    private static final RestartLook FALSE = look("True", List.of(named("OCIRuntimeHung", "likely", 9)));
    private static final RestartLook UNEXPLAINED = look("True", List.of(named("CallHung", "unknown", 9)));

    @Test
    void aCauseThatIsNamedOnceItIsKnownIsRight() {
        RestartStory story = RestartStory.of(row(3, SILENT, 7, UNKNOWN, 50, TRUE), false, Optional.empty());

        assertThat(story.text())
                .isEqualTo("1-3 s Ready, nothing yet; 4-10 s Ready, not yet known;"
                        + " from 11 s Ready, CgroupFrozen pid 7 (certain)");
        assertThat(story.shown()).isEqualTo("right");
    }

    @Test
    void nothingHangsIsNeverRightWhileTheFaultLasts() {
        assertThat(shown(row(3, SILENT, 9, UNKNOWN, 1, WELL, 47, TRUE), false))
                .isEqualTo("falsely well: nothing hangs at 13 s");
        assertThat(shown(row(3, SILENT, 9, TRUE, 48, WELL), false)).isEqualTo("falsely well: nothing hangs at 13 s");
    }

    @Test
    void nothingHangsIsRightWithoutAFaultButNotWithinTenSeconds() {
        assertThat(shown(row(3, SILENT, 6, UNKNOWN, 51, WELL), true)).isEqualTo("right");
        assertThat(shown(row(3, SILENT, 5, UNKNOWN, 52, WELL), true)).isEqualTo("falsely well: nothing hangs at 9 s");
    }

    @Test
    void anAgentThatTurnsTheNodeReadyBeforeItHasLookedIsTooEarly() {
        RestartLook declared = RestartLook.of(condition("True"), true, conditions("Unknown"), List.of(), List.of(SHIM));
        assertThat(shown(row(3, SILENT, 1, declared, 56, TRUE), false)).isEqualTo("falsely well: Ready at 4 s");
        // A fault of one pod does not prevent Ready.
        RestartLook known = RestartLook.of(
                condition("True"),
                true,
                conditions("True"),
                List.of(named("CgroupFrozen", "certain", 7)),
                List.of(SHIM));
        assertThat(shown(row(3, SILENT, 57, known), false)).isEqualTo("right");
    }

    @Test
    void eachAccusationMustBeTheCauseAlsoForASecond() {
        assertThat(shown(row(4, SILENT, 2, FALSE, 54, TRUE), false))
                .isEqualTo("false first: OCIRuntimeHung pid 9 (likely) at 5 s");
        assertThat(shown(row(4, SILENT, 2, TRUE, 1, FALSE, 53, TRUE), false))
                .isEqualTo("false later: OCIRuntimeHung pid 9 (likely) at 7 s");
        assertThat(shown(row(20, UNKNOWN, 40, FALSE), true))
                .isEqualTo("false first: OCIRuntimeHung pid 9 (likely) at 21 s");
    }

    @Test
    void whatIsSaidToBeUnknownAccusesNothingAndNamesNothing() {
        assertThat(shown(row(4, SILENT, 2, UNEXPLAINED, 54, TRUE), false)).isEqualTo("right");
        assertThat(shown(row(4, SILENT, 56, UNEXPLAINED), false)).isEqualTo("not named: in 60 s");
    }

    @Test
    void whatIsSaidAfterTheEndOfTheFaultDoesNotCount() {
        List<RestartLook> looks = row(5, SILENT, 15, UNKNOWN, 40, WELL);

        assertThat(RestartStory.of(looks, false, Optional.of(21)).shown()).isEqualTo("fault ended: at 21 s");
        assertThat(RestartStory.of(looks, false, Optional.of(22)).shown())
                .isEqualTo("falsely well: nothing hangs at 21 s");
        assertThat(RestartStory.of(row(5, SILENT, 15, TRUE, 40, WELL), false, Optional.of(21))
                        .shown())
                .isEqualTo("right");
    }

    @Test
    void theNodeThatIsNotReadyIsShownAsSuch() {
        RestartLook down = RestartLook.of(
                condition("False"),
                false,
                conditions("True"),
                List.of(named("CgroupFrozen", "certain", 7)),
                List.of(SHIM));
        assertThat(down.text()).isEqualTo("NotReady, CgroupFrozen pid 7 (certain)");
    }

    /** The pod network may work while the runtime was not looked at. */
    @Test
    void nothingHangsOnlyOnceAllConditionsSaySo() {
        assertThat(both("False", "Unknown").text()).isEqualTo("Ready, not yet known");
        assertThat(both("False", "").text()).isEqualTo("Ready, nothing yet");
        assertThat(both("False", "False").text()).isEqualTo("Ready, nothing hangs");
        assertThat(both("False", "True").text()).isEqualTo("Ready, a fault");
        assertThat(both("", "Unknown").text()).isEqualTo("Ready, not yet known");
    }

    private static RestartLook both(String network, String runtime) {
        return RestartLook.of(condition("True"), false, conditions(network, runtime), List.of(), List.of(SHIM));
    }

    @Test
    void aScoreCountsWhatIsFalseAlsoIfTheAgentGotNoProcessor() {
        List<RestartLook> wrong = row(4, SILENT, 56, FALSE);
        List<RestartLook> silent = row(60, SILENT);
        RestartScore score = RestartScore.of(List.of(
                result(1, 0, row(9, UNKNOWN, 51, TRUE)),
                result(2, 0.9, wrong),
                result(3, 0.9, silent),
                result(4, 0, silent)));

        assertThat(score.line())
                .isEqualTo("1 right, 0 falsely well, 1 false first, 0 false later, 1 not named, 1 not counted");
        assertThat(score.reached()).isFalse();
        assertThat(RestartScore.of(List.of(result(1, 0, row(9, UNKNOWN, 51, TRUE))))
                        .reached())
                .isTrue();
        assertThat(RestartScore.rows(List.of(result(3, 0.9, silent))))
                .isEqualTo("| 3 |  | not counted: not named: in 60 s | from 1 s Ready, nothing yet |\n");
    }

    private static FaultResult result(int number, double shortage, List<RestartLook> looks) {
        return new FaultResult(
                new GeneratedFault(number, List.of(), false, GeneratedFault.Healer.GENERATOR, true),
                "truth",
                true,
                shortage,
                Judgement.Verdict.RIGHT,
                Optional.empty(),
                List.of(),
                List.of(),
                List.of(),
                Optional.empty(),
                List.of(),
                Optional.of(RestartStory.of(looks, false, Optional.empty())),
                "");
    }

    private static String shown(List<RestartLook> looks, boolean quiet) {
        return RestartStory.of(looks, quiet, Optional.empty()).shown();
    }

    /** Each look so many times. */
    private static List<RestartLook> row(Object... timesAndLooks) {
        List<RestartLook> looks = new ArrayList<>();
        for (int i = 0; i < timesAndLooks.length; i += 2) {
            for (int times = 0; times < (int) timesAndLooks[i]; times++) {
                looks.add((RestartLook) timesAndLooks[i + 1]);
            }
        }
        return looks;
    }

    private static RestartLook look(String status, List<Named> named) {
        return RestartLook.of(condition("True"), false, conditions(status), named, List.of(SHIM));
    }

    private static List<Optional<Condition>> conditions(String... statuses) {
        return Stream.of(statuses).map(RestartStoryTest::condition).toList();
    }

    private static Optional<Condition> condition(String status) {
        return status.isEmpty()
                ? Optional.empty()
                : Optional.of(Condition.of("Any", status, "Reason", "message", Instant.EPOCH, Instant.EPOCH));
    }

    private static Named named(String reason, String confidence, long pid) {
        return new Named(reason, "frozen", confidence, Optional.of(pid), Optional.empty(), List.of(), "thaw");
    }
}
