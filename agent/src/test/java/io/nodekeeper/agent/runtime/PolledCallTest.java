package io.nodekeeper.agent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a call to the runtime is repeated, in virtual time. */
class PolledCallTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    /** When calls ended, in ms since the start. */
    private final List<Long> ended = new ArrayList<>();

    private final PolledCall<RuntimeVersion> call = new PolledCall<>(
            "runtime version",
            runtime,
            new RuntimeCall.GetVersion(),
            Duration.ofSeconds(5),
            Duration.ofSeconds(60),
            loop,
            answer -> {},
            () -> ended.add(time.elapsed().toMillis()));

    private void refuse() {
        runtime.fail(
                "Version",
                new RuntimeCallException("Version", RuntimeCallException.Code.UNAVAILABLE, "connection refused"));
    }

    @Test
    @Tag("A87")
    void shouldRepeatACallThatFailsAfterPausesThatDoubleUpToFiveSeconds() {
        refuse();

        call.ask();
        time.advance(Duration.ofSeconds(17));

        // Pauses of 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5 and 5 s.
        assertThat(ended).containsExactly(0L, 100L, 300L, 700L, 1_500L, 3_100L, 6_300L, 11_300L, 16_300L);
        assertThat(call.tried()).isCompleted();
        assertThat(call.known()).isNotDone();
    }

    @Test
    @Tag("A87")
    void shouldBeginWithTheShortestPauseAgainAfterAnAnswer() {
        // given a call that failed three times and then got an answer
        refuse();
        call.ask();
        time.advance(Duration.ofMillis(400));
        runtime.heal("Version");
        time.advance(Duration.ofMillis(400));
        assertThat(ended).containsExactly(0L, 100L, 300L, 700L);

        // when it fails again a period later
        refuse();
        time.advance(Duration.ofMillis(60_100));

        // then the next call comes after 0.1 s
        assertThat(ended).containsExactly(0L, 100L, 300L, 700L, 60_700L, 60_800L);
    }
}
