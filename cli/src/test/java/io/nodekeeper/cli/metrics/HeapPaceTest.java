package io.nodekeeper.cli.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapPaceTest {
    private static final long MB = 1L << 20;

    @Test
    void aSmallHeapMayGrowBy64Megabytes() {
        HeapPace pace = new HeapPace(64 * MB, 20 * MB);

        assertThat(pace.isDue(84 * MB - 1)).isFalse();
        assertThat(pace.isDue(84 * MB)).isTrue();
    }

    @Test
    void aLargeHeapMayGrowByHalfOfWhatTheLastCollectionLeft() {
        HeapPace pace = new HeapPace(64 * MB, 20 * MB);
        pace.collected(400 * MB);

        assertThat(pace.isDue(600 * MB - 1)).isFalse();
        assertThat(pace.isDue(600 * MB)).isTrue();
    }

    @Test
    void aHeapThatDoesNotGrowIsNeverCollected() {
        HeapPace pace = new HeapPace(64 * MB, 700 * MB);

        for (int look = 0; look < 1_000; look++) {
            assertThat(pace.isDue(700 * MB)).isFalse();
        }
    }

    @Test
    void whatTheCollectorFreedByItselfCounts() {
        HeapPace pace = new HeapPace(64 * MB, 400 * MB);

        assertThat(pace.isDue(100 * MB)).isFalse();
        assertThat(pace.isDue(164 * MB)).isTrue();
    }
}
