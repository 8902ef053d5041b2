package io.nodekeeper.simulator.cluster;

import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.simulator.network.Cable;
import io.nodekeeper.simulator.network.SimNetwork;
import io.nodekeeper.simulator.network.SimTransport;
import io.nodekeeper.simulator.oracle.Oracle;
import io.nodekeeper.simulator.oracle.Sights;
import io.nodekeeper.simulator.oracle.Tally;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * A whole cluster in virtual time: agents, controller and API server as in production, a network between them, and an
 * oracle that observes them. The behaviour depends only on the seed and on the calls made here. Not thread-safe.
 */
public final class SimCluster {
    /** The start of virtual time; any fixed date makes runs repeatable. */
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    /** The number of nodes that start each second, as for hollow nodes. */
    private static final int STARTS_PER_SECOND = 500;

    private static final String LAG = "lag";
    private static final String CANARY = "canary";
    /**
     * A watch's lag delays a verdict by up to this much more than the lags themselves, because proofs come once a
     * second.
     */
    private static final Duration LAG_EDGE = Duration.ofSeconds(5);
    /** The bound for verdicts of a controller that can only read: this project's requirement. */
    private static final Duration WITHOUT_CANARY = Duration.ofSeconds(30);

    private static final Duration ADMIN_TIMEOUT = Duration.ofSeconds(5);
    /** The head start of the API server: longer than its first messages take. */
    private static final Duration HEAD_START = Duration.ofMillis(100);
    /** The time within which a standby takes over: the lock's 15 s, and two retries of 4.4 s at most. */
    private static final Duration TAKEOVER = Duration.ofSeconds(24);
    /** The time after which a controller that lost the leadership is restarted, as by a supervisor. */
    private static final Duration SUPERVISED = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime(BEGINNING);
    private final Trace trace;
    private final Tally tally = new Tally();
    private final Oracle oracle;
    private final SimNetwork network;
    private final VirtualTime.VirtualLoop director;
    private final SimApiServer server;
    private final List<SimController> controllers = new ArrayList<>();
    /** By how much verdicts may currently be later, by reason. */
    private final Map<String, Duration> slower = new LinkedHashMap<>();

    private final Set<String> wrongClocks = new HashSet<>();
    private final Map<String, SimProcess> processes = new LinkedHashMap<>();

    /** A cluster that starts as time advances; {@code lines} receives its trace. */
    public SimCluster(ClusterSetup setup, Consumer<String> lines) {
        // Each part has its own random numbers, so that one more draw here changes nothing there.
        RandomGenerator seeds = Randoms.seeded(setup.seed());
        trace = new Trace(time, lines);
        oracle = new Oracle(
                time,
                setup.config(),
                setup.renewal(),
                setup.controllers() > 1 ? TAKEOVER : Duration.ZERO,
                trace::add,
                tally);
        network = new SimNetwork(time, Randoms.seeded(seeds.nextLong()));
        director = time.loop("director");
        server = new SimApiServer(time, network, Randoms.seeded(seeds.nextLong()));
        server.observe(new ApiWatcher(oracle));
        RandomGenerator controllerSeeds = Randoms.seeded(seeds.nextLong());
        RandomGenerator nodeSeeds = Randoms.seeded(seeds.nextLong());
        processes.put(server.name(), server);
        server.start();
        for (int number = 1; number <= setup.controllers(); number++) {
            SimController controller = new SimController(
                    time,
                    network,
                    SimController.name(number),
                    number == 1 ? controllerSeeds : Randoms.seeded(seeds.nextLong()),
                    setup,
                    number == 1 ? setup.tap() : UnaryOperator.identity(),
                    new FromControllers());
            processes.put(controller.name(), controller);
            controllers.add(controller);
            director.schedule(HEAD_START, controller::start);
        }
        for (int number = 0; number < setup.nodes(); number++) {
            SimNode node =
                    new SimNode(time, network, "n" + number, number, Randoms.seeded(nodeSeeds.nextLong()), setup);
            processes.put(node.name(), node);
            Duration turn = Duration.ofNanos(number * 1_000_000_000L / STARTS_PER_SECOND);
            director.schedule(HEAD_START.plus(turn), () -> {
                node.start();
                oracle.nodeIs(node.name(), true);
            });
        }
    }

    /** Advances time. */
    public void run(Duration duration) {
        time.advance(duration);
    }

    /** Runs {@code action} in virtual time. */
    public void later(Duration delay, Runnable action) {
        director.schedule(delay, action);
    }

    /** {@code sights} sees the current objects in the API, and all changes. */
    public void observe(Sights sights) {
        server.observe(new ApiWatcher(sights));
    }

    /** A client with all rights, whose calls come from a separate loop. */
    public KubeClient admin() {
        User user = User.authenticated("kubernetes-admin", List.of("system:masters"));
        return new KubeClient(new SimTransport(network, new Cable(), user), time.loop("admin"), ADMIN_TIMEOUT);
    }

    /** Whether a process has no fault. */
    public boolean isHealthy(String name) {
        return process(name).isHealthy();
    }

    /** Crashes a process. */
    public void crash(String name) {
        act(name, "crashes", SimProcess::crash);
    }

    /** Starts a crashed process again. */
    public void restart(String name) {
        act(name, "starts again", SimProcess::start);
    }

    /** Freezes a process, as SIGSTOP does. */
    public void freeze(String name) {
        act(name, "freezes", SimProcess::freeze);
    }

    /** Thaws a frozen process. */
    public void thaw(String name) {
        act(name, "thaws", SimProcess::thaw);
    }

    /** Breaks a process's connections and refuses new ones. */
    public void cut(String name) {
        act(name, "is cut off", process -> {
            process.cable().become(Cable.State.CUT);
            network.cableCut(process.cable());
        });
    }

