package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract with a journal in memory, and the failure of a journal. */
class MemoryStoreTest extends JournaledContract {
    private final FlakyJournal journal = new FlakyJournal();

    @Override
    protected Journal journal() {
        return journal;
    }

    /** Records the revisions of each group, and fails on request. */
    private static final class FlakyJournal implements Journal {
        private final List<String> appended = new ArrayList<>();
        private boolean failing;

        @Override
        public Recovered load() {
            return new Recovered(0, List.of(), List.of());
        }

        @Override
        public void append(List<Event> events, List<Event> forgotten) {
            if (failing) {
                throw new StoreException("no space left on device", null);
            }
            appended.add(revisions(events) + " forget " + revisions(forgotten));
        }

        @Override
        public void close() {}

        private static List<Long> revisions(List<Event> events) {
            return events.stream().map(Event::revision).toList();
        }
    }

    @Test
    void waitingWritesBecomeDurableAsOneGroup() {
        store.put(N1, bytes("a"), 0);
        store.put(LEASE, bytes("x"), 0);
        store.put(N1, bytes("b"), 1);
        settle();
        put(N2, "c", 0);
        assertThat(journal.appended).containsExactly("[1, 2, 3] forget []", "[4] forget []");
    }

    @Test
    @Tag("W14")
    void failedWriteOfTheJournalChangesNothing() {
        // given an object, a watch and a journal that fails
        put(N1, "a", 0);
        Listener listener = watch(NODES, 1);
        journal.failing = true;
        // when two writes arrive and the second one expects the revision of the first
        CompletableFuture<Entry> first = store.put(N1, bytes("b"), 1);
        CompletableFuture<Entry> second = store.put(N1, bytes("c"), 1);
        settle();
        // then both fail with the journal's error and neither is visible
        assertThatThrownBy(first::join).hasMessageContaining("no space left on device");
        assertThatThrownBy(second::join).hasMessageContaining("no space left on device");
        assertThat(store.healthy()).isFalse();
        assertThat(list(0)).containsExactly("n1=a@1/1");
        assertThat(store.revision()).isEqualTo(1);
        assertThat(listener.heard).isEmpty();
        // and when the journal works again, the store recovers
        journal.failing = false;
        put(N1, "d", 1);
        assertThat(store.healthy()).isTrue();
        assertThat(listener.heard).containsExactly("2: n1=a@1/1 -> n1=d@1/2");
    }

    @Test
    void failedWriteRemovesNoHistory() {
        for (int i = 0; i < 4; i++) {
            put(N1, "v" + i, i);
        }
        journal.failing = true;
        assertThatThrownBy(() -> put(N1, "lost", 4)).hasMessageContaining("no space left");
        assertThat(watch(NODES, 0).heard).hasSize(4);
        journal.failing = false;
        put(N1, "v4", 4);
        assertThat(journal.appended).last().isEqualTo("[5] forget [1]");
    }
}
