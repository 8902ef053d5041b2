package io.nodekeeper.cli.hollow;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.CountingTransport.Counts;
import io.nodekeeper.time.progress.Progress;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HollowStateTest {
    @Test
    void whileNodesRegisterTheirNumberIsTheProgressAndTheReportIsPartial() {
        HollowState state =
                new HollowState(1_000, 350, Duration.ofMillis(12_345), Optional.empty(), new Counts(1_400, 2, 1));

        assertThat(state.progress())
                .isEqualTo(Progress.of(
                        "350 of 1000 nodes registered; 1400 requests answered, 2 refused, 1 failed", 350, 1_000));
        assertThat(state.report())
                .isEqualTo("PARTIAL: interrupted after 12.3s with 350 of 1000 hollow nodes registered; 1400 requests"
                        + " answered, 2 refused, 1 failed; the Nodes stay in the API");
    }

    @Test
    void onceAllHaveRegisteredThereIsNoEndAndTheReportIsWhole() {
        HollowState state = new HollowState(
                100, 100, Duration.ofSeconds(312), Optional.of(Duration.ofMillis(12_040)), new Counts(4_321, 0, 0));

        assertThat(state.progress())
                .isEqualTo(Progress.endless("all 100 nodes registered; 4321 requests answered, 0 refused, 0 failed"));
        assertThat(state.report())
                .isEqualTo("100 hollow nodes registered within 12s and ran for 4m59.9s; 4321 requests answered,"
                        + " 0 refused, 0 failed; the Nodes stay in the API");
    }
}
