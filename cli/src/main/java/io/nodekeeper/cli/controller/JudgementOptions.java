package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags for how nodes are judged. A controller has them, and commands that judge recorded or simulated nodes. */
public final class JudgementOptions implements Checked {
    /** Kubernetes' default of --node-monitor-period. */
    private static final Duration PERIOD = Duration.ofSeconds(5);

    @Option(
            names = "--node-monitor-period",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description = "How much later a node that joins and was never Ready gets a NoExecute taint, so that its"
                    + " kubelet can finish its start. With gates disabled, such as WatchDrivenDeadlines, also how often"
                    + " the controller checks all nodes, as Kubernetes does; otherwise it checks each node at its"
                    + " deadline. Default: 5s, or the grace period if that is less.")
    Optional<Duration> monitorPeriod = Optional.empty();

    @Option(
            names = "--node-monitor-grace-period",
            paramLabel = "DURATION",
            defaultValue = "50s",
            converter = DurationConverter.class,
            description = "How long a node may go without a heartbeat before it is marked Unknown. Use several times"
                    + " the agents' renewal period, and more than the 45s that it takes to detect a dead connection."
                    + " Default: ${DEFAULT-VALUE}.")
    public Duration gracePeriod = Duration.ofSeconds(50);

    @Option(
            names = "--node-startup-grace-period",
            paramLabel = "DURATION",
            defaultValue = "1m",
            converter = DurationConverter.class,
            description = "The same for a node that has never sent a heartbeat. Default: ${DEFAULT-VALUE}.")
    public Duration startupGracePeriod = Duration.ofMinutes(1);

    @Mixin
    ZoneOptions zones = new ZoneOptions();

    @Mixin
    DetectorOptions detector = new DetectorOptions();

    private Duration period() {
        return monitorPeriod.orElse(gracePeriod.compareTo(PERIOD) < 0 ? gracePeriod : PERIOD);
    }

    /** The configuration with all gates. Call it only after {@link #check} found no fault. */
    public ControllerConfig config() {
        return new ControllerConfig(period(), gracePeriod, startupGracePeriod)
                .with(zones.config())
                .with(detector.detector())
                .with(detector.flaps())
                .withTerminatedPodGcThreshold(zones.terminatedPodThreshold);
    }

    @Override
    public void check(Faults faults) {
        monitorPeriod.ifPresent(period -> faults.positive("--node-monitor-period", period));
        faults.positive("--node-monitor-grace-period", gracePeriod);
        faults.positive("--node-startup-grace-period", startupGracePeriod);
        faults.require(
                gracePeriod.compareTo(period()) >= 0 || !gracePeriod.isPositive(),
                "--node-monitor-grace-period is " + GoDuration.format(gracePeriod)
                        + "; expected at least --node-monitor-period, which is " + GoDuration.format(period()));
        zones.check(faults);
        detector.check(faults);
    }
}
