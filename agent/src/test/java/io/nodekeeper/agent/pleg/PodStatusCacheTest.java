package io.nodekeeper.agent.pleg;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PodStatusCacheTest {
    private static final PodStatusCache.Entry STATUS = new PodStatusCache.Entry(
            new PodStatus(new PodRef("u1", "web", "default"), List.of("10.1.0.7"), List.of(), List.of()),
            Optional.empty());

    private final PodStatusCache cache = new PodStatusCache();

    @Test
    @Tag("A86")
    void podThatIsNotThereIsKnownToBeEmptyOnceAListIsNewEnough() {
        CompletableFuture<PodStatusCache.Entry> answer = cache.getNewerThan("u1", 100);
        cache.listed(99);
        assertThat(answer).isNotDone();

        cache.listed(100);

        assertThat(answer).isCompletedWithValue(new PodStatusCache.Entry(PodStatus.empty("u1"), Optional.empty()));
        assertThat(cache.getNewerThan("u1", 99)).isCompleted();
        assertThat(cache.getNewerThan("u1", 100)).as("newer, not as new").isNotDone();
    }

    @Test
    void waiterForAnExistingPodWaitsForItsInspection() {
        cache.appeared("u1");
        CompletableFuture<PodStatusCache.Entry> answer = cache.getNewerThan("u1", 100);

        cache.listed(200);
        assertThat(answer).as("a list of others does not count").isNotDone();
        assertThat(cache.freshAt("u1")).isEmpty();

        cache.set("u1", STATUS, 150);
        assertThat(answer).isCompletedWithValue(STATUS);
        assertThat(cache.get("u1")).isEqualTo(STATUS);
        assertThat(cache.freshAt("u1")).hasValue(150);
    }

    @Test
    void podThatIsUnchangedBecomesFresherWithEachLook() {
        cache.appeared("u1");
        cache.set("u1", STATUS, 150);
        CompletableFuture<PodStatusCache.Entry> answer = cache.getNewerThan("u1", 200);

        cache.observed("u1", 250);

        assertThat(answer).isCompletedWithValue(STATUS);
        cache.observed("u1", 240);
        assertThat(cache.freshAt("u1")).hasValue(250);
    }

    @Test
    void errorWakesWaiters() {
        PodStatusCache.Entry failed = new PodStatusCache.Entry(STATUS.status(), Optional.of(PlegFixture.BROKEN));
        cache.appeared("u1");
        CompletableFuture<PodStatusCache.Entry> answer = cache.getNewerThan("u1", 100);

        cache.set("u1", failed, 100);

        assertThat(answer).isCompletedWithValue(failed);
    }

    @Test
    void statusAfterAnErrorIsNoNewerThanItsOwnList() {
        PodStatusCache.Entry failed = new PodStatusCache.Entry(STATUS.status(), Optional.of(PlegFixture.BROKEN));
        cache.appeared("u1");
        cache.set("u1", failed, 200);

        cache.set("u1", STATUS, 150);

        assertThat(cache.freshAt("u1")).hasValue(150);
        assertThat(cache.getNewerThan("u1", 180)).isNotDone();
    }

    @Test
    void removedPodIsEmptyAsOfTheListThatDidNotShowIt() {
        cache.set("u1", STATUS, 150);
        CompletableFuture<PodStatusCache.Entry> answer = cache.getNewerThan("u1", 200);

        cache.remove("u1");
        cache.listed(300);

        assertThat(answer).isCompletedWithValue(new PodStatusCache.Entry(PodStatus.empty("u1"), Optional.empty()));
    }

    @Test
    void podThatAListOfItAloneDidNotShowIsEmptyAsOfThatList() {
        cache.listed(100);
        cache.set("u1", STATUS, 150);
        CompletableFuture<PodStatusCache.Entry> answer = cache.getNewerThan("u1", 200);
        CompletableFuture<PodStatusCache.Entry> other = cache.getNewerThan("u2", 200);

        cache.absent("u1", 250);

        assertThat(answer).isCompletedWithValue(new PodStatusCache.Entry(PodStatus.empty("u1"), Optional.empty()));
        assertThat(cache.freshAt("u1")).hasValue(250);
        assertThat(other).as("the list says nothing about others").isNotDone();
        cache.listed(300);
        assertThat(cache.freshAt("u1")).hasValue(300);
    }

    @Test
    void cancelledWaiterIsForgottenAndWokenWaiterMayWaitAgain() {
        cache.appeared("u1");
        CompletableFuture<PodStatusCache.Entry> cancelled = cache.getNewerThan("u1", 100);
        CompletableFuture<PodStatusCache.Entry> again =
                cache.getNewerThan("u1", 100).thenCompose(entry -> cache.getNewerThan("u1", 200));
        cancelled.cancel(true);

        cache.set("u1", STATUS, 150);
        assertThat(again).isNotDone();

        cache.observed("u1", 250);
        assertThat(again).isCompletedWithValue(STATUS);
    }
}
