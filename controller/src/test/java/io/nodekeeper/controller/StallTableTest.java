package io.nodekeeper.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.StallWorld.Stall;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Stalls of every length from 0 to 10 s at every phase of the canary, in steps of 50 ms: each node without heartbeats
 * is Unknown within the length of the stall and 5 s after its grace, and no other node becomes Unknown. The grace is 16
 * s, the shortest with the default period and tolerance of sight.
 */
@Tag("W1")
class StallTableTest {
    private static final int GRACE = 16;
    private static final long STEP = 50;
    private static final long LONGEST = 10_000;
    /** One period of the canary. */
    private static final long PERIOD = 1_000;

    private static final long FOR_EVER = Long.MAX_VALUE;
    private static final int DEAD = 8;
    private static final int ALIVE = 3;
    private static final long SLACK = 5_000;

    /** What came of the cases of one kind of stall. */
    private static final class Row {
        private final Stall kind;
        private final List<String> faults = new ArrayList<>();
        private int cases;
        private int judged;
        private int falseVerdicts;
        /** The latest verdict beyond the grace and the stall, and the latest beyond the grace, milliseconds. */
        private long worstBeyondStall = Long.MIN_VALUE;

        private long worst = Long.MIN_VALUE;

        private Row(Stall kind) {
            this.kind = kind;
        }

        /** A row of the table in docs/decisions/0030. */
        @Override
        public String toString() {
            return "| " + kind + " | " + cases + " | " + judged + " | " + worst + " ms | " + worstBeyondStall + " ms | "
                    + falseVerdicts + " |";
        }
    }

    @ParameterizedTest
    @EnumSource(Stall.class)
    void deadNodesAreUnknownInTimeAndNoOthers(Stall kind) {
        Row row = new Row(kind);
        for (int i = 0; i <= LONGEST / STEP; i++) {
            for (int j = 0; j < PERIOD / STEP; j++) {
                if (isChosen(kind, i, j)) {
                    run(kind, 16_000 + STEP * j, STEP * i, row);
                }
            }
        }
        assertThat(row.cases).isEqualTo(kind == Stall.API_SERVER ? 600 : 201);
        assertGood(row);
    }

    @ParameterizedTest
    @EnumSource(Stall.class)
    @Tag("long")
    void wholeTable(Stall kind) {
        Row row = new Row(kind);
        for (int i = 0; i <= LONGEST / STEP; i++) {
            for (int j = 0; j < PERIOD / STEP; j++) {
                run(kind, 16_000 + STEP * j, STEP * i, row);
            }
        }
        System.out.println(row);
        assertThat(row.cases).isEqualTo(4_020);
        assertGood(row);
    }

    private static void assertGood(Row row) {
        assertThat(row.faults).as("%s: %d faults", row.kind, row.faults.size()).isEmpty();
        assertThat(row.judged).isEqualTo(DEAD * row.cases);
        assertThat(row.falseVerdicts).isZero();
    }

    /** Each length once, with the phases in turn; and each phase of the lengths about the tolerance of 3 s. */
    private static boolean isChosen(Stall kind, int length, int phase) {
        boolean aboutTheTolerance = STEP * length >= 3_000 && STEP * length <= 4_000 && kind == Stall.API_SERVER;
        return aboutTheTolerance || length % 20 == phase;
    }

    private static void run(Stall kind, long from, long length, Row row) {
        StallWorld world = new StallWorld(GRACE);
        // The graces of these end from shortly before the stall until well after its beginning.
        for (int i = 0; i < DEAD; i++) {
            world.node("dead-" + i, 600L * i + 70, 60_000, 60_000);
        }
        // A stall of 8 s or more makes one of these silent for longer than its grace.
        for (int i = 0; i < ALIVE; i++) {
            world.node("alive-" + i, 1_300L * i + 200, 4_000 + 2_000L * i, FOR_EVER);
        }
        world.start();
        world.stall(kind, from, length);
        world.until(600L * (DEAD - 1) + 70 + 1_000 * GRACE + length + SLACK);
        row.cases++;
        judge(kind + " from " + from + " for " + length, world, length, row);
    }

    private static void judge(String which, StallWorld world, long length, Row row) {
        for (int i = 0; i < DEAD; i++) {
            String name = "dead-" + i;
            OptionalLong unknownAt = world.unknownAt(name);
            long late = unknownAt.orElse(FOR_EVER / 2) - world.deadline(name);
            if (late > length + SLACK || late < 0) {
                row.faults.add(
                        which + ": " + name + " Unknown at " + unknownAt + ", grace ended at " + world.deadline(name));
            }
            if (unknownAt.isPresent()) {
                row.judged++;
                row.worst = Math.max(row.worst, late);
                row.worstBeyondStall = Math.max(row.worstBeyondStall, late - length);
            }
        }
        for (int i = 0; i < ALIVE; i++) {
            if (world.unknownAt("alive-" + i).isPresent()) {
                row.falseVerdicts++;
                row.faults.add(which + ": alive-" + i + " blamed at " + world.unknownAt("alive-" + i));
            }
        }
    }
}
