package io.nodekeeper.controller.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A node may change Ready as often as it likes: it gets a bounded number of decisions, and each change is counted. */
class ReadyTrailTest {
    private static final Instant B = Instant.parse("2015-01-01T12:00:00Z");

    private final ReadyTrail trail = new ReadyTrail(0);
    private final List<ReadyChange> stored = new ArrayList<>();

    /** A fall if the second is even, else a recovery. */
    private void changes(int second) {
        String was = second % 2 == 0 ? "True" : "False";
        String becomes = second % 2 == 0 ? "False" : "True";
        ReadyChange change = ReadyChange.of(was, Condition.of("Ready", becomes, "Says", "so", B, B));
        trail.add(change, nanos(second)).ifPresent(stored::add);
    }

    private static long nanos(int second) {
        return Duration.ofSeconds(second).toNanos();
    }

    @Test
    void tenChangesAreStoredOneByOneAndLaterOnesAsOne() {
        for (int second = 0; second < 10; second++) {
            changes(second);
        }
        assertThat(stored).hasSize(10).allMatch(change -> change.count() == 1);

        changes(10);
        changes(11);
        changes(12);
        assertThat(stored).hasSize(10);
        assertThat(trail.isWaiting()).isTrue();
        assertThat(trail.waited(nanos(70))).isEqualTo(nanos(60));

        ReadyChange rest = trail.release(nanos(70)).orElseThrow();
        assertThat(rest.text(nanos(60))).isEqualTo("Ready changed 3 times in 1m0s, the last time to False: Says: so");
        assertThat(rest.was()).isEqualTo("True");
        assertThat(trail.release(nanos(71))).isEmpty();
    }

    @Test
    void oneDecisionAMinuteIsStoredInTheLongRunAndEachChangeCounts() {
        // given a node that changes each second for an hour
        int waitsSince = -1;
        for (int second = 0; second < 3_600; second++) {
            if (waitsSince >= 0 && second - waitsSince == 60) {
                stored.add(trail.release(nanos(second)).orElseThrow());
                waitsSince = -1;
            }
            boolean waited = trail.isWaiting();
            changes(second);
            if (!waited && trail.isWaiting()) {
                waitsSince = second;
            }
        }
        trail.release(nanos(3_600)).ifPresent(stored::add);

        assertThat(stored).hasSizeBetween(60, 71);
        assertThat(stored.stream().mapToInt(ReadyChange::count).sum()).isEqualTo(3_600);
    }

    @Test
    void changeAfterTheBurstWaitsAMinuteAndIsStoredAsItWas() {
        for (int second = 0; second < 11; second++) {
            changes(second);
        }

        assertThat(trail.release(nanos(70)).orElseThrow().text(nanos(60)))
                .isEqualTo("Ready changed from True to False 1m0s ago: Says: so");
    }

    @Test
    void calmGivesBackOneDecisionAMinute() {
        for (int second = 0; second < 10; second++) {
            changes(second);
        }

        // after three minutes
        for (int second = 180; second < 184; second++) {
            changes(second);
        }

        assertThat(stored).hasSize(13);
        assertThat(trail.isWaiting()).isTrue();
    }
}
