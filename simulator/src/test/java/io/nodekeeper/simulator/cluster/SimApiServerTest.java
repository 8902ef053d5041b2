package io.nodekeeper.simulator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.memory.StoreLimits;
import io.nodekeeper.store.memory.WatchCache;
import org.junit.jupiter.api.Test;

/** What a simulated API server has of the process in which it runs: nothing. */
class SimApiServerTest {
    @Test
    void limitsAreTheSameWhateverHeapTheSimulationHas() {
        assertThat(SimApiServer.LIMITS)
                .isEqualTo(new StoreLimits(
                        new WatchCache.Limits(100_000, 300_000_000_000L, 134_217_728, 536_870_912),
                        2_147_483_648L,
                        536_870_912));
    }
}
