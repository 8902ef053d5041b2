package io.nodekeeper.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.StallWorld.Stall;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The canary is refused, and so many nodes are silent that their renewals prove nothing. If the refusal concerns only
 * the canary, renewals of the controller's own leader election lease prove that writes succeed: a node without
 * heartbeats is Unknown within 30 s of its grace, and no other node becomes Unknown.
 */
@Tag("W1")
class LeaderWritesTest {
    private static final int GRACE = 40;
    private static final long BOUND = 30_000;
    private static final long FOR_EVER = Long.MAX_VALUE;
    private static final long DEATH = 95_000;

    /** How many of the nodes die together, and how many live. */
    enum Fleet {
        ONLY_NODE(1, 0),
        ALL_OF_TEN(10, 0),
        SIX_OF_TEN(6, 4),
        ONE_OF_TEN(1, 9),
        NONE_OF_ONE(0, 1);

        private final int dying;
        private final int living;

        Fleet(int dying, int living) {
            this.dying = dying;
            this.living = living;
        }
    }

    private static StallWorld world(Fleet fleet, int code) {
        StallWorld world = new StallWorld(GRACE);
        for (int i = 0; i < fleet.dying; i++) {
            world.node("dead-" + i, 1_000L + 900 * i, 10_000, DEATH);
        }
        for (int i = 0; i < fleet.living; i++) {
            world.node("alive-" + i, 1_500L + 900 * i, 10_000, FOR_EVER);
        }
        world.refuseCanary(code, any -> true);
        world.start();
        return world;
    }

    static Stream<Arguments> fleetsAndRefusals() {
        return Stream.of(Fleet.values())
                .flatMap(fleet -> IntStream.of(400, 403, 404, 422).mapToObj(code -> Arguments.of(fleet, code)));
    }

    @ParameterizedTest
    @MethodSource("fleetsAndRefusals")
    void deadNodesAreUnknownInTimeIfTheRefusalConcernsTheCanaryAlone(Fleet fleet, int code) {
        StallWorld world = world(fleet, code);
        world.lead();

        world.until(DEATH + 1_000 * GRACE + BOUND);

        assertThat(faults(fleet, world, 0)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("fleetsAndTroubles")
    void renewalsThatMayBeRefusedLikeTheCanaryMakeNoMajorityUnknown(Fleet fleet, int code) {
        // given canaries that are refused as the nodes' leases would be, by overload or a webhook that fails
        StallWorld world = world(fleet, code);
        world.lead();

        // when seven and a half minutes have passed
        world.until(450_000);

        // then a silent majority is not judged, as its renewals may be refused, and a silent minority is, in time
        boolean majority = fleet.dying > fleet.living;
        assertThat(IntStream.range(0, fleet.dying).mapToObj(i -> world.unknownAt("dead-" + i)))
                .allMatch(unknownAt -> unknownAt.isEmpty() == majority);
        assertThat(faults(fleet, world, 0).isEmpty()).isEqualTo(!majority);
        assertThat(world.metric("nodekeeper_observer_degraded{how=\"none\"}")).isEqualTo(majority ? "1.0" : "0.0");
    }

    static Stream<Arguments> fleetsAndTroubles() {
        return Stream.of(Fleet.values())
                .flatMap(fleet -> IntStream.of(429, 500, 503).mapToObj(code -> Arguments.of(fleet, code)));
    }

    @Test
    void verdictAndMetricSayOnWhatTheyRest() {
        StallWorld world = world(Fleet.ONLY_NODE, 403);
        world.lead();

        world.until(200_000);

        assertThat(world.metric("nodekeeper_observer_degraded{how=\"writes\"}")).isEqualTo("1.0");
        assertThat(world.decisions)
                .filteredOn(decision -> decision.kind().equals("Unknown"))
                .singleElement()
                .extracting(decision -> decision.details().text("sight"))
                .asString()
                .startsWith("the watch was too late; instead leases were listed after this process had written"
                        + " another lease in time, ");
    }

    @ParameterizedTest
    @EnumSource(Fleet.class)
    void withoutAnyWriteNoNodeOfASilentMajorityIsJudgedAndThatIsReported(Fleet fleet) {
        StallWorld world = world(fleet, 403);

        world.until(900_000);

        boolean majority = fleet.dying > fleet.living;
        assertThat(faults(fleet, world, 0).isEmpty()).isEqualTo(!majority);
        assertThat(world.metric("nodekeeper_observer_degraded{how=\"none\"}")).isEqualTo(majority ? "1.0" : "0.0");
        if (majority) {
            assertThat(IntStream.range(0, fleet.dying).mapToObj(i -> world.unknownAt("dead-" + i)))
                    .allMatch(unknownAt -> unknownAt.isEmpty());
            assertThat(world.events)
                    .filteredOn(event -> event.endsWith("no node gets a verdict, and the nodes' clock stands still"))
                    .as("%s", world.events)
                    .hasSizeBetween(1, 2);
        }
    }

    @ParameterizedTest
    @EnumSource(Stall.class)
    void stallsOfEveryLengthMakeNoNodeUnknownAndDelayVerdictsByAtMostTheirLength(Stall kind) {
        List<String> faults = new ArrayList<>();
        for (Fleet fleet : List.of(Fleet.ONLY_NODE, Fleet.SIX_OF_TEN, Fleet.NONE_OF_ONE)) {
            for (long length : new long[] {1_500, 2_900, 3_500, 5_000, 6_500, 9_500, 30_000, 60_000}) {
                for (long from : new long[] {40_000, 92_300, 128_700}) {
                    StallWorld world = world(fleet, 422);
                    world.lead();
                    world.stall(kind, from, length);
                    world.until(DEATH + 1_000 * GRACE + BOUND + length);
                    faults(fleet, world, length)
                            .forEach(fault -> faults.add(kind + " at " + from + " for " + length + ": " + fault));
                }
            }
        }
        assertThat(faults).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Stall.class)
    void consecutiveStallsMakeNoNodeUnknown(Stall kind) {
        for (long length = 1_000; length <= 40_000; length += 6_500) {
            StallWorld world = world(Fleet.NONE_OF_ONE, 403);
            world.lead();
            for (long at = 30_000; at < 400_000; at += length + 4_100) {
                world.stall(kind, at, length);
            }

            world.until(400_000);

            assertThat(faults(Fleet.NONE_OF_ONE, world, 0))
                    .as("%s for %d ms", kind, length)
                    .isEmpty();
        }
    }

    private static List<String> faults(Fleet fleet, StallWorld world, long stall) {
        List<String> faults = new ArrayList<>();
        for (int i = 0; i < fleet.dying; i++) {
            String name = "dead-" + i;
            long late = world.unknownAt(name).orElse(FOR_EVER / 2) - world.deadline(name);
            if (late < 0 || late > stall + BOUND) {
                faults.add(fleet + ": " + name + " Unknown at " + world.unknownAt(name) + ", grace ended at "
                        + world.deadline(name));
            }
        }
        for (int i = 0; i < fleet.living; i++) {
            if (world.unknownAt("alive-" + i).isPresent()) {
                faults.add(fleet + ": alive-" + i + " blamed at " + world.unknownAt("alive-" + i));
            }
        }
        return faults;
    }
}
