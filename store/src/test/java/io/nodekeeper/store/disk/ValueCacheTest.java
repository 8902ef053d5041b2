package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A cache of 1,000 bytes; each value costs 100 bytes more than it has. */
class ValueCacheTest {
    private final ValueCache cache = new ValueCache(1_000);

    @Test
    void valueOfAQuarterIsKeptAndALargerOneIsNot() {
        cache.put(1, new byte[250]);
        cache.put(2, new byte[251]);

        assertThat(cache.get(1)).contains(new byte[250]);
        assertThat(cache.has(1)).isTrue();
        assertThat(cache.get(2)).isEmpty();
        assertThat(cache.has(2)).isFalse();
        assertThat(cache.bytes()).isEqualTo(350);
    }

    @Test
    void leastRecentlyUsedValueIsEvictedAboveTheLimit() {
        for (int i = 1; i <= 5; i++) {
            cache.put(i, new byte[100]);
        }
        assertThat(cache.bytes()).as("all of it").isEqualTo(1_000);
        cache.get(1);
        cache.has(2);

        cache.put(6, new byte[100]);

        assertThat(cache.has(1)).isTrue();
        assertThat(cache.has(2)).as("a look is no use").isFalse();
        assertThat(cache.has(3)).isTrue();
        assertThat(cache.bytes()).isEqualTo(1_000);
    }

    @Test
    void largeValueMakesRoomForItself() {
        for (int i = 1; i <= 5; i++) {
            cache.put(i, new byte[100]);
        }

        cache.put(6, new byte[250]);

        assertThat(cache.has(2)).isFalse();
        assertThat(cache.has(3)).isTrue();
        assertThat(cache.bytes()).isEqualTo(950);
    }

    @Test
    void repeatedPutOfAValueIsCountedOnce() {
        cache.put(1, new byte[200]);
        cache.put(1, new byte[50]);

        assertThat(cache.bytes()).isEqualTo(150);
        assertThat(cache.get(1)).contains(new byte[50]);
    }
}
