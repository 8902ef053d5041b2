package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.ValueReader;
import io.nodekeeper.time.VirtualTime;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a read of one object's history costs if its resource has many changes of others. */
class PassedOverChangesTest {
    private static final String QUIET = "/registry/leases/quiet/x";
    private static final String BUSY = "/registry/leases/busy/x";
    private static final int CHANGES = 20_000;
    /** The bytes that a read may take. Making each change would take 2 MB or more. */
    private static final long LITTLE = 500_000;

    private static final ValueReader DISK = new ValueReader() {
        @Override
        public byte[] read(String key, long revision) {
            throw new AssertionError(key);
        }

        @Override
        public boolean cached(long revision) {
            return false;
        }
    };

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final WatchCache cache = new WatchCache(
            time.loop("store"), new WatchCache.Limits(100_000, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE));
    private final List<Long> delivered = new ArrayList<>();

    @BeforeEach
    void fill() {
        List<Event> changes = new ArrayList<>();
        changes.add(new Event(1, BUSY, Optional.empty(), Optional.of(version(BUSY, 1))));
        for (long revision = 2; revision < CHANGES; revision++) {
            changes.add(new Event(
                    revision, BUSY, Optional.of(version(BUSY, revision - 1)), Optional.of(version(BUSY, revision))));
        }
        changes.add(new Event(CHANGES, QUIET, Optional.empty(), Optional.of(version(QUIET, CHANGES))));
        cache.apply(cache.plan(changes));
    }

    private static Entry version(String key, long revision) {
        return Entry.stored(key, 300, DISK, key.equals(BUSY) ? 1 : CHANGES, revision);
    }

    /** The bytes that this thread allocates for {@code read}, without what it takes to load classes. */
    private static long allocated(Runnable read) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        read.run();
        long before = threads.getCurrentThreadAllocatedBytes();
        read.run();
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void pageOfOneObjectsChangesMakesNoChangeOfAnother() {
        assertThat(allocated(() ->
                        assertThat(cache.changes(QUIET, 0, 10, 1_000).events()).hasSize(1)))
                .isLessThan(LITTLE);
    }

    @Test
    void watchOfOneObjectMakesNoChangeOfAnother() {
        assertThat(allocated(this::watch)).isLessThan(LITTLE);
        assertThat(delivered).containsExactly((long) CHANGES, (long) CHANGES);
    }

    @Test
    void listOfFewObjectsAtAnEarlierRevisionMakesNoChangeOfAnother() {
        assertThat(allocated(() -> assertThat(
                                cache.list("/registry/leases/quiet/", "", 0, 1).entries())
                        .isEmpty()))
                .isLessThan(LITTLE);
    }

    private void watch() {
        cache.watch(QUIET, 0, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                delivered.add(event.revision());
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                throw new AssertionError(why);
            }
        });
        time.advance(Duration.ZERO);
    }
}
