package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What must be known before a runtime is called well. */
class FirstAnswersTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T18:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final FirstAnswers first = new FirstAnswers(runtime, loop);

    FirstAnswersTest() {
        runtime.pod("p", "main");
    }

    @Test
    void nothingIsKnownBeforeTheFirstPatienceHasPassed() {
        everythingIsAnswered();

        assertThat(first.missing()).contains("the first examination takes 10 s");
        time.advance(Duration.ofSeconds(10));
        assertThat(first.missing()).isEmpty();
    }

    @Test
    void eachKindOfAnswerThatIsMissingIsNamed() {
        runtime.hang("Status");
        runtime.fail(
                "ListContainers",
                new RuntimeCallException("ListContainers", RuntimeCallException.Code.UNAVAILABLE, "refused"));
        first.ask();
        time.advance(Duration.ofSeconds(10));

        assertThat(first.missing())
                .contains("there is no answer yet to Version, Status, ListContainers, ContainerStats, and the processes"
                        + " could not be scanned");
    }

    @Test
    void questionIsRepeatedUntilItIsAnsweredAndNotWhileItIsOpen() {
        runtime.hang("Status");
        first.ask();
        first.ask();
        assertThat(runtime.calls("Status")).isEqualTo(1);

        time.advance(Duration.ofSeconds(5));
        runtime.heal("Status");
        first.ask();
        time.advance(Duration.ofSeconds(1));
        first.ask();

        assertThat(runtime.calls("Status")).isEqualTo(2);
        assertThat(runtime.calls("ListContainers")).isEqualTo(1);
    }

    @Test
    void callThatTheRuntimeDoesNotImplementIsNotMissing() {
        runtime.fail(
                "Status",
                new RuntimeCallException("Status", RuntimeCallException.Code.UNIMPLEMENTED, "unknown method"));
        everythingIsAnswered();
        time.advance(Duration.ofSeconds(10));

        assertThat(first.missing()).isEmpty();
    }

    @Test
    void statisticsCountOnlyForContainersThatTheRuntimeListed() {
        first.ask();
        time.advance(Duration.ofSeconds(10));
        first.version();
        first.scanned();

        first.statistics(Set.of(), List.of(), Set.of());
        assertThat(first.missing().orElseThrow()).contains("ContainerStats");

        first.ask();
        time.advance(Duration.ofSeconds(1));
        first.statistics(Set.of(), List.of("p-main"), Set.of("p-main"));
        assertThat(first.missing()).contains("there is no answer yet to ContainerStats");

        first.statistics(Set.of("p-main"), List.of("p-main"), Set.of("p-main"));
        assertThat(first.missing()).isEmpty();
    }

    @Test
    void containersThatEndedBeforeTheyWereKnownAreListedAgain() {
        first.ask();
        time.advance(Duration.ofSeconds(10));
        first.version();
        first.scanned();
        runtime.removePod("p");
        runtime.sandbox("s-q", "q", true);
        runtime.container("q-main", "q", "main", ContainerState.RUNNING);

        first.statistics(Set.of("q-main"), List.of("q-main"), Set.of("q-main"));
        assertThat(first.missing().orElseThrow()).contains("ListContainers");
        first.ask();
        time.advance(Duration.ofSeconds(1));
        first.statistics(Set.of("q-main"), List.of("q-main"), Set.of("q-main"));

        assertThat(first.missing()).isEmpty();
    }

    @Test
    void suspicionPreventsTheFirstGoodWordForAWhileAndNoLaterOne() {
        everythingIsAnswered();
        time.advance(Duration.ofSeconds(10));
        first.diagnosed(true);
        assertThat(first.missing()).contains("something that may be a fault is being examined");

        time.advance(Duration.ofSeconds(44));
        assertThat(first.missing()).isPresent();
        time.advance(Duration.ofSeconds(1));
        assertThat(first.missing()).isEmpty();
    }

    @Test
    void suspicionAfterTheFirstGoodWordChangesNothing() {
        everythingIsAnswered();
        time.advance(Duration.ofSeconds(10));
        first.diagnosed(false);
        first.diagnosed(true);

        assertThat(first.missing()).isEmpty();
    }

    @Test
    void processesAreComparedOnceTwoScansAreFarEnoughApart() {
        first.scanned();
        time.advance(Duration.ofMillis(3_999));
        first.scanned();
        assertThat(first.compared()).isFalse();

        time.advance(Duration.ofMillis(1));
        first.scanned();
        assertThat(first.compared()).isTrue();
    }

    @Test
    void withoutScansCallsAreJudgedAloneAfterTwentySeconds() {
        time.advance(Duration.ofMillis(19_999));
        assertThat(first.compared()).isFalse();
        time.advance(Duration.ofMillis(1));
        assertThat(first.compared()).isTrue();
    }

    private void everythingIsAnswered() {
        first.ask();
        time.advance(Duration.ofMillis(1));
        first.version();
        first.scanned();
        first.statistics(Set.of("p-main"), List.of("p-main"), Set.of("p-main"));
        first.diagnosed(false);
    }
}