    /** Drops a process's messages in both directions; neither end notices. */
    public void silence(String name) {
        act(name, "falls silent", process -> process.cable().become(Cable.State.SILENT));
    }

    /** Repairs a process's cable. */
    public void heal(String name) {
        act(name, "is connected again", process -> process.cable().become(Cable.State.UP));
    }

    /** Delays each message of a process by this time, in both directions. */
    public void delay(String name, Duration by) {
        act(
                name,
                "is delayed by " + GoDuration.format(by),
                process -> process.cable().slowDown(by));
    }

    /** Stalls a process's watches of a resource, such as {@code leases}; their connections stay open. */
    public void stallWatch(String name, String resource) {
        act(
                name,
                "no longer receives events of " + resource,
                process -> process.cable().stall(resource));
    }

    /** Resumes a process's stalled watches of a resource. */
    public void resumeWatch(String name, String resource) {
        act(
                name,
                "receives events of " + resource + " again",
                process -> process.cable().resume(resource));
    }

    /** Delays the watch events of a resource for a controller by this time; zero ends it. */
    public void lagWatch(String name, String resource, Duration by) {
        trace.add(name, "receives events of " + resource + " later by " + GoDuration.format(by));
        process(name).cable().lag(resource, by);
        // A verdict needs two lags: it waits for a canary that was sent after the deadline.
        slower(LAG, by.multipliedBy(2).plus(by.isZero() ? Duration.ZERO : LAG_EDGE));
    }

    /** Refuses a controller's canaries with this status; 0 accepts them again. */
    public void refuseCanary(String name, int status) {
        trace.add(name, status == 0 ? "may send canaries again" : "has its canaries refused with " + status);
        if (process(name) instanceof SimController controller) {
            controller.refuseCanary(status);
        }
        slower(CANARY, status == 0 ? Duration.ZERO : WITHOUT_CANARY);
    }

    private void slower(String why, Duration by) {
        if (by.isZero()) {
            slower.remove(why);
        } else {
            slower.put(why, by);
        }
        oracle.judgementIsSlower(slower.values().stream().reduce(Duration.ZERO, Duration::plus));
    }

    /** Makes writes to the API server's disk hang; reads are answered from memory. */
    public void stallDisk() {
        act(SimApiServer.NAME, "has a disk that hangs", process -> server.stallDisk());
    }

    /** Makes the API server's disk work again. */
    public void resumeDisk() {
        act(SimApiServer.NAME, "has a disk that works again", process -> server.resumeDisk());
    }

    /** Offsets a process's wall clock by this time. */
    public void skew(String name, Duration by) {
        act(name, "has its clock off by " + GoDuration.format(by), process -> process.skewWallClock(by));
        if (process(name) instanceof SimController) {
            if (by.isZero()) {
                wrongClocks.remove(name);
            } else {
                wrongClocks.add(name);
            }
            oracle.controllerClocksAre(wrongClocks.isEmpty());
        }
    }

    /** Adds what the API shows of all nodes to the trace. */
    public void show() {
        oracle.show();
    }

    public VirtualTime time() {
        return time;
    }

    public Tally tally() {
        return tally;
    }

    public Trace trace() {
        return trace;
    }

    /** Crashes a process if it runs: a controller may have exited by itself. */
    public void crashIfRunning(String name) {
        if (process(name).isRunning()) {
            crash(name);
        }
    }

    /** Starts a crashed process again, unless it runs already. */
    public void restartIfDown(String name) {
        if (!process(name).isRunning()) {
            restart(name);
        }
    }

    /** Freezes a process if it runs. */
    public void freezeIfRunning(String name) {
        if (process(name).isRunning()) {
            freeze(name);
        }
    }

    /** Thaws a process if it is frozen. */
    public void thawIfFrozen(String name) {
        if (process(name).isFrozen()) {
            thaw(name);
        }
    }

    private void act(String name, String what, Consumer<SimProcess> action) {
        SimProcess process = process(name);
        boolean before = process.isHealthy();
        boolean serverBefore = server.isHealthy();
        boolean controlBefore = controlIsHealthy();
        trace.add(name, what);
        action.accept(process);
        if (process instanceof SimNode) {
            if (before != process.isHealthy()) {
                oracle.nodeIs(name, process.isHealthy());
            }
            return;
        }
        if (serverBefore != server.isHealthy()) {
            oracle.serverIs(!serverBefore);
        }
        if (controlBefore != controlIsHealthy()) {
            oracle.controlIs(!controlBefore);
        }
    }

    /** Whether every controller can be expected to give verdicts. */
    private boolean controlIsHealthy() {
        return server.isHealthy()
                && controllers.stream()
                        .allMatch(controller -> controller.isHealthy()
                                && controller.cable().extra().isZero());
    }

    private SimProcess process(String name) {
        SimProcess process = processes.get(name);
        if (process == null) {
            throw new IllegalArgumentException(
                    "\"" + name + "\" is not in the cluster; expected apiserver, controller, n0, n1, …");
        }
        return process;
    }

    /** Informs the oracle about controllers, and restarts those that exit by themselves. */
    private final class FromControllers implements SimController.Witness {
        @Override
        public void began(SimController controller) {
            oracle.controllerBegan();
        }

        @Override
        public void lostLead(SimController controller) {
            // Not from within the process's own call.
            director.schedule(Duration.ZERO, () -> {
                if (controller.isRunning()) {
                    crash(controller.name());
                    director.schedule(SUPERVISED, () -> {
                        if (!controller.isRunning()) {
                            restart(controller.name());
                        }
                    });
                }
            });
        }

        @Override
        public void writes(String identity, String call) {
            oracle.writes(identity, call);
        }
    }
}
