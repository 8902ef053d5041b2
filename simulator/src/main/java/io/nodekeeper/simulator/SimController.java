package io.nodekeeper.simulator;

import io.nodekeeper.apiserver.User;
import io.nodekeeper.client.ApiEventRecorder;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Transport;
import io.nodekeeper.controller.Controller;
import io.nodekeeper.controller.ControllerConfig;
import io.nodekeeper.controller.ControllerPorts;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** The controller, wired as in its real process. Confined to virtual time. */
final class SimController extends SimProcess {
    static final String NAME = "controller";
    /** As in a real controller's process. */
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);

    private final SimNetwork network;
    private final RandomGenerator seeds;
    private final ControllerConfig config;
    private final UnaryOperator<Transport> tap;
    private Optional<SimTransport> transport = Optional.empty();

    SimController(
            VirtualTime time,
            SimNetwork network,
            String name,
            RandomGenerator seeds,
            ControllerConfig config,
            UnaryOperator<Transport> tap) {
        super(time, name);
        this.network = network;
        this.seeds = seeds;
        this.config = config;
        this.tap = tap;
    }

    @Override
    void boot(VirtualTime.VirtualLoop loop) {
        RandomGenerator random = Randoms.seeded(seeds.nextLong());
        SimTransport connected =
                network.connect(cable(), User.authenticated("system:kube-controller-manager", List.of()));
        transport = Optional.of(connected);
        KubeClient client = new KubeClient(tap.apply(connected), loop, LIST_TIMEOUT);
        new Controller(
                        config,
                        new ControllerPorts(
                                client,
                                loop,
                                component -> new ApiEventRecorder(client, component, "", random),
                                random,
                                new ControllerMetrics(),
                                History.NONE))
                .start();
    }

    @Override
    void halt() {
        transport.ifPresent(SimTransport::close);
        transport = Optional.empty();
    }
}
