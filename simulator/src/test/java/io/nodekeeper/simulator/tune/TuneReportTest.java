package io.nodekeeper.simulator.tune;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.verdicts.VerdictFigures;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which candidates are marked. */
class TuneReportTest {
    private static Trial trial(String flags, int silence, int back, double renewals, long violations) {
        Duration seconds = Duration.ofSeconds(silence);
        return new Trial(
                new Candidate(flags, ControllerConfig.DEFAULT, 40),
                new VerdictFigures(7, back, silence == 0 ? 0 : 7, seconds, seconds, seconds),
                renewals,
                Optional.of(2L),
                violations);
    }

    private static TuneReport report(int wanted, Trial... trials) {
        return new TuneReport("a source", Duration.ofMinutes(1), wanted, List.of(trials));
    }

    @Test
    void onlyThoseThatNoOtherOneBeatsAreMarked() {
        TuneReport report = report(
                5,
                trial("--quick", 20, 9, 0.1, 0),
                trial("--slow", 50, 2, 0.1, 0),
                trial("--worse-than-slow", 60, 2, 0.1, 0),
                trial("--as-slow", 50, 2, 0.104, 0),
                trial("--dear", 20, 2, 0.2, 0));

        assertThat(report.json().array("trials").objects().filter(trial -> trial.bool("best")))
                .extracting(trial -> trial.text("flags"))
                .containsExactly("--quick", "--slow", "--as-slow", "--dear");
        assertThat(report.text())
                .containsPattern("\n\\* 20s +20s +7 +9 +2 +0\\.100 +--quick\n")
                .containsPattern("\n  1m0s +1m0s +7 +2 +2 +0\\.100 +--worse-than-slow\n");
    }

    @Test
    void whatNoticesNothingIsNotQuick() {
        TuneReport report = report(2, trial("--blind", 0, 0, 0.1, 0), trial("--good", 50, 2, 0.1, 0));

        assertThat(report.text())
                .containsPattern("\n\\* - +- +7 +0 +2 +0\\.100 +--blind\n")
                .containsPattern("\n\\* 50s +50s +7 +2 +2 +0\\.100 +--good\n");
    }

    @Test
    void aBrokenRuleIsSaidAndIsNotGood() {
        TuneReport report = report(1, trial("--broken", 20, 9, 0.1, 3));

        assertThat(report.isGood()).isFalse();
        assertThat(report.text()).contains("--broken  (broke a rule 3 times)\n");
    }

    @Test
    void whatBrokeARuleIsNotTheBestAndBeatsNothing() {
        // given that the one that broke a rule has the better figures
        TuneReport report = report(2, trial("--broken", 20, 1, 0.1, 1), trial("--sound", 50, 2, 0.1, 0));

        assertThat(report.text())
                .containsPattern("\n  20s +20s +7 +1 +2 +0\\.100 +--broken +\\(broke a rule 1 times\\)\n")
                .containsPattern("\n\\* 50s +50s +7 +2 +2 +0\\.100 +--sound\n");
        assertThat(report.json().array("trials").objects().filter(trial -> trial.bool("best")))
                .extracting(trial -> trial.text("flags"))
                .containsExactly("--sound");
    }

    @Test
    void whatWasNotTriedMakesItPartial() {
        assertThat(report(2, trial("--one", 20, 9, 0.1, 0)).text())
                .startsWith("PARTIAL: interrupted after 1 of 2 candidates\na source\n");
    }

    @Test
    void candidatesAreTriedInTheirOrderUntilOneIsInterrupted() {
        List<Candidate> candidates = List.of(
                new Candidate("--a", ControllerConfig.DEFAULT, 40),
                new Candidate("--b", ControllerConfig.DEFAULT, 40),
                new Candidate("--c", ControllerConfig.DEFAULT, 40));

        TuneReport report = TuneReport.of(
                "a source",
                Duration.ofMinutes(1),
                candidates,
                candidate -> candidate.flags().equals("--b")
                        ? Optional.empty()
                        : Optional.of(trial(candidate.flags(), 1, 1, 1, 0)),
                () -> false);

        assertThat(report.trials())
                .extracting(trial -> trial.candidate().flags())
                .containsExactly("--a");
        assertThat(report.isPartial()).isTrue();
    }
}
