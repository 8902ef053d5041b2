package io.nodekeeper.time.progress;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.VirtualTime;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class ProgressDisplayTest {
    private static final String CLEAR = "\r\u001b[K";

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final StringWriter written = new StringWriter();
    private int columns = 80;

    private ProgressDisplay start(ProgressStyle style, Supplier<Progress> state) {
        return ProgressDisplay.start(
                "simulate", style, time.loop("progress"), new PrintWriter(written), () -> columns, state);
    }

    /** What was written since the last call. */
    private String taken() {
        String text = written.toString();
        written.getBuffer().setLength(0);
        return text;
    }

    /** Two seconds of virtual time a second, of 1 min. */
    private Progress steady() {
        long done = time.elapsed().toSeconds() * 2;
        return Progress.of(done + "s of 1m0s simulated", done, 60);
    }

    @Test
    void inAFileALineFollowsEveryTenSeconds() {
        try (ProgressDisplay display = start(ProgressStyle.LINES, this::steady)) {
            time.advance(Duration.ofSeconds(9));
            assertThat(taken()).isEmpty();

            time.advance(Duration.ofSeconds(12));
            assertThat(taken()).isEqualTo("""
                            simulate: 33 %, about 20s left: 20s of 1m0s simulated (10s)
                            simulate: 66 %, about 10s left: 40s of 1m0s simulated (20s)
                            """);

            display.say("a rule was broken");
            assertThat(taken()).isEqualTo("a rule was broken\n");
        }
        time.advance(Duration.ofMinutes(1));
        assertThat(taken()).isEmpty();
    }

    @Test
    void onATerminalOneLineIsRewrittenFiveTimesASecondAndOthersReplaceIt() {
        ProgressDisplay display = start(ProgressStyle.TERMINAL, this::steady);
        time.advance(Duration.ofMillis(900));
        assertThat(taken()).isEqualTo((CLEAR + "simulate: 0 %: 0s of 1m0s simulated (0s)\r").repeat(4));

        time.advance(Duration.ofMillis(2_100));
        assertThat(taken()).endsWith(CLEAR + "simulate: 10 %, about 27s left: 6s of 1m0s simulated (3s)\r");

        display.say("a rule was broken");
        assertThat(taken()).isEqualTo(CLEAR + "a rule was broken\n");

        // and what does not fit is left out
        columns = 60;
        time.advance(Duration.ofMillis(200));
        assertThat(taken()).isEqualTo(CLEAR + "simulate: 10 %, about 28s left: 6s of 1m0s simulated (3s)\r");
        columns = 50;
        time.advance(Duration.ofMillis(200));
        assertThat(taken()).isEqualTo(CLEAR + "10 %, about 30s left: 6s of 1m0s simulated\r");
        columns = 12;
        time.advance(Duration.ofMillis(200));
        assertThat(taken()).isEqualTo(CLEAR + "10 %, about\r");

        display.close();
        assertThat(taken()).isEqualTo(CLEAR);
    }

    @Test
    void nothingIsShownIfItIsNotWantedButWhatMustBeSaid() {
        try (ProgressDisplay display = start(ProgressStyle.QUIET, this::steady)) {
            time.advance(Duration.ofMinutes(5));
            assertThat(taken()).isEmpty();

            display.say("a rule was broken");
            assertThat(taken()).isEqualTo("a rule was broken\n");
        }
        assertThat(taken()).isEmpty();
    }

    @Test
    void aTaskWithoutAKnownEndHasNeitherPercentageNorEstimate() {
        start(ProgressStyle.LINES, () -> Progress.endless("100 nodes registered, no known end"));
        time.advance(Duration.ofSeconds(75));

        assertThat(taken().lines()).hasSize(7).last().isEqualTo("simulate: 100 nodes registered, no known end (1m10s)");
    }

    @Test
    void eachStepHasAnEstimateOfItsOwn() {
        // given a step of 20 s, and one that is ten times as quick
        start(ProgressStyle.LINES, () -> {
            long second = time.elapsed().toSeconds();
            return second <= 20
                    ? new Progress("step 1 of 2", second + " of 20 nodes", second, 20)
                    : new Progress("step 2 of 2", (second - 20) * 10 + " of 1000 pods", (second - 20) * 10, 1_000);
        });
        time.advance(Duration.ofSeconds(40));

        assertThat(taken()).isEqualTo("""
                        simulate: step 1 of 2: 50 %, about 10s left in this step: 10 of 20 nodes (10s)
                        simulate: step 1 of 2: 100 %, about 0s left in this step: 20 of 20 nodes (20s)
                        simulate: step 2 of 2: 10 %: 100 of 1000 pods (30s)
                        simulate: step 2 of 2: 20 %, about 1m20s left in this step: 200 of 1000 pods (40s)
                        """);
    }

    @Test
    void aTaskThatHasStoppedToProgressHasNoEstimate() {
        start(ProgressStyle.LINES, () -> {
            long done = Math.min(30, time.elapsed().toSeconds());
            return Progress.of(done + " of 60", done, 60);
        });
        time.advance(Duration.ofSeconds(80));

        assertThat(taken().lines())
                .startsWith(
                        "simulate: 16 %, about 50s left: 10 of 60 (10s)",
                        "simulate: 33 %, about 40s left: 20 of 60 (20s)",
                        "simulate: 50 %, about 30s left: 30 of 60 (30s)")
                .endsWith("simulate: 50 %: 30 of 60 (1m10s)", "simulate: 50 %: 30 of 60 (1m20s)");
    }

    @Test
    void aDumbTerminalGetsLines() {
        assertThat(Terminal.style(false, Map.of("TERM", "dumb"))).isEqualTo(ProgressStyle.LINES);
        assertThat(Terminal.style(false, Map.of())).isEqualTo(ProgressStyle.LINES);
        assertThat(Terminal.style(true, Map.of("TERM", "xterm"))).isEqualTo(ProgressStyle.QUIET);
        assertThat(Terminal.width()).isPositive();
    }
}
