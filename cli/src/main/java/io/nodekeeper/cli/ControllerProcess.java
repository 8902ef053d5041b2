package io.nodekeeper.cli;

import io.nodekeeper.client.ApiEventRecorder;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.ServerAccess;
import io.nodekeeper.controller.Controller;
import io.nodekeeper.controller.ControllerConfig;
import io.nodekeeper.controller.ControllerPorts;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** The wiring of a controller. */
final class ControllerProcess {
    /** For lists of all nodes and leases; single calls have shorter deadlines of their own. Chosen. */
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);

    private final ThreadLoop loop = new ThreadLoop("controller");
    private final HttpTransport transport;
    private final Controller controller;

    private ControllerProcess(ServerAccess access, ControllerOptions options) {
        RandomGenerator random = Randoms.secure();
        transport = new HttpTransport(access);
        KubeClient client = new KubeClient(transport, loop, LIST_TIMEOUT);
        ControllerConfig config =
                new ControllerConfig(options.monitorPeriod, options.gracePeriod, options.startupGracePeriod);
        controller = new Controller(
                config,
                new ControllerPorts(
                        client,
                        loop,
                        component -> new ApiEventRecorder(client, component, "", random),
                        random,
                        new ControllerMetrics(),
                        History.NONE));
    }

    static ControllerProcess start(ServerAccess access, ControllerOptions options) {
        ControllerProcess process = new ControllerProcess(access, options);
        process.controller.start();
        return process;
    }

    void stop() {
        controller.stop();
        transport.close();
        loop.close();
    }
}
