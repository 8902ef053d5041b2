package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Taint;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.shadow.ShadowTransport;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.ObserveMetrics;
import io.nodekeeper.controller.observe.Observation;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No queue and no map grows while a fault lasts. Each fault lasts for three virtual hours, and everything has reached
 * its largest size after the first hour and ten minutes, when leases without a node are checked. {@code -Dgrowth.hours}
 * sets another number of hours; the sizes at the end are then compared with those after half of that time.
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
        CHURN,
        /** The server refuses events, of which each new node makes two. */
        REFUSED_EVENTS {
            @Override
            void begin(TestCluster cluster) {
                cluster.fault = call -> isEvent(call) ? refuse(call, 403) : Optional.empty();
            }
        },
        /** The server takes no events now, so each is tried again for more than a minute. */
        EVENTS_NOT_TAKEN {
            @Override
            void begin(TestCluster cluster) {
                cluster.fault = call -> isEvent(call) ? refuse(call, 503) : Optional.empty();
            }
        },
        /** Nodes flap, a controller writes, and the one that is looked at only observes. */
        OBSERVING_BESIDE_ANOTHER_CONTROLLER;

        void begin(TestCluster cluster) {}

        /** Whether a node is replaced every 10 s. */
        boolean replacesNodes() {
            return this == CHURN || this == REFUSED_EVENTS || this == EVENTS_NOT_TAKEN;
        }

        boolean flaps() {
            return this == FLAPPING || this == OBSERVING_BESIDE_ANOTHER_CONTROLLER;
        }

        private static boolean isEvent(Call call) {
            return call.target().contains("/events");
        }

        static boolean isOfOneObject(Call call) {
            return call.target().matches(".*/(nodes|leases|pods)/[^?]+.*");
        }

        private static Optional<Reply> refuse(Call call, int code) {
            return call.method().equals("GET")
                    ? Optional.empty()
                    : Optional.of(FakeTransport.refusal(new ApiException(code, "Refused", "no")));
        }
    }

    /** What has a bound of its own and fills up to it, whatever goes wrong. */
    private static final Map<String, Integer> BOUNDS = Map.of(
            "canaries",
            256,
            "own writes",
            256,
            "events that wait",
            1_000,
            "outcomes shown",
            200,
            "ended pods",
            10_000,
            "leads",
            10_000);

    private final TestCluster cluster = new TestCluster();
    private final KubeClient client = new KubeClient(cluster.transport, cluster.loop, Duration.ofSeconds(10));
    private final ApiEventRecorder recorder = new ApiEventRecorder(client, "node-controller", "", Randoms.seeded(2));
    private final Observation observation = new Observation(
            cluster.loop,
            decision -> {},
            TestCluster.CONFIG.nodeMonitorGracePeriod(),
            new ObserveMetrics(new ControllerMetrics()));
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
        Controller controller = start(fault);
        live(controller, Duration.ofMinutes(1), Fault.NONE);

        fault.begin(cluster);
        // half of the nodes die with the fault, and one needs a taint
        alive.removeAll(List.of("n0", "n1", "n2"));
        if (!fault.replacesNodes()) {
            cluster.change("n3", node -> TestCluster.taint(node, "k", Taint.NO_EXECUTE));
        }
        live(controller, SETTLED, fault);
        Map<String, Integer> settled = new TreeMap<>(largest);
        live(controller, REST, fault);

        System.out.println("largest sizes with " + fault + ": " + largest);
        BOUNDS.forEach((name, bound) -> assertThat(largest.getOrDefault(name, 0))
                .as("%s: %s", fault, name)
                .isLessThanOrEqualTo(bound));
        settled.keySet().removeAll(BOUNDS.keySet());
        largest.keySet().removeAll(BOUNDS.keySet());
        int keys = 2 * (NODES + LEASES_WITHOUT_NODE + PODS);
        assertThat(largest)
                .as("%s", fault)
                .allSatisfy((name, size) -> assertThat(size).as(name).isLessThanOrEqualTo(keys));
        for (String jobs : List.of("running jobs", "waiting jobs")) {
            // Which of them the samples meet is chance.
            largest.remove(jobs);
            settled.remove(jobs);
        }
        assertThat(largest).as("%s at the end, and when settled", fault).isEqualTo(settled);
    }

    /** The controller whose sizes are looked at. */
    private Controller start(Fault fault) {
        if (fault == Fault.OBSERVING_BESIDE_ANOTHER_CONTROLLER) {
            cluster.start();
            KubeClient shadow = new KubeClient(
                    new ShadowTransport(cluster.transport, cluster.loop.clock(), observation),
                    cluster.loop,
                    Duration.ofSeconds(10));
            return started(
                    TestCluster.CONFIG.observing(),
                    shadow,
                    new ApiEventRecorder(shadow, "observer", "", Randoms.seeded(2)));
        }
        if (fault == Fault.REFUSED_EVENTS || fault == Fault.EVENTS_NOT_TAKEN) {
            return started(TestCluster.CONFIG, client, recorder);
        }
        cluster.start();
        return cluster.controller;
    }

    private Controller started(ControllerConfig config, KubeClient to, EventRecorder events) {
        Controller controller = new Controller(
                config,
                new ControllerPorts(
                        to,
                        cluster.loop,
                        component -> events,
                        Randoms.seeded(1),
                        new ControllerMetrics(),
                        decision -> {}));
        controller.start();
        cluster.advance(Duration.ZERO);
        return controller;
    }

    private void make() {
        String name = "n" + made++;
        cluster.addNode(name, K, ready("True", cluster.time.wallTime()));
        cluster.renew(name, cluster.time.wallTime(), name);
        alive.add(name);
    }

    /** All that live renew every 10 s; with churn the oldest node goes and a new one comes, each time. */
    private void live(Controller controller, Duration duration, Fault fault) {
        long end = cluster.time.elapsed().plus(duration).toMillis();
        while (cluster.time.elapsed().toMillis() < end) {
            if (fault.replacesNodes()) {
                String oldest = alive.removeFirst();
                cluster.deleteNode(oldest);
                cluster.deleteLease(oldest);
                make();
            }
            boolean away = fault.flaps() && cluster.time.elapsed().toMinutes() % 3 != 0;
            if (!away) {
                alive.forEach(name -> cluster.renew(name, cluster.time.wallTime(), name));
            }
            long now = cluster.loop.nanoTime();
            controller.leaseWritten(now, now, Duration.ofSeconds(10));
            cluster.advance(Duration.ofSeconds(10));
            cluster.loop.execute(() -> {
                Map<String, Integer> sizes = new TreeMap<>(controller.sizes());
                sizes.putAll(observation.sizes());
                sizes.put("events that wait", recorder.waiting());
                sizes.forEach((name, size) -> largest.merge(name, size, Integer::max));
            });
            cluster.advance(Duration.ZERO);
            // what the world remembers is not the controller's
            cluster.transport.clear();
            cluster.events.clear();
            cluster.decisions.clear();
        }
    }
}
