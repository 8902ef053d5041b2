package io.nodekeeper.simulator.lean;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.cluster.ClusterSetup;
import io.nodekeeper.simulator.cluster.Follower;
import io.nodekeeper.simulator.cluster.SimApiServer;
import io.nodekeeper.simulator.cluster.SimCluster;
import io.nodekeeper.simulator.cluster.SimController;
import io.nodekeeper.simulator.network.SimNetwork;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * Simulates as many nodes as one process can hold: controller and API server as in production, with {@link LeanNode}s
 * instead of agents. All nodes register, a controller starts, and some time later one node in a hundred dies, all at
 * the same instant. Not thread-safe.
 */
public final class LeanRun {
    /** See {@link SimCluster}. */
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    /**
     * From the controller's start to the deaths, three renewal periods: the controller first removes the taint of each
     * new node. With earlier deaths, the run would measure the backlog of these writes instead of detection.
     */
    private static final Duration CALM = Duration.ofSeconds(30);
    /**
     * From the last due verdict to the end of the run: a verdict up to this late is measured as a delay, a later one
     * counts as missed.
     */
    private static final Duration REST = Duration.ofSeconds(10);
    /** Between two reports of progress, and until a run ends that was asked to: a second of real time with 130,000 nodes. */
    private static final Duration STEP = Duration.ofMillis(100);
    /** One node in this many dies. */
    private static final int DEATHS = 100;

    private final LeanRunOptions options;
    private final ControllerConfig config = ControllerConfig.DEFAULT;
    private final VirtualTime time = new VirtualTime(BEGINNING);
    private final VirtualTime.VirtualLoop director = time.loop("director");
    private final SimApiServer server;
    private final SimController controller;
    private final List<LeanNode> nodes = new ArrayList<>();
    private final boolean[] dead;
    private final boolean[] marked;
    private final List<Long> delays = new ArrayList<>();
    private final List<String> refusals = new ArrayList<>();
    private int falseVerdicts;
    private boolean complete;
    private long steadyRenewals;
    private Duration steady = Duration.ZERO;
    private long memory;

    private LeanRun(LeanRunOptions options) {
        this.options = options;
        dead = new boolean[options.nodes()];
        marked = new boolean[options.nodes()];
        RandomGenerator seeds = Randoms.seeded(options.seed());
        SimNetwork network = new SimNetwork(time, Randoms.seeded(seeds.nextLong()));
        server = new SimApiServer(time, network, Randoms.seeded(seeds.nextLong()));
        controller = new SimController(
                time,
                network,
                SimController.NAME,
                Randoms.seeded(seeds.nextLong()),
                new ClusterSetup(options.nodes(), options.seed(), 1, false, config, UnaryOperator.identity()),
                UnaryOperator.identity(),
                SimController.Witness.NONE);
        server.start();
        VirtualTime.VirtualLoop fleet = time.loop("fleet");
        for (int number = 0; number < options.nodes(); number++) {
            LeanNode node = new LeanNode("n" + number, fleet, network, refusals::add);
            nodes.add(node);
            // Spread over a renewal period; the renewals keep these offsets.
            fleet.schedule(LeanNode.RENEWAL.multipliedBy(number).dividedBy(options.nodes()), node::register);
        }
        new Follower(ResourceType.NODES.path(), this::saw)
                .follow(network.server().orElseThrow().core());
    }

    /**
     * Runs to the end, or until it is asked to end; the report then is of the time until then.
     *
     * @param stopwatch measures real time
     * @param progress receives what is reached, each tenth of a second of virtual time
     * @param ended whether to end now; asked as often
     */
    public static LeanReport run(
            LeanRunOptions options, Clock stopwatch, Consumer<LeanProgress> progress, BooleanSupplier ended) {
        long began = stopwatch.nanoTime();
        LeanRun run = new LeanRun(options);
        run.run(stopwatch, progress, ended);
        return run.report(Duration.ofNanos(stopwatch.nanoTime() - began));
    }

