package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ScoreTest {
    @Test
    void nineteenOfTwentyRightReachTheGoal() {
        assertThat(Score.of(results(19, result(Judgement.Verdict.PARTLY, true, 0, List.of())))
                        .reached())
                .isTrue();
        assertThat(Score.of(results(18, result(Judgement.Verdict.PARTLY, true, 0, List.of())))
                        .reached())
                .isFalse();
    }

    @Test
    void oneFalseCertaintyMissesTheGoal() {
        assertThat(Score.of(results(99, result(Judgement.Verdict.RIGHT, true, 0, List.of("DiskStalled"))))
                        .reached())
                .isFalse();
    }

    @Test
    void threePercentSilentMissTheGoal() {
        assertThat(Score.of(results(40, result(Judgement.Verdict.SILENT, true, 0, List.of())))
                        .reached())
                .isTrue();
        assertThat(Score.of(results(32, result(Judgement.Verdict.SILENT, true, 0, List.of())))
                        .reached())
                .isFalse();
    }

    @Test
    void faultsWithoutEffectAndAgentsWithoutAProcessorDoNotCountWhateverTheVerdict() {
        List<FaultResult> results = new ArrayList<>(List.of(
                result(Judgement.Verdict.SILENT, false, 0, List.of()),
                result(Judgement.Verdict.WRONG, true, 0.3, List.of()),
                result(Judgement.Verdict.RIGHT, true, 0.3, List.of()),
                result(Judgement.Verdict.RIGHT, true, 0.2, List.of())));

        Score score = Score.of(results);

        assertThat(score.line())
                .isEqualTo("1 right, 0 partly, 0 wrong, 0 unknown, 0 silent, 1 without effect, 2 not counted");
        assertThat(score.reached()).isTrue();
    }

    @Test
    void whatIsFalseAndCertainCountsAlsoWithoutAProcessor() {
        assertThat(Score.of(List.of(result(Judgement.Verdict.RIGHT, true, 0.9, List.of("DiskStalled"))))
                        .reached())
                .isFalse();
    }

    private static List<FaultResult> results(int right, FaultResult other) {
        List<FaultResult> results = new ArrayList<>(List.of(other));
        for (int i = 0; i < right; i++) {
            results.add(result(Judgement.Verdict.RIGHT, true, 0, List.of()));
        }
        return results;
    }

    private static FaultResult result(
            Judgement.Verdict verdict, boolean effect, double shortage, List<String> falselyCertain) {
        return new FaultResult(
                new GeneratedFault(1, List.of(), false, GeneratedFault.Healer.GENERATOR, false),
                "truth",
                effect,
                shortage,
                verdict,
                Optional.empty(),
                List.of(),
                falselyCertain,
                List.of(),
                Optional.empty(),
                List.of(),
                Optional.empty(),
                "");
    }
}
