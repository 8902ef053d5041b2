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
 * Stalls of every length from 0 to 10 s at every phase of the canary, in steps of 50 ms: each node whose heartbeats ended is Unknown within the length of the stall and 5 s after its
 * grace, and no other node is blamed. The grace is 16 s, the shortest with the default period and tolerance of sight.
 */
@Tag("W1")
class StallTableTest {
    private static final int GRACE = 16;
    private static final long STEP = 50;
    /** Whether to run all 20,100 cases, as {@code -Dstalls=all} does, and not only 1,404 of them. */
    private static final boolean WHOLE = System.getProperty("stalls", "").equals("all");

    private static final long LONGEST = 10_000;
    /** One period of the canary. */
    private static final long PERIOD = 1_000;

    private static final long FOR_EVER = Long.MAX_VALUE;
    private static final int DEAD = 8;
    private static final int ALIVE = 3;
    private static final long SLACK = 5_000;

    @ParameterizedTest
    @EnumSource(Stall.class)
    void deadNodesAreUnknownInTimeAndNoOthers(Stall kind) {
        List<String> faults = new ArrayList<>();
        int cases = 0;
        for (int i = 0; i <= LONGEST / STEP; i++) {
            for (int j = 0; j < PERIOD / STEP; j++) {
                if (isChosen(kind, i, j)) {
                    cases++;
                    run(kind, 16_000 + STEP * j, STEP * i, faults);
                }
            }
        }
        assertThat(cases).isEqualTo(WHOLE ? 201 * 20 : kind == Stall.API_SERVER ? 600 : 201);
        assertThat(faults).as("%s: %d faults", kind, faults.size()).isEmpty();
    }

    /** Each length once, with the phases in turn; and each phase of the lengths about the tolerance of 3 s. */
    private static boolean isChosen(Stall kind, int length, int phase) {
        boolean aboutTheTolerance = STEP * length >= 3_000 && STEP * length <= 4_000 && kind == Stall.API_SERVER;
        return WHOLE || aboutTheTolerance || length % 20 == phase;
    }

    private static void run(Stall kind, long from, long length, List<String> faults) {
        StallWorld world = new StallWorld(GRACE);
        // The graces of these end from shortly before the stall until well after its beginning.
        for (int i = 0; i < DEAD; i++) {
            world.node("dead-" + i, 600L * i + 70, 60_000, 60_000);
        }
        for (int i = 0; i < ALIVE; i++) {
            world.node("alive-" + i, 1_300L * i + 200, 4_000, FOR_EVER);
        }
        world.start();
        world.stall(kind, from, length);
        world.until(600L * (DEAD - 1) + 70 + 1_000 * GRACE + length + SLACK);
        judge(kind + " from " + from + " for " + length, world, length, faults);
    }

    private static void judge(String which, StallWorld world, long length, List<String> faults) {
        for (int i = 0; i < DEAD; i++) {
            String name = "dead-" + i;
            OptionalLong unknownAt = world.unknownAt(name);
            long late = unknownAt.orElse(FOR_EVER / 2) - world.deadline(name);
            if (late > length + SLACK || late < 0) {
                faults.add(
                        which + ": " + name + " Unknown at " + unknownAt + ", grace ended at " + world.deadline(name));
            }
        }
        for (int i = 0; i < ALIVE; i++) {
            if (world.unknownAt("alive-" + i).isPresent()) {
                faults.add(which + ": alive-" + i + " blamed at " + world.unknownAt("alive-" + i));
            }
        }
    }
}
