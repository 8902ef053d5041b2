package io.nodekeeper.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.memory.StoreLimits;
import io.nodekeeper.store.memory.WatchCache;
import org.junit.jupiter.api.Test;

/** Versions whose value is in memory, and versions whose value is read on demand. */
class EntryTest {
    private boolean cached;

    private final ValueReader values = new ValueReader() {
        @Override
        public byte[] read(String key, long revision) {
            return new byte[] {1, 2, 3};
        }

        @Override
        public boolean cached(long revision) {
            return cached;
        }
    };

    @Test
    void valueInMemoryIsAtHandAndCounted() {
        Entry entry = new Entry("a", new byte[] {1, 2}, 1, 2);

        assertThat(entry.atHand()).isTrue();
        assertThat(entry.resident()).isEqualTo(2);
        assertThat(entry.loaded()).isSameAs(entry);
    }

    @Test
    void storedValueIsAtHandWhileItIsCachedAndTakesNoMemory() {
        Entry entry = Entry.stored("a", 3, values, 1, 2);
        assertThat(entry.atHand()).isFalse();
        cached = true;
        assertThat(entry.atHand()).isTrue();

        assertThat(entry.resident()).isZero();
        assertThat(entry.length()).isEqualTo(3);
        assertThat(entry.value()).containsExactly(1, 2, 3);
        assertThat(entry.loaded()).isEqualTo(entry).isNotSameAs(entry);
        assertThat(entry.loaded().resident()).isEqualTo(3);
    }

    @Test
    void sameVersionOfTheSameObjectIsEqual() {
        Entry entry = new Entry("a", new byte[1], 1, 2);

        assertThat(entry)
                .isEqualTo(Entry.stored("a", 3, values, 1, 2))
                .hasSameHashCodeAs(Entry.stored("a", 3, values, 1, 2));
        assertThat(entry.hashCode()).isEqualTo(31 * 97 + 2);
        assertThat(entry).isNotEqualTo(new Entry("b", new byte[1], 1, 2));
        assertThat(entry).isNotEqualTo(new Entry("a", new byte[1], 2, 2));
        assertThat(entry).isNotEqualTo(new Entry("a", new byte[1], 1, 3));
        assertThat(entry.equals("a")).isFalse();
    }

    @Test
    void anotherQuotaLeavesTheOtherLimits() {
        StoreLimits limits = StoreLimits.DEFAULT.quota(5);

        assertThat(limits.quota()).isEqualTo(5);
        assertThat(limits.heap()).isEqualTo(StoreLimits.DEFAULT.heap());
        assertThat(new WatchCache.Limits(1, 1).memory()).isEqualTo(WatchCache.Limits.DEFAULT.memory());
    }
}
