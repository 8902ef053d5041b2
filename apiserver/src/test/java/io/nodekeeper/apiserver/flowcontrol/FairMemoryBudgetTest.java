package io.nodekeeper.apiserver.flowcontrol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Shares of the memory for bodies. */
class FairMemoryBudgetTest {
    @Test
    void oneUserGetsAThirdAndOthersStillGetMemory() {
        FairMemoryBudget shares = new FairMemoryBudget(900);
        assertThat(shares.take("a", 300)).isTrue();
        assertThat(shares.take("a", 1)).isFalse();
        assertThat(shares.take("b", 200)).isTrue();
        assertThat(shares.take("b", 1)).isFalse();
        assertThat(shares.take("c", 100)).isTrue();
        shares.giveBack("a", 300);
        assertThat(shares.take("b", 50)).isTrue();
    }

    @Test
    void onlyPieceOfAUserMayBeLargerThanTheShare() {
        FairMemoryBudget shares = FairMemoryBudget.withWholes(800);
        assertThat(shares.has("a", 701)).isFalse();
        assertThat(shares.take("a", 700)).isTrue();
        assertThat(shares.take("a", 1)).isFalse();
        // A third of what is left, as always.
        assertThat(shares.take("b", 34)).isFalse();
        assertThat(shares.take("b", 33)).isTrue();
        shares.giveBack("a", 700);
        assertThat(shares.take("b", 300)).isFalse();
        assertThat(shares.take("c", 600)).isTrue();
    }

    @Test
    void limitHoldsNewUsersGetMemoryAndAllIsReturned() {
        SplittableRandom random = new SplittableRandom(1);
        FairMemoryBudget shares = new FairMemoryBudget(1_000_000);
        Map<String, Long> held = new HashMap<>();
        long total = 0;
        for (int i = 0; i < 100_000; i++) {
            String user = "u" + random.nextInt(20);
            long had = held.getOrDefault(user, 0L);
            if (had > 0 && random.nextBoolean()) {
                shares.giveBack(user, had);
                held.remove(user);
                total -= had;
            } else {
                long bytes = 1 + random.nextInt(50_000);
                if (shares.take(user, bytes)) {
                    held.put(user, had + bytes);
                    total += bytes;
                }
            }
            assertThat(total).isLessThan(1_000_000);
            assertThat(shares.take("new", (1_000_000 - total) / 4)).isTrue();
            shares.giveBack("new", (1_000_000 - total) / 4);
        }
        held.forEach(shares::giveBack);
        assertThat(shares.take("a", 300_000)).isTrue();
    }
}
