package io.nodekeeper.cli;

import java.time.Duration;
import picocli.CommandLine.Option;

/** What a controller can be told, the way to its API server aside. Names and defaults are kube-controller-manager's. */
final class ControllerOptions implements Checked {
    @Option(
            names = "--node-monitor-period",
            paramLabel = "DURATION",
            defaultValue = "5s",
            converter = DurationConverter.class,
            description =
                    "How often the controller proves to itself that it sees the API. Silence of a node is noticed at its"
                            + " deadline, not by looking around. Default: ${DEFAULT-VALUE}.")
    Duration monitorPeriod = Duration.ofSeconds(5);

    @Option(
            names = "--node-monitor-grace-period",
            paramLabel = "DURATION",
            defaultValue = "50s",
            converter = DurationConverter.class,
            description = "How long a node may be silent before it is marked Unknown. Keep it several times the agents'"
                    + " renewal period, and above the 45s that a dead connection takes. Default: ${DEFAULT-VALUE}.")
    Duration gracePeriod = Duration.ofSeconds(50);

    @Option(
            names = "--node-startup-grace-period",
            paramLabel = "DURATION",
            defaultValue = "1m",
            converter = DurationConverter.class,
            description = "The same for a node that has never reported. Default: ${DEFAULT-VALUE}.")
    Duration startupGracePeriod = Duration.ofMinutes(1);

    @Override
    public void check(Faults faults) {
        faults.positive("--node-monitor-period", monitorPeriod);
        faults.positive("--node-monitor-grace-period", gracePeriod);
        faults.positive("--node-startup-grace-period", startupGracePeriod);
    }
}
