package io.nodekeeper.agent.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Which calls were refused, and which one was answered last. */
class CallTrackerTest {
    private static final RuntimeCall<?> IMAGES = new RuntimeCall.ListImages();

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T18:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final CallTracker tracker = new CallTracker(runtime, loop, OperationListener.NONE);

    @Test
    void refusedCallCountsFromItsFirstRefusalWithItsNewestError() {
        time.advance(Duration.ofSeconds(1));
        refuse("ListImages", "disk full");
        call(IMAGES);
        time.advance(Duration.ofSeconds(5));
        refuse("ListImages", "still full");
        call(IMAGES);

        assertThat(tracker.refused())
                .containsExactly(
                        new RefusedCall(IMAGES, Duration.ofSeconds(1).toNanos(), 2, "ListImages: OTHER: still full"));
    }

    @Test
    void answerEndsARefusal() {
        refuse("ListImages", "disk full");
        call(IMAGES);
        runtime.heal("ListImages");
        call(IMAGES);

        assertThat(tracker.refused()).isEmpty();
    }

    @Test
    void timeoutEndsARefusalBecauseTheCallIsOverdueThen() {
        refuse("ListImages", "disk full");
        call(IMAGES);
        runtime.hang("ListImages");
        call(IMAGES);
        time.advance(Duration.ofSeconds(2));

        assertThat(tracker.refused()).isEmpty();
        assertThat(tracker.overdue(Duration.ZERO)).extracting(OverdueCall::call).containsExactly(IMAGES);
    }

    @Test
    void unreachableRuntimeAndCancelledCallsAreNoRefusals() {
        runtime.fail(
                "ListImages",
                new RuntimeCallException("ListImages", RuntimeCallException.Code.UNAVAILABLE, "connection refused"));
        call(IMAGES);
        runtime.hang("Status");
        CompletableFuture<?> cancelled = tracker.call(new RuntimeCall.GetStatus(), Duration.ofSeconds(1));
        cancelled.cancel(true);
        time.advance(Duration.ofMillis(1));

        assertThat(tracker.refused()).isEmpty();
        assertThat(tracker.newestAnswer()).isEmpty();
    }

    /** Such as one beyond the most calls that may be in progress. */
    @Test
    void callThatWasNotSentIsNeitherARefusalNorAnAnswer() {
        // given a call that the runtime refused
        refuse("ListImages", "disk full");
        call(IMAGES);
        time.advance(Duration.ofSeconds(1));

        // when it, and another one, are not sent
        runtime.fail("*", new RuntimeCallException("any", RuntimeCallException.Code.NOT_SENT, "2240 calls already"));
        runtime.heal("ListImages");
        call(IMAGES);
        call(new RuntimeCall.GetContainer("c1"));

        // then only what the runtime said counts
        assertThat(tracker.refused()).containsExactly(new RefusedCall(IMAGES, 0, 1, "ListImages: OTHER: disk full"));
        assertThat(tracker.newestAnswer()).contains(new AnsweredCall(IMAGES, 0, 0));
    }

    @Test
    void cancelReachesTheRuntime() {
        runtime.hang("Status");
        CompletableFuture<?> call = tracker.call(new RuntimeCall.GetStatus(), Duration.ofMinutes(15));
        assertThat(runtime.open("Status")).isEqualTo(1);

        call.cancel(true);

        assertThat(runtime.open("Status")).isZero();
        assertThat(tracker.open()).isEmpty();
    }

    @Test
    void refusalIsForgottenAfterThreeMinutes() {
        refuse("ListImages", "disk full");
        call(IMAGES);
        time.advance(Duration.ofMinutes(3));
        assertThat(tracker.refused()).hasSize(1);

        time.advance(Duration.ofMillis(1));
        assertThat(tracker.refused()).isEmpty();
    }

