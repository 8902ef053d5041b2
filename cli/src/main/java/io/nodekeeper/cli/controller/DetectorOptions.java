package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.controller.DetectorConfig;
import io.nodekeeper.controller.FlapDampingConfig;
import java.time.Duration;
import java.util.Arrays;
import picocli.CommandLine.Option;

/** When silence counts, and what becomes of nodes that fall from Ready again and again. */
final class DetectorOptions implements Checked {
    /** What decides. */
    enum Detector {
        /** The grace period. */
        fixed,
        /** Each node's own history, within bounds. */
        adaptive
    }

    @Option(
            names = "--detector",
            paramLabel = "fixed|adaptive",
            defaultValue = "fixed",
            description = "What makes a silent node Unknown: the grace period, or how regularly it used to be heard of,"
                    + " within --detector-min and --detector-max. Default: ${DEFAULT-VALUE}.")
    Detector detector = Detector.fixed;

    @Option(
            names = "--detector-min",
            paramLabel = "DURATION",
            defaultValue = "45s",
            converter = DurationConverter.class,
            description = "The adaptive detector excuses at least this much silence. Default: ${DEFAULT-VALUE}.")
    Duration min = DetectorConfig.DEFAULT.min();

    @Option(
            names = "--detector-max",
            paramLabel = "DURATION",
            defaultValue = "1m40s",
            converter = DurationConverter.class,
            description = "The adaptive detector excuses at most this much, and of a node that it does not know well"
                    + " yet. Default: ${DEFAULT-VALUE}.")
    Duration max = DetectorConfig.DEFAULT.max();

    @Option(
            names = "--flap-penalty",
            paramLabel = "POINTS",
            defaultValue = "1000",
            description = "What each fall from Ready costs a node. Default: ${DEFAULT-VALUE}.")
    double penalty = FlapDampingConfig.DEFAULT.penalty();

    @Option(
            names = "--flap-half-life",
            paramLabel = "DURATION",
            defaultValue = "10m",
            converter = DurationConverter.class,
            description = "The time in which half of the points are forgiven. Default: ${DEFAULT-VALUE}.")
    Duration halfLife = FlapDampingConfig.DEFAULT.halfLife();

    @Option(
            names = "--flap-suppress",
            paramLabel = "POINTS",
            defaultValue = "2200",
            description = "From so many points on a node keeps its taints when it is Ready again. Default:"
                    + " ${DEFAULT-VALUE}.")
    double suppress = FlapDampingConfig.DEFAULT.suppress();

    @Option(
            names = "--flap-reuse",
            paramLabel = "POINTS",
            defaultValue = "750",
            description = "Below so many points it loses them. Default: ${DEFAULT-VALUE}.")
    double reuse = FlapDampingConfig.DEFAULT.reuse();

    @Option(
            names = "--flap-max-suppress",
            paramLabel = "DURATION",
            defaultValue = "30m",
            converter = DurationConverter.class,
            description = "The longest time for which a node that is calm again keeps them. Default: ${DEFAULT-VALUE}.")
    Duration maxSuppress = FlapDampingConfig.DEFAULT.maxSuppress();

    /** How a node's grace comes about. */
    DetectorConfig detector() {
        DetectorConfig.Kind kind = Arrays.stream(DetectorConfig.Kind.values())
                .filter(known -> known.text().equals(detector.name()))
                .findFirst()
                .orElseThrow();
        return new DetectorConfig(kind, min, max);
    }

    /** When a node counts as flapping. */
    FlapDampingConfig flaps() {
        return new FlapDampingConfig(penalty, halfLife, suppress, reuse, maxSuppress);
    }

    @Override
    public void check(Faults faults) {
        detector().faults().forEach(fault -> faults.require(false, fault));
        flaps().faults().forEach(fault -> faults.require(false, fault));
    }
}
