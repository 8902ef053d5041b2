package io.nodekeeper.cli;

import java.time.Duration;
import picocli.CommandLine.Option;

/** What a controller can be told, the way to its API server aside. Names and defaults are kube-controller-manager's. */
final class ControllerOptions implements Checked {
    /** What a controller does with its verdicts. */
    enum Mode {
        /** It writes them to the API. */
        enforce,
        /** It only says what it would write. */
        observe
    }

    @Option(
            names = "--mode",
            paramLabel = "enforce|observe",
            defaultValue = "enforce",
            description =
                    "enforce writes verdicts, taints and evictions; observe only logs and counts them, for a trial"
                            + " beside another controller. Default: ${DEFAULT-VALUE}.")
    Mode mode = Mode.enforce;

    @Option(
            names = "--node-monitor-period",
            paramLabel = "DURATION",
            defaultValue = "5s",
            converter = DurationConverter.class,
            description =
                    "How often a verdict that could not be written is tried again. Silence itself is noticed at its"
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

    @Option(
            names = "--node-eviction-rate",
            paramLabel = "N",
            defaultValue = "0.1",
            description =
                    "Nodes a second whose pods are evicted while their zone is well. Default: ${DEFAULT-VALUE}, one"
                            + " each 10s.")
    double evictionRate = 0.1;

    @Option(
            names = "--secondary-node-eviction-rate",
            paramLabel = "N",
            defaultValue = "0.01",
            description =
                    "The same while much of a large zone is down; small zones stop then. Default: ${DEFAULT-VALUE}.")
    double secondaryEvictionRate = 0.01;

    @Option(
            names = "--large-cluster-size-threshold",
            paramLabel = "N",
            defaultValue = "50",
            description = "A zone with more nodes than this is large. Default: ${DEFAULT-VALUE}.")
    int largeClusterThreshold = 50;

    @Option(
            names = "--unhealthy-zone-threshold",
            paramLabel = "FRACTION",
            defaultValue = "0.55",
            description = "From this fraction of nodes down (and at least 3) a zone counts as troubled. Default:"
                    + " ${DEFAULT-VALUE}.")
    double unhealthyZoneThreshold = 0.55;

    @Option(
            names = "--leader-elect",
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "true",
            fallbackValue = "true",
            description = "Whether to work only while holding the lease that several controllers share. Default:"
                    + " ${DEFAULT-VALUE}.")
    boolean leaderElect = true;

    @Option(
            names = "--leader-elect-lease-duration",
            paramLabel = "DURATION",
            defaultValue = "15s",
            converter = DurationConverter.class,
            description = "How long others wait for a silent leader. Default: ${DEFAULT-VALUE}.")
    Duration leaseDuration = Duration.ofSeconds(15);

    @Option(
            names = "--leader-elect-renew-deadline",
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = DurationConverter.class,
            description = "How long a leader goes on without renewing. Default: ${DEFAULT-VALUE}.")
    Duration renewDeadline = Duration.ofSeconds(10);

    @Option(
            names = "--leader-elect-retry-period",
            paramLabel = "DURATION",
            defaultValue = "2s",
            converter = DurationConverter.class,
            description = "The wait between tries to become or stay leader. Default: ${DEFAULT-VALUE}.")
    Duration retryPeriod = Duration.ofSeconds(2);

    @Override
    public void check(Faults faults) {
        faults.positive("--node-monitor-period", monitorPeriod);
        faults.positive("--node-monitor-grace-period", gracePeriod);
        faults.positive("--node-startup-grace-period", startupGracePeriod);
        faults.require(
                gracePeriod.compareTo(monitorPeriod) >= 0,
                "--node-monitor-grace-period must be at least --node-monitor-period");
        faults.within("--node-eviction-rate", evictionRate, 0, 1_000_000);
        faults.within("--secondary-node-eviction-rate", secondaryEvictionRate, 0, 1_000_000);
        faults.within("--large-cluster-size-threshold", largeClusterThreshold, 0, Integer.MAX_VALUE);
        faults.require(
                unhealthyZoneThreshold > 0 && unhealthyZoneThreshold <= 1,
                "--unhealthy-zone-threshold is " + unhealthyZoneThreshold + "; expected more than 0 and at most 1");
        faults.positive("--leader-elect-retry-period", retryPeriod);
        faults.require(
                leaseDuration.compareTo(renewDeadline) > 0 && renewDeadline.compareTo(retryPeriod) > 0,
                "--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline, and that longer than"
                        + " --leader-elect-retry-period");
    }
}
