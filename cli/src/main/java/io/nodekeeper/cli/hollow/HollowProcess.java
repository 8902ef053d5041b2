package io.nodekeeper.cli.hollow;

import io.nodekeeper.agent.HollowNodes;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.progress.ProgressDisplay;
import io.nodekeeper.time.progress.ProgressStyle;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The process of running hollow nodes. Thread-safe. */
public final class HollowProcess {
    private final Clock clock = new SystemClock();
    private final long began = clock.nanoTime();
    private final HollowNodesCommand command;
    private final PrintWriter out;
    private final HollowNodes nodes;
    private final ProgressDisplay display;
    private volatile int registered;
    private volatile Optional<Duration> ready = Optional.empty();

    private HollowProcess(HollowNodesCommand command, PrintWriter out, PrintWriter err) {
        this.command = command;
        this.out = out;
        List<AgentConfig> configs = new ArrayList<>();
        for (int number = 0; number < command.hollow.count; number++) {
            AgentConfigBuilder config = new AgentConfigBuilder(command.hollow.prefix + number);
            command.hollow.heartbeat.configure(config);
            configs.add(config.build());
        }
        nodes = new HollowNodes(command.kubeconfig.access(), configs, this::registered);
        display = command.progress.show("hollow-nodes", err, () -> state().progress());
    }

    /** Starts the nodes; prints that they are ready to {@code out}, and progress to {@code err}. */
    public static HollowProcess start(HollowNodesCommand command, PrintWriter out, PrintWriter err) {
        HollowProcess process = new HollowProcess(command, out, err);
        process.nodes.start();
        return process;
    }

    private void registered(int so) {
        registered = so;
        if (so < command.hollow.count) {
            return;
        }
        ready = Optional.of(ran());
        display.beside(() -> out.println("ready " + so + " hollow nodes registered"));
        if (command.progress.style() != ProgressStyle.TERMINAL) {
            // From here on there is no end, and a file would grow with lines that say the same.
            display.close();
        }
    }

    private Duration ran() {
        return Duration.ofNanos(clock.nanoTime() - began);
    }

    private HollowState state() {
        return new HollowState(command.hollow.count, registered, ran(), ready, nodes.requests());
    }

    /** Stops the nodes, and prints what they did; the report is partial if some had not registered. */
    public void stop() {
        HollowState state = state();
        display.close();
        out.println(state.report());
        nodes.stop();
    }
}
