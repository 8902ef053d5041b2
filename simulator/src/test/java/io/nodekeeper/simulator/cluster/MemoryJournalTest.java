package io.nodekeeper.simulator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a simulated disk keeps after a crash. */
class MemoryJournalTest {
    private static final String NODES = "/registry/minions/";

    private final MemoryJournal disk = new MemoryJournal();

    private static Event created(String key, long revision) {
        return new Event(
                revision, key, Optional.empty(), Optional.of(new Entry(key, new byte[] {1}, revision, revision)));
    }

    @Test
    void watchFromBeforeARemovedChangeIsCompactedAfterACrash() {
        // given three changes of nodes, two of which left the history, and one of a lease
        Event first = created(NODES + "n1", 1);
        Event second = created(NODES + "n2", 2);
        disk.append(List.of(first, second, created(NODES + "n3", 3)), List.of());
        disk.append(List.of(created("/registry/leases/l1", 4)), List.of(first, second));

        // when the next server opens the disk
        VirtualTime time = new VirtualTime(Instant.EPOCH);
        IndexedStore store = new IndexedStore(time.loop("store"), disk);

        // then a watch of nodes from before the removed changes ends, and one from after them goes on
        assertThat(watch(time, store, NODES, 1)).containsExactly("gone after 2");
        assertThat(watch(time, store, NODES, 2)).containsExactly("3");
        // and the history of leases is complete
        assertThat(watch(time, store, "/registry/leases/", 0)).containsExactly("4");
    }

    private static List<String> watch(VirtualTime time, Store store, String prefix, long after) {
        List<String> heard = new ArrayList<>();
        store.watch(prefix, after, new Store.Watcher() {
            @Override
            public void onEvent(Event event) {
                heard.add(Long.toString(event.revision()));
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                heard.add("gone after " + why.oldest());
            }
        });
        time.advance(Duration.ZERO);
        return heard;
    }
}
