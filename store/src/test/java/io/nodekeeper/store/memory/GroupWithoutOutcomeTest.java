package io.nodekeeper.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Groups that the journal's thread does not get, or that end with an error of the machine. */
class GroupWithoutOutcomeTest {
    private static final String N1 = "/registry/minions/n1";
    private static final String N2 = "/registry/minions/n2";
    private static final OutOfMemoryError NO_THREAD = new OutOfMemoryError("unable to create native thread");

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final ArrayDeque<Runnable> disk = new ArrayDeque<>();
    private final List<Long> appended = new ArrayList<>();
    /** What the next append throws. */
    private Optional<Error> error = Optional.empty();
    /** What the executor throws for the next task. */
    private Optional<Throwable> refusal = Optional.empty();
    /** Whether the executor queues a task although it throws. */
    private boolean queuing;

    private final Journal journal = new Journal() {
        @Override
        public Recovered load() {
            return new Recovered(0, List.of(), List.of());
        }

        @Override
        public void append(List<Event> events, List<Event> forgotten) {
            Optional<Error> now = error;
            error = Optional.empty();
            now.ifPresent(why -> {
                throw why;
            });
            events.forEach(event -> appended.add(event.revision()));
        }

        @Override
        public void close() {}
    };

    private final IndexedStore store = new IndexedStore(time.loop("store"), this::execute, journal);

    private void execute(Runnable task) {
        Optional<Throwable> now = refusal;
        refusal = Optional.empty();
        if (now.isEmpty() || queuing) {
            disk.add(task);
        }
        now.ifPresent(why -> {
            if (why instanceof Error serious) {
                throw serious;
            }
            throw (RuntimeException) why;
        });
    }

    private CompletableFuture<Entry> put(String key) {
        CompletableFuture<Entry> put = store.put(key, new byte[] {1}, 0);
        time.advance(Duration.ZERO);
        while (!disk.isEmpty()) {
            disk.remove().run();
            time.advance(Duration.ZERO);
        }
        return put;
    }

    private void assertRefused(CompletableFuture<Entry> put, String why) {
        assertThatThrownBy(put::join).cause().isInstanceOf(StoreException.class).hasMessageContaining(why);
        assertThat(store.get(N1)).isEmpty();
        assertThat(store.healthy()).isFalse();
    }

    /** A balancer that finds the server not ready sends no writes, so none could show that the journal works again. */
    @Test
    void aFailureIsForgottenAfterAWhileWithoutWrites() {
        error = Optional.of(new NoClassDefFoundError("x"));
        assertRefused(put(N1), "x");

        time.advance(Duration.ofSeconds(30));
        assertThat(store.healthy()).isFalse();
        time.advance(Duration.ofSeconds(1));
        assertThat(store.healthy()).isTrue();
    }

    private void assertNextWriteWorks() {
        assertThat(put(N2).join().modRevision()).isEqualTo(1);
        assertThat(appended).containsExactly(1L);
        assertThat(store.get(N1)).isEmpty();
        assertThat(store.healthy()).isTrue();
    }

    @Test
    void groupThatTheExecutorRejectsIsRefusedAndTheNextOneIsWritten() {
        refusal = Optional.of(new RejectedExecutionException("the queue is full"));
        assertRefused(put(N1), "the queue is full");
        assertNextWriteWorks();
    }

    @Test
    void groupForWhichNoThreadCanBeStartedIsRefusedAndTheNextOneIsWritten() {
        refusal = Optional.of(NO_THREAD);
        assertRefused(put(N1), "unable to create native thread");
        assertNextWriteWorks();
    }

    @Test
    void refusedGroupIsNotWrittenLaterAlthoughItsTaskWasQueued() {
        queuing = true;
        refusal = Optional.of(NO_THREAD);
        assertRefused(put(N1), "unable to create native thread");
        assertNextWriteWorks();
    }

    @Test
    void groupWhoseAppendEndsWithAnErrorIsRefusedAndTheNextOneIsWritten() {
        error = Optional.of(NO_THREAD);
        assertRefused(put(N1), "unable to create native thread");
        assertNextWriteWorks();
    }
}
