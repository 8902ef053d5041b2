package io.nodekeeper.controller.zones;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A zone in numbers. */
class ZoneSummaryTest {
    private static ZoneNode node(String zone, boolean counted, String ready, boolean tainted) {
        return new ZoneNode(zone, counted, ready, false, tainted);
    }

    @Test
    void nodesAreCountedByZoneAndOnlyCountingNodesMakeItsState() {
        List<ZoneSummary> zones = ZoneSummary.of(
                List.of(
                        node("b", true, "Unknown", true),
                        node("b", true, "Unknown", false),
                        node("a", true, "True", false),
                        node("a", false, "False", false),
                        node("c", false, "", false)),
                0.55F);

        assertThat(zones)
                .containsExactly(
                        new ZoneSummary("a", ZoneState.NORMAL, 2, 1, 1),
                        new ZoneSummary("b", ZoneState.FULL_DISRUPTION, 2, 2, 1),
                        new ZoneSummary("c", ZoneState.INITIAL, 1, 1, 0));
    }
}
