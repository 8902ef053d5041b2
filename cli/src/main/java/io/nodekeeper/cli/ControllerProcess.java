package io.nodekeeper.cli;

import io.nodekeeper.client.ApiEventRecorder;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.ServerAccess;
import io.nodekeeper.client.ShadowTransport;
import io.nodekeeper.client.Transport;
import io.nodekeeper.controller.Controller;
import io.nodekeeper.controller.ControllerPorts;
import io.nodekeeper.controller.debug.DebugAddress;
import io.nodekeeper.controller.debug.DebugPages;
import io.nodekeeper.controller.history.FileHistory;
import io.nodekeeper.controller.history.MemoryHistory;
import io.nodekeeper.controller.history.SearchableHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observe.Observation;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The wiring of a controller, its history and its pages. */
final class ControllerProcess {
    private static final Logger log = LoggerFactory.getLogger(ControllerProcess.class);
    /** For lists of all nodes and leases; single calls have shorter deadlines of their own. Chosen. */
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);
    /** How long the end waits for the summary of an observation. Chosen. */
    private static final long SUMMARY_SECONDS = 2;

    private final ThreadLoop loop = new ThreadLoop("controller");
    private final ThreadLoop timer = new ThreadLoop("controller-pages");
    private final Transport transport;
    private final KubeClient client;
    private final ControllerMetrics metrics = new ControllerMetrics();
    private final SearchableHistory history;
    private final Optional<Observation> observation;
    private final Controller controller;
    private Optional<DebugServer> pages = Optional.empty();

    private ControllerProcess(ServerAccess access, ControllerOptions options, Optional<Path> historyDir) {
        RandomGenerator random = Randoms.secure();
        history = historyDir
                .<SearchableHistory>map(dir -> new FileHistory(dir, options.history.bytes(), loop, metrics))
                .orElseGet(MemoryHistory::new);
        HttpTransport http = new HttpTransport(access);
        observation = options.mode == ControllerOptions.Mode.observe
                ? Optional.of(new Observation(loop, history))
                : Optional.empty();
        transport = observation
                .<Transport>map(witness -> new ShadowTransport(http, loop.clock(), witness))
                .orElse(http);
        client = new KubeClient(transport, loop, LIST_TIMEOUT);
        controller = new Controller(
                options.config(),
                new ControllerPorts(
                        client,
                        loop,
                        component -> new ApiEventRecorder(client, component, "", random),
                        random,
                        metrics,
                        history));
    }

    /**
     * Starts a controller.
     *
     * @param historyDir where decisions are kept; empty for memory
     * @throws IOException if its pages cannot be served
     */
    static ControllerProcess start(ServerAccess access, ControllerOptions options, Optional<Path> historyDir)
            throws IOException {
        ControllerProcess process = new ControllerProcess(access, options, historyDir);
        Optional<InetSocketAddress> address = options.history.address().socket();
        if (address.isPresent()) {
            process.serve(address.get(), options.history.bindAddress.isEmpty());
        }
        process.controller.start();
        return process;
    }

    private void serve(InetSocketAddress address, boolean orElseAny) throws IOException {
        DebugPages shown = new DebugPages(controller.view(), history, metrics, loop, timer);
        observation.ifPresent(observed -> shown.with("/debug/observe", observed::json));
        DebugServer server = DebugServer.start(address, orElseAny, shown);
        pages = Optional.of(server);
        if (observation.isEmpty()) {
            loop.execute(() -> DebugAddress.tell(client, server.url()));
        }
    }

    void stop() {
        pages.ifPresent(DebugServer::stop);
        controller.stop();
        observation.ifPresent(this::summarize);
        history.close();
        transport.close();
        loop.close();
        timer.close();
    }

    private void summarize(Observation observed) {
        try {
            log.info(
                    "{}",
                    CompletableFuture.supplyAsync(observed::summary, loop).get(SUMMARY_SECONDS, TimeUnit.SECONDS));
        } catch (TimeoutException | ExecutionException e) {
            log.warn("no summary of the observation: {}", e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
