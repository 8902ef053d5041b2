package io.nodekeeper.cli.controller;

import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.cli.guard.GuardProcess;
import io.nodekeeper.cli.metrics.ProcessFigures;
import io.nodekeeper.cli.output.Logging;
import io.nodekeeper.cli.pages.DebugServer;
import io.nodekeeper.cli.pages.Exposure;
import io.nodekeeper.cli.pages.InstancePages;
import io.nodekeeper.cli.ui.WebPages;
import io.nodekeeper.cli.why.NodeStory;
import io.nodekeeper.client.FencedTransport;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.client.shadow.ShadowTransport;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.Controller;
import io.nodekeeper.controller.ControllerPorts;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.debug.DebugAddress;
import io.nodekeeper.controller.debug.DebugPages;
import io.nodekeeper.controller.history.DeferredHistory;
import io.nodekeeper.controller.history.FileHistory;
import io.nodekeeper.controller.history.MemoryHistory;
import io.nodekeeper.controller.history.SearchableHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.ObserveMetrics;
import io.nodekeeper.controller.observe.Observation;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
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

/**
 * Wires a controller with its election, history and HTTP pages. The pages are served from the start; the controller
 * starts when it is elected. The process must exit when {@link #ended} completes.
 */
public final class ControllerProcess {
    private static final Logger log = LoggerFactory.getLogger(ControllerProcess.class);
    /**
     * For lists of all nodes and leases: 50,000 objects take seconds on a busy server. Single calls have shorter
     * deadlines.
     */
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);
    /**
     * How long a stop waits for the summary of an observation, which is in memory: only a loop that hangs takes longer.
     */
    private static final long SUMMARY_SECONDS = 2;
    /** How long a stop waits for the release of the lease: one write with a margin. An unreleased lease expires. */
    private static final long RELEASE_SECONDS = 5;

    private final ThreadLoop loop = new ThreadLoop("controller");
    private final ThreadLoop timer = new ThreadLoop("controller-pages");
    private final ThreadLoop electionLoop = new ThreadLoop("election");
    private final RandomGenerator random = Randoms.secure();
    private final ControllerMetrics metrics = new ControllerMetrics();
    private final ControllerConfig config;
    private final Optional<HttpTransport> electionTransport;
    private final Optional<Election> election;
    private final Optional<Observation> observation;
    private final Transport transport;
    private final KubeClient client;
    private final DeferredHistory history;
    private final CompletableFuture<String> ended = new CompletableFuture<>();
    private Optional<GuardProcess> guard = Optional.empty();
    private Optional<DebugServer> pages = Optional.empty();
    /** The address of the pages that the leader publishes. */
    private Optional<URI> published = Optional.empty();
    /** Created when the controller starts, because it counts time from then on. Written on the loop. */
    private volatile Optional<Controller> controller = Optional.empty();
    /** Confined to the loop. */
    private boolean stopping;

    private ControllerProcess(
            ServerAccess access,
            ControllerOptions options,
            Optional<LeaderElectionConfig> elected,
            Optional<Path> historyDir) {
        ProcessFigures.register(metrics.registry());
        config = options.config();
        history = new DeferredHistory(() -> historyDir
                .<SearchableHistory>map(dir -> new FileHistory(dir, options.history.bytes(), loop, metrics))
                .orElseGet(MemoryHistory::new));
        observation = options.mode == ControllerOptions.Mode.enforce
                ? Optional.empty()
                : Optional.of(
                        new Observation(loop, history, config.nodeMonitorGracePeriod(), new ObserveMetrics(metrics)));
        electionTransport = elected.map(lock -> new HttpTransport(access));
        election = elected.flatMap(lock -> electionTransport.map(way -> election(lock, way)));
        transport = transport(HttpTransport.forLists(access, PriorityWorkQueue.CALLS));
        client = new KubeClient(transport, loop, LIST_TIMEOUT);
    }

    private Election election(LeaderElectionConfig lock, Transport way) {
        KubeClient own = new KubeClient(way, electionLoop, lock.callTimeout());
        Election candidate = new Election(
                lock,
                Election.identity(LinuxHost.hostname(), random),
                own,
                new ApiEventRecorder(own, "kube-controller-manager", "", random),
                random,
                metrics);
        candidate.whenWritten((sentAt, acknowledgedAt) ->
                controller.ifPresent(working -> working.leaseWritten(sentAt, acknowledgedAt, lock.retryPeriod())));
        return candidate;
    }

    private Transport transport(HttpTransport http) {
        if (observation.isPresent()) {
            Logging.observing();
            return new ShadowTransport(http, loop.clock(), observation.get());
        }
        return election.<Transport>map(elected -> new FencedTransport(http, elected::leads, PriorityWorkQueue.CALLS))
                .orElse(http);
    }

    /**
     * Starts a controller, or a candidate in the election.
     *
     * @param elected the configuration of the election; empty to start immediately
     * @param historyDir where decisions are stored; empty for memory
     * @throws IOException if its pages cannot be served
     */
    public static ControllerProcess start(
            ServerAccess access,
            ControllerOptions options,
            Optional<LeaderElectionConfig> elected,
            Optional<Path> historyDir)
            throws IOException {
        historyDir.ifPresentOrElse(
                dir -> log.info("Decisions are stored in {}", dir),
                () -> log.info(
                        "Decisions are stored in memory until this process ends; --history-dir stores them on disk"));
        ControllerProcess process = new ControllerProcess(access, options, elected, historyDir);
        if (options.mode == ControllerOptions.Mode.guard) {
            process.guard(access, options);
        }
        Optional<InetSocketAddress> address = options.history.address().socket();
        if (address.isPresent()) {
            process.serve(
                    address.get(),
                    options.history.bindAddress.isEmpty(),
                    options.pages.exposure(address.get(), access));
        }
        process.election.ifPresentOrElse(process::stand, process::begin);
        return process;
    }

    /** Completes with the reason when the controller cannot continue. */
    public CompletableFuture<String> ended() {
        return ended;
    }

    /** The address of the web page; empty if no pages are served. */
    public Optional<URI> page() {
        return pages.map(serving -> serving.url().resolve(WebPages.PATH));
    }

    private void guard(ServerAccess access, ControllerOptions options) throws IOException {
        guard = Optional.of(GuardProcess.start(
                access,
                options.guard,
                config.nodeMonitorGracePeriod(),
                new GuardProcess.Shared(loop, () -> controller, history, metrics, random)));
    }

    private void serve(InetSocketAddress address, boolean orElseAny, Optional<Exposure> exposure) throws IOException {
        ProcessView view = new ProcessView(loop, () -> controller, election);
        DebugPages shown = new DebugPages(view, history, metrics, loop, timer);
        observation.ifPresent(shown::observing);
        guard.ifPresent(guarding -> shown.with("/debug/guard", guarding::json));
        WebPages web = new WebPages(shown, view, new NodeStory(Optional.of(client), timer), timer);
        InstancePages own = new InstancePages(web, random);
        DebugServer server =
                DebugServer.start("controller", "--controller-bind-address", address, orElseAny, own, exposure);
        pages = Optional.of(server);
        // With TLS the certificate proves who answers, and rights are for paths without an id.
        published = Optional.of(exposure.isPresent() ? server.url() : own.at(server.url()));
    }

    private void stand(Election candidate) {
        candidate.lost().thenAccept(ended::complete);
        candidate.won().thenRun(this::begin);
        candidate.start();
    }

    private void begin() {
        loop.execute(() -> {
            if (stopping) {
                return;
            }
            try {
                history.open();
                observation.ifPresent(Observation::begin);
                Controller begun = new Controller(
                        config,
                        new ControllerPorts(
                                client,
                                loop,
                                component -> new ApiEventRecorder(
                                        client, component, "", random, outcome -> metrics.event(outcome.label())),
                                random,
                                metrics,
                                observation.map(Observation::wouldBe).orElse(history)));
                controller = Optional.of(begun);
                begun.start();
            } catch (RuntimeException e) {
                // A controller that does not work must not hold the lease.
                log.error("the controller cannot start", e);
                ended.complete("the controller cannot start: " + e);
                return;
            }
            if (observation.isEmpty()) {
                DebugAddress.publish(client, published);
            }
        });
    }

    /** Stops the controller first, then releases its lease. */
    public void stop() {
        guard.ifPresent(GuardProcess::stop);
        pages.ifPresent(DebugServer::stop);
        waitFor("stopping the controller", RELEASE_SECONDS, CompletableFuture.supplyAsync(this::rest, loop));
        election.ifPresent(elected -> waitFor("releasing the lease", RELEASE_SECONDS, elected.stop()));
        observation.ifPresent(observed -> waitFor(
                        "the summary of the observation",
                        SUMMARY_SECONDS,
                        CompletableFuture.supplyAsync(observed::end, loop))
                .ifPresent(summary -> log.info("{}", summary)));
        history.close();
        transport.close();
        electionTransport.ifPresent(HttpTransport::close);
        loop.close();
        electionLoop.close();
        timer.close();
    }

    private boolean rest() {
        stopping = true;
        controller.ifPresent(Controller::stop);
        return true;
    }

    private static <T> Optional<T> waitFor(String what, long seconds, CompletableFuture<T> future) {
        try {
            return Optional.ofNullable(future.get(seconds, TimeUnit.SECONDS));
        } catch (TimeoutException | ExecutionException e) {
            log.warn("{} did not finish in time: {}", what, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }
}
