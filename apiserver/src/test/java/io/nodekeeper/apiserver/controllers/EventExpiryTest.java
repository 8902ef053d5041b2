package io.nodekeeper.apiserver.controllers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.store.memory.StoreLimits;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many events that end at the same time, in virtual time. */
class EventExpiryTest {
    private static final String EVENTS = "/registry/events/default/";
    private static final Duration HOUR = Duration.ofHours(1);

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("store");

    private int stored(IndexedStore store) {
        return store.list(EVENTS, "", 0, 0).entries().size();
    }

    /** Events whose keys have the same length. */
    private void write(IndexedStore store, int first, int count, int bytes) {
        for (int i = first; i < first + count; i++) {
            store.put(EVENTS + "e%06d".formatted(i), new byte[bytes], 0);
        }
        time.advance(Duration.ZERO);
    }

    @Test
    void manyEventsThatEndTogetherAreDeletedInGroups() {
        // given a thousand events of a server that starts, which all end an hour later
        IndexedStore store = new IndexedStore(loop, Journal.NONE);
        write(store, 0, 1_000, 100);
        new EventExpiry(store, loop, HOUR).start();
        time.advance(HOUR.minusMillis(1));
        assertThat(stored(store)).isEqualTo(1_000);

        // then at most 128 are deleted in 50 ms
        int before = 1_000;
        int steps = 0;
        for (; before > 0 && steps < 1_000; steps++) {
            time.advance(Duration.ofMillis(50));
            int now = stored(store);
            assertThat(before - now).isLessThanOrEqualTo(128);
            before = now;
        }
        // and all within the ten seconds between two looks
        assertThat(before).isZero();
        assertThat(steps * 50).isLessThanOrEqualTo(10_000);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void eventsNeverHaveMoreThanAQuarterOfTheQuotaAlsoWhileOthersWaitForTheirDeletion(long seed) {
        // given events that end together, up to a quarter of the quota
        int room = 1 << 20;
        IndexedStore store = new IndexedStore(loop, Journal.NONE, StoreLimits.DEFAULT.quota(4 * room));
        write(store, 0, 2_000, 400);
        new EventExpiry(store, loop, HOUR).start();
        time.advance(HOUR);

        // when 10,000 more come within the time that their deletion takes
        Random random = new Random(seed);
        for (int i = 0; i < 200; i++) {
            write(store, 2_000 + 50 * i, 50, 1 + random.nextInt(2_000));
            time.advance(Duration.ofMillis(1 + random.nextInt(5)));

            // then they never have more
            assertThat(store.list(EVENTS, "", 0, 0).entries().stream()
                            .mapToInt((Entry entry) -> entry.key().length() + entry.length())
                            .sum())
                    .isLessThanOrEqualTo(room);
        }
        assertThat(stored(store)).isPositive();
    }
}
