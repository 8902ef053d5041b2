package io.nodekeeper.cli.options;

import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags for the agent's two periods; empty if not given, so that a configuration file can set them. */
public final class HeartbeatOptions implements Checked {
    @Option(
            names = "--node-lease-duration-seconds",
            paramLabel = "N",
            description = "The duration of a node's lease in seconds. The agent renews it four times in that time."
                    + " Default: 40.")
    public Optional<Integer> leaseDurationSeconds = Optional.empty();

    @Option(
            names = "--node-status-update-frequency",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description =
                    "How often the agent checks the node's state. It reports changes immediately. Default:" + " 10s.")
    Optional<Duration> statusUpdateFrequency = Optional.empty();

    @Override
    public void check(Faults faults) {
        leaseDurationSeconds.ifPresent(
                seconds -> faults.within("--node-lease-duration-seconds", seconds, 1, Integer.MAX_VALUE));
        statusUpdateFrequency.ifPresent(period -> faults.positive("--node-status-update-frequency", period));
    }

    /** Sets each period whose flag was given. */
    public void configure(AgentConfigBuilder builder) {
        leaseDurationSeconds.ifPresent(builder::nodeLeaseDurationSeconds);
        statusUpdateFrequency.ifPresent(builder::nodeStatusUpdateFrequency);
    }
}
