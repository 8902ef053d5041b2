package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.cluster.ApiWatcher;
import io.nodekeeper.simulator.cluster.ClusterSetup;
import io.nodekeeper.simulator.cluster.SimApiServer;
import io.nodekeeper.simulator.cluster.SimController;
import io.nodekeeper.simulator.network.SimNetwork;
import io.nodekeeper.simulator.verdicts.VerdictLog;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * Lets a controller judge the recorded heartbeats of a real cluster: API server and controller as in production, in
 * virtual time, and nodes that write what the recorded nodes wrote, when it was seen. The controller is disconnected for
 * each {@link Recording.Gap}, so that it blames no node for what the recorder missed. Not thread-safe.
 */
public final class ReplayRun {
    /** From the API server's start to the controller's. */
    private static final Duration HEAD_START = Duration.ofMillis(100);
    /** The longest advance between two questions whether to end. */
    private static final Duration STEP = Duration.ofSeconds(1);

    /** The most changes of one moment whose writes wait for each other's: a list of as many nodes begins a recording. */
    private static final int MOST_AT_ONCE = 10_000;

    private final Recording recording;
    private final VirtualTime time;
    private final SimNetwork network;
    private final SimController controller;
    private final VerdictLog here;
    /** What the recorded cluster's own controller did. */
    private final VerdictLog there;

    private final Map<String, ReplayedNode> nodes = new HashMap<>();
    private Optional<String> refusal = Optional.empty();
    /** Changes that were applied since tasks ran last. */
    private int applied;

    private int gap;
    private boolean inGap;

    private ReplayRun(Recording recording, ControllerConfig config, long seed) {
        this.recording = recording;
        time = new VirtualTime(recording.begin());
        RandomGenerator seeds = Randoms.seeded(seed);
        network = new SimNetwork(time, Randoms.seeded(seeds.nextLong()));
        SimApiServer server = new SimApiServer(time, network, Randoms.seeded(seeds.nextLong()));
        controller = new SimController(
                time,
                network,
                SimController.NAME,
                Randoms.seeded(seeds.nextLong()),
                new ClusterSetup(recording.nodes(), seed, 1, false, config, UnaryOperator.identity()),
                UnaryOperator.identity(),
                SimController.Witness.NONE);
        VirtualTime.VirtualLoop director = time.loop("director");
        here = VerdictLog.ofRunning(director);
        there = VerdictLog.ofRunning(director);
        server.observe(new ApiWatcher(here));
        server.start();
        director.schedule(HEAD_START, controller::start);
    }

    /**
     * Replays to the end of the recording, or until it is asked to end; the report then is of the time until then.
     *
     * @param seed of the delays of messages in the simulated network
     * @param stopwatch measures real time
     * @param progress receives the elapsed virtual time, each second of it
     * @param ended whether to end now; asked for each change
     * @throws IOException if the recording cannot be read, or its objects are refused by the simulated API server
     */
    public static ReplayReport run(
            Recording recording,
            ControllerConfig config,
            long seed,
            Clock stopwatch,
            Consumer<Duration> progress,
            BooleanSupplier ended)
            throws IOException {
        long began = stopwatch.nanoTime();
        ReplayRun run = new ReplayRun(recording, config, seed);
        run.run(progress, ended);
        return new ReplayReport(
                recording,
                config,
                run.time.elapsed(),
                Duration.ofNanos(stopwatch.nanoTime() - began),
                run.here.verdicts(),
                run.there.verdicts());
    }

    private void run(Consumer<Duration> progress, BooleanSupplier ended) throws IOException {
        try (RecordingReader reader = new RecordingReader(recording.path())) {
            for (Optional<RecordedChange> next = reader.next(); next.isPresent(); next = reader.next()) {
                if (ended.getAsBoolean() || !advance(next.get().at(), progress, ended)) {
                    return;
                }
                apply(next.get());
                if (++applied > MOST_AT_ONCE) {
                    settle();
                }
            }
            settle();
        }
    }

    /** Runs what is due in this moment. */
    private void settle() throws RecordingException {
        applied = 0;
        time.advance(Duration.ZERO);
        if (refusal.isPresent()) {
            throw new RecordingException(
                    recording.path() + ": the simulated API server refused a change: " + refusal.get());
        }
    }

    /** Advances to that time since the beginning; false if it was asked to end. */
    private boolean advance(Duration until, Consumer<Duration> progress, BooleanSupplier ended) throws IOException {
        while (time.elapsed().compareTo(until) < 0) {
            if (ended.getAsBoolean()) {
                return false;
            }
            Duration next = nextStop(until);
            boolean second = next.toSeconds() > time.elapsed().toSeconds();
            time.advance(next.minus(time.elapsed()));
            connect();
            settle();
            if (second) {
                progress.accept(time.elapsed());
            }
        }
        return true;
    }

    private Duration nextStop(Duration until) {
        // No turn is in the past: connect() was called since.
        Duration next = time.elapsed().plus(STEP);
        if (until.compareTo(next) < 0) {
            next = until;
        }
        if (gap < recording.gaps().size()) {
            Recording.Gap now = recording.gaps().get(gap);
            Duration turn = inGap ? now.to() : now.from();
            return turn.compareTo(next) < 0 ? turn : next;
        }
        return next;
    }

    /** Disconnects the controller at the beginning of each gap, and connects it again at its end. */
    private void connect() {
        while (gap < recording.gaps().size()) {
            Recording.Gap now = recording.gaps().get(gap);
            if (!inGap && now.from().compareTo(time.elapsed()) <= 0) {
                inGap = true;
                here.blind();
                there.blind();
                controller.disconnect();
            } else if (inGap && now.to().compareTo(time.elapsed()) <= 0) {
                inGap = false;
                gap++;
                here.sees();
                there.sees();
                controller.connect();
            } else {
                return;
            }
        }
    }

    private void apply(RecordedChange change) {
        switch (change) {
            case RecordedChange.NodeSeen seen -> {
                Node node = new Node(seen.node());
                there.node(seen.node());
                of(node.name()).seen(node);
            }
            case RecordedChange.NodeGone gone -> {
                there.nodeGone(JsonObject.EMPTY.with("metadata", JsonObject.EMPTY.with("name", gone.name())));
                of(gone.name()).gone();
            }
            case RecordedChange.Renewed renewed -> {
                there.lease(JsonObject.EMPTY
                        .with("metadata", JsonObject.EMPTY.with("name", renewed.name()))
                        .with("spec", JsonObject.EMPTY.with("renewTime", renewed.renewTime())));
                of(renewed.name()).renewed(renewed.renewTime(), here.isUnknown(renewed.name()), time.wallTime());
            }
            case RecordedChange.SightLost lost -> {}
            case RecordedChange.SightFound found -> {}
            case RecordedChange.End end -> {}
        }
    }

    private ReplayedNode of(String name) {
        return nodes.computeIfAbsent(
                name, unseen -> new ReplayedNode(unseen, network, why -> refusal = refusal.or(() -> Optional.of(why))));
    }
}
