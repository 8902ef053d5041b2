package io.nodekeeper.controller.guard;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** How much the guard refuses before it stops. */
class RefusalBudgetTest {
    private static final Duration LONGEST = Duration.ofMinutes(15);

    private static long at(int seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }

    @Test
    void aShareOfTheNodesIsProtectedAndNoMore() {
        // given a fifth of 20 nodes
        RefusalBudget budget = new RefusalBudget(0.2, LONGEST);
        // when every node is blamed
        List<Integer> admitted = IntStream.range(0, 20)
                .filter(node -> budget.admits("n" + node, 20, at(node)))
                .boxed()
                .toList();
        // then four are protected, and stay so when the write is repeated
        assertThat(admitted).containsExactly(0, 1, 2, 3);
        assertThat(budget.admits("n3", 20, at(30))).isTrue();
        assertThat(budget.admits("n4", 20, at(31))).isFalse();
    }

    @Test
    void refusalsStopAfterTheLongestTimeUntilTheTroubleHasBeenOverFor10Minutes() {
        RefusalBudget budget = new RefusalBudget(1, LONGEST);
        for (int second = 0; second <= 15 * 60; second += 60) {
            assertThat(budget.admits("n1", 3, at(second))).isTrue();
        }
        // when the time is up, then repetitions keep it stopped, however long they last
        for (int second = 15 * 60 + 1; second < 3 * 3_600; second += 60) {
            assertThat(budget.admits("n1", 3, at(second))).isFalse();
        }
        // and a pause begins a new episode
        assertThat(budget.admits("n1", 3, at(4 * 3_600))).isTrue();
    }

    @Test
    void aSmallClusterStillHasOneProtectedNodeAndAnUnknownOneHasNone() {
        RefusalBudget budget = new RefusalBudget(0.1, LONGEST);
        assertThat(budget.admits("n1", 0, 0)).isFalse();
        assertThat(budget.admits("n1", 3, 0)).isTrue();
        assertThat(budget.admits("n2", 3, 0)).isFalse();
    }

    /** Each step is a pause of 0 to 899 s and one of 31 nodes, in one number. */
    @Property(tries = 1_000)
    void theBudgetIsNeverExceeded(
            @ForAll @Size(min = 1, max = 200) List<@IntRange(max = 27_899) Integer> steps,
            @ForAll @DoubleRange(min = 0.01, max = 1) double share) {
        RefusalBudget budget = new RefusalBudget(share, LONGEST);
        int time = 0;
        int episode = 0;
        int wanted = -10_000;
        Set<Integer> refused = new HashSet<>();
        for (int packed : steps) {
            time += packed / 31;
            int node = packed % 31;
            if (time - wanted > 600) {
                episode = time;
                refused.clear();
            }
            wanted = time;
            if (budget.admits("n" + node, 31, at(time))) {
                refused.add(node);
                assertThat(time - episode).isLessThanOrEqualTo(900);
            }
            assertThat(refused).hasSizeLessThanOrEqualTo(Math.max(1, (int) (share * 31)));
        }
    }
}
