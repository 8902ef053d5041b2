package io.nodekeeper.cli.guard;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.options.BindAddress;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.controller.Controller;
import io.nodekeeper.controller.guard.Guard;
import io.nodekeeper.controller.guard.GuardReport;
import io.nodekeeper.controller.guard.OwnSight;
import io.nodekeeper.controller.guard.Reviewer;
import io.nodekeeper.controller.guard.SightFeed;
import io.nodekeeper.controller.guard.SwitchState;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.GuardMetrics;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The guard of a controller in guard mode: its endpoint, its loop and its own connections to the API server, so that a
 * busy controller delays no answer.
 */
public final class GuardProcess {
    private static final Logger log = LoggerFactory.getLogger(GuardProcess.class);
    /** The deadline of calls without their own, which are those for events. */
    private static final Duration CALL_LIMIT = Duration.ofSeconds(10);
    /** Threads that parse reviews: 1,000 reviews of 40 KB per second need less than one. */
    private static final int PARSERS = 2;

    /**
     * What the guard shares with its controller.
     *
     * @param loop the controller's, to which {@code history} is confined
     * @param controller empty until it is started
     */
    public record Shared(
            Loop loop,
            Supplier<Optional<Controller>> controller,
            History history,
            ControllerMetrics metrics,
            RandomGenerator random) {}

    private final ThreadLoop loop = new ThreadLoop("guard");
    private final Workers workers = new Workers("guard-review", PARSERS, loop);
    private final SightFeed sight = new SightFeed();
    private final SwitchState state = new SwitchState();
    private final Shared shared;
    private final GuardMetrics metrics;
    private final GuardReport report;
    private final boolean enforce;
    private final HttpTransport transport;
    private final Reviewer reviewer;
    private final ReviewServer server;
    private volatile Optional<Instant> expires = Optional.empty();
    private volatile boolean mismatch;
    private volatile boolean stopped;

    private GuardProcess(ServerAccess access, GuardOptions options, Duration grace, Shared shared) throws IOException {
        this.shared = shared;
        this.enforce = options.enforce;
        this.metrics = new GuardMetrics(shared.metrics());
        this.transport = HttpTransport.forLists(access, HttpTransport.CALLS);
        KubeClient client = new KubeClient(transport, loop, CALL_LIMIT);
        this.report = new GuardReport(
                loop.clock(),
                new ApiEventRecorder(
                        client,
                        "nodekeeper-guard",
                        "",
                        shared.random(),
                        outcome -> shared.metrics().event(outcome.label())),
                shared.loop(),
                shared.history());
        this.reviewer = new Reviewer(
                new Guard(grace, enforce),
                options.budget(),
                new Reviewer.Ports(loop, client, options.users.names(), sight, state, report, metrics));
        InetSocketAddress address = new BindAddress(options.bindAddress)
                .socket()
                .orElseThrow(() -> new IllegalArgumentException("--guard-bind-address is off"));
        this.server = new ReviewServer(address, options.clients(), loop.clock(), workers, reviewer::answer);
        new WebhookKeeper(loop, client, state, shared.random(), new Endpoint()).start();
        log.info(
                "The guard serves admission reviews at {} and {}",
                server.address(),
                enforce ? "refuses writes that wrongly blame nodes" : "only warns; --guard-enforce makes it refuse");
    }

    /**
     * Starts a guard.
     *
     * @param grace the grace period of the cluster's node controller
     * @throws IOException if its address cannot be used
     */
    public static GuardProcess start(ServerAccess access, GuardOptions options, Duration grace, Shared shared)
            throws IOException {
        GuardProcess process = new GuardProcess(access, options, grace, shared);
        shared.loop().execute(process::publish);
        return process;
    }

    private void publish() {
        if (stopped) {
            return;
        }
        shared.loop().schedule(SightFeed.PERIOD, this::publish);
        sight.publish(
                shared.controller()
                        .get()
                        .map(Controller::ownSight)
                        .orElseGet(() -> new OwnSight.Unknown("the controller has not started")),
                loop.clock().nanoTime());
        metrics.enforces(enforce && state.off(loop.clock().nanoTime()).isEmpty());
        reviewer.tend();
    }

    /** What the configuration's keeper tells, on the guard's loop. */
    private final class Endpoint implements WebhookKeeper.Endpoint {
        @Override
        public void show(Identity identity) {
            server.show(identity);
            Instant until = identity.certificate().getNotAfter().toInstant();
            expires = Optional.of(until);
            metrics.certificateExpires(until.getEpochSecond());
        }

        @Override
        public void mismatch(boolean found) {
            mismatch = found;
            metrics.certificateMismatch(found);
        }
    }

    /** The state, for the page {@code /debug/guard}. */
    public JsonObject json() {
        JsonObject.Builder json = JsonObject.builder()
                .put("mode", enforce ? "enforce" : "warn")
                .put("address", server.address().toString())
                .put("recent", report.recent());
        state.off(loop.clock().nanoTime()).ifPresent(why -> json.put("off", why));
        expires.ifPresent(until -> json.put("certificateExpires", KubeTime.format(until)));
        json.put("certificateMismatch", mismatch);
        return json.build();
    }

    /** The address that it listens on. */
    public InetSocketAddress address() {
        return server.address();
    }

    /** Stops answering; the API server lets all writes pass from then on. */
    public void stop() {
        stopped = true;
        server.close();
        workers.close();
        transport.close();
        loop.close();
    }
}
