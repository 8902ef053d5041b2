package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.options.GateOptions;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.controller.ControllerConfig;
import io.nodekeeper.controller.FeatureGate;
import io.nodekeeper.controller.FeatureGates;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What a controller can be told, the way to its API server aside. Names and defaults are kube-controller-manager's. */
public final class ControllerOptions implements Checked {
    /** The gates and what each is good for, for the help. */
    public static final class Gates extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        public Gates() {
            super(Arrays.stream(FeatureGate.values())
                    .map(gate -> gate.text() + " (" + gate.purpose() + ")")
                    .toList());
        }
    }

    /** What becomes of decisions. */
    public enum Mode {
        /** They are carried out. */
        enforce,
        /** They are reported. */
        observe
    }

    /** Kubernetes' default of --node-monitor-period. */
    private static final Duration PERIOD = Duration.ofSeconds(5);

    @Option(
            names = "--node-monitor-period",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description =
                    "How often finished pods and orphans are looked for, and how often Kubernetes' pass over all nodes is"
                            + " made if the gate WatchDrivenDeadlines is closed; silence of a node is noticed at its"
                            + " deadline otherwise. Default: 5s, or the grace period if that is less.")
    Optional<Duration> monitorPeriod = Optional.empty();

    @Option(
            names = "--node-monitor-grace-period",
            paramLabel = "DURATION",
            defaultValue = "50s",
            converter = DurationConverter.class,
            description = "How long a node may be silent before it is marked Unknown. Keep it several times the agents'"
                    + " renewal period, and above the 45s that a dead connection takes. Default: ${DEFAULT-VALUE}.")
    public Duration gracePeriod = Duration.ofSeconds(50);

    @Option(
            names = "--node-startup-grace-period",
            paramLabel = "DURATION",
            defaultValue = "1m",
            converter = DurationConverter.class,
            description = "The same for a node that has never reported. Default: ${DEFAULT-VALUE}.")
    public Duration startupGracePeriod = Duration.ofMinutes(1);

    @Option(
            names = "--mode",
            paramLabel = "enforce|observe",
            defaultValue = "enforce",
            description = "enforce does the work. observe only reads: it reports what it would have done and when, and"
                    + " what the cluster's own controller did. Default: ${DEFAULT-VALUE}.")
    public Mode mode = Mode.enforce;

    /** Set by the command. */
    public GateOptions gates = new GateOptions("", FeatureGate.names());

    @Mixin
    ZoneOptions zones = new ZoneOptions();

    @Mixin
    DetectorOptions detector = new DetectorOptions();

    @Mixin
    ElectionOptions election = new ElectionOptions();

    @Mixin
    public HistoryOptions history = new HistoryOptions();

    private Duration period() {
        return monitorPeriod.orElse(gracePeriod.compareTo(PERIOD) < 0 ? gracePeriod : PERIOD);
    }

    /** What the controller is told; only for flags that {@link #check} found good. */
    public ControllerConfig config() {
        ControllerConfig config = new ControllerConfig(period(), gracePeriod, startupGracePeriod)
                .with(zones.config())
                .with(detector.detector())
                .with(detector.flaps())
                .withTerminatedPodGcThreshold(zones.terminatedPodThreshold)
                .with(FeatureGates.of(gates.switches()));
        return mode == Mode.observe ? config.observing() : config;
    }

    /** How to become the leader; empty for a controller that works without, which is {@code !byDefault} if no flag tells. */
    public Optional<LeaderElectionConfig> election(boolean byDefault) {
        boolean elect = election.elect.orElse(byDefault && mode == Mode.enforce);
        return elect ? Optional.of(election.config()) : Optional.empty();
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
        gates.check(faults);
        zones.check(faults);
        detector.check(faults);
        election.check(faults);
        faults.require(
                mode == Mode.enforce || !election.elect.orElse(false),
                "--leader-elect=true and --mode observe exclude each other; expected --leader-elect=false, as an"
                        + " observer writes nothing, not even a lock");
        history.check(faults);
    }
}
