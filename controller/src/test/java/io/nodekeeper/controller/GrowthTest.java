package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Taint;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No queue and no map grows while a fault lasts: three virtual hours of each, in which everything has reached its largest
 * size after the first hour and ten minutes, when leases without a node are looked at. With {@code -Dgrowth.hours} it is so
 * many hours of each, and the sizes at the end are those after half of that time.
 */
class GrowthTest {
    private static final int NODES = 6;
    private static final int PODS = 12;
    private static final int LEASES_WITHOUT_NODE = 5;
    private static final int HOURS = Integer.getInteger("growth.hours", 3);
    private static final Duration SETTLED = HOURS == 3 ? Duration.ofMinutes(70) : Duration.ofMinutes(30L * HOURS);
    private static final Duration REST = Duration.ofHours(HOURS).minus(SETTLED);

    /** What goes wrong all the time, after one good minute. */
    enum Fault {
        NONE,
        HUNG_READS {
            @Override
            void begin(TestCluster cluster) {
                cluster.hangs = call -> call.method().equals("GET") && isOfOneObject(call);
            }
        },
        REFUSED_WRITES {
            @Override
            void begin(TestCluster cluster) {
                cluster.fault = call -> refuse(call, 403);
            }
        },
        TOO_MANY_REQUESTS {
            @Override
            void begin(TestCluster cluster) {
                cluster.fault = call -> refuse(call, 429);
            }
        },
        BLIND_WATCH {
            @Override
            void begin(TestCluster cluster) {
                cluster.leaseWatchFrozen = true;
            }
        },
        SERVER_AWAY {
            @Override
            void begin(TestCluster cluster) {
                cluster.down = true;
            }
        },
        CANARY_REFUSED {
            @Override
            void begin(TestCluster cluster) {
                cluster.fault = call -> call.target().contains("/leases") ? refuse(call, 403) : Optional.empty();
            }
        },
        HUNG_WRITES {
            @Override
            void begin(TestCluster cluster) {
                cluster.hangs = call -> !call.method().equals("GET");
            }
        },
        /** Nodes die for two minutes and come back for one, in turn. */
        FLAPPING,
        CHURN;

        void begin(TestCluster cluster) {}

        static boolean isOfOneObject(Call call) {
            return call.target().matches(".*/(nodes|leases|pods)/[^?]+.*");
        }

        private static Optional<Reply> refuse(Call call, int code) {
            return call.method().equals("GET")
                    ? Optional.empty()
                    : Optional.of(FakeTransport.refusal(new ApiException(code, "Refused", "no")));
        }
    }

    private final TestCluster cluster = new TestCluster();
    private final Map<String, Integer> largest = new TreeMap<>();
    private final List<String> alive = new ArrayList<>();
    private int made;

    @ParameterizedTest
    @EnumSource
    void nothingGrowsWithTheLengthOfAFault(Fault fault) {
        for (int i = 0; i < NODES; i++) {
            make();
        }
        for (int i = 0; i < LEASES_WITHOUT_NODE; i++) {
            cluster.renew("left" + i, B, "left" + i);
        }
        for (int i = 0; i < PODS; i++) {
            cluster.pods.add("pod" + i, i < PODS / 2 ? "n" + i % NODES : "gone");
        }
        cluster.start();
        live(Duration.ofMinutes(1), Fault.NONE);

        fault.begin(cluster);
        // half of the nodes die with the fault, and one needs a taint
        alive.removeAll(List.of("n0", "n1", "n2"));
        if (fault != Fault.CHURN) {
            cluster.change("n3", node -> TestCluster.taint(node, "k", Taint.NO_EXECUTE));
        }
        live(SETTLED, fault);
        Map<String, Integer> settled = new TreeMap<>(largest);
        live(REST, fault);

        System.out.println("largest sizes with " + fault + ": " + largest);
        // The remembered canaries, and writes of the leadership, have bounds of their own.
        for (String remembered : List.of("canaries", "own writes")) {
            assertThat(largest.get(remembered)).as("%s: %s", fault, remembered).isLessThanOrEqualTo(256);
        }
        settled.keySet().removeAll(List.of("canaries", "own writes"));
        largest.keySet().removeAll(List.of("canaries", "own writes"));
        int keys = 2 * (NODES + LEASES_WITHOUT_NODE + PODS);
        assertThat(largest)
                .as("%s", fault)
                .allSatisfy((name, size) -> assertThat(size).as(name).isLessThanOrEqualTo(keys));
        for (String lanes : List.of("running jobs", "waiting jobs")) {
            // Which of them the samples meet is chance.
            largest.remove(lanes);
            settled.remove(lanes);
        }
        assertThat(largest).as("%s at the end, and when settled", fault).isEqualTo(settled);
    }

    private void make() {
        String name = "n" + made++;
        cluster.addNode(name, K, ready("True", cluster.time.wallTime()));
        cluster.renew(name, cluster.time.wallTime(), name);
        alive.add(name);
    }

    /** All that live renew every 10 s; with churn the oldest node goes and a new one comes, each time. */
    private void live(Duration duration, Fault fault) {
        long end = cluster.time.elapsed().plus(duration).toMillis();
        while (cluster.time.elapsed().toMillis() < end) {
            if (fault == Fault.CHURN) {
                String oldest = alive.removeFirst();
                cluster.deleteNode(oldest);
                cluster.deleteLease(oldest);
                make();
            }
            boolean away = fault == Fault.FLAPPING && cluster.time.elapsed().toMinutes() % 3 != 0;
            if (!away) {
                alive.forEach(name -> cluster.renew(name, cluster.time.wallTime(), name));
            }
            long now = cluster.loop.nanoTime();
            cluster.controller.leaseWritten(now, now, Duration.ofSeconds(10));
            cluster.advance(Duration.ofSeconds(10));
            cluster.loop.execute(
                    () -> cluster.controller.sizes().forEach((name, size) -> largest.merge(name, size, Integer::max)));
            cluster.advance(Duration.ZERO);
            // what the world remembers is not the controller's
            cluster.transport.clear();
            cluster.events.clear();
            cluster.decisions.clear();
        }
    }
}
