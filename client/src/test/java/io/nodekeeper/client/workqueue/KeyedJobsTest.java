package io.nodekeeper.client.workqueue;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.LogLines;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class KeyedJobsTest {
    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final VirtualTime.VirtualLoop loop = time.loop("jobs");
    private final PriorityWorkQueue workQueue = new PriorityWorkQueue(2);
    private final List<String> runs = new ArrayList<>();
    private final List<String> released = new ArrayList<>();
    private final KeyedJobs<String, Work> jobs = new KeyedJobs<>(
            "Test", workQueue, PriorityWorkQueue.Priority.ORDINARY, loop, (key, job) -> released.add(key));

    private final class Work implements KeyedJobs.Job {
        private final String name;
        private final Supplier<CompletionStage<KeyedJobs.Next>> run;

        private Work(String name, Supplier<CompletionStage<KeyedJobs.Next>> run) {
            this.name = name;
            this.run = run;
        }

        @Override
        public CompletionStage<KeyedJobs.Next> run() {
            runs.add(name + "@" + time.elapsed().toSeconds());
            return run.get();
        }
    }

    @Test
    void keyHasOneJobWhetherItWaitsRunsOrRests() {
        CompletableFuture<KeyedJobs.Next> open = new CompletableFuture<>();
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, CompletableFuture::new);
        CompletableFuture<Void> other = new CompletableFuture<>();
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> other);
        assertThat(jobs.submit("a", new Work("a", () -> open))).isTrue();

        assertThat(jobs.submit("a", new Work("waits", () -> open))).isFalse();
        other.complete(null);
        assertThat(jobs.submit("a", new Work("runs", () -> open))).isFalse();
        open.complete(new KeyedJobs.Next.Again(Duration.ofSeconds(10)));
        assertThat(jobs.submit("a", new Work("rests", () -> open))).isFalse();
        assertThat(jobs.submitAfter("a", new Work("rests", () -> open), Duration.ofSeconds(1)))
                .isFalse();

        assertThat(runs).containsExactly("a@0");
        assertThat(jobs.size()).isEqualTo(1);
        assertThat(released).isEmpty();
    }

    @Test
    void keyIsFreeWhenItsJobIsDoneAndCanBeTakenFromTheCallback() {
        List<Boolean> taken = new ArrayList<>();
        KeyedJobs<String, Work>[] own = new KeyedJobs[1];
        own[0] = new KeyedJobs<>("Test", workQueue, PriorityWorkQueue.Priority.ORDINARY, loop, (key, job) -> {
            if (taken.isEmpty()) {
                taken.add(own[0].submit(key, new Work("again", KeyedJobs.Next::done)));
            }
        });

        own[0].submit("a", new Work("first", KeyedJobs.Next::done));

        assertThat(taken).containsExactly(true);
        assertThat(runs).containsExactly("first@0", "again@0");
        assertThat(own[0].size()).isZero();
    }

    @Test
    void jobThatThrowsOrFailsRunsAgainAndItsKeyIsReleasedWhenItEnds() {
        int[] failures = {0};
        jobs.submit("throws", new Work("throws", () -> {
            if (failures[0]++ < 2) {
                throw new IllegalStateException("on purpose");
            }
            return KeyedJobs.Next.done();
        }));
        int[] others = {0};
        jobs.submit(
                "fails",
                new Work(
                        "fails",
                        () -> others[0]++ < 1
                                ? CompletableFuture.failedFuture(new IllegalStateException("on purpose"))
                                : KeyedJobs.Next.done()));

        time.advance(Duration.ofMinutes(1));

        assertThat(runs).containsExactly("throws@0", "fails@0", "throws@1", "fails@1", "throws@3");
        assertThat(released).containsExactly("fails", "throws");
        assertThat(jobs.size()).isZero();
    }

    @Test
    void watcherGetsTheNumberOfJobsThatWaitForARun() {
        List<String> watched = new ArrayList<>();
        KeyedJobs.Watcher watcher = new KeyedJobs.Watcher() {
            @Override
            public void added(int waiting) {
                watched.add("added " + waiting);
            }

            @Override
            public void taken(int waiting) {
                watched.add("taken " + waiting);
            }
        };
        KeyedJobs<String, Work> own = new KeyedJobs<>(
                "Test", workQueue, PriorityWorkQueue.Priority.ORDINARY, loop, watcher, (key, job) -> {});
        // given a queue that is busy
        CompletableFuture<Void> one = new CompletableFuture<>();
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> one);
        CompletableFuture<Void> other = new CompletableFuture<>();
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> other);

        int[] runsOfA = {0};
        own.submit(
                "a",
                new Work(
                        "a",
                        () -> runsOfA[0]++ == 0
                                ? KeyedJobs.Next.again(Duration.ofSeconds(10))
                                : KeyedJobs.Next.done()));
        own.submit("b", new Work("b", KeyedJobs.Next::done));
        assertThat(watched).containsExactly("added 1", "added 2");

        // Both run, one pauses, and runs again.
        one.complete(null);
        assertThat(watched).containsExactly("added 1", "added 2", "taken 1", "taken 0");
        time.advance(Duration.ofSeconds(10));
        assertThat(watched).endsWith("taken 0", "added 1", "taken 0").hasSize(6);
    }

    @Test
    void callbackThatThrowsLeavesTheKeyFree() {
        KeyedJobs<String, Work> own =
                new KeyedJobs<>("Test", workQueue, PriorityWorkQueue.Priority.ORDINARY, loop, (key, job) -> {
                    throw new IllegalStateException("on purpose");
                });
        own.submit("a", new Work("a", KeyedJobs.Next::done));

        assertThat(own.contains("a")).isFalse();
        assertThat(workQueue.underWay()).isZero();
    }

    @Test
    void faultThatHitsEveryKeyIsLoggedAFewTimes() {
        LogLines log = LogLines.of(KeyedJobs.class);
        for (int i = 0; i < 1_000; i++) {
            jobs.submit("key" + i, new Work("key", () -> {
                throw new IllegalStateException("on purpose");
            }));
        }
        time.advance(Duration.ofHours(1));

        // 5 at once and one in 10 s
        assertThat(log.lines()).hasSizeBetween(5, 5 + 360);
        assertThat(jobs.size()).isEqualTo(1_000);
    }

    @Test
    void nothingBeginsOnClosedLanes() {
        jobs.submitAfter("a", new Work("a", KeyedJobs.Next::done), Duration.ofSeconds(1));
        workQueue.close();

        assertThat(jobs.submit("b", new Work("b", KeyedJobs.Next::done))).isFalse();
        time.advance(Duration.ofSeconds(2));

        assertThat(runs).isEmpty();
    }
}
