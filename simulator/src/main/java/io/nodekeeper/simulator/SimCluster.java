package io.nodekeeper.simulator;

import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.client.KubeClient;
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
 * oracle that watches. What happens follows from the seed and the calls made here alone. Not thread-safe.
 */
final class SimCluster {
    /** When virtual time begins. Chosen. */
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    /** Nodes that start each second, as hollow nodes do. */
    private static final int STARTS_PER_SECOND = 500;

    private static final String LAG = "lag";
    private static final String CANARY = "canary";
    /** Proofs come each second. */
    private static final Duration LAG_EDGE = Duration.ofSeconds(5);
    /** The bound for verdicts of a controller that can only read: the project's own. */
    private static final Duration WITHOUT_CANARY = Duration.ofSeconds(30);

    private static final Duration ADMIN_TIMEOUT = Duration.ofSeconds(5);
    /** The API server is up before the others: longer than its first messages take. */
    private static final Duration HEAD_START = Duration.ofMillis(100);
    /** In which one of several controllers takes over from another one: the lock's 15 s, and two tries of 4.4 s at most. */
    private static final Duration TAKEOVER = Duration.ofSeconds(24);
    /** After which a controller that has lost its lead starts again, as a supervisor has it do. */
    private static final Duration SUPERVISED = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime(BEGINNING);
    private final Trace trace;
    private final Tally tally = new Tally();
    private final Oracle oracle;
    private final SimNetwork network;
    private final VirtualTime.VirtualLoop director;
    private final SimApiServer server;
    private final List<SimController> controllers = new ArrayList<>();
    /** By how much verdicts may be later at present, by the reason. */
    private final Map<String, Duration> slower = new LinkedHashMap<>();

    private final Set<String> wrongClocks = new HashSet<>();
    private final Map<String, SimProcess> processes = new LinkedHashMap<>();

    /** A cluster that comes up as time advances; {@code lines} gets its trace. */
    SimCluster(ClusterSetup setup, Consumer<String> lines) {
        // Each part has numbers of its own, so that one more draw here changes nothing there.
        RandomGenerator seeds = Randoms.seeded(setup.seed());
        trace = new Trace(time, lines);
        oracle =
                new Oracle(time, setup.config(), setup.controllers() > 1 ? TAKEOVER : Duration.ZERO, trace::add, tally);
        network = new SimNetwork(time, Randoms.seeded(seeds.nextLong()));
        director = time.loop("director");
        server = new SimApiServer(time, network, Randoms.seeded(seeds.nextLong()));
        server.observe(new Observer(oracle));
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
            SimNode node = new SimNode(
                    time, network, "n" + number, number, Randoms.seeded(nodeSeeds.nextLong()), setup.pods());
            processes.put(node.name(), node);
            Duration turn = Duration.ofNanos(number * 1_000_000_000L / STARTS_PER_SECOND);
            director.schedule(HEAD_START.plus(turn), () -> {
                node.start();
                oracle.nodeIs(node.name(), true);
            });
        }
    }

    /** Lets time pass. */
    void run(Duration duration) {
        time.advance(duration);
    }

    /** Runs {@code action} in virtual time. */
    void later(Duration delay, Runnable action) {
        director.schedule(delay, action);
    }

    /** {@code sights} sees what is in the API now, and what comes. */
    void observe(Sights sights) {
        server.observe(new Observer(sights));
    }

    /** Someone with every right, whose calls come on a loop of their own. */
    KubeClient admin() {
        User user = User.authenticated("kubernetes-admin", List.of("system:masters"));
        return new KubeClient(network.connect(new Cable(), user), time.loop("admin"), ADMIN_TIMEOUT);
    }

    /** Whether nothing is wrong with a process. */
    boolean isHealthy(String name) {
        return process(name).isHealthy();
    }

    /** The process dies. */
    void crash(String name) {
        act(name, "crashes", SimProcess::crash);
    }

    /** A process that died starts again. */
    void restart(String name) {
        act(name, "starts again", SimProcess::start);
    }

    /** The process stands still, as by SIGSTOP. */
    void freeze(String name) {
        act(name, "freezes", SimProcess::freeze);
    }

    /** A frozen process goes on. */
    void thaw(String name) {
        act(name, "thaws", SimProcess::thaw);
    }

    /** Its connections break, and new ones are refused. */
    void cut(String name) {
        act(name, "is cut off", process -> {
            process.cable().become(Cable.State.CUT);
            network.cableCut(process.cable());
        });
    }

    /** Its messages go nowhere, both ways, and nobody is told. */
    void silence(String name) {
        act(name, "falls silent", process -> process.cable().become(Cable.State.SILENT));
    }

    /** Its cable works again. */
    void heal(String name) {
        act(name, "is connected again", process -> process.cable().become(Cable.State.UP));
    }

    /** Each of its messages takes longer by this, in both directions. */
    void delay(String name, Duration by) {
        act(
                name,
                "is delayed by " + GoDuration.format(by),
                process -> process.cable().slowDown(by));
    }

    /** What its watches of a resource, such as {@code leases}, had to say no longer comes; their connections stay open. */
    void stallWatch(String name, String resource) {
        act(name, "hears no more of " + resource, process -> process.cable().stall(resource));
    }

    /** Its watches of a resource go on where they stood. */
    void resumeWatch(String name, String resource) {
        act(name, "hears of " + resource + " again", process -> process.cable().resume(resource));
    }

    /** What the watches of a resource say to a controller takes longer by this; zero ends it. */
    void lagWatch(String name, String resource, Duration by) {
        trace.add(name, "hears of " + resource + " later by " + GoDuration.format(by));
        process(name).cable().lag(resource, by);
        // It takes two lags to see a canary that proves the deadline: one that was sent after it.
        slower(LAG, by.multipliedBy(2).plus(by.isZero() ? Duration.ZERO : LAG_EDGE));
    }

    /** A controller's canaries are refused with this status, 0 for no longer. */
    void refuseCanary(String name, int status) {
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

    /** Writes to the API server's disk hang; reads are answered from memory. */
    void stallDisk() {
        act(SimApiServer.NAME, "has a disk that hangs", process -> server.stallDisk());
    }

    /** The API server's disk works again. */
    void resumeDisk() {
        act(SimApiServer.NAME, "has a disk that works again", process -> server.resumeDisk());
    }

    /** Its wall clock is wrong by this. */
    void skew(String name, Duration by) {
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

    /** Traces what the API says of all nodes. */
    void show() {
        oracle.show();
    }

    VirtualTime time() {
        return time;
    }

    Tally tally() {
        return tally;
    }

    Trace trace() {
        return trace;
    }

    /** The process dies if it is there: a controller may have ended by itself. */
    void crashIfRunning(String name) {
        if (process(name).isRunning()) {
            crash(name);
        }
    }

    /** A process that died starts again, unless it has already. */
    void restartIfDown(String name) {
        if (!process(name).isRunning()) {
            restart(name);
        }
    }

    /** The process stands still if it is there. */
    void freezeIfRunning(String name) {
        if (process(name).isRunning()) {
            freeze(name);
        }
    }

    /** A process that is frozen goes on. */
    void thawIfFrozen(String name) {
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

    /** Whether a verdict can be expected of every controller. */
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

    /** Tells the oracle what controllers do, and starts those again that end by themselves. */
    private final class FromControllers implements SimController.Witness {
        @Override
        public void began(SimController controller) {
            oracle.controllerBegan();
        }

        @Override
        public void lostLead(SimController controller) {
            // Not within the process's own call.
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
