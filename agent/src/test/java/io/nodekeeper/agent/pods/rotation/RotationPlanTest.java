package io.nodekeeper.agent.pods.rotation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What is done with rotated logs. */
class RotationPlanTest {
    @Test
    void shouldCompressWhatWasRotatedBefore() {
        assertThat(RotationPlan.of(List.of("0.log.20260101-000001.gz", "0.log.20260101-000002"), 5))
                .isEqualTo(new RotationPlan(List.of(), List.of("0.log.20260101-000002")));
    }

    @Test
    void shouldRemoveTheOldestSoThatTheLogAndTheNextRotatedOneHaveTheirPlaces() {
        List<String> rotated = List.of(
                "0.log.20260101-000004",
                "0.log.20260101-000001.gz",
                "0.log.20260101-000003.gz",
                "0.log.20260101-000002.gz");

        assertThat(RotationPlan.of(rotated, 5).remove()).containsExactly("0.log.20260101-000001.gz");
        assertThat(RotationPlan.of(rotated, 2).remove()).hasSize(4);
        assertThat(RotationPlan.of(rotated, 2).compress()).isEmpty();
    }

    @Test
    void shouldRemoveWhatAnInterruptedCompressionLeft() {
        List<String> rotated = List.of(
                "0.log.20260101-000001",
                "0.log.20260101-000001.gz",
                "0.log.20260101-000002",
                "0.log.20260101-000002.tmp");

        assertThat(RotationPlan.of(rotated, 5))
                .isEqualTo(new RotationPlan(
                        List.of("0.log.20260101-000001", "0.log.20260101-000002.tmp"),
                        List.of("0.log.20260101-000002")));
    }
}
