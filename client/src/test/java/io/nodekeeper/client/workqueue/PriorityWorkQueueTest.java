package io.nodekeeper.client.workqueue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class PriorityWorkQueueTest {
    private final PriorityWorkQueue workQueue = new PriorityWorkQueue(2);
    private final List<String> started = new ArrayList<>();
    private final List<CompletableFuture<Void>> open = new ArrayList<>();

    @Test
    void urgentJobsOvertakeAndTheLimitHolds() {
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> job("a"));
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> job("b"));
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> job("c"));
        workQueue.urgent(() -> job("d"));
        assertThat(started).containsExactly("a", "b");

        open.get(0).complete(null);
        open.get(1).completeExceptionally(new IllegalStateException("on purpose"));

        assertThat(started).containsExactly("a", "b", "d", "c");
    }

    @Test
    void collectionsStartLastAndNeverFillTheLanesOfEvictions() {
        PriorityWorkQueue wide = new PriorityWorkQueue(16);
        for (int i = 0; i < 100; i++) {
            wide.submit(PriorityWorkQueue.Priority.COLLECTION, () -> job("collection"));
        }
        assertThat(started).hasSize(4);
        started.clear();

        // when evictions come while all collections hang
        for (int i = 0; i < 100; i++) {
            wide.submit(PriorityWorkQueue.Priority.BACKGROUND, () -> job("eviction"));
        }

        assertThat(started).hasSize(4).containsOnly("eviction");
        open.getFirst().complete(null);
        assertThat(started)
                .as("an eviction comes before the next collection")
                .hasSize(5)
                .containsOnly("eviction");
    }

    @Test
    void closedLanesStartNothing() {
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> job("a"));
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> job("b"));
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> job("c"));

        workQueue.close();
        open.getFirst().complete(null);
        workQueue.urgent(() -> job("d"));

        assertThat(started).containsExactly("a", "b");
        assertThat(workQueue.waiting())
                .as("nothing is kept that will never run")
                .isZero();
    }

    private CompletableFuture<Void> job(String name) {
        started.add(name);
        CompletableFuture<Void> job = new CompletableFuture<>();
        open.add(job);
        return job;
    }
}
