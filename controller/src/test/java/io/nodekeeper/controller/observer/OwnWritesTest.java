package io.nodekeeper.controller.observer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which writes of this process to other leases are proofs. The tolerance is 3; times have no unit. */
class OwnWritesTest {
    private final OwnWrites writes = new OwnWrites(3);

    @Test
    void writeCountsFromWhenItWasSent() {
        writes.acknowledged(10, 13, 2);

        assertThat(writes.takeUntil(9)).isEmpty();
        assertThat(writes.takeUntil(10)).containsExactly(10L);
        assertThat(writes.takeUntil(20)).isEmpty();
    }

    @Test
    void writeThatTookLongerThanTheToleranceIsNoProof() {
        writes.acknowledged(10, 14, 2);

        assertThat(writes.takeUntil(100)).isEmpty();
    }

    @Test
    void writeThatWasSentBeforeAKnownOneIsIgnored() {
        writes.acknowledged(10, 11, 2);
        writes.acknowledged(9, 11, 2);
        writes.acknowledged(10, 12, 2);
        writes.acknowledged(12, 13, 2);

        assertThat(writes.takeUntil(100)).containsExactly(10L, 12L);
    }

    @Test
    void noMoreThan256AreRemembered() {
        for (int at = 0; at < 1_000; at++) {
            writes.acknowledged(at, at, 2);
        }

        assertThat(writes.size()).isEqualTo(256);
        assertThat(writes.takeUntil(744)).containsExactly(744L);
    }
}