    @Test
    void callThatThrowsIsNotInProgress() {
        // given a runtime that throws before it sends anything
        CallTracker throwing = new CallTracker(new Throwing(), loop, OperationListener.NONE);

        // when it is called
        assertThatThrownBy(() -> throwing.call(IMAGES, Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class);
        time.advance(Duration.ofMinutes(1));

        // then no call is in progress or overdue
        assertThat(throwing.open()).isEmpty();
        assertThat(throwing.overdue(Duration.ZERO)).isEmpty();
    }

    private static final class Throwing implements ContainerRuntime {
        @Override
        public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
            throw new IllegalArgumentException("no");
        }

        @Override
        public CompletableFuture<Void> events(Consumer<ContainerEvent> listener) {
            return new CompletableFuture<>();
        }
    }

    @Test
    void callsThatTimedOutAreForgottenAlsoIfNobodyAsksForThem() {
        // given calls of containers that are gone later
        runtime.hang("ContainerStats");
        for (int i = 0; i < 100; i++) {
            call(new RuntimeCall.GetContainerStats("c" + i));
        }
        time.advance(Duration.ofSeconds(2));
        assertThat(tracker.remembered()).isEqualTo(100);

        // when another one times out after some minutes
        time.advance(Duration.ofMinutes(4));
        call(new RuntimeCall.GetContainerStats("new"));
        time.advance(Duration.ofSeconds(2));

        // then those are forgotten
        assertThat(tracker.remembered()).isEqualTo(1);
    }

    @Test
    void oldestRefusalIsForgottenFirstFrom256() {
        refuse("ContainerStats", "no");
        for (int i = 0; i < 300; i++) {
            call(new RuntimeCall.GetContainerStats("c" + i));
        }
        call(new RuntimeCall.GetContainerStats("c44"));
        call(new RuntimeCall.GetContainerStats("new"));

        assertThat(tracker.refused()).hasSize(256);
        assertThat(tracker.refused().getFirst().call()).isEqualTo(new RuntimeCall.GetContainerStats("c46"));
        assertThat(tracker.refused().getLast().call()).isEqualTo(new RuntimeCall.GetContainerStats("new"));
    }

    @Test
    void newestAnswerMayBeAnErrorAndIsNoTimeout() {
        runtime.delay("Version", Duration.ofSeconds(1));
        call(new RuntimeCall.GetVersion());
        time.advance(Duration.ofSeconds(1));
        long answered = loop.nanoTime();
        assertThat(tracker.newestAnswer())
                .contains(new AnsweredCall(
                        new RuntimeCall.GetVersion(),
                        answered - Duration.ofSeconds(1).toNanos(),
                        answered));

        runtime.hang("Status");
        call(new RuntimeCall.GetStatus());
        time.advance(Duration.ofSeconds(20));
        assertThat(tracker.newestAnswer().orElseThrow().call()).isEqualTo(new RuntimeCall.GetVersion());

        refuse("ListImages", "disk full");
        call(IMAGES);
        assertThat(tracker.newestAnswer().orElseThrow().call()).isEqualTo(IMAGES);
    }

    @Test
    void callThatTakesLongByItsNatureIsOverdueOnlyAfterThat() {
        RuntimeCall<?> stop = new RuntimeCall.StopContainer("c1", Duration.ofSeconds(30));
        runtime.hang("StopContainer");
        tracker.call(stop, Duration.ofMinutes(2));

        time.advance(Duration.ofSeconds(30).minusNanos(1));
        assertThat(tracker.overdue(Duration.ZERO)).isEmpty();

        time.advance(Duration.ofNanos(1));
        assertThat(tracker.overdue(Duration.ZERO)).extracting(OverdueCall::call).containsExactly(stop);
    }

    @Test
    void refusalOfWhatAPodsOwnerWroteSaysNothingAboutTheRuntime() {
        refuse("StartContainer", "no such file");
        call(new RuntimeCall.StartContainer("c1"));

        assertThat(tracker.refused()).isEmpty();
    }

    private void refuse(String method, String error) {
        runtime.fail(method, new RuntimeCallException(method, RuntimeCallException.Code.OTHER, error));
    }

    private void call(RuntimeCall<?> call) {
        tracker.call(call, Duration.ofSeconds(2)).exceptionally(error -> null);
        time.advance(Duration.ZERO);
    }
}
