package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.controller.config.DetectorConfig;
import io.nodekeeper.controller.config.FlapDampingConfig;
import java.time.Duration;
import java.util.Arrays;
import picocli.CommandLine.Option;

/** The flags for failure detection and for flap damping. */
final class DetectorOptions implements Checked {
    /** What decides that a node without heartbeats is Unknown. */
    enum Detector {
        /** The fixed grace period. */
        fixed,
        /** The history of the node's heartbeats, within bounds. */
        adaptive
    }

    @Option(
            names = "--detector",
            paramLabel = "fixed|adaptive",
            defaultValue = "fixed",
            description = "What decides that a node without heartbeats is Unknown: fixed uses the grace period;"
                    + " adaptive uses the history of the node's heartbeats, between --detector-min and"
                    + " --detector-max. Default: ${DEFAULT-VALUE}.")
    Detector detector = Detector.fixed;

    @Option(
            names = "--detector-min",
            paramLabel = "DURATION",
            defaultValue = "45s",
            converter = DurationConverter.class,
            description = "The shortest time without heartbeats after which the adaptive detector marks a node"
                    + " Unknown. Default: ${DEFAULT-VALUE}.")
    Duration min = DetectorConfig.DEFAULT.min();

    @Option(
            names = "--detector-max",
            paramLabel = "DURATION",
            defaultValue = "1m40s",
            converter = DurationConverter.class,
            description = "The longest time, and the time for a node with too few heartbeats so far. Default:"
                    + " ${DEFAULT-VALUE}.")
    Duration max = DetectorConfig.DEFAULT.max();

    @Option(
            names = "--flap-penalty",
            paramLabel = "POINTS",
            defaultValue = "1000",
            description = "The penalty points that a node gets each time it stops being Ready. Default:"
                    + " ${DEFAULT-VALUE}.")
    double penalty = FlapDampingConfig.DEFAULT.penalty();

    @Option(
            names = "--flap-half-life",
            paramLabel = "DURATION",
            defaultValue = "10m",
            converter = DurationConverter.class,
            description = "The time in which penalty points decay by half. Default: ${DEFAULT-VALUE}.")
    Duration halfLife = FlapDampingConfig.DEFAULT.halfLife();

    @Option(
            names = "--flap-suppress",
            paramLabel = "POINTS",
            defaultValue = "2200",
            description = "A node with at least this many points keeps its taints when it becomes Ready. Default:"
                    + " ${DEFAULT-VALUE}.")
    double suppress = FlapDampingConfig.DEFAULT.suppress();

    @Option(
            names = "--flap-reuse",
            paramLabel = "POINTS",
            defaultValue = "750",
            description = "A node with fewer points than this loses the kept taints. Default: ${DEFAULT-VALUE}.")
    double reuse = FlapDampingConfig.DEFAULT.reuse();

    @Option(
            names = "--flap-max-suppress",
            paramLabel = "DURATION",
            defaultValue = "30m",
            converter = DurationConverter.class,
            description = "The longest time for which a node that stays Ready keeps the taints. Default:"
                    + " ${DEFAULT-VALUE}.")
    Duration maxSuppress = FlapDampingConfig.DEFAULT.maxSuppress();

    /** The configuration of failure detection. */
    DetectorConfig detector() {
        DetectorConfig.Kind kind = Arrays.stream(DetectorConfig.Kind.values())
                .filter(known -> known.text().equals(detector.name()))
                .findFirst()
                .orElseThrow();
        return new DetectorConfig(kind, min, max);
    }

    /** The configuration of flap damping. */
    FlapDampingConfig flaps() {
        return new FlapDampingConfig(penalty, halfLife, suppress, reuse, maxSuppress);
    }

    @Override
    public void check(Faults faults) {
        detector().faults().forEach(fault -> faults.require(false, fault));
        flaps().faults().forEach(fault -> faults.require(false, fault));
    }
}
