package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.FencedTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.client.leaderelection.LeaderElector;
import io.nodekeeper.client.leaderelection.LeaseStore;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A leader that is frozen, replaced and thawed, and slow to exit: all its further writes are blocked. */
class DeposedLeaderTest {
    private static final int NODES = 20;

    private final TestCluster cluster = new TestCluster();
    private final LeaseStore lock = new LeaseStore();

    @ParameterizedTest
    @EnumSource(Mode.class)
    @Tag("L77")
    void aThawedLeaderWritesNothingAndItsSuccessorMarksEachNodeOnce(Mode mode) {
        // Given a leader, a standby, and nodes that renew until second 100.
        cluster.fault = call -> call.target().contains("/kube-system/") ? lock.tryAnswer(call) : Optional.empty();
        for (int i = 0; i < NODES; i++) {
            cluster.addNode("n" + i, K, ready("True", B));
            cluster.renew("n" + i, B);
        }
        Process old = new Process("old", mode.config());
        old.elector.start();
        advance(1);
        Process successor = new Process("successor", mode.config());
        successor.elector.start();
        for (int second = 10; second <= 100; second += 10) {
            advance(second);
            for (int i = 0; i < NODES; i++) {
                cluster.renew("n" + i, B.plusSeconds(second));
            }
        }

        // When the leader is frozen just before their deadlines, for 60 s.
        advance(149);
        assertThat(lock.holder()).isEqualTo("old");
        old.freeze();
        old.wanted.clear();
        old.sent.clear();
        advance(175);
        assertThat(lock.holder()).isEqualTo("successor");
        advance(209);
        old.thaw();
        advance(300);

        // Then it wants to write, but nothing leaves it; the other one did the work.
        assertThat(old.wanted).isNotEmpty();
        assertThat(old.sent).isEmpty();
        assertThat(successor.sent.stream().filter(call -> call.startsWith("PUT ") && call.endsWith("/status")))
                .hasSize(NODES)
                .doesNotHaveDuplicates();
        for (int i = 0; i < NODES; i++) {
            assertThat(cluster.ready("n" + i)).isEqualTo("Unknown");
        }
        assertThat(lock.transitions()).isEqualTo(1);
    }

    private void advance(int second) {
        cluster.advanceTo(second + "S");
    }

    /** A process as the product wires it, but one that goes on when it has lost the lease. */
    private final class Process implements LeaderElector.Callbacks {
        private final VirtualTime.VirtualLoop loop;
        private final VirtualTime.VirtualLoop electionLoop;
        private final List<String> wanted = new ArrayList<>();
        private final List<String> sent = new ArrayList<>();
        private final LeaderElector elector;
        private final ControllerConfig config;
        private final ControllerPorts ports;

        private Process(String name, ControllerConfig config) {
            this.config = config;
            loop = cluster.time.loop(name);
            electionLoop = cluster.time.loop(name + "'s election");
            elector = new LeaderElector(
                    LeaderElectionConfig.defaults(),
                    name,
                    new KubeClient(cluster.transport, electionLoop, Duration.ofSeconds(5)),
                    (about, type, reason, message) -> {},
                    Randoms.seeded(name.hashCode()),
                    this);
            Transport wire = new Recorded(cluster.transport, sent);
            Transport fenced = new FencedTransport(wire, elector::leads, PriorityWorkQueue.CALLS);
            ports = new ControllerPorts(
                    new KubeClient(new Recorded(fenced, wanted), loop, Duration.ofSeconds(10)),
                    loop,
                    component -> (about, type, reason, message) -> {},
                    Randoms.seeded(1),
                    new ControllerMetrics(),
                    decision -> {});
        }

        private void freeze() {
            loop.freeze();
            electionLoop.freeze();
        }

        private void thaw() {
            loop.thaw();
            electionLoop.thaw();
        }

        @Override
        public void started() {
            loop.execute(() -> new Controller(config, ports).start());
        }

        @Override
        public void stopped(boolean lost) {}
    }

    /** Writes down what is written. */
    private record Recorded(Transport next, List<String> writes) implements Transport {
        @Override
        public CompletableFuture<Reply> send(Call call) {
            if (!call.method().equals("GET")) {
                writes.add(call.toString());
            }
            return next.send(call);
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            return next.open(call, handler);
        }

        @Override
        public void close() {
            next.close();
        }
    }
}
