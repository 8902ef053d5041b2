package io.nodekeeper.simulator.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.simulator.Exploration;
import io.nodekeeper.simulator.RandomRunOptions;
import io.nodekeeper.simulator.Report;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When an exploration ends, and what it says. */
class ExplorationTest {
    private static final RandomRunOptions OPTIONS = new RandomRunOptions(5, Duration.ofMinutes(10), 40, 60, 0.5, 3, 2);

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-29T07:00:00Z"));
    private final List<Long> seeds = new ArrayList<>();

    private Exploration explore(int runs, long bad, int until) {
        return Exploration.of(
                OPTIONS,
                List.of("--node-monitor-grace-period=20s"),
                runs,
                time.loop("test").clock(),
                options -> {
                    seeds.add(options.seed());
                    time.advance(Duration.ofSeconds(2));
                    return report(options, options.seed() == bad, options.duration());
                },
                () -> seeds.size() >= until);
    }

    private static Report report(RandomRunOptions options, boolean broken, Duration simulated) {
        Tally tally = new Tally();
        tally.silent();
        tally.judged();
        if (broken) {
            tally.violated(Rule.FALSE_VERDICT);
        }
        return report(options, tally, simulated);
    }

    private static Report report(RandomRunOptions options, Tally tally, Duration simulated) {
        return new Report(
                options,
                simulated,
                Duration.ofSeconds(2),
                1,
                4,
                tally,
                List.of(),
                Duration.ZERO,
                Duration.ZERO,
                Duration.ZERO,
                1,
                "hash");
    }

    @Test
    void allSeedsAreTriedIfNoRuleIsBroken() {
        Exploration exploration = explore(3, 0, 100);

        assertThat(seeds).containsExactly(40L, 41L, 42L);
        assertThat(exploration.isGood()).isTrue();
        assertThat(exploration.text()).isEqualTo("""
                3 of 3 runs of 5 nodes for 10m0s, seeds from 40: took 6s
                outages      12
                verdicts     3, for 3 silences beyond the grace
                no rule was broken""");
    }

    @Test
    void theFirstRunThatBreaksARuleIsTheLastAndCanBeRepeated() {
        Exploration exploration = explore(100, 41, 100);

        assertThat(seeds).containsExactly(40L, 41L);
        assertThat(exploration.isGood()).isFalse();
        assertThat(exploration.isPartial()).isFalse();
        assertThat(exploration.text())
                .contains("The run with seed 41 broke a rule:\n", "INVARIANTS BROKE")
                .endsWith(
                        "  nodekeeper simulate --nodes 5 --duration 10m0s --seed 41 --crashes-per-hour 60.0"
                                + " --control-faults-per-hour 0.5 --pods 3 --controllers 2 --node-monitor-grace-period=20s --trace trace.txt");
        assertThat(exploration.json().object("found").number("seed")).contains(41L);
    }

    @Test
    void theFirstRunThatJudgesNothingIsTheLastAlthoughOthersHadVerdicts() {
        // given that the second run has a silence and no verdict
        Exploration exploration = Exploration.of(
                OPTIONS,
                List.of(),
                3,
                time.loop("test").clock(),
                options -> {
                    seeds.add(options.seed());
                    Tally tally = new Tally();
                    tally.silent();
                    if (options.seed() != 41) {
                        tally.judged();
                    }
                    return report(options, tally, options.duration());
                },
                () -> false);

        // then it is found, as it fails alone
        assertThat(seeds).containsExactly(40L, 41L);
        assertThat(exploration.isGood()).isFalse();
        assertThat(exploration.isPartial()).isFalse();
        assertThat(exploration.text())
                .contains(
                        "verdicts     1, for 2 silences beyond the grace\n",
                        "The run with seed 41 judged nothing:\n",
                        "NOTHING JUDGED: 1 times a node was silent for longer than its grace, and no verdict came",
                        "nodekeeper simulate --nodes 5 --duration 10m0s --seed 41 ");
        assertThat(exploration.json().bool("good")).isFalse();
        assertThat(exploration.json().object("found").number("seed")).contains(41L);
    }

    @Test
    void runWithoutSilencesNeedsNoVerdict() {
        Exploration exploration = Exploration.of(
                OPTIONS,
                List.of(),
                2,
                time.loop("test").clock(),
                options -> report(options, new Tally(), options.duration()),
                () -> false);

        assertThat(exploration.runs()).isEqualTo(2);
        assertThat(exploration.isGood()).isTrue();
    }

    @Test
    void explorationThatIsAskedToEndIsPartial() {
        Exploration exploration = explore(100, 0, 2);

        assertThat(exploration.isPartial()).isTrue();
        assertThat(exploration.text()).startsWith("PARTIAL: 2 of 100 runs").endsWith("no rule was broken until then");
    }

    @Test
    void runThatIsInterruptedDoesNotCount() {
        Exploration exploration = Exploration.of(
                OPTIONS,
                List.of(),
                3,
                time.loop("test").clock(),
                options -> report(options, false, Duration.ofMinutes(1)),
                () -> false);

        assertThat(exploration.runs()).isZero();
        assertThat(exploration.isPartial()).isTrue();
    }
}
