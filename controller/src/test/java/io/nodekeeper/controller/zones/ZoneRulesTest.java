package io.nodekeeper.controller.zones;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ZoneConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules of zones as pure functions: keys, states, rates, transitions, queues. */
class ZoneRulesTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    @Tag("L52")
    void keyIsRegionAndZoneWithANulByteBetween() {
        assertThat(key("topology.kubernetes.io/region", "region1", "topology.kubernetes.io/zone", "zone1"))
                .isEqualTo("region1:\u0000:zone1");
        assertThat(ZoneKey.of(new Node(JsonObject.EMPTY))).isEqualTo("");
        assertThat(key("topology.kubernetes.io/zone", "zone1")).isEqualTo(":\u0000:zone1");
    }

    @Test
    @Tag("L52")
    void betaLabelsCountFirstEvenIfEmpty() {
        assertThat(key("failure-domain.beta.kubernetes.io/zone", "old", "topology.kubernetes.io/zone", "new"))
                .isEqualTo(":\u0000:old");
        assertThat(key("failure-domain.beta.kubernetes.io/zone", "", "topology.kubernetes.io/zone", "new"))
                .isEqualTo("");
    }

    @Test
    @Tag("L53")
    @Tag("L54")
    void stateDependsOnTheNumberOfNodesThatAreNotReady() {
        assertThat(ZoneState.of(3, 2, 0.55f)).isEqualTo(ZoneState.NORMAL);
        assertThat(ZoneState.of(2, 3, 0.55f)).isEqualTo(ZoneState.PARTIAL_DISRUPTION);
        assertThat(ZoneState.of(3, 3, 0.55f)).isEqualTo(ZoneState.NORMAL);
        assertThat(ZoneState.of(1, 2, 0.55f)).isEqualTo(ZoneState.NORMAL);
        assertThat(ZoneState.of(0, 3, 0.55f)).isEqualTo(ZoneState.FULL_DISRUPTION);
        assertThat(ZoneState.of(0, 4, 0.55f)).isEqualTo(ZoneState.FULL_DISRUPTION);
        assertThat(ZoneState.of(1, 3, 0.55f)).isEqualTo(ZoneState.PARTIAL_DISRUPTION);
        assertThat(ZoneState.of(0, 0, 0.55f)).isEqualTo(ZoneState.NORMAL);
        // Eleven of twenty are exactly the threshold.
        assertThat(ZoneState.of(9, 11, 0.55f)).isEqualTo(ZoneState.PARTIAL_DISRUPTION);
    }

    @Test
    @Tag("L58")
    void partialDisruptionStopsSmallZonesAndSlowsLargeOnes() {
        assertThat(ZoneState.PARTIAL_DISRUPTION.rate(ZoneConfig.DEFAULT, 50)).isEqualTo(0f);
        assertThat(ZoneState.PARTIAL_DISRUPTION.rate(ZoneConfig.DEFAULT, 51)).isEqualTo(0.01f);
        assertThat(ZoneState.FULL_DISRUPTION.rate(ZoneConfig.DEFAULT, 50)).isEqualTo(0.1f);
        assertThat(ZoneState.NORMAL.rate(ZoneConfig.DEFAULT, 50)).isEqualTo(0.1f);
    }

    @Test
    @Tag("L55")
    @Tag("L56")
    void fairModeEndsWithTheFirstZoneThatIsBack() {
        FairDisruption zones = new FairDisruption(ZoneConfig.DEFAULT, true);
        zones.count("zone1", 0, 2);
        zones.count("zone2", 2, 0);
        assertThat(zones.step())
                .contains(
                        new ZoneCommand.Counted("zone1", 2, 2, ZoneState.FULL_DISRUPTION),
                        new ZoneCommand.SetRate("zone1", 0.1f))
                .doesNotContain(new ZoneCommand.Enter(true));

        zones.count("zone2", -2, 2);
        assertThat(zones.step()).contains(new ZoneCommand.Enter(true), new ZoneCommand.SetRate("zone2", 0f));
        assertThat(zones.rate("zone1")).isEqualTo(0f);

        zones.count("zone2", 1, -1);
        assertThat(zones.step()).contains(new ZoneCommand.Exit(), new ZoneCommand.SetRate("zone2", 0.1f));
        assertThat(zones.rate("zone1")).isEqualTo(0.1f);
        assertThat(zones.step()).isEmpty();
    }

    @Test
    @Tag("L59")
    @Tag("W7")
    void fairStartWithAllZonesDownRemovesTaintsOnlyWithoutKeepTaints() {
        FairDisruption keeping = new FairDisruption(ZoneConfig.DEFAULT, true);
        keeping.count("", 0, 3);
        assertThat(keeping.step()).contains(new ZoneCommand.Enter(false), new ZoneCommand.SetRate("", 0f));

        FairDisruption stripping = new FairDisruption(ZoneConfig.DEFAULT, false);
        stripping.count("", 0, 3);
        assertThat(stripping.step()).contains(new ZoneCommand.Enter(true));
    }

    @Test
    @Tag("W10")
    void lastZoneUpThatIsDeletedIsATransitionAndOneThatComesEndsIt() {
        FairDisruption zones = new FairDisruption(ZoneConfig.DEFAULT, true);
        zones.count("zone1", 0, 1);
        zones.count("zone2", 1, 0);
        zones.step();

        zones.count("zone2", -1, 0);
        assertThat(zones.step())
                .contains(new ZoneCommand.Counted("zone2", 0, 0, ZoneState.INITIAL), new ZoneCommand.Enter(true));

        zones.count("zone3", 1, 0);
        assertThat(zones.step()).contains(new ZoneCommand.Exit(), new ZoneCommand.SetRate("zone3", 0.1f));
    }

    @Test
    @Tag("L60")
    @Tag("W11")
    void rateOfOneResumesTheFairQueue() {
        FairQueue<String> fair = new FairQueue<>(1f, 0);
        fair.add(new FairQueue.Place(0, 0, "a"), "a");
        fair.rate(0f, SECOND);
        assertThat(fair.next(SECOND)).isEmpty();
        fair.rate(1f, 2 * SECOND);
        assertThat(fair.next(2 * SECOND)).contains("a");
    }

    @Test
    @Tag("W13")
    void fairQueueTakesTheLongestWaitingAndKeepsTheTokenOfAnEmptyQueue() {
        FairQueue<String> queue = new FairQueue<>(0.1f, 0);
        assertThat(queue.next(0)).isEmpty();
        queue.add(new FairQueue.Place(5, 0, "late"), "late");
        queue.add(new FairQueue.Place(1, 0, "early"), "early");
        queue.add(new FairQueue.Place(1, -7, "earlier by its condition"), "earlier by its condition");

        assertThat(queue.next(0)).contains("earlier by its condition");
        assertThat(queue.next(0)).isEmpty();
        assertThat(queue.nextAt(0)).isBetween(9_999_999_000L, 10_000_001_000L);
        assertThat(queue.next(queue.nextAt(0))).contains("early");

        queue.giveBack();
        assertThat(queue.next(10 * SECOND)).contains("late");
        assertThat(queue.nextAt(10 * SECOND)).isEqualTo(FairQueue.NEVER);
    }

    private static String key(String... labels) {
        JsonObject.Builder all = JsonObject.builder();
        for (int i = 0; i < labels.length; i += 2) {
            all.put(labels[i], labels[i + 1]);
        }
        return ZoneKey.of(new Node(JsonObject.EMPTY.with("metadata", JsonObject.EMPTY.with("labels", all.build()))));
    }
}