    private void run(Clock stopwatch, Consumer<LeanProgress> progress, BooleanSupplier ended) {
        if (!advance(LeanPhase.REGISTRATION, LeanNode.RENEWAL.plusSeconds(1), progress, ended)) {
            return;
        }
        controller.start();
        if (!advance(LeanPhase.CALM, CALM, progress, ended)) {
            return;
        }
        kill();
        long renewalsBefore = renewals();
        long steadyFrom = stopwatch.nanoTime();
        complete = advance(LeanPhase.VERDICTS, config.nodeMonitorGracePeriod().plus(REST), progress, ended);
        steady = Duration.ofNanos(stopwatch.nanoTime() - steadyFrom);
        steadyRenewals = renewals() - renewalsBefore;
        memory = complete ? controllerMemory() : 0;
    }

    /** Whether it has not been asked to end. */
    private boolean advance(
            LeanPhase phase, Duration duration, Consumer<LeanProgress> progress, BooleanSupplier ended) {
        for (Duration left = duration; left.isPositive(); left = left.minus(STEP)) {
            if (ended.getAsBoolean()) {
                return false;
            }
            time.advance(left.compareTo(STEP) < 0 ? left : STEP);
            if (!refusals.isEmpty()) {
                throw new IllegalStateException(refusals.size() + " calls were refused: " + refusals.getFirst());
            }
            progress.accept(new LeanProgress(phase, duration.minus(left).plus(STEP), duration));
        }
        return true;
    }

    private void kill() {
        RandomGenerator random = Randoms.seeded(~options.seed());
        int left = Math.max(1, options.nodes() / DEATHS);
        while (left > 0) {
            int victim = random.nextInt(options.nodes());
            if (!dead[victim]) {
                dead[victim] = true;
                nodes.get(victim).die();
                left--;
            }
        }
    }

    private void saw(String change, JsonObject json) {
        Node node = new Node(json);
        int number = Integer.parseInt(node.name().substring(1));
        if (marked[number] || !node.ready().map(Condition::status).orElse("").equals(Condition.UNKNOWN)) {
            return;
        }
        marked[number] = true;
        long silence = director.nanoTime() - nodes.get(number).renewedAt();
        long delay = silence - config.nodeMonitorGracePeriod().toNanos();
        if (!dead[number] || delay < 0) {
            falseVerdicts++;
        } else {
            delays.add(delay);
        }
    }

    private long renewals() {
        return nodes.stream().mapToLong(LeanNode::renewals).sum();
    }

    /** The memory that is freed when the controller dies, in bytes: all its state, including its client's buffers. */
    private long controllerMemory() {
        long with = used();
        controller.crash();
        // The state of the connection in the network and the API server is freed, too.
        time.advance(Duration.ofSeconds(1));
        return with - used();
    }

    /** Memory in use after a full collection; collects twice because the first may only enqueue objects for cleanup. */
    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        runtime.gc();
        runtime.gc();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private LeanReport report(Duration took) {
        int deaths = 0;
        int missed = 0;
        for (int number = 0; number < options.nodes(); number++) {
            deaths += dead[number] ? 1 : 0;
            missed += complete && dead[number] && !marked[number] ? 1 : 0;
        }
        long[] sorted = delays.stream().mapToLong(Long::longValue).sorted().toArray();
        return new LeanReport(
                options,
                !complete,
                took,
                time.elapsed(),
                time.executed(),
                deaths,
                missed,
                falseVerdicts,
                percentile(sorted, 0.5),
                percentile(sorted, 0.99),
                percentile(sorted, 1),
                steadyRenewals,
                steady,
                memory);
    }

    private static Duration percentile(long[] sorted, double share) {
        return sorted.length == 0
                ? Duration.ZERO
                : Duration.ofNanos(sorted[(int) Math.ceil(share * sorted.length) - 1]);
    }
}
