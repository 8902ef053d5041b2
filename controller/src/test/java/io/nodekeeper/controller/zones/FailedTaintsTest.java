package io.nodekeeper.controller.zones;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.condition;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.Call;
import io.nodekeeper.controller.TestCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rate of NoExecute taints, one in ten seconds, while writes fail and after that. */
class FailedTaintsTest {
    private final TestCluster cluster = new TestCluster(CONFIG);
    private int nodes;
    /** Seconds. */
    private int passed;

    /** A zone of {@code size} nodes, of which fewer than half may fail. */
    private void zone(int size) {
        nodes = size;
        for (int i = 0; i < size; i++) {
            cluster.addNode("node" + i, K, ready("True", B));
        }
        cluster.start();
    }

    /** All nodes renew their leases, also those that say that they are not ready. */
    private void pass(int seconds) {
        for (int second = 0; second < seconds; second++) {
            if (passed++ % 10 == 0) {
                for (int i = 0; i < nodes; i++) {
                    cluster.renew("node" + i, cluster.time.wallTime());
                }
            }
            cluster.advance(Duration.ofSeconds(1));
        }
    }

    private void fail(int from, int to) {
        for (int i = from; i < to; i++) {
            cluster.post("node" + i, ready("False", cluster.time.wallTime().plusMillis(500)));
            cluster.advance(Duration.ofMillis(1));
        }
    }

    private void writesFail(Predicate<String> target) {
        cluster.fault = call -> isPatch(call) && target.test(call.target())
                ? Optional.of(TestCluster.internalError())
                : Optional.empty();
    }

    private static boolean isPatch(Call call) {
        return call.method().equals("PATCH") && call.target().contains("/nodes/");
    }

    private List<Integer> tainted(int size) {
        return IntStream.range(0, size)
                .filter(i -> cluster.taints("node" + i).stream().anyMatch(taint -> taint.endsWith(":NoExecute")))
                .boxed()
                .toList();
    }

    @Test
    void nodesThatWaitedForAnOutageOfWritesAreTaintedAtTheRate() {
        zone(50);
        // given ten minutes in which every write fails
        writesFail(target -> true);
        fail(0, 20);
        pass(600);
        assertThat(tainted(50)).isEmpty();

        // when writes succeed again
        cluster.fault = call -> Optional.empty();
        pass(40);

        // then the three whose turn it was are tainted, and four more in 40 s
        assertThat(tainted(50)).hasSizeBetween(4, 8);
        pass(170);
        assertThat(tainted(50)).hasSize(20);
    }

    @Test
    void nodesWhoseWritesFailForEverDoNotHoldUpOthers() {
        zone(50);
        // given five nodes that cannot be written, and five that failed after them
        writesFail(target -> target.matches(".*/nodes/node[0-4](\\?.*)?"));
        fail(0, 10);

        pass(150);

        assertThat(tainted(50)).containsExactly(5, 6, 7, 8, 9);
    }

    @Test
    void nodeWhoseTaintIsRemovedAgainAndAgainWaitsBehindOthers() {
        zone(50);
        fail(0, 5);
        for (int i = 0; i < 11; i++) {
            pass(5);
            cluster.change("node0", node -> node.update("spec", spec -> spec.without("taints")));
        }
        assertThat(tainted(50)).containsExactly(1, 2, 3, 4);
        pass(10);
        assertThat(tainted(50)).containsExactly(0, 1, 2, 3, 4);
    }

    @Test
    void nodeWhoseWriteFailedIsNotTaintedWhileAllZonesAreDown() {
        zone(4);
        writesFail(target -> target.contains("/nodes/node0"));
        fail(0, 1);
        pass(5);
        fail(1, 4);
        cluster.fault = call -> Optional.empty();
        pass(180);
        assertThat(tainted(4)).isEmpty();

        cluster.post("node3", ready("True", cluster.time.wallTime().plusSeconds(1)));
        cluster.post("node2", ready("True", cluster.time.wallTime().plusSeconds(1)));
        pass(15);
        assertThat(tainted(4)).containsExactly(0, 1);
    }

    @Test
    void nodeWhoseWriteWaitsIsWrittenWithoutTheTaintOnceAllZonesAreDown() {
        zone(70);
        // given more writes than may run at a time, which hang, and behind them that of a node that may get its taint
        cluster.hangs = call -> isPatch(call) && !call.target().endsWith("/nodes/node0");
        for (int i = 1; i < 70; i++) {
            cluster.post("node" + i, condition("MemoryPressure", "True", B));
        }
        cluster.advance(Duration.ofMillis(1));
        fail(0, 1);
        assertThat(cluster.calls("PATCH", "/nodes/node0")).isZero();

        // when all nodes are down before its turn
        fail(1, 70);
        cluster.hangs = call -> false;
        pass(60);

        assertThat(cluster.noSchedule("node0")).containsExactly("node.kubernetes.io/not-ready");
        assertThat(cluster.decisions("Tainted"))
                .hasSizeGreaterThanOrEqualTo(70)
                .noneMatch(text -> text.contains("NoExecute"));
    }

    /** In each time, at most those whose turn it was, 30 s worth, and one for each ten seconds. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void rateHoldsAroundOutagesOfAnyLength(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        zone(100);
        fail(0, 40);
        List<Instant> tainted = new ArrayList<>();
        for (int second = 0; tainted.size() < 40; second++) {
            assertThat(second).isLessThan(4_000);
            if (random.nextInt(60) == 0) {
                writesFail(target -> true);
            } else if (random.nextInt(60) == 0) {
                cluster.fault = call -> Optional.empty();
            }
            pass(1);
            for (int count = tainted(100).size(); tainted.size() < count; ) {
                tainted.add(cluster.time.wallTime());
            }
        }
        for (int from = 0; from < tainted.size(); from++) {
            for (int to = from; to < tainted.size(); to++) {
                long seconds =
                        Duration.between(tainted.get(from), tainted.get(to)).toSeconds() + 1;
                assertThat(to - from + 1).as("in %s s", seconds).isLessThanOrEqualTo((int) (4 + seconds / 10));
            }
        }
    }
}
