package io.nodekeeper.apiserver.netty.connections;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Where the limits of connections come from. */
class ConnectionLimitsTest {
    private static final long MB = 1 << 20;

    @Test
    void heapLimitsConnectionsIfThereAreDescriptors() {
        assertThat(ConnectionLimits.of(1_000_000, 800 * MB)).isEqualTo(new ConnectionLimits(51_200, 200 * MB));
    }

    @Test
    void aQuarterOfTheDescriptorsIsLeftForOthers() {
        assertThat(ConnectionLimits.of(4_096, 800 * MB)).isEqualTo(new ConnectionLimits(3_072, 200 * MB));
    }

    @Test
    void processHasLimits() {
        assertThat(ConnectionLimits.ofProcess().most()).isBetween(100, 786_432);
    }
}
